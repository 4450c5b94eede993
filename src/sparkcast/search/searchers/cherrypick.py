"""CherryPick (Alipourfard et al., NSDI 2017): Bayesian optimization that needs no knowledge of the job.

A Gaussian process with a Matern 5/2 kernel over the normalized settings, of the logarithm of the objective, because the
noise of cloud runs is a ratio; expected improvement times the probability that the run-time limit is met; three
quasi-random runs to start with. It stops when the expected improvement is below 10 % of the best found, once six
configurations were run.
"""

import numpy as np

from sparkcast.arrays import Floats
from sparkcast.search.acquisition import improvement
from sparkcast.search.base import SEARCHERS
from sparkcast.search.belief import distances, matern
from sparkcast.search.chooser import Chooser
from sparkcast.search.points import CandidateMeans, CandidatePoints
from sparkcast.units import show_percent

STARTS = 3
LEAST_RUNS = 6
LEAST_IMPROVEMENT = 0.1  # of the best found

_LENGTHS = (0.1, 0.15, 0.2, 0.3, 0.5, 0.7, 1.0, 1.5, 2.0, 3.0, 5.0, 10.0)  # of the range of a setting
_NOISES = (1e-3, 1e-2, 1e-1)  # relative to the variance of the surface
_LEAST_VARIANCE = 1e-6


@SEARCHERS.register("cherrypick")
class CherryPick(Chooser):
    """Bayesian optimization with expected improvement under a run-time limit; stops below 10 % (CherryPick, 2017)."""

    warnings: tuple[str, ...] = ()

    def _next(self, known: CandidateMeans, left: list[int]) -> int | None:
        tried = set(known.tried)
        if len(tried) < STARTS or not known.values:
            return next(place for place in self._spread() if place not in tried)
        return self._improving(known, left)

    def _spread(self) -> list[int]:
        return spread(self._points, self._search.seed)

    def _improving(self, known: CandidateMeans, left: list[int]) -> int | None:
        improvement = self._improvement(known)[left]
        largest = float(improvement.max())
        if self.stops and len(known.tried) >= LEAST_RUNS and largest < LEAST_IMPROVEMENT:
            self._why = f"the expected improvement is below {show_percent(LEAST_IMPROVEMENT)} of the best found"
            return None
        return left[int(np.argmax(improvement))]

    def _improvement(self, known: CandidateMeans) -> Floats:
        """Expected, as a share of the best found, at every candidate."""
        counted = [place for place in known.values if self._is_in_time(known, place)]
        in_time = self._in_time(known) * self._kept(known)
        if not counted:
            return in_time  # nothing to improve on yet: first find something that counts
        places, values = list(known.values), np.array(list(known.values.values()))
        values = values / (np.abs(values).max() or 1.0)  # before squares, which overflow
        best = min(value for place, value in zip(places, values, strict=True) if place in counted)
        if values.min() > 0:
            mean, sd = surface(self._points.coordinates, places, np.log(values))
            return relative_improvement(mean, sd, float(np.log(best))) * in_time
        mean, sd = surface(self._points.coordinates, places, values)
        relative: Floats = improvement(mean, sd, best) / max(abs(best), 1e-12) * in_time
        return relative

    def _is_in_time(self, known: CandidateMeans, place: int) -> bool:
        is_in_time = self._search.within_s is None or known.times.get(place, 0.0) <= self._search.within_s
        return is_in_time and known.keeps(place)

    def _kept(self, known: CandidateMeans) -> Floats:
        """The probability that each candidate keeps to the other limits (expected improvement with constraints)."""
        from scipy.special import ndtr

        found = np.ones(len(self._points.candidates))
        for k in range(max(map(len, known.slacks.values()), default=0)):
            slacks = np.array([known.slacks[place][k] for place in known.values])
            mean, sd = surface(self._points.coordinates, list(known.values), slacks)
            found = found * ndtr(mean / np.maximum(sd, 1e-12))
        return found

    def _in_time(self, known: CandidateMeans) -> Floats:
        """The probability that each candidate meets the run-time limit."""
        from scipy.special import ndtr

        if self._search.within_s is None or not known.times:
            return np.ones(len(self._points.candidates))
        times = np.log(np.maximum(list(known.times.values()), 1e-12))
        mean, sd = surface(self._points.coordinates, list(known.times), times)
        chances: Floats = ndtr((np.log(max(self._search.within_s, 1e-12)) - mean) / sd)
        return chances


def spread(points: CandidatePoints, seed: int) -> list[int]:
    """Candidates in the order of a Sobol sequence: each point takes the nearest one that is left."""
    from scipy.stats import qmc

    at = points.coordinates[:, points.coordinates.std(axis=0) > 0]
    if not at.size:
        return list(range(len(at)))
    sobol = qmc.Sobol(at.shape[1], rng=np.random.default_rng(seed))
    left, order = list(range(len(at))), []
    for target in sobol.random_base2(max(2, (len(at) - 1).bit_length())):
        if left:
            order.append(left.pop(int(((at[left] - target) ** 2).sum(axis=1).argmin())))
    return order


def surface(points: Floats, places: list[int], values: Floats) -> tuple[Floats, Floats]:
    """Mean and standard deviation of a run at every point, of the process under which the runs are most likely."""
    center, scale = values.mean(), values.std() or 1.0
    y = (values - center) / scale
    within = distances(points[places], points[places])
    covariances = np.array(
        [matern(within / length) + noise * np.eye(len(y)) for length in _LENGTHS for noise in _NOISES]
    )
    lengths, noises = np.repeat(_LENGTHS, len(_NOISES)), np.tile(_NOISES, len(_LENGTHS))
    heights = np.linalg.solve(covariances, np.broadcast_to(y[:, None], (len(covariances), len(y), 1)))[:, :, 0]
    variances = np.maximum(heights @ y / len(y), _LEAST_VARIANCE)  # the most likely ones have a closed form
    best = int(np.argmin(len(y) * np.log(variances) + np.linalg.slogdet(covariances)[1]))
    across = matern(distances(points, points[places]) / lengths[best])
    known = (across * np.linalg.solve(covariances[best], across.T).T).sum(axis=1)
    sd = np.sqrt(variances[best] * (np.maximum(1 - known, 0.0) + noises[best]))
    return center + scale * (across @ heights[best]), scale * sd


def relative_improvement(mean: Floats, sd: Floats, best: float) -> Floats:
    """The same of an answer whose logarithm is normal, as a share of the best; all three are logarithms."""
    from scipy.special import ndtr

    z = (best - mean) / sd
    shares: Floats = ndtr(z) - np.exp(np.minimum(mean - best + sd**2 / 2, 700.0)) * ndtr(z - sd)
    return shares
