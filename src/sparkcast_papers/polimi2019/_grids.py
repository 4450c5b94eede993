"""The settings that the library searched, for `sparkcast fit --grid polimi2019`.

Names of scikit-learn today: max_features "auto" was all columns for regressors, friedman_mse is squared_error. Where
only the ends of a list are known it is a range.
"""

from collections.abc import Mapping
from functools import partial
from typing import ClassVar

from sparkcast.learned.grid_search import GRIDS, MethodGrid, Range
from sparkcast.models.decision_tree import DecisionTree
from sparkcast_papers._estimator import Estimator

_WIDTHS = (3, 4, 5)


@GRIDS.register("polimi2019")
class Polimi2019Grids:
    """The grids of a-MLLibrary for decision tree, random forest, lasso, neural network and support vectors."""

    spaces: ClassVar[Mapping[str, MethodGrid]] = {
        "decision-tree": MethodGrid(
            partial(DecisionTree, log=False),
            {
                "criterion": ("squared_error", "absolute_error"),
                "depth": (3, 5, 10, 20),
                "features": (1.0, "sqrt", "log2"),
                "split": (0.01, 0.1, 0.2, 0.5),
                "leaf": (0.01, 0.05, 0.1, 0.2, 0.3),
            },
        ),
        "random-forest": MethodGrid(
            partial(Estimator, "forest"),
            {
                "n_estimators": Range(5, 200, steps=5, is_log=True, is_whole=True),
                "max_depth": (3, 10, 20),
                "min_samples_split": (0.1, 0.5, 1.0),
                "min_samples_leaf": (1, 2, 4),
            },
        ),
        "lasso": MethodGrid(partial(Estimator, "lasso"), {"alpha": (0.001,), "fit_intercept": (True, False)}),
        "mlp": MethodGrid(
            partial(Estimator, "mlp", solver="adam"),
            {
                "hidden_layer_sizes": tuple((width,) * layers for layers in (1, 2, 3) for width in _WIDTHS),
                "activation": ("logistic", "relu", "tanh"),
                "learning_rate_init": Range(0.001, 0.1, steps=3, is_log=True),
                "beta_1": Range(0.7, 0.9, steps=3),
                "alpha": Range(0.01, 0.1, steps=2, is_log=True),
            },
        ),
        "svr": MethodGrid(
            partial(Estimator, "svr"),
            {
                "C": Range(0.001, 75, steps=6, is_log=True),
                "epsilon": Range(0.05, 0.5, steps=3),
                "gamma": Range(1e-7, 1, steps=8, is_log=True),
                "kernel": ("linear", "rbf", "poly", "sigmoid"),
            },
        ),
    }
