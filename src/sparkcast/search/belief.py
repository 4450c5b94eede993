"""What is believed of all candidates after some runs: many jobs that could be this one, and a process around each.

Each job is a curve over the candidates up to an unknown level. Around it lies a Gaussian process of what the curve does
not know, the same for all jobs; a job counts by how likely the runs are under it. The posterior is a mixture of normal
distributions, one per job, with a common covariance.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

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

    weights: Any
    means: Any
    points: Any
    around: Around
    scale: float  # how much larger the variances turned out to be
    runs: Any  # places of the good runs
    solved: Any  # the inverse covariance of the runs
    ones: Any  # its row sums

    def covariance(self, left: Any, right: Any) -> Any:
        """Of what the runs left open, between candidates; the unknown level is part of it."""
        to_left, to_right = self._to_runs(left), self._to_runs(right)
        known = to_left @ self.solved @ to_right.T
        level = (1 - to_left @ self.ones)[:, None] * (1 - to_right @ self.ones) / self.ones.sum()
        return self.scale * (covariance(self.points[left], self.points[right], self.around) - known + level)

    def variances(self) -> Any:
        """Of the next run of each candidate under each job."""
        import numpy as np

        to_runs = self._to_runs(slice(None))
        known = ((to_runs @ self.solved) * to_runs).sum(axis=1)
        open_ = self.around.sd**2 - known + (1 - to_runs @ self.ones) ** 2 / self.ones.sum()
        return self.scale * (np.maximum(open_, 0.0) + self.around.noise**2)

    def _to_runs(self, places: Any) -> Any:
        return covariance(self.points[places], self.points[self.runs], self.around)


def believe(
    jobs: Jobs, prior: Any, points: Any, around: Around, good: Mapping[int, float], bad: Sequence[int]
) -> Belief:
    """After good runs with these logarithms of times, at least one, and bad ones, by the places of the candidates."""
    import numpy as np

    runs, y = np.array(list(good)), np.array(list(good.values()))
    within = covariance(points[runs], points[runs], around) + around.noise**2 * np.eye(len(runs))
    solved = np.linalg.inv(within)
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


def outcomes(jobs: Jobs, good: Any, bad: Sequence[int]) -> Any:
    """The logarithm of how likely each job is to succeed and to fail as the runs did."""
    import numpy as np

    return np.log(1 - jobs.failures[:, good]).sum(axis=1) + np.log(jobs.failures[:, list(bad)]).sum(axis=1)


def normalised(logs: Any) -> Any:
    import numpy as np

    weights = np.exp(logs - logs.max())
    return weights / weights.sum()


def covariance(left: Any, right: Any, around: Around) -> Any:
    return around.sd**2 * matern(distances(left, right) / around.length)


def distances(left: Any, right: Any) -> Any:
    import numpy as np

    return np.sqrt(((left[:, None] - right) ** 2).sum(axis=-1))


def matern(distance: Any) -> Any:
    """Of smoothness 5/2: surfaces that can be differentiated twice."""
    import numpy as np

    scaled = np.sqrt(5) * distance
    return (1 + scaled + scaled**2 / 3) * np.exp(-scaled)
