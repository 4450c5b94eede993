"""The paper's models with the settings it chose, and ours."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

from sparkcast.arrays import Floats
from sparkcast.models import MODELS
from sparkcast.study import Configuration, Dataset
from sparkcast_papers.courier2021._laws import WORKERS, laws, numbers
from sparkcast_papers.courier2021._printed import BOOSTING_3, BOOSTING_5, FOREST, LAWS, LINEAR
from sparkcast_papers.courier2021._splits import Split, Technique, settings, times

FACTORS = ("cpu", "batch", "njobs", "network")
THREE, FIVE = ("cpu", "batch", "network"), ("processes", "cpu", "njobs", "batch", "network")
CHOSEN_TREES = 2000  # Table 7
FEWER_TREES = 100  # where a forest is learned many times
GRID = {
    "n_estimators": (FEWER_TREES,),
    "max_depth": (4, 6, 9),
    "criterion": ("absolute_error",),
    "max_features": (1.0, "sqrt"),
}
_AUTHORS_SEED = 42
OUR_LAWS = "operational-laws"
OURS: dict[str, Mapping[str, int]] = {
    OUR_LAWS: {"workers": WORKERS},
    "closed-network": {"workers": WORKERS},
    "courier": {"trees": FEWER_TREES},  # as many as the forest beside it has
    "scaling": {},
}


def columns(at: Sequence[Configuration], names: Sequence[str]) -> Floats:
    """Settings as the paper's models see them: processes = cpu * njobs, and lenet5 is 1, the other network -1."""
    import numpy as np

    return np.column_stack([_column(at, name) for name in names])


def _column(at: Sequence[Configuration], name: str) -> Floats:
    import numpy as np

    if name == "processes":
        return numbers(at, "cpu") * numbers(at, "njobs")
    if name == "network":
        return np.array([1.0 if configuration["network"] == "lenet5" else -1.0 for configuration in at])
    return numbers(at, name)


def standardized(
    train: Sequence[Configuration], at: Sequence[Configuration], names: Sequence[str]
) -> tuple[Floats, Floats]:
    """Columns as the paper has them: their means and deviations are also those of the asked rows.

    That hardly matters to trees. It decides on which side of a split a setting falls that lies exactly on it.
    """
    from sklearn.preprocessing import StandardScaler

    scaled = StandardScaler().fit_transform(columns([*train, *at], names))
    return scaled[: len(train)], scaled[len(train) :]


def linear(train: Dataset, at: Sequence[Configuration]) -> Floats:
    """Least squares on four factors and all their interactions."""
    from sklearn.linear_model import LinearRegression
    from sklearn.pipeline import make_pipeline
    from sklearn.preprocessing import PolynomialFeatures

    products = PolynomialFeatures(len(FACTORS), interaction_only=True, include_bias=False)
    model = make_pipeline(products, LinearRegression())
    model.fit(columns(settings(train), FACTORS), times(train))
    predicted: Floats = model.predict(columns(at, FACTORS))
    return predicted


def forest(
    train: Dataset,
    at: Sequence[Configuration],
    *,
    trees: int = FEWER_TREES,
    names: Sequence[str] = FIVE,
    seed: int = _AUTHORS_SEED,
) -> Floats:
    """With the depth and criterion of Table 7."""
    x, asked = standardized(settings(train), at, names)
    model = _forest(seed).set_params(n_estimators=trees, max_depth=6, criterion="absolute_error")
    predicted: Floats = model.fit(x, times(train)).predict(asked)
    return predicted


def boosting(train: Dataset, at: Sequence[Configuration], *, names: Sequence[str] = FIVE) -> Floats:
    """With the settings of Table 10."""
    from sklearn.ensemble import GradientBoostingRegressor

    model = GradientBoostingRegressor(n_estimators=50, max_depth=3, loss="absolute_error", random_state=_AUTHORS_SEED)
    model.fit(columns(settings(train), names), times(train))
    predicted: Floats = model.predict(columns(at, names))
    return predicted


def ours(train: Dataset, at: Sequence[Configuration], *, model: str) -> Floats:
    """A model of sparkcast."""
    import numpy as np

    return np.array(MODELS.get(model)(**OURS.get(model, {})).fit(train, "time_s").predict(at))


def our_techniques() -> dict[str, Technique]:
    return {model: partial(ours, model=model) for model in OURS}


def paper_techniques(trees: int) -> dict[str, Technique]:
    return {
        LINEAR: linear,
        LAWS: laws,
        FOREST: partial(forest, trees=trees),
        BOOSTING_3: partial(boosting, names=THREE),
        BOOSTING_5: boosting,
    }


@dataclass(frozen=True, slots=True, eq=False)
class Searched:
    """The forest that five folds chose from the reduced grid."""

    predicted: Floats
    chosen: Mapping[str, object]


def search_forest(split: Split, grid: Mapping[str, Sequence[object]]) -> Searched:
    from sklearn.model_selection import GridSearchCV

    x, asked = standardized(settings(split.train), settings(split.test), FIVE)
    search = GridSearchCV(_forest(_AUTHORS_SEED), {name: list(values) for name, values in grid.items()}, cv=5, n_jobs=1)
    search.fit(x, times(split.train))
    return Searched(search.predict(asked), search.best_params_)


def _forest(seed: int) -> Any:
    from sklearn.ensemble import RandomForestRegressor

    return RandomForestRegressor(random_state=seed, n_jobs=1)
