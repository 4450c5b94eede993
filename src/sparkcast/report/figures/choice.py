"""The configurations a recommendation chose from."""

from collections.abc import Mapping, Sequence
from math import log
from textwrap import wrap
from typing import Any

from sparkcast.recommend import Candidate, Limit, Recommendation
from sparkcast.report.figures._figure import NARROW_PX, Figure, FigureSection, Row, Spec, figure
from sparkcast.report.figures._frame import cut_off, framed, whole_scale
from sparkcast.report.figures._labels import SIDES, Box, sides
from sparkcast.report.figures._style import (
    BLUE,
    GREEN,
    INK,
    ORANGE,
    RED,
    configuration_axis,
    finish,
    inline,
    numbers,
    scale_ticks,
    shown,
    the_rows,
)
from sparkcast.report.labels import (
    axis_title,
    finite,
    plain_name,
    settings_title,
    short_settings,
    show_value,
)
from sparkcast.study import Kind, Response, Vocabulary
from sparkcast.units import show_level, show_seconds

_MOST_POINTS = 1000
_MOST_LABELED = 16  # candidates with a line of their own
_MOST_NAMED = 40  # points with a name beside them, as far as there is room
_LONGEST_NAME = 24  # letters; longer ones are told by their rank
_LONGEST_TITLE = 40  # letters
_AXIS_PX = 75  # what labels take of the width
_LIMIT_PX = 2.0  # on either side of the deadline, that no name covers
_LETTER_PX, _LINE_PX = 6.8, 15  # of bold text; of a line of it
_MOST_LINES = 4


def limit_words(limit: Limit, words: Vocabulary) -> str:
    """A limit as people call it.

    >>> words = Vocabulary(responses=(Response("time_s", kind=Kind.TIME), Response("auc", kind=Kind.SHARE)))
    >>> limit_words(Limit("time_s", 90), words), limit_words(Limit("auc", 0.9, is_upper=False), words)
    ('deadline of 1 min 30 s', 'auc of at least 0.900')
    """
    response = words.response(limit.response)
    names = {Kind.TIME: "deadline of", Kind.MONEY: "budget of"} if limit.is_upper else {}
    bound = f"{plain_name(response)} of at {'most' if limit.is_upper else 'least'}"
    return f"{names.get(response.kind, bound)} {show_value(response, limit.value)}"


def verdicts(recommendation: Recommendation) -> tuple[str, str]:
    """What is said of a candidate that meets the limits with the wanted confidence, and of one that does not."""
    kept = recommendation.limits
    if [limit.response for limit in kept] == [recommendation.vocabulary.time]:
        return "meets the deadline", "too likely to miss it"
    if len(kept) == 1:
        return "meets the limit", "too likely to break it"
    return ("meets the limits", "too likely to break one") if kept else ("", "")


def place_of(recommendation: Recommendation, candidate: Candidate) -> str:
    if candidate.configuration == recommendation.chosen.configuration:
        return "chosen"
    runner_up = recommendation.runner_up
    return "runner-up" if runner_up and candidate.configuration == runner_up.configuration else ""


def candidates(recommendation: Recommendation) -> Figure | None:
    """Time against the objective for all candidates, with intervals, the deadline, and the chosen one marked.

    When time is all that was predicted, one line per candidate. None when nothing was predicted for the chosen one.
    """
    axes = _axes(recommendation)
    if axes is None:
        return None
    x, y = axes
    rows = candidate_rows(recommendation, x, y)
    words, within = recommendation.vocabulary, recommendation.within_s
    line = "" if within is None or x != words.time else f" The dashed red line is the deadline, {show_seconds(within)}."
    level = next(p.level for p in recommendation.chosen.predictions if p.response == x)
    return figure(
        "candidates",
        FigureSection.CHOICE,
        f"Candidates: {plain_name(words.response(y))} versus {plain_name(words.response(x))}"
        f"{_by_settings(rows, recommendation)}"
        if y
        else f"Candidates: {plain_name(words.response(x))}",
        f"One point per configuration, with {show_level(level)} intervals for its next run.{line}"
        f"{_names_told(rows, recommendation) if y else ''}{_cut(rows, recommendation, x, y)}"
        + _first_of(recommendation, len(rows) if y else min(len(rows), _MOST_LABELED)),
        rows,
        lambda width: (
            _draw_plane(rows, recommendation, x, y, width) if y else _draw_list(rows, recommendation, x, width)
        ),
        heads={"configuration": settings_title(recommendation.chosen.configuration)} | _heads(x, y, words),
        values=response_columns(dict(zip("xy", [x, *([y] if y else [])], strict=False)), words),
    )


def response_columns(columns: Mapping[str, str], words: Vocabulary) -> dict[str, Response]:
    """The columns of each response: the value and the ends of its interval."""
    ends = ("", "_low", "_high")
    return {f"{column}{end}": words.response(name) for column, name in columns.items() for end in ends}


def _cut(rows: Sequence[Row], recommendation: Recommendation, x: str, y: str) -> str:
    for axis, name in (("x", x), ("y", y)):
        if name:
            scale = _scale(rows, axis, recommendation.vocabulary.response(name), _deadline_on(recommendation, name))
            if told := cut_off([row for row in rows if axis in row], scale.domain, f"{axis}_low", f"{axis}_high"):
                return told
    return ""


def names_of(rows: Sequence[Row]) -> list[str]:
    """What stands beside points: settings where they are short, else the rank that the table tells too."""
    short = [str(row["configuration"]) for row in rows]
    return short if max(map(len, short), default=0) <= _LONGEST_NAME else [f"#{row['rank']}" for row in rows]


def _by_settings(rows: Sequence[Row], recommendation: Recommendation) -> str:
    """What the names beside the points are, for whoever sees the picture without its caption."""
    title = settings_title(recommendation.chosen.configuration)
    return "" if names_of(rows)[0].startswith("#") or len(title) > _LONGEST_TITLE else f" ({title})"


def _names_told(rows: Sequence[Row], recommendation: Recommendation) -> str:
    if names_of(rows)[0].startswith("#"):
        return " Names are ranks in the table of candidates."
    return f" Names are {settings_title(recommendation.chosen.configuration)}."


def _first_of(recommendation: Recommendation, shown: int) -> str:
    total = max(recommendation.n_candidates, len(recommendation.candidates))
    return f" Shown: the first {shown:,} of {total:,} candidates." if shown < total else ""


def candidate_rows(recommendation: Recommendation, x: str, y: str) -> tuple[Row, ...]:
    """One row per candidate, best first; columns x and y hold the two responses, each with its interval."""
    listed = (recommendation.candidates or (recommendation.chosen,))[:_MOST_POINTS]
    return tuple(_row(recommendation, candidate, rank, x, y) for rank, candidate in enumerate(listed, start=1))


def _row(recommendation: Recommendation, candidate: Candidate, rank: int, x: str, y: str) -> Row:
    meets, misses = verdicts(recommendation)
    row: Row = {
        "rank": rank,
        "configuration": short_settings(candidate.configuration, recommendation.chosen.configuration),
        "place": place_of(recommendation, candidate),
        "kind": meets if candidate.probability >= recommendation.confidence else misses,
        "probability": finite(candidate.probability),
        "measured_runs": candidate.measured_runs,
    }
    for p in candidate.predictions:
        if p.response in (x, y):
            axis = "x" if p.response == x else "y"
            row |= {axis: finite(p.value), f"{axis}_low": finite(p.low), f"{axis}_high": finite(p.high)}
    return row


def _heads(x: str, y: str, words: Vocabulary) -> dict[str, str]:
    heads = {"kind": "verdict", "place": "place", "measured_runs": "measured runs"}
    for axis, name in (("x", x), ("y", y)):
        if name:
            response = words.response(name)
            heads |= {axis: axis_title(response), f"{axis}_low": f"{plain_name(response)}, low"}
            heads |= {f"{axis}_high": f"{plain_name(response)}, high"}
    return heads


def _axes(recommendation: Recommendation) -> tuple[str, str] | None:
    """Names for x and y. y is "" when one response is all there is."""
    known = [prediction.response for prediction in recommendation.chosen.predictions]
    if not known:
        return None
    words = recommendation.vocabulary
    x = words.time if words.time in known else known[0]
    objective = recommendation.objective.split()[-1] if recommendation.objective else ""
    preferred = [name for name in (objective, words.quality, *known) if name in known and name != x]
    return x, (preferred[0] or "") if preferred else ""


def _deadline_on(recommendation: Recommendation, x: str) -> float | None:
    """Where the deadline lies on an axis of this response."""
    return next((limit.value for limit in recommendation.limits if limit.response == x and limit.is_upper), None)


def _draw_plane(rows: tuple[Row, ...], recommendation: Recommendation, x: str, y: str, width: int) -> Spec:
    import altair as alt

    deadline = _deadline_on(recommendation, x)
    base = alt.Chart(the_rows()).encode(color=_color(rows, recommendation, width))
    words = recommendation.vocabulary
    across_scale = _scale(rows, "x", words.response(x), deadline)
    up_scale = _scale(rows, "y", words.response(y), None)
    height = 320 if width > NARROW_PX else 260
    [chosen_x] = numbers(row.get("x") for row in rows if row["place"] == "chosen") or [across_scale.domain[0]]
    lines, align = chosen_label(recommendation, share_along(across_scale, chosen_x), width)
    top = label_height(lines)
    up_scale.range = [height, top]
    across = _position(alt.X, "x", words.response(x), across_scale)
    up = _position(alt.Y, "y", words.response(y), up_scale)
    bare = alt.Chart(the_rows()).encode(x=across, y=up)
    bars = base.mark_rule(strokeWidth=1.2, opacity=0.4)
    points = base.mark_point(filled=True, size=45, opacity=0.9).encode(
        x=across, y=up, description=alt.Description("tip:N")
    )
    ends = {axis: scale.domain for axis, scale in (("x", across_scale), ("y", up_scale))}
    told = _in_frame(_named(rows, across_scale, up_scale, (width - _AXIS_PX, height), top, deadline), ends)
    told = [row | {"tip": _tip(row, words, x, y)} for row in told]
    layers: list[Any] = [
        bars.transform_filter("isValid(datum.x_low) && isValid(datum.x_high)").encode(
            x=_position(alt.X, "x_low", words.response(x), across_scale), x2=alt.X2("x_high:Q"), y=up
        ),
        bars.transform_filter("isValid(datum.y_low) && isValid(datum.y_high)").encode(
            x=across, y=_position(alt.Y, "y_low", words.response(y), up_scale), y2=alt.Y2("y_high:Q")
        ),
        points,
        *_deadline(deadline, recommendation, x, top),
        chosen_pointer(bare, top),
        _ring(bare),
        *written(bare, told),
        chosen_text(bare, lines, align),
    ]
    return finish(alt.layer(*layers).properties(height=height), width, told)


def _position(kind: Any, column: str, response: Response, scale: Any) -> Any:
    import altair as alt

    title, ticks = (
        f"predicted {axis_title(response, scale.domain)}",
        scale_ticks(response, scale, most=8 if kind is alt.X else 5),
    )
    return kind(f"{column}:Q", title=title, scale=scale, axis=ticks)


def _in_frame(rows: Sequence[Row], ends: Mapping[str, Sequence[float]]) -> list[Row]:
    for axis, reach in ends.items():
        whole = framed([row for row in rows if axis in row], f"{axis}_low", reach, f"{axis}_high")
        rows = [*whole, *(row for row in rows if axis not in row)]
    return list(rows)


def _tip(row: Row, words: Vocabulary, *names: str) -> str:
    parts = [
        f"{plain_name(words.response(name))} {shown(words.response(name), row[axis])}"
        for axis, name in zip("xy", names, strict=False)
        if row.get(axis) is not None
    ]
    return f"{row['configuration']}: {', '.join(parts)}"


def _named(
    rows: Sequence[Row], across: Any, up: Any, frame: tuple[float, float], top: float, deadline: float | None
) -> list[Row]:
    """The rows with a `name` and the `side` of the point where it has room. The chosen one is named above all."""
    drawn = [row for row in rows if row.get("x") is not None and row.get("y") is not None]
    drawn.sort(key=lambda row: ("chosen", "runner-up", "").index(str(row["place"])))
    first = drawn[:_MOST_NAMED]
    words = {"chosen": "", "runner-up": "{} (runner-up)"}
    named = zip(names_of(first), first, strict=True)
    names = [words.get(str(row["place"]), "{}").format(name) for name, row in named]
    names += [""] * (len(drawn) - len(first))
    points = [(share_along(across, row["x"]) * frame[0], _down(up, row["y"], frame, top)) for row in drawn]
    bars = _bars(drawn, across, up, frame, top)
    line: list[Box] = []
    if deadline is not None:
        at = share_along(across, deadline) * frame[0]
        line = [(at - _LIMIT_PX, 0.0, at + _LIMIT_PX, frame[1])]
    places = sides(points, names, frame, taken=[*line, (0.0, 0.0, frame[0], top)], bars=bars)
    told: list[Row] = [row | {"name": name, "side": side} for row, name, side in zip(drawn, names, places, strict=True)]
    return [*told, *(row | {"name": "", "side": ""} for row in rows if row not in drawn)]


def _bars(rows: Sequence[Row], across: Any, up: Any, frame: tuple[float, float], top: float) -> list[Box]:
    """Where the intervals are drawn, in pixels."""
    boxes: list[Box] = []
    for row in rows:
        x, y = share_along(across, row["x"]) * frame[0], _down(up, row["y"], frame, top)
        if len(ends := numbers(row[f"x_{end}"] for end in ("low", "high"))) == 2:
            boxes.append(
                (share_along(across, ends[0]) * frame[0], y - 1, share_along(across, ends[1]) * frame[0], y + 1)
            )
        if len(ends := numbers(row[f"y_{end}"] for end in ("low", "high"))) == 2:
            boxes.append((x - 1, _down(up, ends[1], frame, top), x + 1, _down(up, ends[0], frame, top)))
    return boxes


def _down(up: Any, value: object, frame: tuple[float, float], top: float) -> float:
    """How many pixels below the upper edge a value lies."""
    return top + (1 - share_along(up, value)) * (frame[1] - top)


def share_along(scale: Any, value: object) -> float:
    """How far along a scale a value lies, from 0 to 1."""
    [at] = numbers([value])
    low, high = map(float, scale.domain)
    at = min(max(at, low), high)
    if scale.to_dict().get("type") == "log":
        low, high, at = log(low), log(high), log(at)
    return (at - low) / (high - low)


def written(base: Any, rows: Sequence[Row]) -> list[Any]:
    """The names beside their points, a layer for each side that is used; the chosen one in bold."""
    import altair as alt

    layers = []
    for side, where in SIDES.items():
        for is_chosen in (True, False):
            if any(row["side"] == side and (row["place"] == "chosen") is is_chosen for row in rows):
                here = f"datum.side == '{side}' && (datum.place == 'chosen') == {str(is_chosen).lower()}"
                weight: Any = "bold" if is_chosen else "normal"
                text = base.transform_filter(here).mark_text(color=INK, fontWeight=weight, fontSize=11, **where)
                layers.append(text.encode(text=alt.Text("name:N")))
    return layers


def _draw_list(rows: tuple[Row, ...], recommendation: Recommendation, x: str, width: int) -> Spec:
    import altair as alt

    rows, title = rows[:_MOST_LABELED], settings_title(recommendation.chosen.configuration)
    deadline, response = _deadline_on(recommendation, x), recommendation.vocabulary.response(x)
    across_scale = _scale(rows, "x", response, deadline, room=0.14 if width > NARROW_PX else 0.4)
    across = _position(alt.X, "x", response, across_scale)
    y = configuration_axis((row["configuration"] for row in rows), title)
    bare = alt.Chart(the_rows()).encode(x=across, y=y)
    edge = alt.Chart(the_rows()).encode(x=alt.value("width"), y=y)  # clear of bars and of the deadline
    words: dict[str, Any] = {"chosen": "bold", "runner-up": "normal"}
    base = alt.Chart(the_rows()).encode(y=y, color=_color(rows, recommendation, width))
    bars = base.transform_filter("isValid(datum.x_low) && isValid(datum.x_high)").mark_rule(strokeWidth=2, opacity=0.5)
    layers: list[Any] = [
        bars.encode(x=_position(alt.X, "x_low", response, across_scale), x2=alt.X2("x_high:Q")),
        base.mark_point(filled=True, size=55, opacity=1).encode(x=across),
        _ring(bare),
        *(_word(edge, place, align="right", dx=-4, fontWeight=weight) for place, weight in words.items()),
        *_deadline(deadline, recommendation, x),
    ]
    whole = _in_frame(rows, {"x": across_scale.domain})
    return finish(alt.layer(*layers).properties(height=alt.Step(28)), width, whole)


def _ring(base: Any) -> Any:
    return base.transform_filter("datum.place == 'chosen'").mark_point(
        size=230, filled=False, color=GREEN, strokeWidth=2.5, opacity=1
    )


def _word(base: Any, place: str, **where: Any) -> Any:
    import altair as alt

    return (
        base.transform_filter(f"datum.place == '{place}'")
        .mark_text(color=INK, **where)
        .encode(text=alt.Text("place:N"))
    )


def chosen_label(recommendation: Recommendation, share: float, width: int) -> tuple[list[str], str]:
    """The chosen settings in lines that fit, and on which side of the point they stand."""
    room = width - _AXIS_PX
    align = "left" if share < 1 / 3 else "right" if share > 2 / 3 else "center"
    letters = {"left": 1 - share, "right": share, "center": 2 * min(share, 1 - share)}[align] * room / _LETTER_PX
    text = f"chosen: {recommendation.chosen.configuration}"
    return wrap(text, int(letters), max_lines=_MOST_LINES, placeholder=" …"), align


def label_height(lines: Sequence[str]) -> float:
    """What is left free above all points for the label of the chosen one, which so covers none."""
    return _LINE_PX * len(lines) + 8


def chosen_text(base: Any, lines: Sequence[str], align: str) -> Any:
    import altair as alt

    marked = base.transform_filter("datum.place == 'chosen'")
    options: dict[str, Any] = {"align": align, "baseline": "top", "fontWeight": "bold", "lineHeight": _LINE_PX}
    text = marked.mark_text(color=INK, lineBreak="\n", **options)
    return text.encode(y=alt.value(0), text=alt.value("\n".join(lines)))


def chosen_pointer(base: Any, top: float) -> Any:
    """From the label to its point."""
    import altair as alt

    marked = base.transform_filter("datum.place == 'chosen'")
    return marked.mark_rule(color=GREEN, strokeWidth=1).encode(y2=alt.value(top - 5))


def _deadline(value: float | None, recommendation: Recommendation, x: str, top: float = 0.0) -> list[Any]:
    """A line that the legend explains, below what is written above all points."""
    import altair as alt

    limit = next((one for one in recommendation.limits if one.response == x and one.value == value), None)
    if limit is None:
        return []
    name = limit_words(limit, recommendation.vocabulary)
    rule = alt.Chart(inline([{"deadline": value, "limit": name}])).mark_rule(color=RED, strokeWidth=2)
    dash = alt.StrokeDash(
        "limit:N",
        title=None,
        scale=alt.Scale(domain=[name], range=[[7, 4]]),
        legend=alt.Legend(symbolType="stroke", symbolStrokeColor=RED, symbolStrokeWidth=2),
    )
    below: dict[str, Any] = {"y": alt.value(top), "y2": alt.value("height")} if top else {}
    return [rule.encode(x=alt.X("deadline:Q"), strokeDash=dash, **below)]


def _color(rows: Sequence[Row], recommendation: Recommendation, width: int) -> Any:
    import altair as alt

    if not recommendation.limits:
        return alt.value(BLUE)
    both = verdicts(recommendation)
    kinds = [kind for kind in both if any(row["kind"] == kind for row in rows)]
    return alt.Color(
        "kind:N",
        title=None,
        sort=kinds,
        scale=alt.Scale(domain=list(both), range=[BLUE, ORANGE]),
        legend=alt.Legend(values=kinds, columns=1 if width <= NARROW_PX else 2),
    )


def _scale(rows: Sequence[Row], axis: str, response: Response, deadline: float | None, *, room: float = 0.0) -> Any:
    """From the points with their intervals and the deadline; `room` for words."""
    points = numbers(row.get(axis) for row in rows)
    bounds = numbers(row.get(f"{axis}_{side}") for row in rows for side in ("low", "high"))
    scale = whole_scale(response, points, [*bounds, *([] if deadline is None else [deadline])])
    low, high = scale.domain
    is_log = scale.to_dict().get("type") == "log"
    scale.domain = [low, high * (high / low) ** room if is_log else high + room * (high - low)]
    return scale
