"""From simulated jobs to numbers with intervals: warm-up by MSER-5, intervals by replications or batch means."""

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from scipy.stats import t

from sparkcast.arrays import Floats
from sparkcast.errors import NotEnoughDataError

_BATCH = 5  # the 5 of MSER-5
_LEAST = 2  # replications, or batches
_NOT_SKEWED = 1e-3  # the formula divides by it


@dataclass(frozen=True, slots=True)
class Estimate:
    """A number from simulation, and where the true one lies with probability `level`."""

    value: float
    low: float
    high: float
    level: float = 0.95


def warm_up(values: Floats) -> int:
    """How many of the first values to drop: the rule MSER-5 (White, Cobb and Spratt 2000).

    Means of five; the cut that makes the standard error of what remains smallest, within the first half.
    """
    n = len(values) // _BATCH
    if n < 2 * _BATCH:
        return 0
    means = np.asarray(values[: n * _BATCH], dtype=float).reshape(n, _BATCH).mean(axis=1)
    means = means - means.mean()  # keeps digits of the sums of squares
    left = np.arange(n, 0, -1)
    sums, squares = np.cumsum(means[::-1])[::-1], np.cumsum(means[::-1] ** 2)[::-1]
    errors = (squares - sums**2 / left) / left**2
    return int(np.argmin(errors[: n // 2 + 1])) * _BATCH


def over_replications(values: Sequence[float], level: float = 0.95) -> Estimate:
    """The mean of independent runs with Student's interval, adjusted for skewness.

    Means of queues are skewed to the right, so that Student's own interval lies too low too often. The adjustment is
    that of Willink (2005), as in Skart (Tafazzoli, Steiger and Wilson 2011).
    """
    n = len(values)
    if n < _LEAST:
        raise NotEnoughDataError(
            f"{n} replication{'' if n == 1 else 's'} cannot show the variation", hint="run 2 or more"
        )
    mean = math.fsum(values) / n
    spread = math.sqrt(math.fsum((value - mean) ** 2 for value in values) / (n - 1))
    if spread == 0:
        return Estimate(mean, mean, mean, level)
    third = math.fsum(((value - mean) / spread) ** 3 for value in values)
    skewness = n / ((n - 1) * (n - 2)) * third if n > _LEAST else 0.0
    reach, error = float(t.ppf((1 + level) / 2, n - 1)), spread / math.sqrt(n)
    adjust = skewness / (6 * math.sqrt(n))
    return Estimate(mean, mean - _adjusted(reach, adjust) * error, mean - _adjusted(-reach, adjust) * error, level)


def _adjusted(quantile: float, by: float) -> float:
    """Student's quantile for a skewed mean."""
    if abs(by) < _NOT_SKEWED:
        return quantile
    return (math.cbrt(1 + 6 * by * (quantile - by)) - 1) / (2 * by)
