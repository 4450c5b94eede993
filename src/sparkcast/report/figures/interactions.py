"""Where the effect of one setting depends on another: lines that are not parallel."""

from collections.abc import Sequence
from typing import Any

from sparkcast.analysis import Analysis, AnovaRow, CellMean
from sparkcast.report.figures._figure import Figure, FigureSection, Row, Spec, figure, thin
from sparkcast.report.figures._style import (
    finish,
    level_axis,
    numbers,
    only,
    panel_title,
    panel_width,
    panels,
    scale_ticks,
    series_color,
    the_rows,
    value_scale,
)
from sparkcast.report.figures.effects import log_words
from sparkcast.report.labels import axis_title, finite, level_title, ordered, plain_name, settings_of, show_term
from sparkcast.units import show_percent

_MOST_PANELS, _MOST_LINES = 6, 8
_SIGNIFICANCE = 0.05


def interaction_grid(analysis: Analysis) -> Figure | None:
    """The mean response at each pair of levels, for the interactions in the model; None when there is none."""
    pairs = _pairs(analysis)
    rows = interaction_rows(analysis)
    if not numbers(row["mean"] for row in rows):
        return None
    shown = len({row["pair"] for row in rows})
    rest = f" Not shown: {len(pairs) - shown} weaker interactions." if len(pairs) > shown else ""
    if len(pairs) - shown == 1:
        rest = " Not shown: 1 weaker interaction."
    return figure(
        f"interactions-{analysis.response}",
        FigureSection.EFFECTS,
        f"How settings interact in their effect on the {plain_name(analysis.meaning)}",
        "Points are means at a pair of levels, all other settings equal. Parallel lines: no interaction. Lines "
        f"that diverge or cross: the effect of one setting depends on the other.{log_words(analysis)}{rest}",
        rows,
        lambda width: _draw_interactions(rows, analysis, width),
        response=analysis.response,
        heads={
            "pair": "settings",
            "level": "level of the first setting",
            "series": "level of the second setting",
            "mean": f"mean {axis_title(analysis.meaning)}",
            "raw": "raw mean of the runs",
            "percent": "share of the variation (%)",
        },
        values=dict.fromkeys(("mean", "raw"), analysis.meaning),
    )


def interaction_rows(analysis: Analysis) -> tuple[Row, ...]:
    """One row per pair of levels; pairs above the noise first, and of these the largest share first."""
    rows: list[Row] = []
    differs = any(cell.raw is not None for cell in analysis.cells)
    for term, cells in _pairs(analysis)[:_MOST_PANELS]:
        names = settings_of(term.term)
        series = thin(ordered(cell.second_level for cell in cells), _MOST_LINES)
        rows.extend(
            {
                "pair": show_term(":".join(names)),
                "factor": cell.first,
                "level": cell.first_level,
                "by": cell.second,
                "series": str(cell.second_level),
                "mean": finite(cell.mean),
                **({"raw": finite(cell.mean if cell.raw is None else cell.raw)} if differs else {}),
                "n": cell.n,
                "percent": finite(term.percent),
                "real": _stands_out(term),
            }
            for cell in cells
            if cell.second_level in series
        )
    return tuple(rows)


def _pairs(analysis: Analysis) -> list[tuple[AnovaRow, list[CellMean]]]:
    """The interactions of two settings for which there are means; `a:b` and `a^2:b` are one pair."""
    terms = sorted(analysis.rows, key=lambda row: (not _stands_out(row), -row.percent))
    found: dict[frozenset[str], tuple[AnovaRow, list[CellMean]]] = {}
    for term in terms:
        pair = frozenset(settings_of(term.term))
        cells = [cell for cell in analysis.cells if pair == {cell.first, cell.second}]
        if len(pair) == 2 and cells:
            found.setdefault(pair, (term, _lengthwise(cells)))
    return list(found.values())


def _stands_out(term: AnovaRow) -> bool:
    # Without a test (an exact fit) every share above rounding error is an effect.
    return term.p < _SIGNIFICANCE if term.p is not None else term.percent > 1e-6


def _lengthwise(cells: Sequence[CellMean]) -> list[CellMean]:
    """The setting with more levels goes along the axis: few long lines are read more easily than many short ones."""
    first, second = ({cell.first_level for cell in cells}, {cell.second_level for cell in cells})
    if len(second) <= len(first):
        return list(cells)
    return [CellMean(c.second, c.first, c.second_level, c.first_level, c.mean, c.n, c.raw) for c in cells]


def _share(percent: object) -> str:
    """As the bars of the shares are labeled."""
    return next((show_percent(number / 100, 3) for number in numbers([percent])), "")


def _draw_interactions(rows: tuple[Row, ...], analysis: Analysis, width: int) -> Spec:
    import altair as alt

    scale = value_scale(analysis.meaning, (row["mean"] for row in rows), log=analysis.transform == "log")
    means = [row["mean"] for row in rows]
    ticks = scale_ticks(analysis.meaning, scale)
    y = alt.Y("mean:Q", title=axis_title(analysis.meaning, means), scale=scale, axis=ticks)
    names = list(dict.fromkeys(str(row["pair"]) for row in rows))
    inner = panel_width(min(len(names), 3), width)

    def panel(pair: str) -> Any:
        mine = [row for row in rows if row["pair"] == pair]
        along, by = str(mine[0]["factor"]), str(mine[0]["by"])
        x = level_axis(
            analysis.vocabulary.setting(along), [level for row in mine if (level := row["level"]) is not None]
        )
        series = [str(name) for name in ordered(str(row["series"]) for row in mine)]
        levels = [
            c.second_level if c.second == by else c.first_level for c in analysis.cells if by in (c.first, c.second)
        ]
        color = series_color("series", series, level_title(analysis.vocabulary.setting(by), levels), inner)
        base = alt.Chart(the_rows()).transform_filter(only(pair, "pair")).encode(x=x, y=y, color=color)
        doubt = "" if mine[0]["real"] else ", could be noise"
        return alt.layer(
            base.mark_line(strokeWidth=2),
            base.mark_point(filled=True, size=55, opacity=1),
            title=panel_title(pair, f"{_share(mine[0]['percent'])} of the variation{doubt}"),
        )

    chart = panels([panel(pair) for pair in names], width)
    return finish(chart.resolve_scale(color="independent"), width, rows)
