"""Which effects stand out from the noise: all of them beside what chance alone would give."""

from collections.abc import Sequence
from statistics import NormalDist, median
from typing import Any

from sparkcast.analysis import Analysis, Effect
from sparkcast.report.figures._figure import NARROW_PX, Figure, FigureSection, Row, Spec, figure
from sparkcast.report.figures._labels import LETTER_PX
from sparkcast.report.figures._style import (
    GRAY,
    INK,
    finish,
    inline,
    kind_color,
    names_in_order,
    numbers,
    the_rows,
)
from sparkcast.report.labels import finite, plain_name, show_term

BEYOND, WITHIN = "above the noise", "within the noise"
_COLORS = {BEYOND: INK, WITHIN: GRAY}
_MOST_BARS = 25
_FEWEST_TERMS = 5  # fewer points lie on some line by chance
_AXIS_PX = 60  # what labels take of the width
_LINE_PX = 11  # of text, so that labels do not cover one another


def pareto(analysis: Analysis) -> Figure | None:
    """Effects in units of their own noise, the largest first; None when none could be tested."""
    rows = pareto_rows(analysis)
    if not rows:
        return None
    tested = len(_tested(analysis))
    more = f" Shown: the {len(rows)} largest of {tested} terms." if len(rows) < tested else ""
    return figure(
        f"pareto-{analysis.response}",
        FigureSection.CHECKS,
        f"Which effects on the {plain_name(analysis.meaning)} are significant",
        "Each effect in units of its own uncertainty (|t|, or the root of F). A bar beyond its vertical mark "
        "would occur by chance in fewer than 1 in 20 studies; of 20 terms with no effect, about one "
        f"passes.{more}",
        rows,
        lambda width: _draw_pareto(rows, width),
        response=analysis.response,
        heads={"standardized": "standardized effect", "critical": "passes at", "df": "df", "kind": "verdict"},
    )


def pareto_rows(analysis: Analysis) -> tuple[Row, ...]:
    found = sorted(_tested(analysis), key=lambda effect: -(effect.standardized or 0.0))
    return tuple(_row(effect) for effect in found[:_MOST_BARS])


def _tested(analysis: Analysis) -> list[Effect]:
    return [e for e in analysis.effects if e.standardized is not None and finite(e.standardized) is not None]


def _row(effect: Effect) -> Row:
    passes = effect.critical is not None and (effect.standardized or 0.0) > effect.critical
    return {
        "term": show_term(effect.term),
        "standardized": effect.standardized,
        "critical": None if effect.critical is None else finite(effect.critical),
        "df": effect.df,
        "kind": BEYOND if passes else WITHIN,
    }


def _draw_pareto(rows: tuple[Row, ...], width: int) -> Spec:
    import altair as alt

    step = 26 if len(rows) <= 12 else 21
    x = alt.X("standardized:Q", title="standardized effect (|t| or √F)", scale=alt.Scale(zero=True))
    y = alt.Y("term:N", sort=names_in_order(row["term"] for row in rows), title=None)
    base = alt.Chart(the_rows()).encode(y=y)
    bars = base.mark_bar(size=step - 9).encode(x=x, color=kind_color(_COLORS, width))
    marks = base.transform_filter("isValid(datum.critical)")
    marks = marks.mark_tick(orient="vertical", thickness=2, size=step - 3, color=INK, opacity=1)
    return finish(alt.layer(bars, marks.encode(x=alt.X("critical:Q"))).properties(height=alt.Step(step)), width, rows)


def half_normal(analysis: Analysis) -> Figure | None:
    """Daniel's (1959) plot: effects that are noise lie on a line, others leave it; None with fewer than 5 effects."""
    rows = half_normal_rows(analysis)
    if len(rows) < _FEWEST_TERMS:
        return None
    return figure(
        f"half-normal-{analysis.response}",
        FigureSection.CHECKS,
        f"Effects on the {plain_name(analysis.meaning)} against pure noise",
        "Pure noise falls along the dashed gray line; real effects lie to its right. Its slope is Lenth's pseudo "
        "standard error, the spread of the effects that are not clearly real. If most effects are real, it is too "
        "large and the line too strict. Terms with one degree of freedom only.",
        rows,
        lambda width: _draw_half_normal(rows, width),
        response=analysis.response,
        heads={"standardized": "standardized effect", "quantile": "half-normal quantile", "kind": "verdict"},
    )


def half_normal_rows(analysis: Analysis) -> tuple[Row, ...]:
    """The smallest effect first, each with the size its rank would have among so many normal numbers."""
    found = sorted((e for e in _tested(analysis) if e.df == 1), key=lambda effect: effect.standardized or 0.0)
    normal = NormalDist()
    return tuple(
        {
            "term": show_term(effect.term),
            "standardized": effect.standardized,
            "quantile": normal.inv_cdf(0.5 + 0.5 * (rank - 0.5) / len(found)),
            "kind": _row(effect)["kind"],
        }
        for rank, effect in enumerate(found, start=1)
    )


def reference_line(rows: tuple[Row, ...]) -> tuple[Row, Row]:
    """From the origin, where effects that are noise lie, to the edge of the picture."""
    sizes, places = numbers(r["standardized"] for r in rows), numbers(r["quantile"] for r in rows)
    slope = pseudo_standard_error(sizes)
    reach = min(places[-1], sizes[-1] / slope) if slope else places[-1]
    return {"standardized": 0.0, "quantile": 0.0}, {"standardized": slope * reach, "quantile": reach}


def pseudo_standard_error(effects: Sequence[float]) -> float:
    """Lenth's (1989) estimate of the noise of effects, most of which are noise: 1.5 times the median of the small ones.

    >>> round(pseudo_standard_error([0.1, -0.2, 0.3, 0.2, 25.0]), 9)
    0.3
    """
    sizes = [abs(effect) for effect in effects]
    reach = 2.5 * 1.5 * median(sizes)
    return 1.5 * median([size for size in sizes if size < reach] or sizes)


def _draw_half_normal(rows: tuple[Row, ...], width: int) -> Spec:
    import altair as alt

    height = 320 if width > NARROW_PX else 280
    largest, top = numbers(rows[-1][side] for side in ("standardized", "quantile"))
    x = alt.X(
        "standardized:Q",
        title="standardized effect (|t|)",
        scale=alt.Scale(domain=[0, largest * 1.06 or 1.0], nice=False),
    )
    y = alt.Y("quantile:Q", title="half-normal quantile", scale=alt.Scale(domain=[0, top * 1.08], nice=False))
    line = alt.Chart(inline(reference_line(rows))).mark_line(color=GRAY, strokeDash=[5, 4], strokeWidth=1.5)
    base = alt.Chart(the_rows()).encode(x=x, y=y)
    points = base.mark_point(filled=True, size=60, opacity=1).encode(color=kind_color(_COLORS, width))
    labeled = {str(row["term"]) for row in _labeled(rows, height / (top * 1.08))}
    # Names go to the right, away from the line, unless the edge is too near.
    told = [
        {
            **row,
            "side": "" if row["term"] not in labeled else "right" if _has_room(row, largest, width) else "left",
        }
        for row in rows
    ]
    sides: dict[str, Any] = {"left": {"align": "right", "dx": -9}, "right": {"align": "left", "dx": 9}}
    texts = [
        base.transform_filter(f"datum.side == '{side}'").mark_text(**where).encode(text=alt.Text("term:N"))
        for side, where in sides.items()
    ]
    return finish(alt.layer(line.encode(x=x, y=y), points, *texts).properties(height=height), width, told)


def _labeled(rows: tuple[Row, ...], px_per_quantile: float) -> list[Row]:
    """Effects above the noise and the line, from the largest on, each a line of text apart from the last one."""
    named: list[Row] = []
    end = reference_line(rows)[1]
    [far, high] = numbers([end["standardized"], end["quantile"]])
    above = float("inf")
    for row in reversed(rows):
        size, place = numbers([row["standardized"], row["quantile"]])
        leaves = size * high > far * place  # the line is where these are equal
        if row["kind"] == BEYOND and leaves and (above - place) * px_per_quantile >= _LINE_PX:
            named.append(row)
            above = place
    return named


def _has_room(row: Row, largest: float, width: int) -> bool:
    [size] = numbers([row["standardized"]])
    return (1 - size / (1.06 * largest)) * (width - _AXIS_PX) >= 12 + LETTER_PX * len(str(row["term"]))
