"""Times as sums of non-negative physical terms."""

from sparkcast.fitting.problem import Problem
from sparkcast.fitting.relative import require_times
from sparkcast.fitting.terms import physical_terms, sums_of
from sparkcast.fitting.uncertainty import LearnedPoints
from sparkcast.models import MODELS
from sparkcast.models.base import Model


@MODELS.register("nnls")
class NonNegativeLeastSquares(Model):
    """A sum of non-negative physical terms (startup, parallel work, waiting), fitted to relative errors."""

    extrapolates_by_law = 1
    auto_from = 3

    def learn(self, problem: Problem) -> LearnedPoints:
        require_times(problem, "nnls")
        return LearnedPoints(sums_of(problem, physical_terms(problem.domain)))
