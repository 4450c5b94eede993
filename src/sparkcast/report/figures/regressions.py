"""What each variable explains by itself, as a scatter plot would show it."""

from typing import Any

from sparkcast.analysis import Analysis
from sparkcast.report.figures._figure import Figure, FigureSection, Row, Spec, figure
from sparkcast.report.figures._style import BLUE, ORANGE, finish, kind_color, names_in_order, numbers, the_rows
from sparkcast.report.labels import axis_title, finite, plain_name

_SETTING, _REPETITION = "a setting", "the repetition, which is not a setting"


def simple_regressions(analysis: Analysis) -> Figure | None:
    """The correlation of the response with each numeric variable alone; None for fewer than two."""
    rows = regression_rows(analysis)
    if len(rows) < 2 or not numbers(row["r"] for row in rows):
        return None
    repeated = any(row["kind"] == _REPETITION for row in rows)
    drift = " For the repetition it should be near 0; otherwise replicates drift." if repeated else ""
    return figure(
        f"regressions-{analysis.response}",
        FigureSection.CHECKS,
        f"The {plain_name(analysis.meaning)} against one variable at a time",
        "Correlation r, from −1 (falls along a line) through 0 (no line) to 1 (rises along a line), ignoring "
        f"all other settings and interactions.{drift}",
        rows,
        lambda width: _draw_regressions(rows, width),
        response=analysis.response,
        heads={"r": "r", "p": "p", "slope": f"slope of {axis_title(analysis.meaning)}", "n": "runs", "kind": "kind"},
    )


def regression_rows(analysis: Analysis) -> tuple[Row, ...]:
    """Settings from the strongest correlation to the weakest, then the repetition."""
    found = sorted(analysis.regressions, key=lambda line: (not line.is_setting, -abs(line.r)))
    return tuple(
        {
            "variable": line.variable,
            "r": finite(line.r),
            "p": finite(line.p),
            "slope": finite(line.slope),
            "n": line.n,
            "kind": _SETTING if line.is_setting else _REPETITION,
        }
        for line in found
    )


def _draw_regressions(rows: tuple[Row, ...], width: int) -> Spec:
    import altair as alt

    # A little more than r can be, for the number beside a bar that reaches the end.
    scale, ticks = alt.Scale(domain=[-1.2, 1.2], nice=False), alt.Axis(values=[-1, -0.5, 0, 0.5, 1])
    x = alt.X("r:Q", title="correlation r with the variable alone", scale=scale, axis=ticks)
    y = alt.Y("variable:N", sort=names_in_order(row["variable"] for row in rows), title=None)
    base = alt.Chart(the_rows()).encode(x=x, y=y)
    color = kind_color({_SETTING: BLUE, _REPETITION: ORANGE}, width)
    bars = base.mark_bar(size=16).encode(color=color)
    sides: dict[str, Any] = {">=": {"align": "left", "dx": 5}, "<": {"align": "right", "dx": -5}}
    texts = [
        base.transform_filter(f"datum.r {sign} 0").mark_text(**where).encode(text=alt.Text("r:Q", format=".2f"))
        for sign, where in sides.items()
    ]
    return finish(alt.layer(bars, *texts).properties(height=alt.Step(28)), width, rows)
