"""What the jobs of a store have in common, learned from their runs: empirical Bayes.

Each job is followed with the shipped prior. The shares of the laws are then those that the jobs' runs speak for, and
noise and its tail those of their errors.
"""

from collections.abc import Iterable, Sequence
from dataclasses import replace
from math import lgamma, log, pi

import numpy as np

from sparkcast.arrays import Floats
from sparkcast.history.laws import INPUT_LAWS, SLOT_LAWS
from sparkcast.history.mixture import log_sum
from sparkcast.history.model import JobModel
from sparkcast.history.points import RunPoint
from sparkcast.history.prior import FleetPrior

_MOST_JOBS = 60  # more of them would teach little more
_MOST_RUNS = 120  # of a job
_FEWEST_RUNS = 8
_WORTH = 6.0  # jobs that the shipped prior is worth
_VARIED = 0.1  # of the logarithm of input or slots, from which on it teaches their law
_TAILS = (3.0, 4.0, 5.0, 7.0, 10.0, 15.0, 30.0, 100.0)
_USUAL_TAIL_RUNS = 200.0  # errors that the shipped tail is worth
_SPREADS = (1.0, 2.0, 3.0, 4.0, 6.0, 8.0, 12.0, 20.0)


def learn_prior(jobs: Iterable[Sequence[RunPoint]], start: FleetPrior | None = None) -> FleetPrior:
    """The prior of a store. With few jobs it stays near the shipped one."""
    shipped = start or FleetPrior()
    usable = [tuple(points)[-_MOST_RUNS:] for points in jobs if len(points) >= _FEWEST_RUNS]
    step = max(1, -(-len(usable) // _MOST_JOBS))
    models = [JobModel(points, shipped) for points in usable[::step]]
    if not models:
        return shipped
    by_input, by_slots = [], []
    for model in models:
        weight = np.exp(model.follower.belief.log_weight - log_sum(model.follower.belief.log_weight))
        table = weight.reshape(len(INPUT_LAWS), len(SLOT_LAWS))
        if _varies([log(one.input_size) for one in model.points if one.input_size > 0]):
            by_input.append(table.sum(axis=1))
        if _varies([log(one.slots) for one in model.points if one.slots]):
            by_slots.append(table.sum(axis=0))
    noises = np.array([_noise(model) for model in models])
    noise = float(np.exp((np.log(noises).sum() + _WORTH * log(shipped.noise)) / (len(noises) + _WORTH)))
    levels = np.array([float(np.median([one.value for one in model.scored])) for model in models])
    n = len(levels)
    level = (levels.sum() + _WORTH * shipped.level) / (n + _WORTH)
    square = (((levels - level) ** 2).sum() + _WORTH * shipped.level_sd**2) / (n + _WORTH)
    return replace(
        shipped,
        input_shares=_shares(by_input, shipped.input_shares),
        slot_shares=_shares(by_slots, shipped.slot_shares),
        noise=noise,
        noise_runs=_noise_runs(noises, noise, shipped),
        tail=_tail(models, shipped.tail),
        level=float(level),
        level_sd=float(np.sqrt(square)),
        n_jobs=n,
    )


def _varies(logarithms: list[float]) -> bool:
    return len(logarithms) > 2 and float(np.std(logarithms)) > _VARIED


def _shares(found: list[Floats], shipped: tuple[float, ...]) -> tuple[float, ...]:
    counts = _WORTH * np.array(shipped) + (np.sum(found, axis=0) if found else 0.0)
    return tuple((counts / counts.sum()).tolist())


def _noise(model: JobModel) -> float:
    """The standard deviation of the noise of a job, as its errors show it, without those far off."""
    errors = np.array([one.error for one in model.scored[_FEWEST_RUNS // 2 :]])
    return max(float(1.4826 * np.median(np.abs(errors))), 0.005)


def _noise_runs(noises: Floats, noise: float, shipped: FleetPrior) -> float:
    """How alike the noise of the jobs is: the spread of its logarithm, as that of an inverse gamma distribution."""
    spread = (np.log(noises / noise) ** 2).sum() + _WORTH * 2 / shipped.noise_runs
    square = max(float(spread) / (len(noises) + _WORTH) - 0.02, 0.05)  # each is measured with an error of its own
    return min(_SPREADS, key=lambda runs: abs(0.5 / (runs / 2) - square))


def _tail(models: Sequence[JobModel], shipped: float) -> float:
    """Under which degrees of freedom the scaled errors of runs that follow many others are likeliest."""
    scores = np.array([one.error / one.expected.sd for model in models for one in model.scored[15:]])
    if not len(scores):
        return shipped
    prior = np.array([-abs(log(df / shipped)) for df in _TAILS]) * _USUAL_TAIL_RUNS / 100
    likelihoods = np.array([_log_likelihood(scores, df) for df in _TAILS])
    return _TAILS[int(np.argmax(likelihoods + prior))]


def _log_likelihood(scores: Floats, df: float) -> float:
    constant = lgamma((df + 1) / 2) - lgamma(df / 2) - 0.5 * log(df * pi)
    return float((constant - (df + 1) / 2 * np.log1p(scores**2 / df)).sum())
