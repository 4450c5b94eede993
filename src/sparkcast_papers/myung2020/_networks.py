"""Leave-one-out over a grid of small neural networks: those of all folds are trained as one batch."""

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Literal

from sparkcast.arrays import Floats, Ints

_MEMORY = 10  # steps that L-BFGS remembers, as in scipy
_GRADIENT_TOLERANCE = 1e-4  # scikit-learn's
_PROGRESS_TOLERANCE = 2.2e-9  # scipy's
_MAX_HALVINGS = 30

Activation = Literal["relu", "logistic"]


@dataclass(frozen=True, slots=True, eq=False)
class Networks:
    """Networks with one hidden layer, trained side by side."""

    parameters: Floats  # networks x (weights in, biases, weights out, bias)
    hidden: int
    activation: Activation

    def predict(self, x: Floats) -> Floats:
        """One row per network."""
        return _forward(self.parameters, x, self.hidden, self.activation)[1]


def train_networks(
    x: Floats,
    y: Floats,
    weights: Floats,
    alphas: Floats,
    *,
    hidden: int,
    activation: Activation,
    seed: int,
    max_iter: int = 300,
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

    def loss(parameters: Floats, chosen: Ints) -> tuple[Floats, Floats]:
        share = weights[chosen] / counts[chosen, None]
        own_x, own_y = x[chosen] if x.ndim == 3 else x, y[chosen] if y.ndim == 2 else y
        return _loss(parameters, own_x, own_y, share, decay[chosen], hidden, activation)

    return Networks(_minimize(loss, start, max_iter), hidden, activation)


def networks_loo(
    x: Floats,
    y: Floats,
    alphas: Sequence[float],
    *,
    hidden: int,
    activation: Activation,
    seed: int,
    max_iter: int = 300,
) -> tuple[Floats, Networks]:
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


def _start(columns: int, hidden: int, activation: Activation, seed: int) -> Floats:
    import numpy as np

    random = np.random.RandomState(seed)
    factor = 2.0 if activation == "logistic" else 6.0
    parts = []
    for fan_in, fan_out in ((columns, hidden), (hidden, 1)):
        bound = math.sqrt(factor / (fan_in + fan_out))
        parts += [random.uniform(-bound, bound, fan_in * fan_out), random.uniform(-bound, bound, fan_out)]
    return np.concatenate(parts)


def _forward(parameters: Floats, x: Floats, hidden: int, activation: Activation) -> tuple[Floats, Floats]:
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
    parameters: Floats, x: Floats, y: Floats, share: Floats, decay: Floats, hidden: int, activation: Activation
) -> tuple[Floats, Floats]:
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


Loss = Callable[[Floats, Ints], tuple[Floats, Floats]]


def _minimize(loss: Loss, start: Floats, max_iter: int) -> Floats:
    """L-BFGS for many functions at once; each stops by itself and then leaves the batch."""
    import numpy as np

    result = start.copy()
    running = np.arange(len(start))
    point = start.copy()
    value, gradient = loss(point, running)
    steps: Floats = np.zeros((_MEMORY, *point.shape))
    turns: Floats = np.zeros_like(steps)
    curvatures: Floats = np.zeros((_MEMORY, len(point)))
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


def _quasi_newton(gradient: Floats, steps: Floats, turns: Floats, curvatures: Floats, iteration: int) -> Floats:
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
    loss: Loss,
    running: Ints,
    point: Floats,
    value: Floats,
    gradient: Floats,
    direction: Floats,
    slope: Floats,
    length: Floats,
) -> tuple[Floats, Floats, Floats]:
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
