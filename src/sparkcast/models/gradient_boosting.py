"""Gradient boosting, for responses with steps and interactions inside the measured range."""

from typing import Any

from sparkcast.fitting.problem import Problem
from sparkcast.fitting.regression import Columns, regress
from sparkcast.fitting.uncertainty import LearnedPoints
from sparkcast.models import MODELS
from sparkcast.models.base import FEW, Model


@MODELS.register("gradient-boosting")
class GradientBoosting(Model):
    """Boosted shallow trees: captures steps and interactions, cannot extrapolate."""

    auto_from = FEW + 1
    auto_outside = False  # trees stay at the last value they saw
    columns = Columns(ratios=True)

    def __init__(self, trees: int = 400, depth: int = 4, learning_rate: float = 0.05, seed: int = 0) -> None:
        self._settings = (trees, depth, learning_rate, seed)

    def joins_auto(self, problem: Problem) -> bool:
        return super().joins_auto(problem) and not problem.scale.is_log  # boosted-terms knows more about times

    def learn(self, problem: Problem) -> LearnedPoints:
        return regress(problem, self.columns, boosted_trees(*self._settings))


def boosted_trees(trees: int, depth: int, learning_rate: float, seed: int) -> Any:
    from sklearn.ensemble import GradientBoostingRegressor

    # Drawing rows for each tree makes neighboring trees differ, which is what averages errors out.
    return GradientBoostingRegressor(
        n_estimators=trees, max_depth=depth, learning_rate=learning_rate, subsample=0.7, random_state=seed
    )
