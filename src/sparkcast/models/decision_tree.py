"""One regression tree: settings that behave alike, and their mean."""

from typing import Literal

from sparkcast.fitting.plain import in_own_unit
from sparkcast.fitting.problem import Problem
from sparkcast.fitting.regression import Columns, Regressed
from sparkcast.fitting.uncertainty import LearnedPoints
from sparkcast.models import MODELS
from sparkcast.models.base import Model


@MODELS.register("decision-tree")
class DecisionTree(Model):
    """A single regression tree (CART): easy to read, steps instead of curves, cannot extrapolate.

    `depth` limits its levels; `leaf` and `split` are the fewest configurations in a leaf and to split, as numbers or
    shares; `features` the columns looked at per split.
    """

    columns = Columns()

    def __init__(
        self,
        depth: int | None = None,
        leaf: int | float = 1,
        split: int | float = 2,
        features: Literal["sqrt", "log2"] | float | None = None,
        criterion: Literal["squared_error", "absolute_error"] = "squared_error",
        seed: int = 0,
        *,
        log: bool = True,
    ) -> None:
        self._settings = {
            "max_depth": depth,
            "min_samples_leaf": leaf,
            "min_samples_split": split,
            "max_features": features,
            "criterion": criterion,
            "random_state": seed,
        }
        self._log = log

    def learn(self, problem: Problem) -> LearnedPoints:
        from sklearn.tree import DecisionTreeRegressor

        posed = problem if self._log else in_own_unit(problem)
        tree = DecisionTreeRegressor(**self._settings)
        tree.fit(self.columns.of(posed.domain, posed.x), posed.y, sample_weight=posed.weights)
        return LearnedPoints(Regressed(posed.domain, posed.scale, self.columns, tree))
