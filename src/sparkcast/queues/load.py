"""The jobs that come to a cluster, what is asked about them, and the question that both make."""

import dataclasses
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import get_args

from sparkcast.errors import StudyError, UnknownNameError
from sparkcast.queues import share_of_percentile
from sparkcast.queues.answer import QueueQuestion
from sparkcast.queues.arrivals import Arrivals, Given, Renewal
from sparkcast.queues.described import DescribedClass, shares_of
from sparkcast.queues.service import ServiceTimes
from sparkcast.queues.simulate import Cluster, Discipline
from sparkcast.queues.workload import JobClass, JobMix
from sparkcast.registry import did_you_mean
from sparkcast.study import Configuration, Level

DISCIPLINES: tuple[Discipline, ...] = get_args(Discipline)


@dataclass(frozen=True, slots=True)
class Load:
    """How often jobs come, and how long each takes.

    Times are numbers here, or those of runs or a model at the settings `at`.
    """

    arrival_rate: float | None = None  # jobs per second; None: as measured, else only capacity is asked for
    arrivals_s: Sequence[float] = ()  # times of arrival instead of a random stream; a rate scales them
    arrival_scv: float = 1.0  # of the times between arrivals: 1 Poisson, more in bursts, less regular
    service_time_s: float | None = None  # mean time of a job alone
    scv: float | None = None  # variance of service times over their squared mean; None: as measured, else 1
    width: int = 1  # cores that one job holds
    at: Mapping[str, Level] = field(default_factory=dict)  # settings of the job, where runs or a model tell its time
    mix: Sequence[DescribedClass] = ()  # several job classes, instead of the four above

    def __post_init__(self) -> None:
        if self.mix and (self.service_time_s is not None or self.scv is not None or self.at or self.width != 1):
            raise StudyError(
                "a mix of jobs gives the time and the settings of each job class itself",
                hint="remove `service_time_s=`, `scv=`, `width=` and `at=`, or remove `mix=`",
            )

    @property
    def classes(self) -> Sequence[DescribedClass]:
        """The job classes, one where there is no mix."""
        alone = DescribedClass("job", Configuration(self.at), self.service_time_s, self.scv, width=self.width)
        return self.mix or (alone,)

    @property
    def has_ranks(self) -> bool:
        return len({one.priority for one in self.classes}) > 1

    def arrivals(self, measured_rate: float | None) -> Arrivals | None:
        """When jobs arrive; None where no rate is known."""
        if self.arrivals_s:
            given = Given(tuple(self.arrivals_s))
            return given if self.arrival_rate is None else given.at_rate(self.arrival_rate)
        rate = measured_rate if self.arrival_rate is None else self.arrival_rate
        return None if rate is None else Renewal(rate, self.arrival_scv)


@dataclass(frozen=True, slots=True)
class Goal:
    """What the response times of jobs should be, and which clusters to compare by that."""

    slo_s: float | None = None  # the deadline that the percentile must meet
    percentile: float = 95.0  # of the response time; 0.95 says the same
    compare: Sequence[int] = ()  # numbers of servers; () for some around the cluster's
    price_per_server_hour: float | None = None


@dataclass(frozen=True, slots=True)
class Effort:
    """How much to simulate."""

    n_jobs: int = 20_000  # in each run
    replications: int = 10
    seed: int = 0
    with_figures: bool = False  # also what figures show


@dataclass(frozen=True, slots=True)
class Servers:
    """What jobs share, as far as it is not measured."""

    number: int = 1  # jobs that run at once; of jobs with a width, cores
    discipline: str | None = None  # one of DISCIPLINES; None: the one that the runs show
    overtake: bool = False  # backfill: small jobs may start before large ones
    places: int | None = None  # jobs in the system at most, others are rejected; None: as many as come


def pose(load: Load, known: Sequence[ServiceTimes], servers: Servers, goal: Goal, effort: Effort) -> QueueQuestion:
    """The question about these jobs; `known` has the times of each class of the load."""
    launching = [one.launching for one in known if one.launching is not None]
    machine = launching[0].machine if len(launching) == len(known) else None
    slowdown = next((one.slowdown for one in known if one.slowdown is not None), None)
    shown: Discipline = "launching" if machine is not None else "fifo" if slowdown is None else "fair"
    way = _discipline(servers.discipline) or ("priority" if load.has_ranks else shown)
    described = list(zip(load.classes, known, shares_of(load.classes), strict=True))
    classes = tuple(JobClass(c.text, one.times, share, c.width, c.priority) for c, one, share in described)
    notes = [note for one in known for note in one.notes]
    cores = servers.number
    if machine is None or way != "launching":
        machine = None
    else:
        cores, notes = machine.cores, [note for one in launching for note in one.notes]
        classes = tuple(
            dataclasses.replace(c, times=one.times, phases=one.phases, width=one.phases.width)
            for c, one in zip(classes, launching, strict=True)
        )
    arrivals = load.arrivals(known[0].arrival_rate)
    return QueueQuestion(
        JobMix(arrivals or Renewal(1.0, load.arrival_scv), classes),
        Cluster(cores, way, slowdown if way == "fair" else None, overtake=servers.overtake, machine=machine),
        has_rate=arrivals is not None,
        slo_s=goal.slo_s,
        share=share_of_percentile(goal.percentile),
        places=servers.places,
        servers=tuple(goal.compare),
        price_per_server_hour=goal.price_per_server_hour,
        with_figures=effort.with_figures,
        n_jobs=effort.n_jobs,
        replications=effort.replications,
        seed=effort.seed,
        notes=tuple(dict.fromkeys(notes)),
    )


def _discipline(name: str | None) -> Discipline | None:
    if name is None:
        return None
    for discipline in DISCIPLINES:
        if name == discipline:
            return discipline
    raise UnknownNameError(f"no discipline {name!r}", hint=did_you_mean(name, DISCIPLINES))
