"""What linear models predict for a row that was left out, for a whole grid of penalties, without refitting per row.

Both have an intercept without a penalty, and columns as they come, like scikit-learn's Ridge and Lasso. Arrays of
left-out predictions have one row per penalty and one column per row of the data.
"""

from collections.abc import Sequence
from dataclasses import dataclass

from sparkcast.arrays import Floats, Ints

# Closer to 1 than this, a row's leverage has lost too many digits: that one fold is fitted again.
_FULL_LEVERAGE = 1e-6
_LASSO_TOLERANCE = 1e-13  # the last sweep's change of the fit, relative to the response
_MAX_SWEEPS = 20_000
_SWEEPS_PER_POLISH = 10


@dataclass(frozen=True, slots=True, eq=False)
class Lines:
    """One line per penalty."""

    intercepts: Floats  # penalties
    slopes: Floats  # penalties x columns

    def predict(self, x: Floats) -> Floats:
        """One row per penalty."""
        return self.intercepts[:, None] + self.slopes @ x.T


def ridge(x: Floats, y: Floats, alphas: Sequence[float]) -> Lines:
    """Ridge regressions on all rows."""
    import numpy as np

    middle = x.mean(axis=0)
    _, singular, right = np.linalg.svd(x - middle, full_matrices=False)
    along = right @ ((x - middle).T @ (y - y.mean()))
    slopes = (along / _penalized(singular, alphas)) @ right
    return Lines(y.mean() - slopes @ middle, slopes)


def ridge_loo(x: Floats, y: Floats, alphas: Sequence[float]) -> Floats:
    """Left-out predictions of ridge by the hat matrix: y - (y - fit) / (1 - h), exact for every penalty."""
    import numpy as np

    fit, left = _fit_and_left(x, y, alphas)
    leverage = 1 / len(y) + np.einsum("aik,ik->ai", left[0], left[1])
    spare = 1 - leverage
    exact = spare > _FULL_LEVERAGE
    found: Floats = y - (y - fit) / np.where(exact, spare, 1.0)
    for i in np.flatnonzero(~exact.all(axis=0)):
        found[:, i] = _refitted(x, y, alphas, np.array([i]))[:, 0]
    return found


def lasso(x: Floats, y: Floats, alphas: Sequence[float]) -> Lines:
    """Lasso regressions on all rows: the least of |y - Xw|² / 2n + alpha |w|."""
    import numpy as np

    middle = x.mean(axis=0)
    centered, answer = x - middle, y - y.mean()
    gram, moment = (centered.T @ centered)[None], (centered.T @ answer)[None]
    slopes = _lasso_slopes(gram, moment, len(y), float(np.linalg.norm(answer)), alphas)[:, 0]
    return Lines(y.mean() - slopes @ middle, slopes)


def lasso_loo(x: Floats, y: Floats, alphas: Sequence[float]) -> Floats:
    """Left-out predictions of lasso: coordinate descent for all folds at once.

    A fold needs only its Gram matrix, which is that of all rows less n / (n - 1) times the left-out row's own.
    """
    import numpy as np

    n = len(y)
    centered, answer = x - x.mean(axis=0), y - y.mean()
    share = n / (n - 1)
    gram = centered.T @ centered - share * centered[:, :, None] * centered[:, None, :]
    moment = centered.T @ answer - share * centered * answer[:, None]
    slopes = _lasso_slopes(gram, moment, n - 1, float(np.linalg.norm(answer)), alphas)
    # The other rows' means are the common mean less 1 / (n - 1) of what the left-out row is away from it.
    found: Floats = y.mean() - answer / (n - 1) + share * np.einsum("aij,ij->ai", slopes, centered)
    return found


def mean_squared_errors(left_out: Floats, y: Floats) -> Floats:
    """One number per penalty."""
    errors: Floats = ((left_out - y) ** 2).mean(axis=-1)
    return errors


def _fit_and_left(x: Floats, y: Floats, alphas: Sequence[float]) -> tuple[Floats, tuple[Floats, Floats]]:
    """Fitted values, and the two factors of the hat matrix without its constant part."""
    import numpy as np

    left, singular, _ = np.linalg.svd(x - x.mean(axis=0), full_matrices=False)
    shrunk = left[None] * (singular**2 / _penalized(singular, alphas))[:, None, :]
    return y.mean() + shrunk @ (left.T @ (y - y.mean())), (shrunk, left)


def _penalized(singular: Floats, alphas: Sequence[float]) -> Floats:
    """Squared singular values plus penalty; a direction in which nothing varies gets no slope."""
    import numpy as np

    noise = np.finfo(float).eps * max(singular.max(initial=0.0), np.finfo(float).tiny) * len(singular)
    return np.where(singular > noise, singular**2 + np.asarray(alphas, dtype=float)[:, None], np.inf)


def _refitted(x: Floats, y: Floats, alphas: Sequence[float], rows: Ints) -> Floats:
    import numpy as np

    kept = np.delete(np.arange(len(y)), rows)
    return ridge(x[kept], y[kept], alphas).predict(x[rows])


def _lasso_slopes(gram: Floats, moment: Floats, n: int, size: float, alphas: Sequence[float]) -> Floats:
    """Slopes by penalty, fold and column, each penalty starting where the next larger one ended."""
    import numpy as np

    slopes = np.zeros((len(alphas), *moment.shape))
    current = np.zeros_like(moment)
    for k in sorted(range(len(alphas)), key=lambda k: -alphas[k]):
        current = _descend(gram, moment, n * alphas[k], _LASSO_TOLERANCE * size, current)
        slopes[k] = current
    return slopes


def _descend(gram: Floats, moment: Floats, penalty: float, tolerance: float, start: Floats) -> Floats:
    import numpy as np

    # The columns in use seldom change from one penalty to the next.
    slopes, is_done = _polish(gram, moment, penalty, start) if start.any() else (start.copy(), False)
    if is_done:
        return slopes
    own = np.einsum("fjj->fj", gram)
    # What is left of a column after subtracting its only varying row is rounding error.
    varies = own > 1e-12 * own.max(axis=0, initial=0.0)
    safe = np.where(varies, own, 1.0)
    for sweep in range(1, _MAX_SWEEPS + 1):
        change = 0.0
        for j in range(slopes.shape[1]):
            pull = moment[:, j] - np.einsum("fk,fk->f", gram[:, j], slopes) + own[:, j] * slopes[:, j]
            shrunk = np.sign(pull) * np.maximum(np.abs(pull) - penalty, 0) / safe[:, j]
            new = np.where(varies[:, j], shrunk, 0.0)
            change = max(change, float((np.abs(new - slopes[:, j]) * np.sqrt(safe[:, j])).max()))
            slopes[:, j] = new
        if change <= tolerance:
            break
        if sweep % _SWEEPS_PER_POLISH == 0:
            slopes, is_done = _polish(gram, moment, penalty, slopes)
            if is_done:
                break
    return slopes


def _polish(gram: Floats, moment: Floats, penalty: float, slopes: Floats) -> tuple[Floats, bool]:
    """Straight to the solution for the columns in use, or as far as no slope changes its sign; True when it is optimal.

    Columns that follow each other closely would take coordinate descent for ever.
    """
    import numpy as np

    used = slopes != 0
    system = np.where(used[:, :, None] & used[:, None, :], gram, np.eye(slopes.shape[1]))
    target = np.where(used, moment - penalty * np.sign(slopes), 0.0)
    try:
        solved = np.linalg.solve(system, target[..., None])[..., 0]
    except np.linalg.LinAlgError:
        return slopes, False
    flips = np.sign(solved) * np.sign(slopes) < 0
    reach = np.where(flips, slopes / np.where(flips, slopes - solved, 1.0), 1.0)
    step = reach.min(axis=1, keepdims=True)
    moved = np.where(flips & (reach == step), 0.0, np.where(step == 1, solved, slopes + step * (solved - slopes)))
    pull = np.abs(moment - np.einsum("fjk,fk->fj", gram, moved))
    slack = 1e-10 * np.abs(moment).max(axis=1, keepdims=True)
    return moved, bool((step == 1).all() and (used | (pull <= penalty + slack)).all())
