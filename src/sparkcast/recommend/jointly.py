"""The chance of keeping several limits at once, in one and the same run.

A cost that is computed from the time is as long as the time is: of two limits on the same draws the harder one decides.
Models of different responses err together or apart: a run that is slower than predicted may be more accurate than
predicted, and then a deadline and a least accuracy are kept together less often than chance would have it. How
their errors go together is taken from the measured settings, and joined to their distributions by a Gaussian copula.
"""

from collections.abc import Mapping

import numpy as np

from sparkcast.arrays import Floats
from sparkcast.study import Configuration

_ASSUMED = 10  # configurations: how much is assumed that errors have nothing to do with each other
_FEWEST = 3
_LARGEST = 0.95
_SLICES = 64
_LEAST = 1e-15  # probability that has a finite score


def correlation(first: Mapping[Configuration, float], second: Mapping[Configuration, float]) -> float:
    """Of what two models miss the same measured settings by, shrunk towards none."""
    shared = [configuration for configuration in first if configuration in second]
    errors = np.array([[missed[configuration] for configuration in shared] for missed in (first, second)])
    if len(shared) < _FEWEST or (np.ptp(errors, axis=1) == 0).any():
        return 0.0
    found = float(np.corrcoef(errors)[0, 1]) * len(shared) / (len(shared) + _ASSUMED)
    return float(np.clip(found, -_LARGEST, _LARGEST))


def both(first: Floats, second: Floats, correlated: float) -> Floats:
    """The probability of two events with these probabilities, of normal scores that are correlated like this.

    >>> both(np.array([0.9]), np.array([0.9]), 0.0).round(4).tolist()
    [0.81]
    """
    if correlated == 0:
        return first * second
    from scipy.special import ndtr, ndtri  # longer to load than most answers take

    # Given that the first happens: its score in equal slices of what is likely, and then how likely the second is.
    shares = (np.arange(_SLICES) + 0.5) / _SLICES
    scores = ndtri(np.clip(first[:, None] * shares, _LEAST, 1 - _LEAST))
    limits = (ndtri(np.clip(second, _LEAST, 1 - _LEAST))[:, None] - correlated * scores) / np.sqrt(1 - correlated**2)
    found: Floats = np.minimum(first * ndtr(limits).mean(axis=1), np.minimum(first, second))
    return found
