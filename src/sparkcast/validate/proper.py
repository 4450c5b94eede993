"""Scores of a whole distribution, in the unit of the response; less is better.

Both are proper: whoever says what they believe scores best (Gneiting and Raftery 2007).
"""

import numpy as np

from sparkcast.arrays import Floats
from sparkcast.fitting.answering import AnswerTable

_SHARES = 100  # quantiles that a CRPS is computed from; of a normal distribution right to a thousandth


def pinball(actual: Floats, quantile: Floats, share: float) -> Floats:
    """The loss of saying that each value is below its `quantile` with probability `share`."""
    return np.where(actual >= quantile, share * (actual - quantile), (1 - share) * (quantile - actual))


def crps(table: AnswerTable, actual: Floats) -> Floats:
    """The continuous ranked probability score of each row: twice the mean pinball loss over all quantiles.

    Of a distribution without spread, it is the absolute error.
    """
    total = np.zeros(len(actual))
    for place in range(_SHARES // 2):
        share = (place + 0.5) / _SHARES
        low, high = table.interval(1 - 2 * share)
        total += pinball(actual, low, share) + pinball(actual, high, 1 - share)
    return 2 * total / _SHARES
