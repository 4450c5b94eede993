"""The configurations a recommendation chose from."""

from collections.abc import Sequence
from typing import Any

from sparkcast.recommend import Candidate, Limit, Recommendation
from sparkcast.report.figures._figure import NARROW_PX, Figure, Row, Section, Spec, figure
from sparkcast.report.figures._style import (
    BLUE,
    GREEN,
    INK,
    ORANGE,
    RED,
    configuration_axis,
    domain,
    finish,
    inline,
    numbers,
    the_rows,
    within_reach,
)
from sparkcast.report.labels import (
    axis_title,
    finite,
    plain_name,
    settings_title,
    short_settings,
    show_percent,
    show_value,
)
from sparkcast.study import Kind, Response, Vocabulary
from sparkcast.units import show_seconds

_MOST_POINTS = 1000
_MOST_LABELLED = 16  # candidates with a line of their own


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
    """What is said of a candidate that keeps to the limits with the wanted confidence, and of one that does not."""
    kept = recommendation.limits
    if [limit.response for limit in kept] == [recommendation.vocabulary.time]:
        return "meets the deadline", "too likely to miss it"
    if len(kept) == 1:
        return "keeps to the limit", "too likely to break it"
    return ("keeps to the limits", "too likely to break one") if kept else ("", "")


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
    line = "" if within is None or x != words.time else f" The red line is the deadline, {show_seconds(within)}."
    level = next(p.level for p in recommendation.chosen.predictions if p.response == x)
    return figure(
        "candidates",
        Section.CHOICE,
        f"The choice: {plain_name(words.response(y))} against {plain_name(words.response(x))}"
        if y
        else f"The choice: {plain_name(words.response(x))}",
        f"One point per configuration, with {show_percent(level)} intervals for its next run.{line}"
        + _first_of(recommendation, len(rows) if y else min(len(rows), _MOST_LABELLED)),
        rows,
        lambda width: (
            _draw_plane(rows, recommendation, x, y, width) if y else _draw_list(rows, recommendation, x, width)
        ),
        heads={"configuration": settings_title(recommendation.chosen.configuration)} | _heads(x, y, words),
    )


def _first_of(recommendation: Recommendation, shown: int) -> str:
    total = max(recommendation.n_candidates, len(recommendation.candidates))
    return f" Shown: the first {shown:,} of {total:,} candidates." if shown < total else ""


def candidate_rows(recommendation: Recommendation, x: str, y: str) -> tuple[Row, ...]:
    """One row per candidate, best first; columns x and y hold the two responses, each with its interval."""
    listed = (recommendation.candidates or (recommendation.chosen,))[:_MOST_POINTS]
    return tuple(_row(recommendation, candidate, x, y) for candidate in listed)


def _row(recommendation: Recommendation, candidate: Candidate, x: str, y: str) -> Row:
    meets, misses = verdicts(recommendation)
    row: Row = {
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
    base = alt.Chart(the_rows()).encode(color=_colour(rows, recommendation, width))
    words = recommendation.vocabulary
    across_scale = _scale(rows, "x", words.response(x), deadline)
    up_scale = _scale(rows, "y", words.response(y), None)
    across = alt.X("x:Q", title=f"predicted {axis_title(recommendation.vocabulary.response(x))}", scale=across_scale)
    up = alt.Y("y:Q", title=f"predicted {axis_title(recommendation.vocabulary.response(y))}", scale=up_scale)
    bare = alt.Chart(the_rows()).encode(x=across, y=up)
    bars = base.mark_rule(strokeWidth=1.2, opacity=0.4, clip=True)
    points = base.mark_point(filled=True, size=45, opacity=0.9).encode(x=across, y=up)
    layers: list[Any] = [
        bars.transform_filter("isValid(datum.x_low) && isValid(datum.x_high)").encode(
            x=alt.X("x_low:Q", scale=across_scale), x2="x_high:Q", y=up
        ),
        bars.transform_filter("isValid(datum.y_low) && isValid(datum.y_high)").encode(
            x=across, y=alt.Y("y_low:Q", scale=up_scale), y2="y_high:Q"
        ),
        points,
        _ring(bare),
        _word(bare, "chosen", dy=-19, fontWeight="bold"),
        _word(bare, "runner-up", **_beside_the_runner_up(rows, up_scale.to_dict()["domain"])),
        *_deadline(deadline),
    ]
    return finish(alt.layer(*layers).properties(height=320 if width > NARROW_PX else 260), width, rows)


def _beside_the_runner_up(rows: Sequence[Row], ends: Sequence[float]) -> dict[str, Any]:
    """Below, so that two neighbours do not write over one another; to the right when the axis is too near for that."""
    heights = numbers(row.get("y") for row in rows if row["place"] == "runner-up")
    is_low = any(height - ends[0] < 0.1 * (ends[1] - ends[0]) for height in heights)
    return {"align": "left", "dx": 14} if is_low else {"dy": 19}


def _draw_list(rows: tuple[Row, ...], recommendation: Recommendation, x: str, width: int) -> Spec:
    import altair as alt

    rows, title = rows[:_MOST_LABELLED], settings_title(recommendation.chosen.configuration)
    deadline, response = _deadline_on(recommendation, x), recommendation.vocabulary.response(x)
    across_scale = _scale(rows, "x", response, deadline, room=0.14 if width > NARROW_PX else 0.4)
    across = alt.X("x:Q", title=f"predicted {axis_title(response)}", scale=across_scale)
    y = configuration_axis((row["configuration"] for row in rows), title)
    bare = alt.Chart(the_rows()).encode(x=across, y=y)
    edge = alt.Chart(the_rows()).encode(x=alt.value("width"), y=y)  # clear of bars and of the deadline
    words: dict[str, Any] = {"chosen": "bold", "runner-up": "normal"}
    base = alt.Chart(the_rows()).encode(y=y, color=_colour(rows, recommendation, width))
    bars = base.transform_filter("isValid(datum.x_low) && isValid(datum.x_high)").mark_rule(
        strokeWidth=2, opacity=0.5, clip=True
    )
    layers: list[Any] = [
        bars.encode(x=alt.X("x_low:Q", scale=across_scale), x2="x_high:Q"),
        base.mark_point(filled=True, size=55, opacity=1).encode(x=across),
        _ring(bare),
        *(_word(edge, place, align="right", dx=-4, fontWeight=weight) for place, weight in words.items()),
        *_deadline(deadline),
    ]
    return finish(alt.layer(*layers).properties(height=alt.Step(28)), width, rows)


def _ring(base: Any) -> Any:
    return base.transform_filter("datum.place == 'chosen'").mark_point(
        size=230, filled=False, color=GREEN, strokeWidth=2.5, opacity=1
    )


def _word(base: Any, place: str, **where: Any) -> Any:
    return base.transform_filter(f"datum.place == '{place}'").mark_text(color=INK, **where).encode(text="place:N")


def _deadline(within_s: float | None) -> list[Any]:
    import altair as alt

    if within_s is None:
        return []
    rule = alt.Chart(inline([{"deadline": within_s}])).mark_rule(color=RED, strokeWidth=2, strokeDash=[7, 4])
    return [rule.encode(x="deadline:Q")]


def _colour(rows: Sequence[Row], recommendation: Recommendation, width: int) -> Any:
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
    """From the points, the deadline, and those interval ends that do not stretch the picture; `room` for words."""
    import altair as alt

    points = numbers(row.get(axis) for row in rows)
    ends = within_reach(points, numbers(row.get(f"{axis}_{side}") for row in rows for side in ("low", "high")))
    low, high = domain(response, [*points, *ends, deadline])
    return alt.Scale(domain=[low, high + room * (high - low)], nice=False)
