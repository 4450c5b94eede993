"""What the model leaves: four pictures of one thing, each of which shows another way in which it can go wrong."""

from collections import Counter
from collections.abc import Iterable
from itertools import pairwise
from math import floor, isfinite
from statistics import NormalDist
from typing import Any

from sparkcast.analysis import Analysis
from sparkcast.report.figures._figure import Figure, FigureSection, Row, Spec, figure, thinned
from sparkcast.report.figures._style import (
    BLUE,
    GRAY,
    ORANGE,
    finish,
    inline,
    numbers,
    panel_title,
    panels,
    the_rows,
    value_ticks,
)
from sparkcast.report.labels import axis_title, plain_name
from sparkcast.study import Response

_MANY = 60  # residuals; from here on narrower bars of the histogram hold enough each
_MOST_BARS = 40
# A thousand points that describe themselves would make the page several times as long.
_DOT: dict[str, Any] = {"filled": True, "size": 28, "opacity": 0.6, "color": BLUE, "aria": False}


def residual_panels(analysis: Analysis) -> Figure | None:
    """Residuals against prediction, normal quantiles and run order, and their histogram; None without residuals."""
    rows = residual_rows(analysis)
    if not rows or _is_exact(analysis):
        return None
    predicted, residual = scale_titles(analysis)
    return figure(
        f"residuals-{analysis.response}",
        FigureSection.CHECKS,
        f"Residuals of the {plain_name(analysis.meaning)}",
        "What good looks like: against the prediction, a level band without a funnel or a bend; in the Q-Q "
        "plot points along "
        "the line; a histogram with the shape of the orange curve; in run order a band without drift or waves. "
        "Dashed gray: no error, and in the Q-Q plot where normal residuals lie."
        f"{thinned(len(rows), analysis.n, 'runs')}",
        rows,
        lambda width: _draw_residuals(rows, analysis, width),
        response=analysis.response,
        heads={
            "order": "run order",
            "fitted": predicted,
            "residual": residual,
            "standardized": "standardized residual",
            "quantile": "normal quantile",
        },
        values={} if analysis.transform != "none" else dict.fromkeys(("fitted", "residual"), analysis.meaning),
    )


def residual_rows(analysis: Analysis) -> tuple[Row, ...]:
    """One row per run; a run that a term of its own fits exactly may have no standardized residual, and is left out."""
    return tuple(
        {
            "order": point.order,
            "fitted": point.fitted,
            "residual": point.residual,
            "standardized": point.standardized,
            "quantile": point.quantile,
        }
        for point in analysis.residuals
        if isfinite(point.fitted) and isfinite(point.standardized)
    )


def _is_exact(analysis: Analysis) -> bool:
    """Whether nothing is left but rounding error, which has a picture but no meaning."""
    size = max(abs(point.fitted) for point in analysis.residuals)
    return all(abs(point.residual) <= 1e-9 * size for point in analysis.residuals)


def scale_titles(analysis: Analysis, values: Iterable[object] = ()) -> tuple[str, str]:
    """Titles for prediction and residual, on the scale of the model: a logarithm has not the response's unit."""
    if analysis.transform == "none":
        title = axis_title(analysis.meaning, values)
        return f"predicted {title}", f"residual {title}"
    scale = analysis.formula.partition(" ~ ")[0]
    return f"predicted {scale}", f"residual of {scale}"


def histogram_rows(rows: tuple[Row, ...]) -> tuple[Row, ...]:
    """How many standardized residuals fall into each bar, and how many would if they were normal."""
    values = numbers(row["standardized"] for row in rows)
    width = 0.5 if len(values) >= _MANY else 1.0
    while (max(values) - min(values)) / width > _MOST_BARS:
        width *= 2
    counts = Counter(floor(value / width + 0.5) for value in values)  # the middle bar has 0 in its middle
    # From -3 to 3 at least: a bar that is missing there says something too.
    least = round(3 / width)
    edges = [(place - 0.5) * width for place in range(min(*counts, -least), max(*counts, least) + 2)]
    share = NormalDist().cdf
    return tuple(
        {
            "low": low,
            "high": high,
            "runs": counts[floor(low / width + 1)],
            "expected": len(values) * (share(high) - share(low)),
        }
        for low, high in pairwise(edges)
    )


def _draw_residuals(rows: tuple[Row, ...], analysis: Analysis, width: int) -> Spec:
    import altair as alt

    values = [row["fitted"] for row in rows]
    predicted, residual = scale_titles(analysis, values)
    meaning = analysis.meaning if analysis.transform == "none" else Response("transformed")
    y = alt.Y("residual:Q", title=residual, scale=alt.Scale(zero=False), axis=value_ticks(meaning, values))
    ticks = value_ticks(meaning, values, tickCount=5)
    fitted = alt.X("fitted:Q", title=predicted, scale=alt.Scale(zero=False), axis=ticks)
    charts = [_scatter(fitted, y, "Against the prediction"), _quantiles(rows), _histogram(rows)]
    # Runs that do not know their place in time have none to be shown at.
    if len({row["order"] for row in rows}) > 1:
        scale = alt.Scale(zero=False, nice=False, padding=8)
        order = alt.X("order:Q", title="run order", scale=scale, axis=alt.Axis(format="d", tickCount=5))
        charts.append(_scatter(order, y, "In run order"))
    return finish(panels(charts, width, most=2), width, rows)


def _scatter(x: Any, y: Any, title: str) -> Any:
    import altair as alt

    points = alt.Chart(the_rows()).mark_point(**_DOT).encode(x=x, y=y)
    zero = alt.Chart(inline([{"residual": 0}])).mark_rule(color=GRAY, strokeDash=[5, 4], strokeWidth=1.5)
    return alt.layer(zero.encode(y=alt.Y("residual:Q")), points, title=panel_title(title))


def _quantiles(rows: tuple[Row, ...]) -> Any:
    import altair as alt

    ends = numbers(row["quantile"] for row in rows)
    line = alt.Chart(inline({"quantile": end, "standardized": end} for end in (min(ends), max(ends))))
    x = alt.X("quantile:Q", title="normal quantile", scale=alt.Scale(zero=False), axis=alt.Axis(tickCount=5))
    y = alt.Y("standardized:Q", title="standardized residual", scale=alt.Scale(zero=False))
    points = alt.Chart(the_rows()).mark_point(**_DOT)
    dashes = line.mark_line(color=GRAY, strokeDash=[5, 4], strokeWidth=1.5)
    return alt.layer(dashes.encode(x=x, y=y), points.encode(x=x, y=y), title=panel_title("Normal Q-Q"))


def _histogram(rows: tuple[Row, ...]) -> Any:
    import altair as alt

    base = alt.Chart(inline(histogram_rows(rows)))
    x = alt.X("low:Q", title="standardized residual", scale=alt.Scale(nice=False, zero=False))
    bars = base.mark_bar(color=BLUE, opacity=0.75, binSpacing=1).encode(
        x=x,
        x2=alt.X2("high:Q"),
        y=alt.Y("runs:Q", title="runs", axis=alt.Axis(format="d", tickMinStep=1)),
        y2=alt.Y2Datum(0),
    )
    curve = base.transform_calculate(middle="(datum.low + datum.high) / 2").mark_line(
        color=ORANGE, strokeWidth=2, interpolate="monotone"
    )
    return alt.layer(bars, curve.encode(x=alt.X("middle:Q"), y=alt.Y("expected:Q")), title=panel_title("Histogram"))
