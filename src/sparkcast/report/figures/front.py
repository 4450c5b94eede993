"""Pareto front: the candidates that no other beats in time, cost and accuracy at once."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from math import log
from typing import Any

from sparkcast.recommend import Candidate, Limit, Prediction, Recommendation
from sparkcast.report.figures._figure import NARROW_PX, Figure, FigureSection, Row, Spec, figure, thin
from sparkcast.report.figures._labels import sides
from sparkcast.report.figures._style import (
    BLUE,
    GRAY,
    GREEN,
    INK,
    LEGEND_GAP_PX,
    RED,
    domain,
    finish,
    inline,
    is_share,
    numbers,
    round_numbers,
    shown,
    the_rows,
    value_labels,
    within_reach,
)
from sparkcast.report.figures.choice import (
    chosen_label,
    chosen_pointer,
    chosen_text,
    label_height,
    limit_words,
    names_of,
    place_of,
    response_columns,
    verdicts,
    written,
)
from sparkcast.report.labels import (
    axis_title,
    finite,
    listing,
    plain_name,
    settings_title,
    short_settings,
)
from sparkcast.study import Response
from sparkcast.units import show_level

_MOST_OTHERS, _MOST_OF_THE_FRONT = 1000, 50  # a recommendation holds no more of the front
_OTHER, _FRONT = "other candidates", "Pareto-optimal"
_CHOSEN, _RUNNER_UP = "chosen", "runner-up"
_DECADE = 10.0
_CHEAP_TO_DEAR = ("#e8c24e", "#3aa6b0", "#25498c")  # each darker than the last, for those who see no colors
_RING = "M1,0A1,1,0,1,1,-1,0A1,1,0,1,1,1,0M0.72,0A0.72,0.72,0,1,0,-0.72,0A0.72,0.72,0,1,0,0.72,0Z"
_DASH = "M-1.2,-0.18L1.2,-0.18L1.2,0.18L-1.2,0.18Z"
_AXIS_PX = 75  # what labels take of the width


@dataclass(frozen=True, slots=True)
class _Axis:
    """One of the compared responses, and how far its values reach."""

    response: Response
    column: str  # x, y or z
    low: float
    high: float
    is_log: bool
    limit: Limit | None = None  # None also when it lies too far off to be drawn
    limit_name: str = ""

    def share(self, value: float) -> float:
        """How far along the axis a value lies, from 0 to 1."""
        low, high, at = (log(number) if self.is_log else number for number in (self.low, self.high, value))
        return (at - low) / (high - low)

    @property
    def title(self) -> str:
        return f"predicted {axis_title(self.response, [self.high])}"

    @property
    def labels(self) -> dict[str, Any]:
        return value_labels(self.response, [self.high])


def pareto_front(recommendation: Recommendation) -> Figure | None:
    """The candidates that no other beats in everything that was predicted of time, accuracy and cost.

    Time runs across and accuracy upwards; cost takes the place of one that is missing, or colors the points. None when
    fewer than two candidates are on the front or fewer than two of the three were predicted.
    """
    responses = _compared(recommendation)
    rows = front_rows(recommendation, responses)
    if not responses or sum(row["on_front"] is True for row in rows) < 2:
        return None
    columns = dict(zip("xyz", responses, strict=False))
    axes = tuple(_axis(rows, column, name, recommendation) for column, name in columns.items())
    x, y = (plain_name(axis.response) for axis in axes[:2])
    return figure(
        "pareto-front",
        FigureSection.CHOICE,
        f"Pareto front: {y} against {x}",
        _caption(recommendation, axes, rows),
        rows,
        lambda width: _draw(rows, recommendation, axes, width),
        heads=_heads(recommendation, columns),
        values=response_columns(columns, recommendation.vocabulary),
    )


def front_rows(recommendation: Recommendation, responses: Sequence[str]) -> tuple[Row, ...]:
    """One row per candidate, the front first; columns x, y and z hold the responses, each with its interval."""
    chosen, runner_up = recommendation.chosen, recommendation.runner_up
    marked = (chosen, *([runner_up] if runner_up else []))
    front = {candidate.configuration for candidate in recommendation.tradeoffs}
    others = thin(recommendation.candidates, _MOST_OTHERS)
    every = {candidate.configuration: candidate for candidate in (*recommendation.tradeoffs, *marked, *others)}
    ranks = {candidate.configuration: rank for rank, candidate in enumerate(recommendation.candidates, start=1)}
    rows = (
        _row(recommendation, candidate, responses, key in front) | {"rank": ranks.get(key)}
        for key, candidate in every.items()
    )
    return tuple(row for row in rows if all(row.get(column) is not None for column in "xyz"[: len(responses)]))


def _row(recommendation: Recommendation, candidate: Candidate, responses: Sequence[str], on_front: bool) -> Row:
    row: Row = {
        "configuration": short_settings(candidate.configuration, recommendation.chosen.configuration),
        "place": place_of(recommendation, candidate),
        "on_front": on_front,
        "kind": _kind(recommendation, candidate) if on_front else _OTHER,
    }
    predicted = _predicted(candidate)
    for column, name in zip("xyz", responses, strict=False):
        p = predicted.get(name)
        if p:
            row |= {column: finite(p.value), f"{column}_low": finite(p.low), f"{column}_high": finite(p.high)}
    return row | {"probability": finite(candidate.probability), "measured_runs": candidate.measured_runs}


def _kind(recommendation: Recommendation, candidate: Candidate) -> str:
    if not recommendation.limits:
        return _FRONT
    meets, misses = verdicts(recommendation)
    return f"{_FRONT}, {meets if candidate.probability >= recommendation.confidence else misses}"


def _predicted(candidate: Candidate) -> Mapping[str, Prediction]:
    return {p.response: p for p in candidate.predictions}


def _compared(recommendation: Recommendation) -> tuple[str, ...]:
    """The first is drawn across, the second upwards; a third is a color."""
    front, words = recommendation.tradeoffs, recommendation.vocabulary
    known = set.intersection(*(set(_predicted(candidate)) for candidate in front)) if front else set()
    time, quality, money = (name if name in known else None for name in (words.time, words.quality, words.money))
    order = (money, quality) if time is None else (time, quality, money)
    found = tuple(name for name in order if name is not None)
    return found if len(found) > 1 else ()


def _axis(rows: Sequence[Row], column: str, response: str, recommendation: Recommendation) -> _Axis:
    known = numbers(row[column] for row in rows if column != "z" or row["on_front"])
    meaning = recommendation.vocabulary.response(response)
    # Of a share the upper end matters, which a logarithm would squeeze.
    is_log = not is_share(meaning) and min(known) > 0 and max(known) / min(known) > _DECADE
    limit = next((limit for limit in recommendation.limits if limit.response == response), None)
    if column == "z" or limit is None or not _is_near(limit.value, known, is_log):
        limit = None
    low, high = _ends(meaning, [*known, *([limit.value] if limit else [])], is_log)
    return _Axis(
        meaning, column, low, high, is_log, limit, limit_words(limit, recommendation.vocabulary) if limit else ""
    )


def _is_near(value: float, known: Sequence[float], is_log: bool) -> bool:
    if is_log:
        return value > 0 and bool(within_reach([log(number) for number in known], [log(value)]))
    return bool(within_reach(known, [value]))


def _ends(response: Response, known: Sequence[float], is_log: bool) -> tuple[float, float]:
    if is_log:
        air = (max(known) / min(known)) ** 0.06
        return min(known) / air, max(known) * air
    low, high = domain(response, known)
    # From 0, unless that leaves more than half of the picture empty.
    spread = max(known) - min(known)
    return (min(known) - 0.06 * spread, high) if low == 0 and 0 < spread < min(known) else (low, high)


def staircase(rows: Sequence[Row], y: Response) -> list[Row]:
    """The best y that is to be had for each x: a front of three responses is no line when two are drawn."""
    best: list[Row] = []
    sign = -1 if y.better == "more" else 1
    for row in sorted(rows, key=lambda row: (numbers([row["x"]]), sign * numbers([row["y"]])[0])):
        if not best or sign * numbers([row["y"]])[0] < sign * numbers([best[-1]["y"]])[0]:
            best.append({"x": row["x"], "y": row["y"]})
    return best


# ---------------------------------------------------------------- words


def _are_ranked(rows: Sequence[Row]) -> bool:
    return names_of(rows)[0].startswith("#")


def _caption(recommendation: Recommendation, axes: Sequence[_Axis], rows: Sequence[Row]) -> str:
    names = [plain_name(axis.response) for axis in axes]
    x, y = names[:2]
    best = "best" if axes[1].response.better == "more" else "lowest"
    whatever = f", whatever the {names[2]}" if len(names) > 2 else ""
    settings = settings_title(recommendation.chosen.configuration)
    parts = [
        f"Pareto-optimal: no other candidate is as good or better in all of {listing(names)}.",
        "" if _are_ranked(rows) else f"Names are {settings}.",
        f"The line is the {best} {y} available for each {x}{whatever}.",
    ]
    if len(recommendation.pareto) >= _MOST_OF_THE_FRONT:
        parts.append(f"At most {_MOST_OF_THE_FRONT} points of the front are shown, so the line may skip some steps.")
    if alike := len(recommendation.pareto) - len(recommendation.tradeoffs):
        parts.append(f"{alike} more would be on it, but differ{'s' if alike == 1 else ''} by less than the noise.")
    drawn = [axis.limit for axis in axes if axis.limit]
    for limit in recommendation.limits:
        on_axis = any(axis.response.name == limit.response and axis.column != "z" for axis in axes)
        if limit not in drawn:
            where = (
                "is outside the figure" if on_axis else "is not on an axis: the shapes show which candidates meet it"
            )
            parts.append(f"The {limit_words(limit, recommendation.vocabulary)} {where}.")
    left_out = len(recommendation.candidates) - _MOST_OTHERS
    return " ".join(part for part in parts if part) + (
        f" Shown of the others: {_MOST_OTHERS:,}, evenly spaced." if left_out > 0 else ""
    )


def _heads(recommendation: Recommendation, columns: Mapping[str, str]) -> dict[str, str]:
    heads = {
        "configuration": settings_title(recommendation.chosen.configuration),
        "on_front": "on the front",
        "kind": "verdict",
        "measured_runs": "measured runs",
    }
    for column, name in columns.items():
        response = recommendation.vocabulary.response(name)
        plain = plain_name(response)
        heads |= {column: axis_title(response), f"{column}_low": f"{plain}, low", f"{column}_high": f"{plain}, high"}
    return heads


# ---------------------------------------------------------------- drawing


def _draw(rows: tuple[Row, ...], recommendation: Recommendation, axes: Sequence[_Axis], width: int) -> Spec:
    import altair as alt

    height = 340 if width > NARROW_PX else 280
    [chosen_x] = numbers(row["x"] for row in rows if row["place"] == _CHOSEN) or [axes[0].low]
    lines, align = chosen_label(recommendation, axes[0].share(chosen_x), width)
    top = label_height(lines)
    x = _position(axes[0], alt.X, most=8 if width > NARROW_PX else 5)
    y = _position(axes[1], alt.Y, most=6, span=(height, top))
    looks = _looks(rows, axes)
    color, shape = _color("kind", looks, width), _shape(looks, width)
    base = alt.Chart(the_rows()).encode(
        x=x, y=y, tooltip=_tooltips(recommendation, axes), description=alt.Description("tip:N")
    )
    front = base.transform_filter("datum.on_front")
    steps = alt.Chart(inline(staircase([row for row in rows if row["on_front"]], axes[1].response)))
    points = front.mark_point(filled=True, size=70, opacity=1, stroke=BLUE, strokeWidth=0.8).encode(shape=shape)
    layers: list[Any] = [
        base.transform_filter("!datum.on_front").mark_point(filled=True, size=32, opacity=0.4).encode(color=color),
        steps.mark_line(interpolate="step-after", color=BLUE, strokeWidth=1.3, opacity=0.7).encode(x=x, y=y),
        *_rules(axes, x, y, color, top),
        chosen_pointer(base, top),
        points.encode(fill=_cost_color(axes[2], width)) if len(axes) > 2 else points.encode(color=color),
        *(_ring(base, place).encode(color=_color("place", looks, width)) for place in (_RUNNER_UP, _CHOSEN)),
        chosen_text(base, lines, align),
    ]
    told = _named([row | _tips(row, axes) for row in rows], axes, (width - _AXIS_PX, height), top)
    layers += written(base, told)
    spec = finish(alt.layer(*layers).properties(height=height), width, told)
    spec["config"]["lineBreak"] = "\n"
    return spec


def _named(rows: Sequence[Row], axes: Sequence[_Axis], frame: tuple[float, float], top: float) -> list[Row]:
    """The rows with a `name` and the `side` of the point where it has room. The chosen one is named above all."""
    names = names_of(rows) if not _are_ranked(rows) or all(row["rank"] for row in rows) else [""] * len(rows)
    names = [name if row["on_front"] and row["place"] != _CHOSEN else "" for name, row in zip(names, rows, strict=True)]
    points = []
    for row in rows:
        [x, y] = numbers([row["x"], row["y"]])
        down = frame[1] - axes[1].share(y) * (frame[1] - top)
        points.append((axes[0].share(x) * frame[0], down))
    places = sides(points, names, frame, taken=[(0.0, 0.0, frame[0], top)])
    return [row | {"name": name, "side": side} for row, name, side in zip(rows, names, places, strict=True)]


def _position(axis: _Axis, kind: Any, *, most: int, span: tuple[float, float] | None = None) -> Any:
    import altair as alt

    scale = alt.Scale(
        type="log" if axis.is_log else "linear",
        domain=[axis.low, axis.high],
        range=list(span) if span else alt.Undefined,
        nice=False,
        zero=False,
    )
    ticks: dict[str, Any] = {"values": round_numbers(axis.low, axis.high, most), "format": ",~g"} if axis.is_log else {}
    return kind(
        f"{axis.column}:Q", title=axis.title, scale=scale, axis=alt.Axis(grid=kind is alt.Y, **ticks | axis.labels)
    )


def _looks(rows: Sequence[Row], axes: Sequence[_Axis]) -> dict[str, tuple[str, str]]:
    """What the legend explains, each with its color and shape; limits among them, so that no text covers a point."""
    kinds = dict.fromkeys(str(row["kind"]) for row in rows if row["on_front"])
    first, *others = sorted(kinds, key=lambda kind: "too likely" in kind)
    looks = {first: (BLUE, "circle" if "too likely" not in first else "triangle-down")}
    looks |= dict.fromkeys(others, (BLUE, "triangle-down"))
    looks |= {_OTHER: (GRAY, "circle")} if any(row["kind"] == _OTHER for row in rows) else {}
    places = {str(row["place"]) for row in rows}
    looks |= {place: (color, _RING) for place, color in ((_CHOSEN, GREEN), (_RUNNER_UP, INK)) if place in places}
    return looks | {axis.limit_name: (RED, _DASH) for axis in axes if axis.limit}


def _color(column: str, looks: Mapping[str, tuple[str, str]], width: int) -> Any:
    import altair as alt

    names, colors = list(looks), [color for color, _ in looks.values()]
    scale = alt.Scale(domain=names, range=colors)
    return alt.Color(f"{column}:N", title=None, sort=names, scale=scale, legend=_legend(names, width))


def _shape(looks: Mapping[str, tuple[str, str]], width: int) -> Any:
    """Of the same names as the colors, so that Vega-Lite shows both in one legend."""
    import altair as alt

    names, shapes = list(looks), [shape for _, shape in looks.values()]
    scale = alt.Scale(domain=names, range=shapes)
    return alt.Shape("kind:N", title=None, sort=names, scale=scale, legend=_legend(names, width))


def _legend(names: Sequence[str], width: int) -> Any:
    import altair as alt

    columns = int((width - 20) // (6.2 * max(map(len, names)) + 20 + LEGEND_GAP_PX))
    return alt.Legend(columns=max(1, min(len(names), columns)), symbolSize=90)


def _cost_color(axis: _Axis, width: int) -> Any:
    import altair as alt

    scale = alt.Scale(type="log" if axis.is_log else "linear", domain=[axis.low, axis.high], range=_CHEAP_TO_DEAR)
    legend = alt.Legend(
        orient="top",
        values=round_numbers(axis.low, axis.high) if axis.is_log else alt.Undefined,
        tickCount=3,
        **({"format": "~g"} | axis.labels),
        gradientLength=220 if width > NARROW_PX else 180,
        titleLimit=width - 40,
    )
    return alt.Fill(f"{axis.column}:Q", title=axis.title, scale=scale, legend=legend)


def _rules(axes: Sequence[_Axis], x: Any, y: Any, color: Any, top: float) -> list[Any]:
    """Limits as lines: upright below the label, level across the whole picture."""
    import altair as alt

    rules = []
    for axis in axes:
        if axis.limit:
            data = inline([{"kind": axis.limit_name, axis.column: axis.limit.value}])
            rule = alt.Chart(data).mark_rule(strokeWidth=2, strokeDash=[7, 4]).encode(color=color)
            upright = {"x": x, "y": alt.value(top), "y2": alt.value("height")}
            rules.append(rule.encode(**(upright if axis.column == "x" else {"y": y})))
    return rules


def _ring(base: Any, place: str) -> Any:
    size, line = (260, 2.6) if place == _CHOSEN else (190, 1.2)
    here = base.transform_filter(f"datum.place == '{place}'")
    return here.mark_point(size=size, filled=False, strokeWidth=line, opacity=1, shape="circle")


def _tips(row: Row, axes: Sequence[_Axis]) -> Row:
    """Values with their intervals, as the report writes them."""
    tips: Row = {}
    for axis in axes:
        value, low, high = (shown(axis.response, row[f"{axis.column}{end}"]) for end in ("", "_low", "_high"))
        tips[f"tip_{axis.column}"] = f"{value} ({low} to {high})"
    told = [f"{plain_name(axis.response)} {tips[f'tip_{axis.column}']}" for axis in axes]
    return tips | {"tip": f"{row['configuration']}: {', '.join(told)}"}


def _tooltips(recommendation: Recommendation, axes: Sequence[_Axis]) -> list[Any]:
    import altair as alt

    level = next(iter(recommendation.chosen.predictions)).level
    tips = [alt.Tooltip("configuration:N", title=settings_title(recommendation.chosen.configuration))]
    for axis in axes:
        title = f"{plain_name(axis.response)} ({show_level(level)} interval)"
        tips.append(alt.Tooltip(f"tip_{axis.column}:N", title=title))
    if recommendation.limits:
        tips.append(alt.Tooltip("probability:Q", title="probability of meeting the limits", format=".2f"))
    return tips
