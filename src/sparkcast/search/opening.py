"""Where a search begins, before anything is known of the job but what jobs are like.

The first run is the one that tells most about the others for its price, whatever the job is: not the settings that
would be the cheapest if all went well. A deadline is taken to be one that some of the candidates meet, at most half of
them. So what is among the fastest in most jobs is likely to be in time.
"""

import numpy as np

from sparkcast.arrays import Floats

_DEADLINES = 8  # shares of the candidates that may meet it, dealt evenly
_TIGHT = 0.5  # at most: who names a deadline expects it to rule out something
_MOST = 3.0  # the logarithm of how much dearer than the best a run is taken to be at most
_TINY = 1e-300


def promised(weights: Floats, values: Floats, log_times: Floats, ok: Floats) -> Floats:
    """The share of the best in time that each candidate is expected to reach, whatever the deadline is."""
    n = log_times.shape[1]
    ranks = np.argsort(np.argsort(log_times, axis=1, kind="stable"), axis=1)
    total = np.zeros(n)
    for k in range(_DEADLINES):
        is_in_time = ranks < max(1, round(_TIGHT * (k + 0.5) / _DEADLINES * n))
        best = np.where(is_in_time, values, np.inf).min(axis=1, keepdims=True)
        total += weights @ (ok * is_in_time * np.exp(np.minimum(best - values, 0.0)))
    return total / _DEADLINES


def told_for_its_money(weights: Floats, values: Floats, ok: Floats) -> Floats:
    """How much a first run of each candidate tells of those that may be the best, for its price."""
    relative = np.minimum(values - values.min(axis=1, keepdims=True), _MOST)
    price = weights @ np.exp(relative)
    shares = weights @ (ok * np.exp(-relative))
    shares = shares / max(float(shares.sum()), _TINY)
    centered = values - weights @ values
    covariance = centered.T @ (weights[:, None] * centered)
    variances = np.diag(covariance)
    apart = variances[:, None] + variances[None, :] - 2 * covariance  # of what a run leaves open of each other
    left_open = apart @ shares
    told = 1 - left_open / max(float(left_open.max()), _TINY)
    worth: Floats = (weights @ ok) * told / price
    return worth
