"""Gradient boosting, for responses with steps and interactions inside the measured range."""

from sparkcast.models import MODELS
from sparkcast.models._model import Model
from sparkcast.models._problem import Problem
from sparkcast.models._regression import Columns, regress
from sparkcast.models._uncertainty import Learned


@MODELS.register("gradient-boosting")
class GradientBoosting(Model):
    """Boosted shallow trees; follows steps and interactions, never predicts beyond what was measured."""

    auto_from = 24
    columns = Columns(ratios=True)

    def __init__(self, trees: int = 400, depth: int = 4, learning_rate: float = 0.05, seed: int = 0) -> None:
        self._settings = {"n_estimators": trees, "max_depth": depth, "learning_rate": learning_rate}
        self._seed = seed

    def learn(self, problem: Problem) -> Learned:
        from sklearn.ensemble import GradientBoostingRegressor

        # Drawing rows and columns for each tree makes neighbouring trees differ, which is what averages errors out.
        trees = GradientBoostingRegressor(
            **self._settings, subsample=0.7, max_features=0.7, min_samples_leaf=2, random_state=self._seed
        )
        return regress(problem, self.columns, trees)
