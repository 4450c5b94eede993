"""How far predictions can be trusted: what was predicted for runs that the model had not seen."""

from collections.abc import Sequence
from typing import Any

from sparkcast.report.figures._figure import Figure, FigureSection, Row, Spec, figure, thin, thinned
from sparkcast.report.figures._frame import at_the_edge, cut_off, framed, whole_scale
from sparkcast.report.figures._style import (
    BLUE,
    GRAY,
    ORANGE,
    finish,
    inline,
    kind_color,
    numbers,
    only,
    panel_title,
    panels,
    scale_ticks,
    shown,
    the_rows,
)
from sparkcast.report.labels import axis_title, finite, listing, plain_name
from sparkcast.study import Response
from sparkcast.units import show_level, show_percent
from sparkcast.validate import Scorecard, Validation

_MOST_RUNS = 1000
_MANY = 200  # runs in one panel; from here on marks are small and faint, or they would hide each other
_INSIDE, _OUTSIDE = "inside its interval", "outside its interval"


def predicted_vs_actual(validation: Validation, *, most: int = 1) -> Figure | None:
    """Predictions of unseen runs against what happened, a panel for each of the best models; None without a model."""
    best = validation.scorecards[:most]
    if not best:
        return None
    rows = tuple(row for card in best for row in tested_rows(card))
    if not numbers(row["measured"] for row in rows):
        return None
    response = validation.meaning
    every = [run for card in best for run in card.runs]
    inside = [f"{sum(run.low <= run.actual <= run.high for run in card.runs)} ({card.model})" for card in best]
    counted = inside[0].partition(" ")[0] if len(best) == 1 else listing(inside)
    return figure(
        f"predicted-vs-actual-{response.name}",
        FigureSection.TRUST,
        f"Predicted against measured {plain_name(response)}",
        f"Each run was predicted by {listing([card.model for card in best])} without its configuration in the "
        f"training data (protocol {validation.protocol}). On the dashed line the prediction is exact; bars are "
        f"{show_level(validation.level)} intervals, and {counted} of {len(best[0].runs)} runs landed inside theirs."
        f"{at_the_edge(framed(rows, 'predicted', _ends(rows, response)), 'predictions')}"
        f"{cut_off(rows, _ends(rows, response), 'low', 'high')}"
        f"{thinned(len(rows), len(every), 'runs')}",
        rows,
        lambda width: _draw_predicted_vs_actual(rows, best, response, width),
        response=response.name,
        heads={side: f"{side} {axis_title(response)}" for side in ("measured", "predicted")},
        values=dict.fromkeys(("measured", "predicted", "low", "high"), response),
    )


def tested_rows(card: Scorecard) -> tuple[Row, ...]:
    return tuple(
        {
            "model": card.model,
            "configuration": str(run.configuration),
            "replicate": run.replicate,
            "measured": finite(run.actual),
            "predicted": finite(run.predicted),
            "low": finite(run.low),
            "high": finite(run.high),
            "inside": run.low <= run.actual <= run.high,
        }
        for run in thin(card.runs, _MOST_RUNS)
    )


def _scale(rows: Sequence[Row], response: Response) -> Any:
    """One scale for both axes and all panels: the diagonal runs from corner to corner, and panels can be compared."""
    measured = numbers(row["measured"] for row in rows)
    return whole_scale(response, measured, numbers(row[side] for row in rows for side in ("predicted", "low", "high")))


def _ends(rows: Sequence[Row], response: Response) -> list[float]:
    ends: list[float] = _scale(rows, response).domain
    return ends


def _draw_predicted_vs_actual(rows: tuple[Row, ...], best: Sequence[Scorecard], response: Response, width: int) -> Spec:
    ends = _ends(rows, response)
    told = [{**row, "kind": _INSIDE if row["inside"] else _OUTSIDE, "tip": _tip(row, response)} for row in rows]
    drawn = framed(told, "predicted", ends, "low", "high")
    charts = [_diagonal_panel(card.model, rows, response, width) for card in best]
    if len(charts) == 1:
        return finish(charts[0].properties(height=min(width, 480) * 3 // 4), min(width, 520), drawn)
    titled = [
        chart.properties(title=panel_title(card.model, f"MAPE {show_percent(card.mape / 100, 3)}"))
        for chart, card in zip(charts, best, strict=True)
    ]
    return finish(panels(titled, width), width, drawn)


def _tip(row: Row, response: Response) -> str:
    told = f"measured {shown(response, row['measured'])}, predicted {shown(response, row['predicted'])}"
    return f"{row['configuration']}: {told} ({shown(response, row['low'])} to {shown(response, row['high'])})"


def _diagonal_panel(model: str, rows: Sequence[Row], response: Response, width: int) -> Any:
    import altair as alt

    scale = _scale(rows, response)
    title, ticks = axis_title(response, scale.domain), scale_ticks(response, scale, most=4, tickCount=5)
    base = (
        alt.Chart(the_rows())
        .transform_filter(only(model, "model"))
        .encode(
            x=alt.X("measured:Q", title=f"measured {title}", scale=scale, axis=ticks),
            description=alt.Description("tip:N"),
            color=kind_color({_INSIDE: BLUE, _OUTSIDE: ORANGE}, width),
        )
    )
    y = alt.Y("predicted:Q", title=f"predicted {title}", scale=scale, axis=ticks)
    is_crowded = sum(row["model"] == model for row in rows) > _MANY
    bars = base.transform_filter("isValid(datum.low) && isValid(datum.high)").mark_rule(
        strokeWidth=1 if is_crowded else 1.5, opacity=0.2 if is_crowded else 0.55
    )
    # A thousand points that describe themselves would make the file several times as long.
    dots = base.mark_point(
        filled=True, size=18 if is_crowded else 45, opacity=0.6 if is_crowded else 0.9, aria=not is_crowded
    )
    corner = alt.Chart(inline({"measured": end, "predicted": end} for end in scale.domain))
    diagonal = corner.mark_line(color=GRAY, strokeDash=[5, 4], strokeWidth=1.5).encode(x=_plain("measured", scale), y=y)
    low = alt.Y("low:Q", scale=scale, title=f"predicted {title}", axis=ticks)
    points = dots.encode(y=y, shape=alt.Shape("shape:N", scale=None, legend=None))
    return alt.layer(diagonal, bars.encode(y=low, y2=alt.Y2("high:Q")), points)


def _plain(column: str, scale: Any) -> Any:
    import altair as alt

    return alt.X(column, type="quantitative", scale=scale)
