"""What a plan can tell apart, and how likely it is to see an effect."""

from collections.abc import Sequence

from sparkcast.designs.describe import Description
from sparkcast.report.figures._figure import NARROW_PX, Figure, FigureSection, Row, Spec, figure
from sparkcast.report.figures._style import (
    BLUE,
    GRAY,
    INK,
    finish,
    inline,
    names_in_order,
    series_color,
    the_rows,
)
from sparkcast.report.figures.effects import show_term
from sparkcast.units import show_level

_MAX_EFFECTS = 40  # rows of the map; with more only main effects have one


def alias_map(description: Description) -> Figure | None:
    """How alike the columns of effects are; None when there is nothing to compare."""
    if len(description.effects) < 2:
        return None
    rows, note = alias_rows(description)
    if not any(row["correlation"] for row in rows):
        return None  # everything is told apart: a sheet of nothing
    return figure(
        "alias-map",
        FigureSection.DESIGN,
        "Which effects the plan can separate",
        "Color shows the absolute correlation of two effects' columns: 0 (pale), the plan separates them; 1 (dark), "
        f"they are aliased and it cannot; in between, in part. White: an effect and itself.{note}",
        rows,
        lambda width: _draw_aliases(rows, width),
        heads={"correlation": "absolute correlation"},
    )


def alias_rows(description: Description) -> tuple[tuple[Row, ...], str]:
    """One row for each pair of effects, and what the caption owes when not all are shown."""
    names, across, note = description.effects, description.compared_with, ""
    alike = dict(zip(names, description.correlations, strict=True))
    if len(names) > _MAX_EFFECTS:
        across = tuple(name for name in across if ":" not in name)
        pairs = [name for name in names if ":" in name]
        nearest = sorted(pairs, key=lambda name: -max(alike[name][: len(across)], default=0.0))[:_MAX_EFFECTS]
        names = tuple(name for name in pairs if name in nearest)
        which = (
            f"the {len(names)} of {len(pairs)} interactions with the strongest correlation"
            if len(names) < len(pairs)
            else "pairs"
        )
        note = f" Shown: the {len(across)} main effects against {which}."
    rows: tuple[Row, ...] = tuple(
        {"effect": show_term(a), "with": show_term(b), "correlation": alike[a][i]}
        for a in names
        for i, b in enumerate(across)
        if a != b
    )
    return rows, note


def _draw_aliases(rows: Sequence[Row], width: int) -> Spec:
    import altair as alt

    effects = list(dict.fromkeys(str(row["effect"]) for row in rows))
    across = list(dict.fromkeys(str(row["with"]) for row in rows))
    across.sort(key=lambda name: effects.index(name) if name in effects else -1)
    is_narrow = width <= NARROW_PX
    longest = max(map(len, effects))
    crowded = len(across) > (6 if is_narrow else 16) or (longest > 8 and len(across) > 3)
    size = 9 if len(effects) > 24 or is_narrow else 11
    limit = 110 if is_narrow else 220
    x = alt.X(
        "with:N",
        sort=names_in_order(across),
        title="effect",
        axis=alt.Axis(
            labelAngle=-90 if crowded else 0, labelLimit=limit, labelFontSize=size, labelOverlap=False, ticks=False
        ),
    )
    y = alt.Y(
        "effect:N",
        sort=names_in_order(effects),
        title="effect",
        axis=alt.Axis(labelLimit=limit, labelFontSize=size, labelOverlap=False, ticks=False),
    )
    color = alt.Color(
        "correlation:Q",
        title="absolute correlation: 0 separate, 1 aliased",
        scale=alt.Scale(domain=[0, 1], range=["#8b929b22", BLUE], interpolate="rgb"),
        legend=alt.Legend(gradientLength=min(200, width - 140), titleOrient="top", values=[0, 0.5, 1]),
    )
    step = 13 if len(effects) > 24 else 20
    chart = alt.Chart(the_rows()).mark_rect(stroke=GRAY, strokeOpacity=0.25, strokeWidth=0.5)
    return finish(chart.encode(x=x, y=y, color=color).properties(height=alt.Step(step)), width, rows)


def power_curve(description: Description) -> Figure | None:
    """Power against the size of the effect, a line for each number of replicates; None when none has power."""
    rows = power_rows(description)
    if not rows:
        return None
    power = description.power
    return figure(
        "power-curve",
        FigureSection.DESIGN,
        "How likely the plan is to detect an effect",
        "The probability that the main effect that is hardest to detect is significant at level "
        f"{power.alpha:g}. An effect is the difference between the ends of a factor, in standard deviations of the "
        f"noise. The dashed line is {show_level(_GOAL)}; the thick line is the plan's own number of replicates, "
        f"{power.replicates}.",
        rows,
        lambda width: _draw_power(rows, width),
        heads={"effect_sd": "effect (standard deviations of the noise)"},
    )


_GOAL = 0.8


def power_rows(description: Description) -> tuple[Row, ...]:
    plan = description.power.replicates
    return tuple(
        {
            "replicates": f"{point.replicates} (this plan)" if point.replicates == plan else str(point.replicates),
            "effect_sd": point.effect_sd,
            "power": point.power,
            "is_plan": point.replicates == plan,
        }
        for point in description.power.curve
    )


def _draw_power(rows: Sequence[Row], width: int) -> Spec:
    import altair as alt

    numbers = list(dict.fromkeys(str(row["replicates"]) for row in rows))
    x = alt.X("effect_sd:Q", title="effect (standard deviations of the noise)", scale=alt.Scale(nice=False))
    y = alt.Y("power:Q", title="power", scale=alt.Scale(domain=[0, 1]), axis=alt.Axis(format="%"))
    lines = (
        alt.Chart(the_rows())
        .mark_line()
        .encode(
            x=x,
            y=y,
            color=series_color("replicates", numbers, "replicates", width),
            strokeWidth=alt.condition("datum.is_plan", alt.value(3.5), alt.value(1.5)),
            detail=alt.Detail("replicates:N"),
        )
    )
    goal = (
        alt.Chart(inline([{"goal": _GOAL}]))
        .mark_rule(color=INK, strokeDash=[4, 4], opacity=0.6)
        .encode(y=alt.Y("goal:Q"))
    )
    return finish(alt.layer(goal, lines).properties(height=260), width, rows)
