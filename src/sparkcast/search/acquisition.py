"""What the next run is worth: what it improves itself, and what it teaches about where the best settings are."""

from dataclasses import dataclass

import numpy as np

from sparkcast.arrays import Floats, Ints
from sparkcast.search.belief import WeightedJobs

_N_ANSWERS = 64  # that a run may give, to judge what it teaches; with few, the luckiest candidate looks best
_SHORTLIST = 100  # candidates for which that is done
_LEAST_CHANCE = 1e-3  # of success: nothing looks worse than a thousand times what it gives
_GOLDEN = 0.618034
_TINY = 1e-300


@dataclass(frozen=True, slots=True)
class Outlook:
    """What the next run of each candidate may give: one row per job, one column per candidate."""

    weights: Floats
    values: Floats  # the objective on the scale of the search, where smaller is better
    ok: Floats  # probability of an answer that counts
    variances: Floats  # of each candidate, whatever the job
    belief: WeightedJobs


def expected_gain(outlook: Outlook, best: float, left: Ints) -> Floats:
    """What a run of each candidate that is left is expected to improve on the best, by itself or by what it teaches."""
    improves = expected_improvement(outlook, best)
    order = left[np.argsort(-improves[left], kind="stable")]
    shortlist = order
    if len(order) > _SHORTLIST:  # the best, and some of all others: what teaches most need not be good itself
        promising, others = order[: _SHORTLIST // 2], order[_SHORTLIST // 2 :]
        shortlist = np.concatenate([promising, others[:: -(-2 * len(others) // _SHORTLIST)]])
    teaches = np.zeros(len(improves))
    teaches[shortlist] = knowledge_gradient(outlook, best, shortlist)
    return np.maximum(improves, teaches)[left]


def expected_improvement(outlook: Outlook, best: float) -> Floats:
    return outlook.weights @ (outlook.ok * improvement(outlook.values, np.sqrt(outlook.variances), best))


def improvement(mean: Floats, sd: Floats, best: float) -> Floats:
    """Expected amount by which a normal answer lies below the best."""
    from scipy.special import ndtr

    z = (best - mean) / sd
    gain: Floats = sd * (z * ndtr(z) + np.exp(-(z**2) / 2) / np.sqrt(2 * np.pi))
    return gain


def knowledge_gradient(outlook: Outlook, best: float, places: Ints) -> Floats:
    """How much better the best will look after a run of each of these, whichever it then is (Frazier et al. 2009)."""
    weights, values, ok = outlook.weights, outlook.values[:, places], outlook.ok[:, places]
    sd = np.sqrt(outlook.variances[places])
    moves = outlook.belief.covariance(places, places) / sd**2  # of all others with the answer of one
    answering, errors = _answers(weights)
    now = min(best, float(_looks(weights, values, ok).min()))
    gains = []
    for k in range(len(places)):
        answers = values[answering, k] + sd[k] * errors
        logs = np.log(weights * ok[:, k] + _TINY) - ((answers[:, None] - values[:, k]) / sd[k]) ** 2 / 2
        after = np.exp(logs - logs.max(axis=1, keepdims=True))
        after /= after.sum(axis=1, keepdims=True)
        looks = _looks(after, values, ok) + moves[:, k] * (answers - after @ values[:, k])[:, None]
        looks[:, k] = answers
        good = float(weights @ ok[:, k])
        then = good * float(np.minimum(best, looks.min(axis=1)).mean())
        then += (1 - good) * min(best, _after_failure(weights, values, ok, k))
        gains.append(now - then)
    return np.array(gains)


def _answers(weights: Floats) -> tuple[Ints, Floats]:
    """Jobs that may answer, and how many standard deviations they are off, dealt evenly over both."""
    from scipy.special import ndtri

    middles = (np.arange(_N_ANSWERS) + 0.5) / _N_ANSWERS
    answering = np.minimum(np.searchsorted(np.cumsum(weights), middles), len(weights) - 1)
    return answering, ndtri((middles + _GOLDEN * np.arange(_N_ANSWERS)) % 1)


def _looks(weights: Floats, values: Floats, ok: Floats) -> Floats:
    """What each candidate is expected to give when it is tried until it gives something."""
    looks: Floats = weights @ values - np.log(np.maximum(weights @ ok, _LEAST_CHANCE))
    return looks


def _after_failure(weights: Floats, values: Floats, ok: Floats, k: int) -> float:
    failing = weights * (1 - ok[:, k])
    looks = _looks(failing / max(float(failing.sum()), _TINY), values, ok)
    return float(np.delete(looks, k).min(initial=np.inf))
