"""Physical terms for the trend, and boosted trees for what they leave unexplained.

Trees find steps, such as data that no longer fit into memory, and interactions of any settings, but know nothing beyond
what was measured and need many runs to learn that twice the data take twice as long. Terms know that, and no steps.
The trees learn the logarithm of the ratio between a run and its trend, so beyond the measured range the trend goes on.
"""

from dataclasses import dataclass, replace

from sparkcast.arrays import Floats
from sparkcast.fitting.problem import Problem
from sparkcast.fitting.regression import Columns, regress
from sparkcast.fitting.relative import require_times
from sparkcast.fitting.terms import Sums, physical_terms, sums_of
from sparkcast.fitting.uncertainty import LearnedPoints, PointPredictions
from sparkcast.models import MODELS
from sparkcast.models.base import FEW, Model
from sparkcast.models.gradient_boosting import boosted_trees


@dataclass(frozen=True, slots=True)
class Corrected:
    """The trend times its correction."""

    trend: Sums
    ratio: PointPredictions

    def __call__(self, x: Floats) -> Floats:
        return self.trend(x) * self.ratio(x)


@MODELS.register("boosted-terms")
class BoostedTerms(Model):
    """The physical terms of nnls, corrected by boosted trees: steps inside the measured range, a law beyond it."""

    auto_from = FEW + 1
    columns = Columns()

    def __init__(self, trees: int = 400, depth: int = 4, learning_rate: float = 0.05, seed: int = 0) -> None:
        self._settings = (trees, depth, learning_rate, seed)

    def learn(self, problem: Problem) -> LearnedPoints:
        require_times(problem, "boosted-terms")
        trend = sums_of(problem, physical_terms(problem.domain))
        unexplained = replace(problem, y=problem.y - problem.scale.forward(trend(problem.x)))
        return LearnedPoints(
            Corrected(trend, regress(unexplained, self.columns, boosted_trees(*self._settings)).points)
        )
