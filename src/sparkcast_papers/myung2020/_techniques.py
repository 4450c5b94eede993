"""The paper's four techniques, each with its grid, searched by leave-one-out.

Lasso, ridge and forest search the whole grids of Tables 10 and 11. The network searches four points of Table 12's 108:
L-BFGS with both activations and both penalties, 50 hidden units, at most 300 iterations. Beyond MANY_ROWS the forest is
judged out of bag and the network by three folds, for 840 fits of each point would change nothing but the time.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Literal, get_args

from sparkcast.arrays import Floats
from sparkcast_papers.myung2020._forests import columns_per_split, forest, forest_loo, forest_out_of_bag
from sparkcast_papers.myung2020._lines import lasso, lasso_loo, ridge, ridge_loo
from sparkcast_papers.myung2020._networks import Activation, networks_loo, train_networks
from sparkcast_papers.myung2020._tables import ALPHAS, TREES

Technique = Literal["lasso", "ridge", "rf", "mlp"]
TECHNIQUES: tuple[Technique, ...] = get_args(Technique)
NETWORK_ALPHAS = (0.01, 0.05)
ACTIVATIONS: tuple[Activation, ...] = get_args(Activation)
HIDDEN = 50
ITERATIONS = 300
MANY_ROWS = 100
_FOLDS = 3
SEED = 0

Predict = Callable[[Floats], Floats]


@dataclass(frozen=True, slots=True)
class Point:
    """One point of a technique's grid."""

    technique: Technique
    alpha: float = 0.0
    trees: int = 0
    max_features: int = 0
    activation: Activation = "relu"


@dataclass(frozen=True, slots=True, eq=False)
class Searched:
    """The best point of a grid."""

    point: Point
    left_out: Floats  # what is predicted for each row without it
    error: float  # mean square of what is left out
    predict: Predict  # learned from all rows


def search_all(x: Floats, y: Floats, techniques: Sequence[Technique] = TECHNIQUES) -> dict[Technique, Searched]:
    """The best point of each technique."""
    return {technique: _SEARCHES[technique](x, y) for technique in techniques}


def best(searched: Mapping[Technique, Searched]) -> Searched:
    """The one with the lowest leave-one-out error; of equals the simpler."""
    return min(searched.values(), key=lambda found: found.error)


def fit(point: Point, x: Floats, y: Floats) -> Predict:
    """One point, learned from these rows."""
    import numpy as np

    if point.technique in ("lasso", "ridge"):
        lines = (lasso if point.technique == "lasso" else ridge)(x, y, [point.alpha])
        return lambda at: lines.predict(at)[0]
    if point.technique == "rf":
        return forest(x, y, point.trees, min(point.max_features, x.shape[1]), seed=SEED)
    network = train_networks(
        x,
        y,
        np.ones((1, len(y))),
        np.array([point.alpha]),
        hidden=HIDDEN,
        activation=point.activation,
        seed=SEED,
        max_iter=ITERATIONS,
    )
    return lambda at: network.predict(at)[0]


def _search_lasso(x: Floats, y: Floats) -> Searched:
    points = [Point("lasso", alpha=alpha) for alpha in ALPHAS]
    return _chosen(points, lasso_loo(x, y, ALPHAS), x, y)


def _search_ridge(x: Floats, y: Floats) -> Searched:
    points = [Point("ridge", alpha=alpha) for alpha in ALPHAS]
    return _chosen(points, ridge_loo(x, y, ALPHAS), x, y)


def _search_forest(x: Floats, y: Floats) -> Searched:
    import numpy as np

    judge = forest_loo if len(y) <= MANY_ROWS else forest_out_of_bag
    rules = columns_per_split(x.shape[1])
    points = [Point("rf", trees=trees, max_features=rule) for rule in rules for trees in TREES]
    left_out = np.concatenate([judge(x, y, TREES, rule, seed=SEED) for rule in rules])
    return _chosen(points, left_out, x, y)


def _search_network(x: Floats, y: Floats) -> Searched:
    import numpy as np

    points = [Point("mlp", alpha=alpha, activation=name) for name in ACTIVATIONS for alpha in NETWORK_ALPHAS]
    if len(y) > MANY_ROWS:
        return _chosen(points, np.concatenate([_networks_by_folds(x, y, name) for name in ACTIVATIONS]), x, y)
    found = [
        networks_loo(x, y, NETWORK_ALPHAS, hidden=HIDDEN, activation=name, seed=SEED, max_iter=ITERATIONS)
        for name in ACTIVATIONS
    ]
    left_out = np.concatenate([left for left, _ in found])
    errors = _errors(left_out, y)
    k = int(np.argmin(errors))
    networks, own = found[k // len(NETWORK_ALPHAS)][1], k % len(NETWORK_ALPHAS)
    return Searched(points[k], left_out[k], float(errors[k]), lambda at: networks.predict(at)[own])


def _networks_by_folds(x: Floats, y: Floats, activation: Activation) -> Floats:
    import numpy as np

    fold = np.random.default_rng(SEED).permutation(len(y)) % _FOLDS
    weights = np.array([fold != k for k in range(_FOLDS)], dtype=float)
    trained = train_networks(
        x,
        y,
        np.tile(weights, (len(NETWORK_ALPHAS), 1)),
        np.repeat(NETWORK_ALPHAS, _FOLDS),
        hidden=HIDDEN,
        activation=activation,
        seed=SEED,
        max_iter=ITERATIONS,
    )
    guesses = trained.predict(x).reshape(len(NETWORK_ALPHAS), _FOLDS, len(y))
    return guesses[:, fold, np.arange(len(y))]


def _chosen(points: list[Point], left_out: Floats, x: Floats, y: Floats) -> Searched:
    import numpy as np

    errors = _errors(left_out, y)
    k = int(np.argmin(errors))
    return Searched(points[k], left_out[k], float(errors[k]), fit(points[k], x, y))


def _errors(left_out: Floats, y: Floats) -> Floats:
    """Mean squared errors; a point that gave no number is lost."""
    import numpy as np

    with np.errstate(over="ignore", invalid="ignore"):
        errors = ((left_out - y) ** 2).mean(axis=1)
    return np.where(np.isfinite(errors), errors, np.inf)


_SEARCHES: dict[Technique, Callable[[Floats, Floats], Searched]] = {
    "lasso": _search_lasso,
    "ridge": _search_ridge,
    "rf": _search_forest,
    "mlp": _search_network,
}
