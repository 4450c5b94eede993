"""All that can be drawn of one analysis."""

from sparkcast.analysis import Analysis
from sparkcast.report.figures._figure import Figure
from sparkcast.report.figures.effects import main_effects, variation
from sparkcast.report.figures.interactions import interaction_grid
from sparkcast.report.figures.regressions import simple_regressions
from sparkcast.report.figures.residuals import residual_panels
from sparkcast.report.figures.significance import half_normal, pareto


def analysis_figures(analysis: Analysis) -> tuple[Figure, ...]:
    """What matters, how, and whether to believe it: the figures there are data for, in reading order."""
    makers = (variation, main_effects, interaction_grid, pareto, half_normal, residual_panels, simple_regressions)
    return tuple(drawn for make in makers if (drawn := make(analysis)) is not None)
