"""Which terms a set of runs can tell apart: designs are judged by it and analyses choose their model with it."""

import math
from collections.abc import Sequence

import numpy as np

from sparkcast.arrays import Array, Floats

# A coefficient whose variance is this many times what it could be says little: the usual limit of variance inflation.
MAX_INFLATION = 10.0
# With fewer residual degrees of freedom an F test hardly ever finds anything.
MIN_RESIDUAL_DF = 3
_NOTHING_NEW = 1e-9  # the share of a column that is rounding error


def leaving(free: int, pairs: Sequence[int], bends: int) -> tuple[list[int], int]:
    """Which interactions (their places) and how many bends leave the default model, so that the noise can be judged.

    `free` degrees are left by the whole model, and interactions give back `pairs` degrees each: the costliest go first,
    then bends, one degree each, the last one first.

    >>> leaving(0, [1, 4, 1], 0)
    ([1], 0)
    """
    gone: list[int] = []
    for place in sorted(range(len(pairs)), key=lambda place: pairs[place], reverse=True):
        if free >= MIN_RESIDUAL_DF:
            break
        gone.append(place)
        free += pairs[place]
    return gone, min(bends, max(0, 1 - free))


class ToldApart:
    """Columns accepted so far, the intercept among them; a term joins when it can be told apart from all of them.

    Told apart means that neither its own coefficients nor those accepted before get a variance inflation beyond the
    limit. The response plays no part in it.
    """

    def __init__(self, columns: Floats) -> None:
        self._columns = columns
        self._inverse: Array = np.linalg.pinv(columns.T @ columns, hermitian=True)

    def add(self, columns: Floats, *, limit: float = MAX_INFLATION) -> bool:
        """Let a term's columns join if they can be told apart; whether they were."""
        if self._columns.shape[1] + columns.shape[1] > len(columns):
            return False
        shared = self._columns.T @ columns
        old = self._inverse @ shared
        rest = columns.T @ columns - shared.T @ old  # what the accepted columns leave of the new ones
        own_sq = np.maximum((columns**2).sum(axis=0), 1e-300)
        scaled = rest / np.sqrt(np.outer(own_sq, own_sq))
        if np.linalg.eigvalsh(scaled).min() <= _NOTHING_NEW:
            return False
        new: Array = np.linalg.inv(rest)
        grown = self._inverse + old @ new @ old.T
        if not math.isinf(limit):
            before, after = _inflation(self._columns, self._inverse), _inflation(self._columns, grown)
            if (after > np.maximum(limit, 1.01 * before)).any() or (_inflation(columns, new) > limit).any():
                return False
        self._inverse = np.block([[grown, -old @ new], [-(old @ new).T, new]])
        self._columns = np.hstack([self._columns, columns])
        return True


def _inflation(columns: Floats, inverse: Floats) -> Floats:
    """How many times its least possible variance each coefficient has; 0 for the intercept."""
    spread: Floats = ((columns - columns.mean(axis=0)) ** 2).sum(axis=0)
    return np.diag(inverse) * spread
