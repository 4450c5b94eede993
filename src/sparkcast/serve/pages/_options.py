"""Candidates as rows of one picture: which keep the limits, which is the answer, how likely its next run is late."""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from markupsafe import Markup
from scipy.special import ndtr, ndtri

from sparkcast.recommend.browsing import SCORES, Browsed, CandidateTable
from sparkcast.report import marks
from sparkcast.report.marks import Across
from sparkcast.serve.pages import _words as words
from sparkcast.serve.pages._query import RunQuery
from sparkcast.study import Configuration

SHOWN_ROWS = 36  # at once; more would be a list to scroll, not a picture
BEFORE = 14  # of them, above the answer
DOTS = 50
DOT_BINS, DOT_HEIGHT = {"wide": 80, "narrow": 34}, 104
_AIR = 1.04
_ZOOM = 8.0  # the axis ends here times the shortest median, or where all intervals do


@dataclass(frozen=True, slots=True)
class OptionRow:
    """A candidate as it is drawn."""

    at: int
    label: str
    state: str  # kept, late, over, or none where there is no limit
    is_answer: bool
    is_shown: bool
    is_pinned: bool
    chance: str
    money: str
    quality: str
    drawn: Markup
    one: Browsed


@dataclass(frozen=True, slots=True)
class OptionsChart:
    rows: tuple[OptionRow, ...]
    across: Across
    names: tuple[str, ...]  # what a label is made of
    has_money: bool
    quality: str  # the head of its column; "" where there is none
    dots: Mapping[str, Markup]
    late_dots: int
    axis: Markup
    above: int  # rows before the first that is shown
    below: int
    label_width: str  # a class of the style


def scores_below(quantiles: Sequence[float] | Any, limit: float) -> float:
    """The standard normal score of the probability that the next run stays below a limit."""
    return float(np.interp(limit, quantiles, SCORES, left=-9.0, right=9.0)) if limit < math.inf else 9.0


def chance_below(quantiles: Sequence[float] | Any, limit: float) -> float:
    return float(ndtr(scores_below(quantiles, limit)))


def quantile(quantiles: Sequence[float] | Any, share: float) -> float:
    return float(np.interp(ndtri(share), SCORES, quantiles))


def ends(quantiles: Sequence[float] | Any) -> tuple[float, float]:
    """Between these fall 90 of 100 runs."""
    return quantile(quantiles, 0.05), quantile(quantiles, 0.95)


def state_of(one: Browsed, query: RunQuery, *, is_joint: bool) -> str:
    """Which limit a candidate is too likely to break."""
    if query.within_s is None and query.budget is None:
        return "none"
    time = 1.0 if query.within_s is None else chance_below(one.time_s, query.within_s)
    money = 1.0 if query.budget is None or one.money is None else chance_below(one.money, query.budget)
    wanted = query.confidence - 1e-9
    if time < wanted:
        return "late"
    both = time * money if is_joint else min(time, money)
    return "kept" if both >= wanted else "over"


def chart_of(table: CandidateTable, query: RunQuery, answer: Configuration | None) -> OptionsChart:
    """`answer`: what is recommended, or comes nearest."""
    found = next((at for at, one in enumerate(table.rows) if one.configuration == answer), None)
    across = _across(table)
    names = _names(table)
    first = 0 if found is None or len(table.rows) <= SHOWN_ROWS else max(0, found - BEFORE)
    first = min(first, max(0, len(table.rows) - SHOWN_ROWS))
    shown = range(first, first + SHOWN_ROWS)
    rows = tuple(_row(table, query, at, at == found, at in shown, (across, names)) for at in range(len(table.rows)))
    best = None if found is None else table.rows[found]
    late = 0 if best is None or query.within_s is None else sum(t > query.within_s for t in likely_times(best))
    quality = table.vocabulary.quality
    longest = max([len(row.label) for row in rows] + [min(18, len(" · ".join(names)))], default=0)
    return OptionsChart(
        rows,
        across,
        names,
        any(one.money is not None for one in table.rows),
        "" if quality is None or all(one.quality is None for one in table.rows) else quality.replace("_", " "),
        {width: dots(best, across, query.within_s, width) for width in DOT_BINS},
        late,
        _axis(across),
        first,
        max(0, len(rows) - first - SHOWN_ROWS),
        "labels-short" if longest <= 14 else "labels-middle" if longest <= 26 else "labels-long",
    )


def _row(
    table: CandidateTable,
    query: RunQuery,
    at: int,
    is_answer: bool,
    is_shown: bool,
    frame: tuple[Across, tuple[str, ...]],
) -> OptionRow:
    one, vocabulary, (across, names) = table.rows[at], table.vocabulary, frame
    money, quality = vocabulary.response(vocabulary.money or ""), vocabulary.response(vocabulary.quality or "")
    label = label_of(one.configuration, names)
    return OptionRow(
        at,
        label,
        state_of(one, query, is_joint=table.is_joint),
        is_answer,
        is_shown,
        label in query.pinned,
        "" if query.within_s is None else words.short_chance(chance_below(one.time_s, query.within_s)),
        "" if one.money is None else words.value(money, quantile(one.money, 0.5)),
        "" if one.quality is None else words.value(quality, one.quality[0]),
        _drawn(one, across, query),
        one,
    )


def label_of(configuration: Configuration, names: Sequence[str]) -> str:
    return " · ".join(str(configuration[name]) for name in names)


def likely_times(one: Browsed) -> list[float]:
    """Fifty equally likely next runs."""
    return [quantile(one.time_s, (k + 0.5) / DOTS) for k in range(DOTS)]


def _names(table: CandidateTable) -> tuple[str, ...]:
    """The settings that differ."""
    if not table.rows:
        return ()
    first = table.rows[0].configuration
    varied = [name for name in first if len({one.configuration[name] for one in table.rows}) > 1]
    return tuple(varied or first)


def _across(table: CandidateTable) -> Across:
    medians = [quantile(one.time_s, 0.5) for one in table.rows]
    highest = max(ends(one.time_s)[1] for one in table.rows)
    return Across(0.0, max(min(highest, _ZOOM * min(medians)), 1e-9) * _AIR)


def _drawn(one: Browsed, across: Across, query: RunQuery) -> Markup:
    """All marks that a row may have; the style shows those of its state."""
    low, high = ends(one.time_s)
    middle = quantile(one.time_s, 0.5)
    if not across.holds(middle):
        return Markup(marks.text("100%", 14, f"{words.duration(middle)} →", anchor="end"))
    x = across.at(middle)
    return Markup("").join(
        [
            marks.interval(across.at(low), across.at(high), 10.5, is_far=query.is_far_allowed),
            marks.predicted(x, 10.5),
            marks.late(x, 10.5),
            marks.over(x, 10.5),
            marks.answer(x, 10.5),
        ]
    )


def dots(best: Browsed | None, across: Across, within_s: float | None, width: str) -> Markup:
    """Equally likely next runs as heaps of dots; those after the deadline are rings."""
    if best is None:
        return Markup("")
    bins = DOT_BINS[width]
    times = likely_times(best)
    origin = across.share(within_s) if within_s is not None and across.holds(within_s) else 0.0
    heaps: dict[int, int] = {}
    places = []
    for seconds in times:
        if not across.holds(seconds):
            continue
        heap = math.floor((across.share(seconds) - origin) * bins)
        heaps[heap] = heaps.get(heap, 0) + 1
        places.append((heap, heaps[heap], within_s is not None and seconds > within_s))
    step = min(7.5 if width == "wide" else 5.5, (DOT_HEIGHT - 8) / max(heaps.values(), default=1))
    radius = step / 2 - 0.7
    drawn = []
    for heap, level, is_late in places:
        x, y = f"{100 * (origin + (heap + 0.5) / bins):.2f}%", DOT_HEIGHT - step * (level - 0.5)
        drawn.append(marks.missed(x, y, radius) if is_late else marks.predicted(x, y, radius))
    return Markup("").join(drawn)


def _axis(across: Across) -> Markup:
    step = next(s for s in words.axis_steps(across.high) if across.high / s <= 5.2)
    ticks = [step * k for k in range(int(across.high / step) + 1)]
    unit = words.axis_unit(across.high)
    parts = []
    for k, tick in enumerate(ticks):
        anchor = "start" if k == 0 else "middle"
        label = f"{tick / unit[0]:g}" + (f" {unit[1]}" if k == len(ticks) - 1 else "")
        parts.append(marks.text(across.at(tick), 15, label, anchor=anchor))
    return Markup("").join(parts)


def for_script(table: CandidateTable, chart: OptionsChart, query: RunQuery) -> dict[str, Any]:
    """What a script needs to answer other limits as the server would."""
    vocabulary = table.vocabulary

    def bits(rows: Any) -> list[str]:
        return ["".join("1" if one else "0" for one in row) for row in rows.tolist()]

    def digits(values: Any) -> list[float]:
        return [float(f"{value:.5g}") for value in values]

    return {
        "scores": list(SCORES),
        "across": [chart.across.low, chart.across.high],
        "dots": {"bins": DOT_BINS, "height": DOT_HEIGHT},
        "shown": SHOWN_ROWS,
        "before": BEFORE,
        "joint": table.is_joint,
        "ties": bits(table.ties),
        "doubtful": bits(table.doubtful),
        "alike": bits(table.spends_alike),
        "spent": None if table.spent is None else digits(table.spent),
        "rows": [
            {
                "time": digits(one.time_s),
                **({} if one.money is None else {"money": digits(one.money)}),
                "runs": one.runs,
                "title": words.settings(one.configuration, vocabulary),
                "expect": expected(one, table),
                "takes": words.duration_range(*ends(one.time_s)),
                "costs": "" if one.money is None else _costs(one, table),
            }
            for one in table.rows
        ],
        "limits": {"within": query.within_s, "budget": query.budget, "confidence": query.confidence},
    }


def _costs(one: Browsed, table: CandidateTable) -> str:
    assert one.money is not None
    return words.value_range(table.vocabulary.response(table.vocabulary.money or ""), *ends(one.money))


def expected(one: Browsed, table: CandidateTable) -> str:
    """What to expect of a candidate: "38 min, $1.94 and an accuracy of 0.917"."""
    vocabulary = table.vocabulary
    parts = [words.duration(quantile(one.time_s, 0.5))]
    if one.money is not None:
        money = vocabulary.response(vocabulary.money or "")
        amount = words.value(money, quantile(one.money, 0.5))
        parts.append(amount if money.unit else f"a {words.noun(money)} of {amount}")
    if one.quality is not None and vocabulary.quality is not None:
        response = vocabulary.response(vocabulary.quality)
        name = words.noun(response)
        parts.append(f"{'an' if name[0] in 'aeiou' else 'a'} {name} of {words.value(response, one.quality[0])}")
    return parts[0] if len(parts) == 1 else f"{', '.join(parts[:-1])} and {parts[-1]}"
