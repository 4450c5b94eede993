"""What is believed of times where many settings vary and few runs were made: most settings hardly matter.

A surface is the sum of a smooth curve over each of a few settings and of something smooth that these few do together;
which settings matter is unknown. More slots, and more memory for each, make a job faster or do nothing. The surfaces
that agree with the runs are sampled (see `fitting.sampling`), so that a setting counts by how likely it is to matter.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from sparkcast.arrays import Bools, Floats
from sparkcast.fitting.sampling import temper
from sparkcast.search.belief import matern
from sparkcast.search.numbers import Numbers
from sparkcast.search.points import CandidatePoints
from sparkcast.search.posterior import Reflected
from sparkcast.study import Role

_LENGTHS = (0.3, 0.7, 1.5)  # of the range of a setting, over which its curve bends
_SD = (0.05, 0.6)  # of the logarithm of the time over all settings
_NOISE = (0.02, 0.15)  # of one run, as a logarithm
_TOGETHER = 0.5  # at most, the share of the variance that settings do together
_FLOOR = 0.05  # share of the variance that is spread over all settings
_MATTERING = 3.0  # settings, of those that mean nothing to us, as far as there are so many
_BY_ROLE = 0.6  # probability that cores, machines, memory and the like matter
_LAW_HOLDS = 0.8  # probability that slots, or the memory of each, share some of the work
_BY_SIZE = 1.2  # at most, by which power of the size of the data they grow
_LEVEL_VARIANCE = 25.0  # of the logarithm of the time, before anything ran
_FREEDOM = 4.0  # degrees of freedom: runs are seldom, but now and then, far off
_N_PRIOR, _N_SURFACES, _N_MOVES = 400, 120, 4
_STRONG = frozenset({Role.MACHINES, Role.CORES, Role.TOTAL_CORES, Role.MEMORY, Role.MACHINE_TYPE})


@dataclass(frozen=True, slots=True)
class SparseRuns:
    """Runs by the places of the points: logarithms of times, and of how much data there was."""

    places: tuple[int, ...]
    log_times: Floats
    log_sizes: Floats  # relative to the run to come; zeros where it is always the same

    @property
    def has_sizes(self) -> bool:
        return bool(np.ptp(np.append(self.log_sizes, 0.0)) > 0)


@dataclass(frozen=True, slots=True)
class SparseOutlook:
    """The next run of each point: one row for each surface that agrees with the runs, all equally likely."""

    means: Floats  # logarithms of times
    spreads: Floats  # standard deviations of the surface there
    noises: Floats  # of one run, one per surface

    def mean(self) -> Floats:
        middle: Floats = self.means.mean(axis=0)
        return middle

    def chance_above(self, log_times: Floats) -> Floats:
        """That the next run of each point takes longer than this."""
        from scipy.special import stdtr

        sd = np.sqrt(self.spreads**2 + self.noises[:, None] ** 2)
        chances: Floats = stdtr(_FREEDOM, (self.means - log_times) / sd).mean(axis=0)
        return chances


class SparseBelief:
    """About some points, of which runs are made."""

    def __init__(self, points: CandidatePoints) -> None:
        self._points = points
        self._groups = _groups(points)
        self._laws = _laws(points)
        strong = np.array([role in _STRONG for _, role in self._groups], dtype=bool)  # none where nothing varies
        weak = int((~strong).sum())
        self._matters = np.where(strong, _BY_ROLE, min(_BY_ROLE, _MATTERING / max(weak, 1)))
        self.n_numbers = len(self._groups) + len(self._laws) * 2 + 5

    def after(self, runs: SparseRuns, seed: int = 0) -> SparseOutlook:
        rng = np.random.default_rng(seed)
        fitting = _Fitting(self, runs)
        found = temper(
            fitting.logs,
            rng.random((_N_PRIOR, self.n_numbers)),
            Reflected(),
            n_particles=_N_SURFACES,
            n_moves=_N_MOVES,
            in_play=lambda n: 0.5 * n,
            random=rng,
            least_step=1e-2,
        )
        return fitting.outlook(found.particles)

    def kernels(self, left: Sequence[int], right: Sequence[int]) -> Floats:
        """Of each length and each setting, between points."""
        found = []
        for columns, _ in self._groups:
            apart = np.sqrt(((columns[left, None, :] - columns[None, right, :]) ** 2).sum(axis=-1))
            found.append([matern(apart / length) for length in _LENGTHS])
        shape = (0, len(_LENGTHS), len(left), len(right))
        kernels: Floats = np.swapaxes(np.array(found) if found else np.zeros(shape), 0, 1)
        return kernels

    def surfaces(self, numbers: Floats) -> "_Surfaces":
        drawn, n = Numbers(numbers), len(self._groups)
        active = drawn.uniform(n)
        rest = 1 - self._matters
        is_active = active > rest
        within = np.clip((active - rest) / np.maximum(self._matters, 1e-9), 0.0, 1 - 1e-6)
        weights = np.where(is_active, -np.log1p(-within), 0.0)
        shares = weights / np.maximum(weights.sum(axis=1, keepdims=True), 1e-9) * (1 - _FLOOR)
        shares = shares + (1 - shares.sum(axis=1, keepdims=True)) / max(n, 1)
        lengths = np.minimum((drawn.uniform()[:, 0] * len(_LENGTHS)).astype(int), len(_LENGTHS) - 1)
        sd, noise = drawn.between(*_SD)[:, 0], drawn.between(*_NOISE)[:, 0]
        jointly = _TOGETHER * drawn.uniform()[:, 0]
        by_size = _BY_SIZE * drawn.uniform()[:, 0]
        means = np.zeros((len(numbers), len(self._points.candidates)))
        for law in self._laws:
            counts, fixed = drawn.uniform() < _LAW_HOLDS, drawn.uniform()
            means = means + counts * np.log(fixed + (1 - fixed) * np.exp(-law))
        return _Surfaces(shares, is_active, lengths, sd, noise, jointly, by_size, means)


@dataclass(frozen=True, slots=True)
class _Surfaces:
    shares: Floats
    is_active: Bools
    lengths: Floats
    sd: Floats
    noise: Floats
    jointly: Floats
    by_size: Floats
    means: Floats  # what the laws say, at every point

    def covariances(self, kernels: Floats) -> Floats:
        """One matrix per surface, of kernels by length and setting."""
        n = len(self.sd)
        found = np.empty((n, *kernels.shape[2:]))
        for length in range(len(_LENGTHS)):
            mine = np.flatnonzero(self.lengths == length)
            if not len(mine):
                continue
            some = kernels[length]
            added = np.tensordot(self.shares[mine], some, axes=1)
            logs = np.log(np.maximum(some, 1e-12))
            jointly = np.exp(np.tensordot(self.is_active[mine].astype(float), logs, axes=1))
            share = self.jointly[mine][:, None, None]
            found[mine] = (1 - share) * added + share * jointly
        return found * (self.sd**2)[:, None, None]


class _Fitting:
    def __init__(self, belief: SparseBelief, runs: SparseRuns) -> None:
        self._belief, self._runs = belief, runs
        self._places = list(runs.places)
        self._kernels = belief.kernels(self._places, self._places)

    @cached_property
    def _center(self) -> float:
        return float(self._runs.log_times.mean())

    def logs(self, numbers: Floats) -> Floats:
        surfaces = self._belief.surfaces(numbers)
        left = self._left(surfaces)
        within = self._within(surfaces)
        lower = np.linalg.cholesky(within)
        white = np.linalg.solve(lower, left[:, :, None])[:, :, 0]
        half = np.log(np.diagonal(lower, axis1=1, axis2=2)).sum(axis=1)
        logs: Floats = -half - (white**2).sum(axis=1) / 2
        return logs

    def _left(self, surfaces: _Surfaces) -> Floats:
        """What the laws, and how much data there was, leave to be explained."""
        runs = self._runs
        grown = surfaces.by_size[:, None] * runs.log_sizes if runs.has_sizes else 0.0
        left: Floats = runs.log_times - self._center - surfaces.means[:, self._places] - grown
        return left

    def _within(self, surfaces: _Surfaces) -> Floats:
        noise = (surfaces.noise**2)[:, None, None] * np.eye(len(self._places))
        within: Floats = surfaces.covariances(self._kernels) + noise + _LEVEL_VARIANCE
        return within

    def outlook(self, numbers: Floats) -> SparseOutlook:
        surfaces = self._belief.surfaces(numbers)
        everywhere = range(surfaces.means.shape[1])
        across = surfaces.covariances(self._belief.kernels(list(everywhere), self._places)) + _LEVEL_VARIANCE
        inverse = np.linalg.inv(self._within(surfaces))
        solved = np.matmul(across, inverse)
        means = self._center + surfaces.means + np.matmul(solved, self._left(surfaces)[:, :, None])[:, :, 0]
        variances = (surfaces.sd**2 + _LEVEL_VARIANCE)[:, None] - (solved * across).sum(axis=2)
        return SparseOutlook(means, np.sqrt(np.maximum(variances, 1e-10)), surfaces.noise)


def _groups(points: CandidatePoints) -> list[tuple[Floats, Role]]:
    """The coordinates of each setting that varies."""
    return [
        (np.column_stack(columns), axis.role)
        for j, axis in enumerate(points.domain.axes)
        if (columns := points.columns(j))
    ]


def _laws(points: CandidatePoints) -> list[Floats]:
    """Slots, and memory for each of them, as logarithms at every point; only those that vary."""
    from sparkcast.search.jobs import role_columns

    known = role_columns(points)
    slots = [np.log(known[part]) for part in ("machines", "cores") if part in known]
    found = [np.sum(slots, axis=0)] if slots else []
    if "memory" in known:
        found.append(np.log(known["memory"]) - (np.log(known["cores"]) if "cores" in known else 0.0))
    return [law - law.mean() for law in found if np.ptp(law) > 0]
