"""Support vector regression with a Gaussian kernel."""

from sparkcast.fitting.problem import Problem
from sparkcast.fitting.regression import Columns, regress
from sparkcast.fitting.uncertainty import LearnedPoints
from sparkcast.models import MODELS
from sparkcast.models.base import Model


@MODELS.register("svr")
class Svr(Model):
    """Support vector regression with a Gaussian kernel on log settings; smooth and robust to outliers."""

    columns = Columns(only_logs=True)

    def __init__(self, penalty: float = 30.0, gamma: float = 0.15, epsilon: float = 0.01) -> None:
        self._settings = {"C": penalty, "gamma": gamma, "epsilon": epsilon}

    def learn(self, problem: Problem) -> LearnedPoints:
        from sklearn.compose import TransformedTargetRegressor
        from sklearn.pipeline import make_pipeline
        from sklearn.preprocessing import StandardScaler
        from sklearn.svm import SVR

        # Standardized on both sides, so that the settings above mean the same for every study.
        model = TransformedTargetRegressor(
            make_pipeline(StandardScaler(), SVR(**self._settings)), transformer=StandardScaler()
        )
        return regress(problem, self.columns, model)
