"""A random forest, for responses without a simple shape."""

from sparkcast.fitting.forest import grow
from sparkcast.fitting.problem import Problem
from sparkcast.fitting.regression import Columns, Regressed
from sparkcast.fitting.uncertainty import LearnedPoints
from sparkcast.models import MODELS
from sparkcast.models.base import Model


@MODELS.register("random-forest")
class RandomForest(Model):
    """The average of 100 regression trees; cannot extrapolate."""

    is_usual = True
    columns = Columns()

    def __init__(self, trees: int = 100, seed: int = 0) -> None:
        self._trees = trees
        self._seed = seed

    def learn(self, problem: Problem) -> LearnedPoints:
        # One row per configuration, so the bootstrap draws configurations and a tree's out-of-bag rows are ones it
        # has not seen: the error of unseen configurations comes with the fit, without refitting.
        x = self.columns.of(problem.domain, problem.x)
        forest, out_of_bag = grow(x, problem.y, problem.weights, trees=self._trees, seed=self._seed)
        points = Regressed(problem.domain, problem.scale, self.columns, forest)
        return LearnedPoints(points, problem.scale.back(out_of_bag))
