"""Leave-one-out over grids of forests and small neural networks, without the work that grid points share.

Forests seeded alike are prefixes of each other, depth limits that no tree reaches do nothing, and rules for the number
of columns per split that give the same number are the same rule. Networks of all folds are trained as one batch.
"""

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Any, Literal

# Values closer than this are one value to scikit-learn's trees.
_FEATURE_THRESHOLD = 1e-7
_MEMORY = 10  # steps that L-BFGS remembers, as in scipy
_GRADIENT_TOLERANCE = 1e-4  # scikit-learn's
_PROGRESS_TOLERANCE = 2.2e-9  # scipy's
_MAX_HALVINGS = 30

Activation = Literal["relu", "logistic"]


def columns_per_split(columns: int) -> tuple[int, ...]:
    """What "all", "sqrt" and "log2" mean for so many columns, each number once.

    >>> columns_per_split(1), columns_per_split(5), columns_per_split(64)
    ((1,), (5, 2), (64, 8, 6))
    """
    rules = (columns, max(1, int(math.sqrt(columns))), max(1, int(math.log2(columns))))
    return tuple(dict.fromkeys(rules))


def forest_loo(x: Any, y: Any, trees: Sequence[int], max_features: int, *, seed: int) -> Any:
    """Left-out predictions, one row per number of trees: those of scikit-learn's forest fitted once per fold."""
    import numpy as np

    if _is_plain_column(x):
        counts, _ = _draws(len(y) - 1, max(trees), seed)
        others = [np.delete(np.arange(len(y)), i) for i in range(len(y))]
        folds = [_column_votes(counts, x[kept], y[kept], x[i : i + 1]) for i, kept in enumerate(others)]
        return _prefix_means(np.concatenate(folds, axis=1), trees)
    return _prefix_means(_votes(x, y, max(trees), max_features, seed), trees)


def forest_out_of_bag(x: Any, y: Any, trees: Sequence[int], max_features: int, *, seed: int) -> Any:
    """What the trees that did not see a row predict for it: leave-one-out at the price of one fit, but approximate."""
    import numpy as np

    forest = _forest(max(trees), max_features, seed).fit(x, y)
    votes = np.array([tree.predict(x) for tree in forest.estimators_])
    for vote, seen in zip(votes, forest.estimators_samples_, strict=True):
        vote[seen] = np.nan
    with np.errstate(invalid="ignore"):
        unseen = ~np.isnan(votes)
        sums, counts = np.nancumsum(votes, axis=0), np.cumsum(unseen, axis=0)
        return np.array(
            [np.where(counts[k - 1] > 0, sums[k - 1] / np.maximum(counts[k - 1], 1), y.mean()) for k in trees]
        )


def forest(x: Any, y: Any, trees: int, max_features: int, *, seed: int) -> Callable[[Any], Any]:
    """The forest of all rows, as a function of new rows."""
    if _is_plain_column(x):
        counts, _ = _draws(len(y), trees, seed)
        return lambda at: _column_votes(counts, x, y, at).mean(axis=0)
    fitted = _forest(trees, max_features, seed).fit(x, y)
    return lambda at: fitted.predict(at)


def _forest(trees: int, max_features: int, seed: int) -> Any:
    from sklearn.ensemble import RandomForestRegressor

    return RandomForestRegressor(trees, max_features=max_features, random_state=seed, n_jobs=1)


@lru_cache(maxsize=16)
def _draws(rows: int, trees: int, seed: int) -> tuple[Any, tuple[int, ...]]:
    """How often each tree draws each row, and the trees' own seeds; neither depends on what the rows hold."""
    import numpy as np
    from sklearn import config_context

    with config_context(assume_finite=True, skip_parameter_validation=True):
        drawn = _forest(trees, 1, seed).set_params(max_depth=1).fit(np.zeros((rows, 1)), np.zeros(rows))
    counts = np.array([np.bincount(sample, minlength=rows) for sample in drawn.estimators_samples_])
    return counts, tuple(int(tree.random_state) for tree in drawn.estimators_)


def _prefix_means(votes: Any, trees: Sequence[int]) -> Any:
    import numpy as np

    return np.array([votes[:k].mean(axis=0) for k in trees])


def _votes(x: Any, y: Any, trees: int, max_features: int, seed: int) -> Any:
    """Each tree's prediction for each row when that row is left out.

    Folds i - 1 and i differ in one place only, which holds row i in the one and row i - 1 in the other: a tree that did
    not draw that place is the same in both.
    """
    import numpy as np
    from sklearn import config_context
    from sklearn.tree import DecisionTreeRegressor

    n = len(y)
    counts, seeds = _draws(n - 1, trees, seed)
    rows, answers = np.asarray(x, dtype=np.float32), np.asarray(y, dtype=float)[:, None]
    folds = [(np.delete(rows, i, axis=0), np.delete(answers, i, axis=0)) for i in range(n)]
    votes = np.empty((trees, n))
    # Checking arguments takes longer than growing such small trees.
    with config_context(assume_finite=True, skip_parameter_validation=True):
        for t, (drawn, tree_seed) in enumerate(zip(counts.astype(float), seeds, strict=True)):
            tree = DecisionTreeRegressor(max_features=max_features, random_state=tree_seed)
            for i, (kept, kept_answers) in enumerate(folds):
                if i == 0 or drawn[i - 1] > 0:
                    tree.fit(kept, kept_answers, sample_weight=drawn, check_input=False)
                votes[t, i] = tree.tree_.predict(rows[i : i + 1])[0, 0]
    return votes


def _is_plain_column(x: Any) -> bool:
    import numpy as np

    if x.shape[1] != 1:
        return False
    gaps = np.diff(np.unique(x.astype(np.float32)).astype(float))
    return bool((gaps > _FEATURE_THRESHOLD).all())


def _column_votes(counts: Any, x: Any, y: Any, at: Any) -> Any:
    """What each tree of one column predicts for the rows `at`, without growing it.

    Each value that a tree drew is a leaf of its own, which reaches half-way to the next.
    """
    import numpy as np

    levels, level = np.unique(x[:, 0].astype(np.float32), return_inverse=True)
    levels, asked = levels.astype(float), at[:, 0].astype(np.float32).astype(float)
    member = np.eye(len(levels))[level]
    drawn = counts @ member
    means = (counts @ (member * y[:, None])) / np.maximum(drawn, 1)
    index, none = np.arange(len(levels)), len(levels)
    below = np.pad(np.maximum.accumulate(np.where(drawn > 0, index, -1), axis=1), ((0, 0), (1, 0)), constant_values=-1)
    above = np.minimum.accumulate(np.where(drawn > 0, index, none)[:, ::-1], axis=1)[:, ::-1]
    above = np.pad(above, ((0, 0), (0, 1)), constant_values=none)
    place = np.searchsorted(levels, asked, side="right")
    lower, upper = below[:, place], above[:, place]
    half_way = levels[np.maximum(lower, 0)] / 2 + levels[np.minimum(upper, none - 1)] / 2
    leaf = np.where((upper == none) | ((lower >= 0) & (asked <= half_way)), lower, upper)
    return np.take_along_axis(means, leaf, axis=1)


@dataclass(frozen=True, slots=True, eq=False)
class Networks:
    """Networks with one hidden layer, trained side by side."""

    parameters: Any  # networks x (weights in, biases, weights out, bias)
    hidden: int
    activation: Activation

    def predict(self, x: Any) -> Any:
        """One row per network."""
        return _forward(self.parameters, x, self.hidden, self.activation)[1]


def train_networks(
    x: Any, y: Any, weights: Any, alphas: Any, *, hidden: int, activation: Activation, seed: int, max_iter: int = 300
) -> Networks:
    """One network per row of `weights` (what each row of the data counts) and its penalty in `alphas`.

    The data are the same for all networks, or `x` and `y` have a first axis with each network's own.

    Objective, start and stopping rules are those of scikit-learn's MLPRegressor with solver="lbfgs": half the mean
    squared error plus alpha / 2n times the squared weights. All networks start alike.
    """
    import numpy as np

    columns = x.shape[-1]
    start = np.repeat(_start(columns, hidden, activation, seed)[None], len(weights), axis=0)
    place = np.arange(start.shape[1])
    is_weight = (place < columns * hidden) | ((place >= (columns + 1) * hidden) & (place < start.shape[1] - 1))
    counts = weights.sum(axis=1)
    decay = np.asarray(alphas)[:, None] * is_weight / counts[:, None]

    def loss(parameters: Any, chosen: Any) -> tuple[Any, Any]:
        share = weights[chosen] / counts[chosen, None]
        own_x, own_y = x[chosen] if x.ndim == 3 else x, y[chosen] if y.ndim == 2 else y
        return _loss(parameters, own_x, own_y, share, decay[chosen], hidden, activation)

    return Networks(_minimise(loss, start, max_iter), hidden, activation)


def networks_loo(
    x: Any, y: Any, alphas: Sequence[float], *, hidden: int, activation: Activation, seed: int, max_iter: int = 300
) -> tuple[Any, Networks]:
    """Left-out predictions, one row per penalty, and for each penalty the network of all rows."""
    import numpy as np

    n = len(y)
    weights = np.vstack([1 - np.eye(n), np.ones((1, n))])
    trained = train_networks(
        x,
        y,
        np.tile(weights, (len(alphas), 1)),
        np.repeat(np.asarray(alphas, dtype=float), n + 1),
        hidden=hidden,
        activation=activation,
        seed=seed,
        max_iter=max_iter,
    )
    guesses = trained.predict(x).reshape(len(alphas), n + 1, n)
    whole = trained.parameters.reshape(len(alphas), n + 1, -1)[:, n]
    return np.einsum("aii->ai", guesses[:, :n]), Networks(whole, hidden, activation)


def _start(columns: int, hidden: int, activation: Activation, seed: int) -> Any:
    import numpy as np

    random = np.random.RandomState(seed)
    factor = 2.0 if activation == "logistic" else 6.0
    parts = []
    for fan_in, fan_out in ((columns, hidden), (hidden, 1)):
        bound = math.sqrt(factor / (fan_in + fan_out))
        parts += [random.uniform(-bound, bound, fan_in * fan_out), random.uniform(-bound, bound, fan_out)]
    return np.concatenate(parts)


def _forward(parameters: Any, x: Any, hidden: int, activation: Activation) -> tuple[Any, Any]:
    """What the hidden layers give (networks x rows x hidden), and the outputs."""
    import numpy as np
    from scipy.special import expit

    columns = x.shape[-1]
    into = parameters[:, : columns * hidden].reshape(-1, columns, hidden)
    inner = x @ into + parameters[:, None, columns * hidden : (columns + 1) * hidden]
    inner = expit(inner, out=inner) if activation == "logistic" else np.maximum(inner, 0, out=inner)
    out = parameters[:, (columns + 1) * hidden : -1]
    return inner, (inner @ out[:, :, None])[:, :, 0] + parameters[:, -1:]


def _loss(
    parameters: Any, x: Any, y: Any, share: Any, decay: Any, hidden: int, activation: Activation
) -> tuple[Any, Any]:
    """Loss and gradient of each network."""
    import numpy as np

    inner, guess = _forward(parameters, x, hidden, activation)
    error = guess - y
    weighted = share * error
    loss = 0.5 * (weighted * error).sum(axis=1) + 0.5 * (decay * parameters**2).sum(axis=1)
    out = parameters[:, (x.shape[-1] + 1) * hidden : -1]
    back = weighted[:, :, None] * out[:, None, :]
    back *= inner * (1 - inner) if activation == "logistic" else inner > 0
    into = x.swapaxes(-1, -2) @ back
    gradient = np.concatenate(
        [
            into.reshape(len(parameters), -1),
            back.sum(axis=1),
            (weighted[:, None, :] @ inner)[:, 0],
            weighted.sum(axis=1, keepdims=True),
        ],
        axis=1,
    )
    return loss, gradient + decay * parameters


Loss = Callable[[Any, Any], tuple[Any, Any]]


def _minimise(loss: Loss, start: Any, max_iter: int) -> Any:
    """L-BFGS for many functions at once; each stops by itself and then leaves the batch."""
    import numpy as np

    result = start.copy()
    running = np.arange(len(start))
    point = start.copy()
    value, gradient = loss(point, running)
    steps: Any = np.zeros((_MEMORY, *point.shape))
    turns: Any = np.zeros_like(steps)
    curvatures: Any = np.zeros((_MEMORY, len(point)))
    for iteration in range(max_iter):
        direction = -_quasi_newton(gradient, steps, turns, curvatures, iteration)
        slope = np.einsum("bp,bp->b", gradient, direction)
        lost = ~(slope < 0)
        direction[lost] = -gradient[lost]
        slope[lost] = -np.einsum("bp,bp->b", gradient[lost], gradient[lost])
        length = np.ones(len(point))
        if iteration == 0:
            length = np.minimum(1.0, 1.0 / np.maximum(np.abs(gradient).sum(axis=1), 1e-300))
        moved, new_value, new_gradient = _search(loss, running, point, value, gradient, direction, slope, length)
        slot = iteration % _MEMORY
        steps[slot], turns[slot] = moved - point, new_gradient - gradient
        curvatures[slot] = np.einsum("bp,bp->b", steps[slot], turns[slot])
        progress = (value - new_value) / np.maximum(np.maximum(np.abs(value), np.abs(new_value)), 1.0)
        point, value, gradient = moved, new_value, new_gradient
        result[running] = point
        goes_on = (np.abs(gradient).max(axis=1) > _GRADIENT_TOLERANCE) & (progress > _PROGRESS_TOLERANCE)
        if not goes_on.all():
            running, point, value, gradient = running[goes_on], point[goes_on], value[goes_on], gradient[goes_on]
            steps, turns, curvatures = steps[:, goes_on], turns[:, goes_on], curvatures[:, goes_on]
        if not len(running):
            break
    return result


def _quasi_newton(gradient: Any, steps: Any, turns: Any, curvatures: Any, iteration: int) -> Any:
    """The two loops of L-BFGS; a step without positive curvature counts as none."""
    import numpy as np

    newest_first = [k % _MEMORY for k in range(iteration - 1, max(iteration - 1 - _MEMORY, -1), -1)]
    usable = curvatures > 1e-12 * np.einsum("mbp,mbp->mb", turns, turns)
    inverse = np.where(usable, 1 / np.where(usable, curvatures, 1.0), 0.0)
    direction = gradient.copy()
    shares = {}
    for k in newest_first:
        shares[k] = inverse[k] * np.einsum("bp,bp->b", steps[k], direction)
        direction -= shares[k][:, None] * turns[k]
    if newest_first:
        k = newest_first[0]
        scale = curvatures[k] / np.maximum(np.einsum("bp,bp->b", turns[k], turns[k]), 1e-300)
        direction *= np.where(usable[k], scale, 1.0)[:, None]
    for k in reversed(newest_first):
        back = inverse[k] * np.einsum("bp,bp->b", turns[k], direction)
        direction += (shares[k] - back)[:, None] * steps[k]
    return direction


def _search(
    loss: Loss, running: Any, point: Any, value: Any, gradient: Any, direction: Any, slope: Any, length: Any
) -> tuple[Any, Any, Any]:
    """Shorter steps until each function has fallen enough; one that never does stays where it is."""
    import numpy as np

    moved, new_value, new_gradient = point.copy(), value.copy(), gradient.copy()
    open_ = np.arange(len(point))
    for _ in range(_MAX_HALVINGS):
        trial = point[open_] + length[open_, None] * direction[open_]
        tried, tried_gradient = loss(trial, running[open_])
        enough = tried <= value[open_] + 1e-4 * length[open_] * slope[open_]
        done = open_[enough]
        moved[done], new_value[done], new_gradient[done] = trial[enough], tried[enough], tried_gradient[enough]
        # The lowest point of the parabola through what is known, kept within a tenth and a half.
        rest = open_[~enough]
        bend = 2 * (tried[~enough] - value[rest] - length[rest] * slope[rest])
        with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
            lowest = -slope[rest] * length[rest] / bend
        length[rest] *= np.clip(np.nan_to_num(lowest, nan=0.1), 0.1, 0.5)
        open_ = rest
        if not len(open_):
            break
    return moved, new_value, new_gradient
