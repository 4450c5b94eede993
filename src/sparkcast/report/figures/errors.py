"""Where a model errs: the relative error of each prediction against what was predicted and against each setting."""

from collections.abc import Sequence
from math import isclose
from typing import Any

from sparkcast.report.figures._figure import Figure, FigureSection, Row, Spec, figure, thin, thinned
from sparkcast.report.figures._frame import at_the_edge, framed, is_wide
from sparkcast.report.figures._style import (
    BLUE,
    GRAY,
    ORANGE,
    finish,
    inline,
    kind_color,
    level_axis,
    numbers,
    only,
    panel_title,
    panels,
    scale_ticks,
    the_rows,
    value_scale,
)
from sparkcast.report.labels import axis_title, finite, ordered, plain_name
from sparkcast.study import Level, Setting
from sparkcast.units import as_number, show_percent
from sparkcast.validate import LARGE_ERROR, Scorecard, TestedRun, Validation

_MOST_RUNS = 1000
_MOST_PLACES = 12  # levels that have a place of their own on an axis
_FURTHEST = 150.0  # percent; what is missed by more stands at the edge
_BOUND = show_percent(LARGE_ERROR / 100)
_SMALL, _LARGE = f"off by less than {_BOUND}", f"off by {_BOUND} or more"


def prediction_errors(validation: Validation, factors: Sequence[str], *, model: str | None = None) -> Figure | None:
    """The errors of one model, the best unless named, in percent of what was measured; None without such errors.

    One panel against the prediction, and one against each of `factors` that has several levels.
    """
    cards = [card for card in validation.scorecards if model in (None, card.model)]
    runs = [run for run in cards[0].runs if run.actual] if cards else []
    if not runs:
        return None
    card, shown = cards[0], thin(runs, _MOST_RUNS)
    drawn = [name for name in factors if _can_be_drawn({run.configuration[name] for run in runs})]
    rows = error_rows(shown, drawn)
    one_panel = framed([row for row in rows if row["factor"] is None], "error", _ends(rows))
    return figure(
        f"errors-{validation.response}-{card.model}",
        FigureSection.TRUST,
        f"Where {card.model} is wrong about the {plain_name(validation.meaning)}",
        f"One point per tested run (protocol {validation.protocol}): above 0 the prediction was too high. Dotted: "
        f"{_BOUND} off; {show_percent(card.large_errors / 100)} of the runs are at least that far off. A level "
        "band is good; a "
        f"slope or a bend against a setting is something the model has missed."
        f"{at_the_edge(one_panel, 'errors')}{thinned(len(shown), len(runs), 'runs')}",
        rows,
        lambda width: _draw_errors(rows, card, drawn, validation, width),
        response=validation.response,
        heads={"error": "error of the prediction (%)", "level": "setting, or prediction"},
    )


def error_rows(runs: Sequence[TestedRun], factors: Sequence[str]) -> tuple[Row, ...]:
    """One row per run and panel; `factor` is None where `level` is the prediction itself."""
    errors = [100 * (run.predicted - run.actual) / abs(run.actual) for run in runs]
    return tuple(
        {
            "factor": factor,
            "level": finite(run.predicted) if factor is None else run.configuration[factor],
            "error": finite(error),
            "large": abs(error) > LARGE_ERROR or isclose(abs(error), LARGE_ERROR),
            "configuration": str(run.configuration),
            "replicate": run.replicate,
            "order": number,
        }
        for factor in (None, *factors)
        for number, (run, error) in enumerate(zip(runs, errors, strict=True), start=1)
    )


def _can_be_drawn(levels: set[Level]) -> bool:
    return len(levels) > 1 and (len(levels) <= _MOST_PLACES or _are_numbers(levels))


def _are_numbers(levels: set[Level]) -> bool:
    return all(as_number(level) is not None for level in levels)


def _ends(rows: Sequence[Row]) -> list[float]:
    """The bounds of large errors are always in sight, with some air."""
    errors = numbers(row["error"] for row in rows)
    low, high = min(*errors, -LARGE_ERROR), max(*errors, LARGE_ERROR)
    return [max(1.1 * low, -_FURTHEST), min(1.1 * high, _FURTHEST)]


def _draw_errors(
    rows: Sequence[Row], card: Scorecard, factors: Sequence[str], validation: Validation, width: int
) -> Spec:
    import altair as alt

    ends = _ends(rows)
    told = [{**row, "kind": _LARGE if row["large"] else _SMALL, "place": as_number(row["level"])} for row in rows]
    scale = alt.Scale(domain=ends, nice=False)
    predicted = numbers(row["level"] for row in rows if row["factor"] is None)
    along = value_scale(validation.meaning, predicted, log=is_wide(predicted))
    x = alt.X(
        "place:Q",
        title=f"predicted {axis_title(validation.meaning, predicted)}",
        scale=along,
        axis=scale_ticks(validation.meaning, along, most=4, tickCount=4),
    )
    charts = [_panel("datum.factor === null", x, scale, width, title="Against the prediction")]
    for factor in factors:
        levels = ordered({run.configuration[factor]: None for run in card.runs})
        x = _factor_axis(validation.vocabulary.setting(factor), levels)
        charts.append(_panel(only(factor), x, scale, width, title=f"Against {factor}"))
    drawn = panels(charts, width).resolve_scale(xOffset="independent")
    return finish(drawn, width, framed(told, "error", ends))


def _factor_axis(factor: Setting, levels: Sequence[Level]) -> Any:
    import altair as alt

    if len(levels) <= _MOST_PLACES:
        return level_axis(factor, levels, gap=0.3)
    places = numbers(as_number(level) for level in levels)
    kind: Any = "log" if is_wide(places) else "linear"
    scale = alt.Scale(type=kind, zero=False, nice=False, padding=8)
    return alt.X("place:Q", title=axis_title(factor), scale=scale, axis=alt.Axis(tickCount=4))


def _panel(condition: str, x: Any, scale: Any, width: int, *, title: str) -> Any:
    import altair as alt

    y = alt.Y("error:Q", title="error (%)", scale=scale)
    base = alt.Chart(the_rows()).transform_filter(condition)
    points = base.mark_point(filled=True, size=28, opacity=0.6, aria=False).encode(
        x=x,
        y=y,
        color=kind_color({_SMALL: BLUE, _LARGE: ORANGE}, width),
        shape=alt.Shape("shape:N", scale=None, legend=None),
    )
    if x.shorthand == "level:O":
        points = points.encode(xOffset=alt.XOffset("order:Q"))
    zero = alt.Chart(inline([{"error": 0}])).mark_rule(color=GRAY, strokeWidth=1.5)
    bounds = alt.Chart(inline({"error": side * LARGE_ERROR} for side in (-1, 1))).mark_rule(
        color=GRAY, strokeDash=[2, 3], strokeWidth=1.5
    )
    return alt.layer(zero.encode(y=y), bounds.encode(y=y), points, title=panel_title(title))
