"""How much slower jobs get when they share a cluster: seconds with a load, over seconds alone."""

from collections.abc import Mapping
from dataclasses import dataclass
from itertools import pairwise
from typing import Protocol

from sparkcast.errors import NotEnoughDataError, StudyError
from sparkcast.queues import require_positive


class Slowdown(Protocol):
    """Called with the load (jobs, or the cores that they ask for): 1 when nobody is slowed."""

    def __call__(self, load: float) -> float: ...

    @property
    def capacity(self) -> float:
        """The work that gets done with very many jobs: so many seconds alone in each second."""
        ...


@dataclass(frozen=True, slots=True)
class Shared:
    """Nobody is slowed until all servers are taken; then all get an equal share of them (processor sharing)."""

    servers: float = 1.0

    def __post_init__(self) -> None:
        require_positive(self.servers, "the number of servers")

    def __call__(self, load: float) -> float:
        return max(1.0, load / self.servers)

    @property
    def capacity(self) -> float:
        return self.servers


@dataclass(frozen=True, slots=True)
class MeasuredSlowdown:
    """Measured at some numbers of jobs, with straight lines between.

    Beyond the last, no more work gets done than there: times grow at least in proportion to the jobs.

    >>> measured = MeasuredSlowdown((1, 3, 5), (1.0, 2.0, 4.0))
    >>> measured(2), measured(7), measured.capacity
    (1.5, 6.0, 1.0)
    """

    jobs: tuple[float, ...]
    factors: tuple[float, ...]

    def __post_init__(self) -> None:
        if len(self.jobs) < 2 or len(self.jobs) != len(self.factors):
            raise NotEnoughDataError(
                "a slowdown needs times of one job alone and of several at once", hint="vary `jobs: [1, 2, 4]`"
            )
        if self.jobs[0] != 1 or any(b <= a for a, b in pairwise(self.jobs)):
            raise StudyError("a slowdown starts at 1 job", hint="give ascending numbers of jobs, starting at 1")
        for factor in self.factors:
            require_positive(factor, "a slowdown")

    def __call__(self, load: float) -> float:
        if load >= self.jobs[-1]:
            return self.factors[-1] + self._slope_beyond * (load - self.jobs[-1])
        for (x0, x1), (y0, y1) in zip(pairwise(self.jobs), pairwise(self.factors), strict=True):
            if load <= x1:
                return y0 + (y1 - y0) / (x1 - x0) * max(0.0, load - x0)
        raise AssertionError

    @property
    def _slope_beyond(self) -> float:
        last = (self.factors[-1] - self.factors[-2]) / (self.jobs[-1] - self.jobs[-2])
        return max(last, self.factors[-1] / self.jobs[-1])

    @property
    def capacity(self) -> float:
        return 1 / self._slope_beyond


def measured_slowdown(times_s: Mapping[float, float]) -> MeasuredSlowdown:
    """From typical times by number of jobs; of one job alone there must be one. Company speeds nobody up."""
    if 1 not in times_s:
        raise NotEnoughDataError(
            "no run was alone on the cluster, so how much jobs slow each other down is unknown",
            hint="measure one job alone: `jobs: [1, 2, 4]`",
        )
    jobs = tuple(sorted(times_s))
    factors, so_far = [], 1.0
    for n in jobs:
        so_far = max(so_far, times_s[n] / times_s[1])
        factors.append(so_far)
    return MeasuredSlowdown(jobs, tuple(factors))
