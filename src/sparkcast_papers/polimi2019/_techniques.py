"""The library's techniques as it tried them: a grid, a fifth of the runs to choose from it, standardized columns.

Grids are reduced to what matters, so that trying all takes seconds.
"""

from dataclasses import dataclass
from itertools import product
from typing import Any

from sparkcast.arrays import Floats
from sparkcast_papers.polimi2019._splits import Split

TECHNIQUES = ("decision tree", "lasso", "random forest", "SVR")
SEEDS = (1, 5, 25)  # the authors' were the powers of 5
_CHOOSE_FROM = 0.2


@dataclass(frozen=True, slots=True)
class Tried:
    """MAPE on the runs that chose the settings of a technique, and on the runs that were asked."""

    chosen_by: float
    asked: float


def try_technique(technique: str, split: Split, seed: int, *, scale_with_test: bool = False) -> Tried:
    """The grid point with the least squared error on a fifth of the training runs, asked about the test runs.

    `scale_with_test` standardizes with the test runs too, their times among them, as the authors did.
    """
    import numpy as np
    from sklearn.model_selection import train_test_split

    train, test = _columns(split.x_train, split.x_test)
    whole = (np.vstack([train, test]), np.concatenate([split.y_train, split.y_test]))
    of_x, of_y = whole if scale_with_test else (train, split.y_train)
    middle, spread, y_middle, y_spread = of_x.mean(axis=0), of_x.std(axis=0), of_y.mean(), of_y.std()
    train, test = (train - middle) / spread, (test - middle) / spread
    fitted, held = train_test_split(np.arange(len(train)), test_size=_CHOOSE_FROM, random_state=seed)
    y = (split.y_train - y_middle) / y_spread

    models = [model.fit(train[fitted], y[fitted]) for model in _grid(technique, seed)]
    best = min(models, key=lambda model: float(((model.predict(train[held]) - y[held]) ** 2).mean()))
    back = [best.predict(x) * y_spread + y_middle for x in (train[held], test)]
    return Tried(mape(back[0], split.y_train[held]), mape(back[1], split.y_test))


def mape(predicted: Floats, actual: Floats) -> float:
    import numpy as np

    return 100 * float(np.mean(np.abs(predicted - actual) / actual))


def _columns(*tables: Floats) -> list[Floats]:
    """Data size, cores and 1 / cores, without those that are the same in all runs learned from."""
    import numpy as np

    wide = [np.column_stack([table, 1 / table[:, 1]]) for table in tables]
    varied = np.ptp(wide[0], axis=0) > 0
    return [table[:, varied] for table in wide]


def _grid(technique: str, seed: int) -> list[Any]:
    from sklearn.ensemble import RandomForestRegressor
    from sklearn.linear_model import Lasso
    from sklearn.svm import SVR
    from sklearn.tree import DecisionTreeRegressor

    if technique == "decision tree":
        return [
            DecisionTreeRegressor(max_depth=depth, min_samples_split=split, min_samples_leaf=leaf, random_state=seed)
            for depth, split, leaf in product((3, 5, 10, 20), (0.01, 0.1), (0.01, 0.05, 0.1))
        ]
    if technique == "lasso":
        return [Lasso(0.001, fit_intercept=intercept) for intercept in (True, False)]
    if technique == "random forest":
        return [
            RandomForestRegressor(30, max_depth=depth, min_samples_leaf=leaf, random_state=seed, n_jobs=1)
            for depth, leaf in product((3, 10, 20), (1, 2, 4))
        ]
    return [
        SVR(kernel=kernel, C=c, epsilon=epsilon, gamma=gamma)
        for kernel, c, epsilon, gamma in product(("linear", "rbf"), (0.1, 1, 75), (0.05, 0.5), (0.1, 1))
        if kernel == "rbf" or gamma == 1
    ]
