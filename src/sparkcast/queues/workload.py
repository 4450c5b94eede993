"""A stream of jobs: when they come, how long each takes alone, how many cores it holds, and who goes first."""

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.random import Generator

from sparkcast.arrays import Floats, Ints
from sparkcast.errors import StudyError
from sparkcast.queues import require_positive
from sparkcast.queues.arrivals import Arrivals
from sparkcast.queues.launching import Phases
from sparkcast.queues.times import EmpiricalTimes, Times, mixture


@dataclass(frozen=True, slots=True)
class JobClass:
    """Jobs of one class."""

    name: str
    times: Times  # alone on the cluster
    share: float = 1.0  # of the stream, in proportion to the others
    width: int = 1  # cores, or slots, that one job holds
    priority: int = 0  # lower goes first, where priorities count
    phases: Phases | None = None  # of which the time consists, where that is known

    def __post_init__(self) -> None:
        require_positive(self.share, f"the share of {self.name}")
        if self.width < 1:
            raise StudyError(f"{self.name} holds {self.width} cores", hint="a job holds 1 or more")


@dataclass(frozen=True, slots=True)
class ArrivalDraw:
    """One draw of a workload: arrays with one entry for each job, by arrival."""

    arrive_s: Floats
    service_s: Floats
    width: Ints
    priority: Ints
    job_class: Ints  # index among the classes

    def __len__(self) -> int:
        return len(self.arrive_s)


@dataclass(frozen=True, slots=True)
class JobMix:
    arrivals: Arrivals
    classes: tuple[JobClass, ...]

    def __post_init__(self) -> None:
        if not self.classes:
            raise StudyError("a workload without jobs", hint="give the service times of at least one kind of job")

    @classmethod
    def measured(cls, times_s: Sequence[float], arrivals: Arrivals, *, width: int = 1) -> "JobMix":
        """Jobs whose service times were measured, one after another with nothing beside them."""
        return cls(arrivals, (JobClass("measured", EmpiricalTimes(tuple(times_s)), width=width),))

    @property
    def mean_s(self) -> float:
        return self._moments()[0]

    @property
    def scv(self) -> float:
        return self._moments()[1]

    @property
    def mean_work(self) -> float:
        """Core-seconds of one job."""
        total = sum(one.share for one in self.classes)
        return sum(one.share * one.width * one.times.mean_s for one in self.classes) / total

    @property
    def widest(self) -> int:
        return max(one.width for one in self.classes)

    @property
    def is_uniform(self) -> bool:
        """Whether all jobs hold equally many cores."""
        return len({one.width for one in self.classes}) == 1

    def at_rate(self, rate: float) -> "JobMix":
        return replace(self, arrivals=self.arrivals.at_rate(rate))

    def draw(self, rng: "Generator", n: int) -> ArrivalDraw:
        arrive = self.arrivals.draw(rng, n)
        n = len(arrive)
        total = sum(one.share for one in self.classes)
        sort = rng.choice(len(self.classes), n, p=[one.share / total for one in self.classes])
        service = np.empty(n)
        for index, one in enumerate(self.classes):
            here = sort == index
            service[here] = one.times.draw(rng, int(here.sum()))
        width = np.array([one.width for one in self.classes])[sort]
        priority = np.array([one.priority for one in self.classes])[sort]
        return ArrivalDraw(arrive, service, width, priority, sort)

    def _moments(self) -> tuple[float, float]:
        total = sum(one.share for one in self.classes)
        return mixture([(one.share / total, one.times) for one in self.classes])
