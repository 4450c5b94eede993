"""How sure the answer of a search is: of being in time in its next run, and of being the best of those tried.

A time that was measured is not a promise: the next run takes longer as often as not. How much runs vary is learned from
settings that were run several times; before that, it is what runs of Spark jobs usually show.
"""

import math
from collections.abc import Sequence

import numpy as np

USUAL_NOISE = 0.06  # standard deviation of the logarithm of a run, in the median of 990 settings of machines
_ODD = 0.1  # share of runs that may be far slower than all others, as long as one run says nothing else
_BEFORE = 2.0  # degrees of freedom of that: some jobs vary five times as much
_MOST_NOISE = 0.3  # that is paid for, as long as no repeat shows it
_DRAWS = 4000
_TINY = 1e-300


def noise_of(groups: Sequence[Sequence[float]]) -> tuple[float, float]:
    """The standard deviation of the logarithm of a run, and with how many degrees of freedom it is known.

    >>> noise_of([[10.0], [12.0]])
    (0.06, 2.0)
    """
    logs = [np.log(np.maximum(group, _TINY)) for group in groups if len(group) > 1]
    squares = math.fsum(float(((some - some.mean()) ** 2).sum()) for some in logs)
    freedom = _BEFORE + sum(len(some) - 1 for some in logs)
    return math.sqrt((_BEFORE * USUAL_NOISE**2 + squares) / freedom), freedom


def chance_in_time(times_s: Sequence[float], within_s: float, groups: Sequence[Sequence[float]]) -> float:
    """The probability that the next run of settings that took these times is in time; `groups`: those of all settings.

    However fast it was, one run does not show whether one in ten takes several times as long, as in some clouds.

    >>> round(chance_in_time([60.0], 60.0, [[60.0]]), 2), chance_in_time([30.0], 60.0, [[30.0]])
    (0.5, 0.9)
    """
    from scipy.special import stdtr

    sd, freedom = noise_of(groups)
    center = float(np.log(np.maximum(times_s, _TINY)).mean())
    spread = sd * math.sqrt(1 + 1 / len(times_s))
    return min(float(stdtr(freedom, (math.log(within_s) - center) / spread)), 1 - _ODD / len(times_s))


def can_be_promised(
    times_s: Sequence[float], within_s: float, groups: Sequence[Sequence[float]], confidence: float, more: int
) -> bool:
    """Whether so many more runs like those would be enough."""
    middle = math.exp(float(np.log(np.maximum(times_s, _TINY)).mean()))
    like = [*times_s, *[middle] * more]
    others = [group for group in groups if list(group) != list(times_s)]
    return chance_in_time(like, within_s, [*others, like]) >= confidence


def chance_best(groups: Sequence[Sequence[float]]) -> float:
    """The probability that the first of these settings has the lowest mean in truth; their values are positive.

    >>> chance_best([[1.0], [2.0]]) > 0.95, round(chance_best([[1.0], [1.0]]), 1)
    (True, 0.5)
    """
    sd, freedom = noise_of(groups)
    random = np.random.default_rng(0)
    centers = np.array([np.log(np.maximum(group, _TINY)).mean() for group in groups])
    spreads = np.array([1 / math.sqrt(len(group)) for group in groups])
    noises = sd * np.sqrt(freedom / random.chisquare(freedom, (_DRAWS, 1)))
    drawn = centers + noises * spreads * random.standard_normal((_DRAWS, len(groups)))
    return float((drawn.argmin(axis=1) == 0).mean())


def lost_by_chance(groups: Sequence[Sequence[float]]) -> float:
    """What taking the first of these settings is expected to lose against the best in truth, as a share."""
    sd, freedom = noise_of(groups)
    random = np.random.default_rng(0)
    centers = np.array([np.log(np.maximum(group, _TINY)).mean() for group in groups])
    spreads = np.array([1 / math.sqrt(len(group)) for group in groups])
    noises = np.minimum(sd * np.sqrt(freedom / random.chisquare(freedom, (_DRAWS, 1))), max(_MOST_NOISE, sd))
    drawn = centers + noises * spreads * random.standard_normal((_DRAWS, len(groups)))
    return float((drawn[:, 0] - drawn.min(axis=1)).mean())
