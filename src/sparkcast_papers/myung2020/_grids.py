"""Tables 10 to 12: the settings that the paper searched, for `sparkcast fit --grid myung2020`.

Names of scikit-learn today: max_features "auto" was all columns for regressors, "sigmoid" is "logistic".
"""

from collections.abc import Callable, Mapping
from functools import partial
from typing import ClassVar

from sparkcast.learned.grid_search import GRIDS, MethodGrid
from sparkcast.models.base import Model
from sparkcast_papers._estimator import Estimator
from sparkcast_papers.myung2020._tables import ALPHAS, TREES


def _unscaled(technique: str) -> Callable[..., Model]:
    return partial(Estimator, technique, is_scaled=False)


@GRIDS.register("myung2020")
class Myung2020Grids:
    """The grids that Myung and Yu used for lasso, ridge, random forest and neural network."""

    spaces: ClassVar[Mapping[str, MethodGrid]] = {
        "lasso": MethodGrid(_unscaled("lasso"), {"alpha": ALPHAS}),
        "ridge": MethodGrid(_unscaled("ridge"), {"alpha": ALPHAS}),
        "random-forest": MethodGrid(
            _unscaled("forest"),
            {"n_estimators": TREES, "max_features": (1.0, "sqrt", "log2"), "max_depth": (50, 100, 150)},
        ),
        "mlp": MethodGrid(
            _unscaled("mlp"),
            {
                "solver": ("lbfgs", "adam", "sgd"),
                "activation": ("logistic", "relu"),
                "max_iter": (5000, 10000, 20000),
                "alpha": (0.01, 0.05),
                "hidden_layer_sizes": ((50,), (100,), (150,)),
            },
        ),
    }
