"""Techniques of scikit-learn as the papers used them."""

from importlib import import_module
from typing import Any

from sparkcast.models.base import Columns, LearnedPoints, Model, Problem, in_own_unit, regress


class Estimator(Model):
    """A technique of scikit-learn on x and 1/x under its own settings, as the papers' grids name them.

    `is_scaled` standardizes columns and response (Polimi; here on the training rows only); `log` learns logarithms.
    """

    columns = Columns(inverses=True)

    def __init__(self, technique: str, *, is_scaled: bool = True, log: bool = False, seed: int = 0, **settings: Any):
        self._technique = technique
        self._is_scaled = is_scaled
        self._log = log
        self._seed = seed
        self._settings = settings

    def learn(self, problem: Problem) -> LearnedPoints:
        import warnings

        from sklearn.compose import TransformedTargetRegressor
        from sklearn.pipeline import make_pipeline
        from sklearn.preprocessing import StandardScaler

        model = self._estimator()
        if self._is_scaled:
            model = TransformedTargetRegressor(make_pipeline(StandardScaler(), model), transformer=StandardScaler())
        with warnings.catch_warnings():
            # What did not converge, overflowed or was singular is judged by its error like anything else.
            warnings.simplefilter("ignore")
            return regress(problem if self._log else in_own_unit(problem), self.columns, model)

    def _estimator(self) -> Any:
        module, name = _TECHNIQUES[self._technique]
        estimator = getattr(import_module(module), name)(**self._settings)
        return estimator.set_params(random_state=self._seed) if "random_state" in estimator.get_params() else estimator


_TECHNIQUES = {
    "lasso": ("sklearn.linear_model", "Lasso"),
    "ridge": ("sklearn.linear_model", "Ridge"),
    "forest": ("sklearn.ensemble", "RandomForestRegressor"),
    "mlp": ("sklearn.neural_network", "MLPRegressor"),
    "svr": ("sklearn.svm", "SVR"),
}
