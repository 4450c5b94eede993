"""Which settings matter: level means, and shares of the variation."""

from typing import Any

from sparkcast.analysis import RESIDUAL, Analysis
from sparkcast.report.figures._figure import NARROW_PX, Figure, FigureSection, Row, Spec, figure
from sparkcast.report.figures._style import (
    GRAY,
    INK,
    finish,
    level_axis,
    names_in_order,
    numbers,
    only,
    panels,
    scale_ticks,
    the_rows,
    value_scale,
)
from sparkcast.report.labels import axis_title, finite, plain_name
from sparkcast.report.labels import show_term as show_term

_MOST_TERMS = 20  # more bars are a list that nobody reads


def main_effects(analysis: Analysis) -> Figure | None:
    """The mean response at each level of each factor, with its interval; None without means."""
    rows = main_effect_rows(analysis)
    if not numbers(row["mean"] for row in rows):
        return None
    name = plain_name(analysis.meaning)
    rings = " Gray rings are raw means of the runs, which also include whatever else changed with the setting."
    return figure(
        f"main-effects-{analysis.response}",
        FigureSection.EFFECTS,
        f"Mean {name} at each level",
        "Points are adjusted means, with all other settings equal; bars are 95% confidence intervals. A steep "
        f"line means the setting affects the {name}.{rings if 'raw' in rows[0] else ''}{log_words(analysis)}",
        rows,
        lambda width: _draw_main_effects(rows, analysis, width),
        response=analysis.response,
        heads={"mean": f"mean {axis_title(analysis.meaning)}", "raw": "raw mean of the runs"},
        values=dict.fromkeys(("mean", "low", "high", "raw"), analysis.meaning),
    )


def log_words(analysis: Analysis) -> str:
    """The sentence a caption owes its reader when an axis is logarithmic; "" otherwise."""
    if analysis.transform != "log":
        return ""
    return " The scale is logarithmic, as in the analysis: equal distances are equal ratios, means are geometric."


def main_effect_rows(analysis: Analysis) -> tuple[Row, ...]:
    """One row per level, with the plain mean where some of them differ from the adjusted ones."""
    differs = any(m.raw is not None for m in analysis.means)
    return tuple(
        {
            "factor": m.factor,
            "level": m.level,
            "mean": finite(m.mean),
            "low": finite(m.low),
            "high": finite(m.high),
            "n": m.n,
            **({"raw": finite(m.mean if m.raw is None else m.raw)} if differs else {}),
        }
        for m in analysis.means
    )


def _draw_main_effects(rows: tuple[Row, ...], analysis: Analysis, width: int) -> Spec:
    import altair as alt

    values = [row[column] for row in rows for column in ("mean", "low", "high", "raw") if column in row]
    scale = value_scale(analysis.meaning, values, log=analysis.transform == "log")
    title, ticks = axis_title(analysis.meaning, values), scale_ticks(analysis.meaning, scale)
    y = alt.Y("mean:Q", title=title, scale=scale, axis=ticks)

    def panel(factor: str) -> Any:
        x = level_axis(analysis.vocabulary.setting(factor), [m.level for m in analysis.means if m.factor == factor])
        base = alt.Chart(the_rows()).transform_filter(only(factor)).encode(x=x)
        line = base.mark_line(color=INK, strokeWidth=1.5, opacity=0.6).encode(y=y)
        bars = base.mark_rule(color=INK, strokeWidth=2).encode(
            y=alt.Y("low:Q", title=title, scale=scale, axis=ticks), y2=alt.Y2("high:Q")
        )
        points = base.mark_point(color=INK, filled=True, size=60, opacity=1).encode(y=y)
        rings = base.mark_point(color=GRAY, size=60, opacity=1).encode(
            y=alt.Y("raw:Q", title=title, scale=scale, axis=ticks)
        )
        drawn = [line, bars.transform_filter("isValid(datum.low) && isValid(datum.high)"), points]
        return alt.layer(*([rings] if "raw" in rows[0] else []), *drawn)

    factors = list(dict.fromkeys(m.factor for m in analysis.means))
    return finish(panels([panel(factor) for factor in factors], width), width, rows)


def variation(analysis: Analysis) -> Figure | None:
    """The share of the response's variation that each term explains; None without terms."""
    rows = variation_rows(analysis)
    if not any(numbers(row["percent"] for row in rows)):
        return None
    name = plain_name(analysis.meaning)
    bend = (
        " A term with ² is the curvature of a numeric setting." if any("²" in str(row["term"]) for row in rows) else ""
    )
    return figure(
        f"variation-{analysis.response}",
        FigureSection.EFFECTS,
        f"What makes the {name} vary",
        "Share of the total variation. A term with × is an interaction: the effect of one setting depends on the "
        f"other.{bend} Gray is what the settings do not explain.",
        rows,
        lambda width: _draw_variation(rows, width),
        response=analysis.response,
        heads={"percent": "share of the variation (%)"},
    )


def variation_rows(analysis: Analysis) -> tuple[Row, ...]:
    """Terms from the largest share to the smallest, the smallest of many in one, what is left unexplained last."""
    terms = sorted((t for t in analysis.rows if t.term != RESIDUAL), key=lambda t: -t.percent)
    kept = terms if len(terms) <= _MOST_TERMS else terms[: _MOST_TERMS - 1]
    shares = [(show_term(t.term), t.percent, True) for t in kept]
    if smaller := terms[len(kept) :]:
        shares.append((f"{len(smaller)} smaller terms", sum(t.percent for t in smaller), True))
    shares += [(show_term(t.term), t.percent, False) for t in analysis.rows if t.term == RESIDUAL]
    return tuple({"term": term, "percent": finite(percent), "explained": own} for term, percent, own in shares)


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
    color = alt.condition("datum.explained", alt.value(INK), alt.value(GRAY))
    step = 28 if len(rows) <= 12 else 22
    bars = base.mark_bar(size=step - 10).encode(x=x, color=color)
    labels = base.mark_text(align="left", dx=5).encode(x=x, text=alt.Text("label:N"))
    labels = labels.transform_calculate(
        label="datum.percent >= 0.1 ? format(datum.percent, '.3~r') + '%' : datum.percent > 0 ? '<0.1%' : '0%'"
    )
    return finish(alt.layer(bars, labels).properties(height=alt.Step(step)), width, rows)
