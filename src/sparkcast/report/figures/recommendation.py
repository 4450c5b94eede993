"""All figures of a recommendation."""

from sparkcast.recommend import Recommendation
from sparkcast.report.figures._figure import Figure
from sparkcast.report.figures.choice import candidates
from sparkcast.report.figures.front import pareto_front


def recommendation_figures(recommendation: Recommendation) -> list[Figure]:
    """The candidates and the Pareto front, those that there is something to draw for."""
    drawn = (make(recommendation) for make in (candidates, pareto_front))
    return [figure for figure in drawn if figure is not None]
