"""What more runs would bring: the error against the number of training configurations."""

import sys
from collections.abc import Sequence
from typing import Any

from sparkcast.report.figures._figure import NARROW_PX, Figure, FigureSection, Row, Spec, figure
from sparkcast.report.figures._frame import at_the_edge, framed, is_wide
from sparkcast.report.figures._style import BLUE, GRAY, finish, inline, numbers, only, panel_title, panels, the_rows
from sparkcast.report.labels import plain_name
from sparkcast.units import show_percent
from sparkcast.validate.learning import LearningCurve, LearningPoint

_LEAST_PERCENT = 0.1  # below, an error is as good as none, and its logarithm would rule the picture
_TICKS = (0.1, 0.2, 0.5, 1, 2, 5, 10, 20, 50, 100, 200, 500, 1000)  # where an axis is logarithmic
_ERROR = "mean error on the others (%)"
_FURTHEST_PERCENT = 1000.0  # models that extrapolate from a few runs can be wrong by any factor


def error_curve(curve: LearningCurve) -> Figure | None:
    """A panel per model with the range of the draws, above the noise floor; None when no model could learn."""
    rows = error_curve_rows(curve)
    if not rows:
        return None
    floor = curve.noise_floor_mape
    edge = at_the_edge(framed(rows, "mape", _ends(rows, floor)), "errors")
    noise = (
        " Dashed: the noise floor, the error of a model that knows the mean of every configuration "
        f"({show_percent(floor / 100, 3)})."
        if floor is not None
        else ""
    )
    missing = len({model for model, _, _ in curve.refused})
    left_out = f" {missing} of the models cannot handle some sizes and have no point there." if missing else ""
    return figure(
        f"learning-curve-{curve.response}",
        FigureSection.TRUST,
        f"Error in predicting the {plain_name(curve.meaning)} by number of configurations",
        f"Models were trained on some of {curve.n_configurations} configurations and tested on the others; lines are "
        f"means of {curve.repeats} random draws, bands reach from the best to the worst of them. A line that is "
        f"still falling at its end means that more runs will help.{noise}{left_out}{edge}",
        rows,
        lambda width: _draw_error_curve(rows, floor, width),
        response=curve.response,
        heads={"size": "training configurations", "mape": "mean error (%)"},
    )


def error_curve_rows(curve: LearningCurve) -> tuple[Row, ...]:
    """By model, that with the smallest error in the end first."""
    last = {point.model: (-point.n_configurations, point.mape) for point in sorted(curve.points, key=_size)}
    points = sorted(curve.points, key=lambda point: (*last[point.model], point.model, point.n_configurations))
    return tuple(
        {
            "model": point.model,
            "size": point.n_configurations,
            "mape": min(point.mape, sys.float_info.max),
            "low": min(point.low, sys.float_info.max),
            "high": min(point.high, sys.float_info.max),
            "draws": point.n_draws,
        }
        for point in points
    )


def _size(point: LearningPoint) -> int:
    return point.n_configurations


def _ends(rows: Sequence[Row], floor: float | None) -> list[float]:
    errors = numbers(row[column] for row in rows for column in ("mape", "low", "high"))
    shown = [error for error in errors if error <= _FURTHEST_PERCENT] or [min(errors)]
    known = shown if floor is None else [*shown, floor]
    if min(known) >= _LEAST_PERCENT and is_wide(known):
        return [min(known) / 1.15, max(known) * 1.15]
    return [0.0, max(*known, _LEAST_PERCENT) * 1.06]


def _draw_error_curve(rows: tuple[Row, ...], floor: float | None, width: int) -> Spec:
    import altair as alt

    ends = _ends(rows, floor)
    sizes = sorted({int(size) for size in numbers(row["size"] for row in rows)})
    y_scale = alt.Scale(type="log" if ends[0] else "linear", domain=ends, nice=False)
    is_long = is_wide([float(size) for size in sizes])
    reach = [sizes[0], sizes[-1]] if sizes[0] < sizes[-1] else [sizes[0] - 1, sizes[0] + 1]
    x_scale = alt.Scale(type="log" if is_long else "linear", domain=reach, zero=False, nice=False, padding=14)
    x = alt.X(
        "size:Q",
        title="training configurations (number)",
        scale=x_scale,
        axis=alt.Axis(values=sizes, format="d", grid=False),
    )
    ticks = [tick for tick in _TICKS if ends[0] <= tick <= ends[1]]
    y_axis = alt.Axis(values=ticks, format="~g") if ends[0] else alt.Axis()
    y = alt.Y("mape:Q", title=_ERROR, scale=y_scale, axis=y_axis)
    low = alt.Y("low:Q", title=_ERROR, scale=y_scale, axis=y_axis)
    names = list(dict.fromkeys(str(row["model"]) for row in rows))
    charts = [_panel(name, x, y, low, floor) for name in names]
    drawn = framed(rows, "mape", ends, "low", "high")
    if len(charts) == 1:
        return finish(charts[0].properties(height=300 if width > NARROW_PX else 240), width, drawn)
    titled = [chart.properties(title=panel_title(name)) for chart, name in zip(charts, names, strict=True)]
    return finish(panels(titled, width), width, drawn)


def _panel(model: str, x: Any, y: Any, low: Any, floor: float | None) -> Any:
    """The line of one model with its band: several bands in one frame would hide each other."""
    import altair as alt

    base = alt.Chart(the_rows()).transform_filter(only(model, "model")).encode(x=x, color=alt.value(BLUE))
    layers = [
        base.mark_area(opacity=0.18).encode(y=low, y2=alt.Y2("high:Q")),
        base.mark_line(strokeWidth=2.2).encode(y=y),
        base.mark_point(filled=True, size=50, opacity=1).encode(
            y=y, shape=alt.Shape("shape:N", scale=None, legend=None)
        ),
    ]
    if floor is not None:
        noise = alt.Chart(inline([{"mape": floor, "text": f"noise floor {show_percent(floor / 100, 3)}"}])).encode(y=y)
        layers.append(noise.mark_rule(color=GRAY, strokeDash=[5, 4], strokeWidth=1.5))
        # On the left, where errors are large and the line is free.
        words = noise.mark_text(align="left", baseline="bottom", dy=-3, dx=4)
        layers.append(words.encode(text=alt.Text("text:N"), x=alt.value(0)))
    return alt.layer(*layers)
