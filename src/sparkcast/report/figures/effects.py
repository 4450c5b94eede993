"""Which settings matter: level means, and shares of the variation."""

from typing import Any

from sparkcast.analyse import Analysis
from sparkcast.report.figures._figure import NARROW_PX, Figure, Row, Section, Spec, figure
from sparkcast.report.figures._style import (
    BLUE,
    GREY,
    domain,
    finish,
    level_axis,
    names_in_order,
    numbers,
    only,
    panels,
    the_rows,
)
from sparkcast.report.labels import axis_title, finite, plain_name

RESIDUAL = "Residual"  # what the analysis calls that which no term explains


def main_effects(analysis: Analysis) -> Figure | None:
    """The mean response at each level of each factor, with its interval; None without means."""
    rows = main_effect_rows(analysis)
    if not rows:
        return None
    name = plain_name(analysis.response)
    return figure(
        f"main-effects-{analysis.response}",
        Section.EFFECTS,
        f"Mean {name} at each level",
        f"Points are means over all other settings; bars hold the true mean with 95 % confidence. "
        f"A steep line is a setting that moves the {name}.",
        rows,
        lambda width: _draw_main_effects(rows, analysis.response, width),
        response=analysis.response,
        heads={"mean": f"mean {axis_title(analysis.response)}"},
    )


def main_effect_rows(analysis: Analysis) -> tuple[Row, ...]:
    return tuple(
        {"factor": m.factor, "level": m.level, "mean": m.mean, "low": finite(m.low), "high": finite(m.high), "n": m.n}
        for m in analysis.means
    )


def _draw_main_effects(rows: tuple[Row, ...], response: str, width: int) -> Spec:
    import altair as alt

    values = [value for row in rows for value in (row["mean"], row["low"], row["high"])]
    scale = alt.Scale(domain=domain(response, numbers(values)))
    y = alt.Y("mean:Q", title=axis_title(response), scale=scale)

    def panel(factor: str) -> Any:
        mine = [row for row in rows if row["factor"] == factor]
        x = level_axis(factor, [_level(row) for row in mine])
        base = alt.Chart(the_rows()).transform_filter(only(factor)).encode(x=x)
        line = base.mark_line(color=BLUE, strokeWidth=1.5, opacity=0.6).encode(y=y)
        bars = base.mark_rule(color=BLUE, strokeWidth=2).encode(y=alt.Y("low:Q", scale=scale), y2="high:Q")
        points = base.mark_point(color=BLUE, filled=True, size=60, opacity=1).encode(y=y)
        return alt.layer(line, bars.transform_filter("isValid(datum.low) && isValid(datum.high)"), points)

    factors = list(dict.fromkeys(str(row["factor"]) for row in rows))
    return finish(panels([panel(factor) for factor in factors], width), width, rows)


def variation(analysis: Analysis) -> Figure | None:
    """The share of the response's variation that each term explains; None without terms."""
    rows = variation_rows(analysis)
    if not rows:
        return None
    name = plain_name(analysis.response)
    return figure(
        f"variation-{analysis.response}",
        Section.EFFECTS,
        f"What makes the {name} vary",
        "Share of the total variation. A term with × is an interaction: the effect of one setting depends on the "
        "other. Grey is what the settings do not explain.",
        rows,
        lambda width: _draw_variation(rows, width),
        response=analysis.response,
        heads={"percent": "share of the variation (%)"},
    )


def variation_rows(analysis: Analysis) -> tuple[Row, ...]:
    """Terms from the largest share to the smallest, what is left unexplained last."""
    terms = sorted(analysis.rows, key=lambda row: (row.term == RESIDUAL, -row.percent))
    return tuple(
        {"term": show_term(t.term), "percent": finite(t.percent), "explained": t.term != RESIDUAL} for t in terms
    )


def show_term(term: str) -> str:
    """A term as people write it: "a:b" is an interaction.

    >>> show_term("batch_size:executors"), show_term("Residual")
    ('batch_size × executors', 'not explained')
    """
    if term == RESIDUAL:
        return "not explained"
    return " × ".join(part.strip() for part in term.split(":"))


def _draw_variation(rows: tuple[Row, ...], width: int) -> Spec:
    import altair as alt

    top = max([float(row["percent"] or 0.0) for row in rows] + [1.0])
    room = 1.12 if width > NARROW_PX else 1.4  # for the number behind the longest bar
    x = alt.X(
        "percent:Q",
        title="share of the variation (%)",
        scale=alt.Scale(domain=[0, top * room], nice=False),
        axis=alt.Axis(tickCount=5),
    )
    y = alt.Y("term:N", sort=names_in_order(row["term"] for row in rows), title=None)
    base = alt.Chart(the_rows()).encode(y=y)
    colour = alt.condition("datum.explained", alt.value(BLUE), alt.value(GREY))
    bars = base.mark_bar(size=16).encode(x=x, color=colour)
    labels = base.mark_text(align="left", dx=5).encode(x=x, text="label:N")
    labels = labels.transform_calculate(label="format(datum.percent, '.1f') + ' %'")
    return finish(alt.layer(bars, labels).properties(height=alt.Step(28)), width, rows)


def _level(row: Row) -> int | float | str:
    level = row["level"]
    assert level is not None
    return level
