"""What is believed of all candidates after some runs: many jobs that could be this one, and a process around each.

Each job is a curve over the candidates up to an unknown level. Around it lies a Gaussian process of what the curve does
not know, the same for all jobs; a job counts by how likely the runs are under it. The posterior is a mixture of normal
distributions, one per job, with a common covariance.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from sparkcast.arrays import Array, Floats, Ints
from sparkcast.search.jobs import Jobs

_FREEDOM = 4.0  # degrees of freedom: runs in a cloud are seldom, but now and then, far off


@dataclass(frozen=True, slots=True)
class Around:
    """How far the runs of a job lie from its curve, as a logarithm."""

    sd: float = 0.15  # of what varies smoothly with the settings
    length: float = 0.5  # of the range of a setting, over which it does
    noise: float = 0.05  # of one run


@dataclass(frozen=True, slots=True)
class Belief:
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
        import numpy as np

        to_runs = self._to_runs(slice(None))
        known = ((to_runs @ self.solved) * to_runs).sum(axis=1)
        open_ = self.around.sd**2 - known + (1 - to_runs @ self.ones) ** 2 / self.ones.sum()
        variances: Floats = self.scale * (np.maximum(open_, 0.0) + self.around.noise**2)
        return variances

    def _to_runs(self, places: Ints | slice) -> Floats:
        return covariance(self.points[places], self.points[self.runs], self.around)


def believe(
    jobs: Jobs, prior: Floats, points: Floats, around: Around, good: Mapping[int, float], bad: Sequence[int]
) -> Belief:
    """After good runs with these logarithms of times, at least one, and bad ones, by the places of the candidates."""
    import numpy as np

    runs, y = np.array(list(good)), np.array(list(good.values()))
    within = covariance(points[runs], points[runs], around) + around.noise**2 * np.eye(len(runs))
    solved: Array = np.linalg.inv(within)
    ones = solved.sum(axis=0)
    left = y - jobs.log_times[:, runs]
    levels = left @ ones / ones.sum()
    left = left - levels[:, None]
    heights = left @ solved
    surprise, freedom = (heights * left).sum(axis=1), _FREEDOM + len(runs) - 1
    logs = np.log(prior) + outcomes(jobs, runs, bad) - freedom / 2 * np.log1p(surprise / _FREEDOM)
    weights = normalised(logs)
    scale = float(weights @ (_FREEDOM + surprise)) / freedom
    means = jobs.log_times + levels[:, None] + heights @ covariance(points[runs], points, around)
    return Belief(weights, means, points, around, scale, runs, solved, ones)


def outcomes(jobs: Jobs, good: Ints | Sequence[int], bad: Sequence[int]) -> Floats:
    """The logarithm of how likely each job is to succeed and to fail as the runs did."""
    import numpy as np

    logs: Floats = np.log(1 - jobs.failures[:, good]).sum(axis=1) + np.log(jobs.failures[:, list(bad)]).sum(axis=1)
    return logs


def normalised(logs: Floats) -> Floats:
    import numpy as np

    weights = np.exp(logs - logs.max())
    shares: Floats = weights / weights.sum()
    return shares


def covariance(left: Floats, right: Floats, around: Around) -> Floats:
    return around.sd**2 * matern(distances(left, right) / around.length)


def distances(left: Floats, right: Floats) -> Floats:
    import numpy as np

    lengths: Floats = np.sqrt(((left[:, None] - right) ** 2).sum(axis=-1))
    return lengths


def matern(distance: Floats) -> Floats:
    """Of smoothness 5/2: surfaces that can be differentiated twice."""
    import numpy as np

    scaled = np.sqrt(5) * distance
    share: Floats = (1 + scaled + scaled**2 / 3) * np.exp(-scaled)
    return share
