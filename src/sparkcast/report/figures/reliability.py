"""Whether promises are kept: the probability that was promised against the share of left-out runs that kept to it."""

from collections.abc import Sequence

from sparkcast.report.figures._figure import NARROW_PX, Figure, FigureSection, Row, Spec, figure
from sparkcast.report.figures._style import GRAY, finish, inline, only, series_color, the_rows
from sparkcast.report.labels import plain_name
from sparkcast.validate import Validation
from sparkcast.validate.calibration import kept_promises

_PROMISED = tuple(step / 20 for step in range(1, 20))
_X, _Y = "promised probability", "share of configurations where it held"


def reliability(validation: Validation, factors: Sequence[str], *, most: int = 1) -> Figure | None:
    """One line for each of the best models, with the band of the first; None without a model that promised."""
    rows = reliability_rows(validation, factors, most=most)
    if not rows:
        return None
    best, n = str(rows[0]["model"]), rows[0]["configurations"]
    response = validation.meaning
    return figure(
        f"reliability-{response.name}",
        FigureSection.TRUST,
        f"Promised versus observed: {plain_name(response)}",
        f"How often runs of {n} configurations that a model had not seen (protocol {validation.protocol}) were "
        "at or below the value that it promised with each probability; replicates of a configuration count as "
        "one. On the dashed line promises hold as often as claimed; below it a model is overconfident. Band: "
        f"95% confidence interval for {best}.",
        rows,
        lambda width: _draw_reliability(rows, width),
        response=response.name,
        heads={"promised": _X, "kept": _Y},
    )


def reliability_rows(validation: Validation, factors: Sequence[str], *, most: int) -> tuple[Row, ...]:
    return tuple(
        {
            "model": card.model,
            "promised": one.promised,
            "kept": one.share,
            "low": one.low,
            "high": one.high,
            "configurations": one.n_configurations,
        }
        for card in validation.scorecards[:most]
        for one in kept_promises(card.runs, factors, _PROMISED)
    )


def _draw_reliability(rows: Sequence[Row], width: int) -> Spec:
    import altair as alt

    scale = alt.Scale(domain=[0, 1], nice=False)
    axis = alt.Axis(values=[step / 5 for step in range(6)], tickCount=6, format=".1f")
    x, y = alt.X("promised:Q", title=_X, scale=scale, axis=axis), alt.Y("kept:Q", title=_Y, scale=scale, axis=axis)
    names = list(dict.fromkeys(str(row["model"]) for row in rows))
    color = series_color("model", names, "model", width)
    base = alt.Chart(the_rows()).encode(x=x, color=color)
    diagonal = alt.Chart(inline({"promised": end, "kept": end} for end in (0, 1)))
    band = base.transform_filter(only(names[0], "model")).mark_area(opacity=0.15)
    layers = [
        band.encode(y=alt.Y("low:Q", title=_Y, scale=scale, axis=axis), y2=alt.Y2("high:Q")),
        diagonal.mark_line(color=GRAY, strokeDash=[5, 4], strokeWidth=1.5).encode(x=x, y=y),
        base.mark_line(strokeWidth=2.2).encode(y=y),
        base.mark_point(filled=True, size=30, opacity=1).encode(y=y),
    ]
    inner, on_top_last = min(width, 520), rows[::-1]
    height = inner * 3 // 4 if width > NARROW_PX else 260
    return finish(alt.layer(*layers).properties(height=height), inner, on_top_last)
