"""How sure the answer of a search is: of being in time in its next run, and of being the best of those tried.

A time that was measured is not a promise: the next run takes longer as often as not. Runs of the same settings lie
close together, but some are slower, and in some jobs many are far slower: of how many, and by how much, the runs of a
search say little. So all that repeats of public workloads showed is taken to be possible, and settings that were run
several times say what is true of this job (see `benchmarks/promised.py`).
"""

import math
from collections.abc import Sequence
from functools import lru_cache

import numpy as np

from sparkcast.arrays import Floats

USUAL_NOISE = 0.06  # standard deviation of the logarithm of a run, in the median of 990 settings of machines
_BEFORE = 2.0  # degrees of freedom of that: some jobs vary five times as much
_MOST_NOISE = 0.3  # that is paid for, as long as no repeat shows it
_DRAWS = 4000
_TINY = 1e-300

# What the noise of a job may be like, and how often it was, in repeats of ten programs of Scout's single machines.
_CORES = np.array([0.01, 0.02, 0.04, 0.08, 0.16])  # standard deviation of the logarithms of runs that nothing held up
_HELD_UP = np.array([0.03, 0.15, 0.3, 0.45, 0.6])  # share of the runs that something held up
_BY = np.array([0.05, 0.15, 0.4, 1.0])  # by how much in the mean, as a logarithm: exponentially distributed
_USUAL = np.array([0.4, 0.3, 0.17, 0.1, 0.03])[:, None, None] * (
    np.array([0.05, 0.15, 0.25, 0.35, 0.2])[:, None] * np.array([0.15, 0.4, 0.25, 0.2])
)
_FAILS = 0.1  # that a run fails or hangs, as long as one run says nothing else: of Scout's runs 5 % did
_AROUND = np.linspace(-4.0, 4.0, 33)  # each run, in standard deviations: where the level may be
_BELOW, _LOWEST = 24, 6.0  # where it may be if something held up that run: so many places, down to this logarithm
_MOST_TOLD = 12  # runs of the same settings, the last ones: more say little more


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

    However fast it was, one run does not show whether one in ten fails or hangs.

    >>> round(chance_in_time([60.0], 60.0, [[60.0]]), 2), chance_in_time([20.0], 60.0, [[20.0]])
    (0.5, 0.9)
    """
    repeated = tuple(sorted(_logs(group) for group in groups if len(group) > 1))
    late = _chance_late(_logs(times_s), math.log(within_s), repeated)
    return min(1 - late, 1 - _FAILS / len(times_s))


def _logs(times_s: Sequence[float]) -> tuple[float, ...]:
    return tuple(np.log(np.maximum(times_s[-_MOST_TOLD:], _TINY)).tolist())


@lru_cache(maxsize=4096)
def _chance_late(logs: tuple[float, ...], limit: float, repeated: tuple[tuple[float, ...], ...]) -> float:
    """Over all that noise may be like, by how likely it makes the repeats, and over all levels of these settings."""
    evidence = np.log(_USUAL) + sum((_evidence(group) for group in repeated), np.zeros(_USUAL.shape))
    noises = np.exp(evidence - evidence.max())
    levels, likely = _levels(logs)
    likely = likely / likely.sum(axis=-1, keepdims=True)
    late = (likely * _beyond(limit - levels)).sum(axis=-1)
    return float((noises * late).sum() / noises.sum())


@lru_cache(maxsize=4096)
def _evidence(logs: tuple[float, ...]) -> Floats:
    """How likely repeats are under each noise, whatever their level; a logarithm."""
    likely: Floats = np.log(_levels(logs)[1].sum(axis=-1) + _TINY)
    return likely


def _levels(logs: tuple[float, ...]) -> tuple[Floats, Floats]:
    """Levels around the runs, one row per core; and how likely each is under each noise."""
    runs, spread = np.array(logs), _CORES[:, None]
    below = np.geomspace(-_AROUND[0] * spread[:, 0], _LOWEST, _BELOW + 1)[1:].T
    places = np.hstack([-below[:, ::-1], spread * _AROUND])
    levels = np.sort((runs[:, None, None] + places).swapaxes(0, 1).reshape(len(_CORES), -1), axis=1)
    likely: Floats = np.ones((*_USUAL.shape, levels.shape[1]))
    for run in runs:
        apart = run - levels
        free = np.exp(-((apart / spread) ** 2) / 2) / (spread * math.sqrt(2 * math.pi))
        held = np.exp(_log_tail(apart)) / _BY[:, None]
        likely *= (1 - _HELD_UP[:, None, None]) * free[:, None, None] + _HELD_UP[:, None, None] * held[:, None]
    return levels, (likely + _TINY) * np.gradient(levels, axis=1)[:, None, None]


def _beyond(room: Floats) -> Floats:
    """The chance that a run takes longer than its level by more than this, under each noise."""
    from scipy.special import ndtr

    free = ndtr(-room / _CORES[:, None])[:, None]
    held = free + np.exp(np.minimum(_log_tail(room), 0.0))
    over: Floats = (1 - _HELD_UP[:, None, None]) * free[:, None] + _HELD_UP[:, None, None] * held[:, None]
    return over


def _log_tail(room: Floats) -> Floats:
    """The logarithm of what being held up adds beyond what noise does anyway: by core, mean, and level."""
    from scipy.special import log_ndtr

    core, by, apart = _CORES[:, None, None], _BY[:, None], room[:, None]
    tail: Floats = -apart / by + (core / by) ** 2 / 2 + log_ndtr(apart / core - core / by)
    return tail


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
