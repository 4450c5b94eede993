"""What is believed of all candidates after some runs: many jobs that could be this one, and a process around each.

Each job is a curve over the candidates up to an unknown level. Around it lies a Gaussian process of what the curve does
not know, the same for all jobs; a job counts by how likely the runs are under it, those that failed and how they did
included. The posterior is a mixture of normal distributions, one per job, with a common covariance.
"""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace

import numpy as np

from sparkcast.arrays import Array, Floats, Ints
from sparkcast.search.jobs import RARELY, JobGrid
from sparkcast.search.points import CandidateMeans

_FREEDOM = 4.0  # degrees of freedom: runs in a cloud are seldom, but now and then, far off


@dataclass(frozen=True, slots=True)
class Around:
    """How far the runs of a job lie from its curve, as a logarithm."""

    sd: float = 0.15  # of what varies smoothly with the settings
    length: float = 0.5  # of the range of a setting, over which it does
    noise: float = 0.05  # of one run


@dataclass(frozen=True, slots=True)
class CandidateRuns:
    """What the runs gave, by the places of the candidates."""

    good: Mapping[int, float]  # logarithms of times
    broken: Sequence[int] = ()
    out_of_memory: Sequence[int] = ()
    stopped: Mapping[int, float] = field(default_factory=dict)  # by a time limit: its logarithm, which was not enough


def runs_of(known: CandidateMeans, good: Mapping[int, float]) -> CandidateRuns:
    """All that is known, with good runs on the scale of logarithms of times."""
    broken = [place for place in known.failed if place not in known.out_of_memory and place not in known.limits]
    stopped = {place: math.log(limit_s) for place, limit_s in known.limits.items()}
    return CandidateRuns(good, broken, tuple(known.out_of_memory), stopped)


@dataclass(frozen=True, slots=True)
class WeightedJobs:
    """The jobs with their weights, one row each, and what they say of each candidate."""

    weights: Floats
    means: Floats
    points: Floats
    around: Around
    scale: float  # how much larger the variances turned out to be
    runs: Ints  # places of the good runs
    solved: Floats  # the inverse covariance of the runs
    ones: Floats  # its row sums

    def covariance(self, left: Ints, right: Ints) -> Floats:
        """Of what the runs left open, between candidates; the unknown level is part of it."""
        to_left, to_right = self._to_runs(left), self._to_runs(right)
        known = to_left @ self.solved @ to_right.T
        level = (1 - to_left @ self.ones)[:, None] * (1 - to_right @ self.ones) / self.ones.sum()
        left_open: Floats = self.scale * (
            covariance(self.points[left], self.points[right], self.around) - known + level
        )
        return left_open

    def variances(self) -> Floats:
        """Of the next run of each candidate under each job."""
        to_runs = self._to_runs(slice(None))
        known = ((to_runs @ self.solved) * to_runs).sum(axis=1)
        open_ = self.around.sd**2 - known + (1 - to_runs @ self.ones) ** 2 / self.ones.sum()
        variances: Floats = self.scale * (np.maximum(open_, 0.0) + self.around.noise**2)
        return variances

    def _to_runs(self, places: Ints | slice) -> Floats:
        return covariance(self.points[places], self.points[self.runs], self.around)


@dataclass(frozen=True, slots=True)
class JobAgreement:
    """How jobs agree with some runs, of which at least one was good: one row per job."""

    logs: Floats  # of the likelihood, up to a constant
    scales: Floats  # how much larger the variances turned out to be
    means: Floats
    belief: WeightedJobs  # with even weights


def fits(jobs: JobGrid, points: Floats, around: Around, told: CandidateRuns) -> JobAgreement:
    runs, y = np.array(list(told.good)), np.array(list(told.good.values()))
    within = covariance(points[runs], points[runs], around) + around.noise**2 * np.eye(len(runs))
    solved: Array = np.linalg.inv(within)
    ones = solved.sum(axis=0)
    left = y - jobs.log_times[:, runs]
    levels = left @ ones / ones.sum()
    left = left - levels[:, None]
    heights = left @ solved
    surprise, freedom = (heights * left).sum(axis=1), _FREEDOM + len(runs) - 1
    logs = outcomes(jobs, told) - freedom / 2 * np.log1p(surprise / _FREEDOM)
    scales = (_FREEDOM + surprise) / freedom
    means = jobs.log_times + levels[:, None] + heights @ covariance(points[runs], points, around)
    even = np.full(len(logs), 1 / len(logs))
    belief = WeightedJobs(even, means, points, around, 1.0, runs, solved, ones)
    return JobAgreement(logs + _longer(belief, scales, told.stopped), scales, means, belief)


def believe(jobs: JobGrid, prior: Floats, points: Floats, around: Around, told: CandidateRuns) -> WeightedJobs:
    """After some runs, of which at least one was good."""
    found = fits(jobs, points, around, told)
    return weighed(found, normalized(np.log(prior) + found.logs))


def weighed(found: JobAgreement, weights: Floats) -> WeightedJobs:
    return replace(found.belief, weights=weights, scale=float(weights @ found.scales))


def _longer(belief: WeightedJobs, scales: Floats, stopped: Mapping[int, float]) -> Floats | float:
    """The logarithm of how likely each job is to take longer than the limits that stopped it."""
    from scipy.special import log_ndtr

    if not stopped:
        return 0.0
    places, limits = list(stopped), np.array(list(stopped.values()))
    sd = np.sqrt(belief.variances()[places] * scales[:, None])
    chances = log_ndtr((belief.means[:, places] - limits) / sd)
    logs: Floats = np.maximum(chances, np.log(RARELY)).sum(axis=1)
    return logs


def outcomes(jobs: JobGrid, told: CandidateRuns) -> Floats:
    """The logarithm of how likely each job is to succeed and to fail as the runs did, whatever time they took."""
    went_well = [*told.good, *told.stopped]  # a run that was stopped had not failed until then
    logs: Floats = np.log(1 - jobs.failures[:, went_well]).sum(axis=1)
    logs += np.log(jobs.failures[:, list(told.broken)]).sum(axis=1)
    logs += np.log(jobs.out_of_memory[:, list(told.out_of_memory)]).sum(axis=1)
    return logs


def normalized(logs: Floats) -> Floats:
    weights = np.exp(logs - logs.max())
    shares: Floats = weights / weights.sum()
    return shares


def covariance(left: Floats, right: Floats, around: Around) -> Floats:
    return around.sd**2 * matern(distances(left, right) / around.length)


def distances(left: Floats, right: Floats) -> Floats:
    lengths: Floats = np.sqrt(((left[:, None] - right) ** 2).sum(axis=-1))
    return lengths


def matern(distance: Floats) -> Floats:
    """Of smoothness 5/2: surfaces that can be differentiated twice."""
    scaled = np.sqrt(5) * distance
    share: Floats = (1 + scaled + scaled**2 / 3) * np.exp(-scaled)
    return share
