"""Ridge regression whose penalty is the one that predicts best what it leaves out: a closed form, row by row.

The numbers are those of scikit-learn's `StandardScaler` and `RidgeCV` one after the other, to rounding. For the dozen
rows of a small study these take five milliseconds to check their arguments, and a validation asks for hundreds of fits.
"""

from dataclasses import dataclass

import numpy as np

from sparkcast.arrays import Floats


@dataclass(frozen=True, slots=True)
class RidgeLine:
    """A weighted sum of the columns of x."""

    slopes: Floats
    start: float

    def predict(self, x: Floats) -> Floats:
        line: Floats = x @ self.slopes + self.start
        return line


def best_ridge(x: Floats, y: Floats, weights: Floats, penalties: Floats) -> RidgeLine:
    """The line with the penalty, of these, whose squared errors on rows left out are least; the first of equal ones."""
    spread = x.std(axis=0)
    constant = spread <= 10 * np.finfo(float).eps * np.maximum(np.abs(x).max(axis=0), 1.0)
    scale = np.where(constant, 1.0, spread)
    root = np.sqrt(weights)
    mean_x, mean_y = np.average(x, axis=0, weights=weights), float(np.average(y, weights=weights))
    columns, target = root[:, None] * (x - mean_x) / scale, root * (y - mean_y)
    u, sizes, v = np.linalg.svd(columns, full_matrices=False)
    along, level = u.T @ target, root / np.linalg.norm(root)
    shrunk = sizes**2 / (sizes**2 + penalties[:, None])  # of each direction, by penalty
    left = target - (shrunk * along) @ u.T
    leverage = shrunk @ (u**2).T + level**2  # the mean is learned too
    errors = (left / np.maximum(1 - leverage, np.finfo(float).eps)) ** 2  # a single row has all of it
    penalty = penalties[int(np.argmin(errors.sum(axis=1)))]
    slopes = v.T @ (sizes / (sizes**2 + penalty) * along) / scale
    return RidgeLine(slopes, mean_y - float(mean_x @ slopes))
