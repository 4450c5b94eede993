"""What one run showed. Failures are observations too: they teach which settings are feasible."""

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from typing import TYPE_CHECKING

from sparkcast.study.application import TIME
from sparkcast.study.configuration import Configuration, Level, Levels
from sparkcast.study.names import completed
from sparkcast.study.record import AppRecord
from sparkcast.study.speed import ClusterSpeed
from sparkcast.study.vocabulary import Vocabulary


class Outcome(StrEnum):
    OK = "ok"
    OOM = "oom"  # the driver, an executor or a Python worker ran out of memory
    TIMEOUT = "timeout"  # stopped at the trial's own time limit
    LOST = "lost"  # a process or machine vanished: says nothing about the settings, so it is tried again
    ERROR = "error"  # the job itself failed


@dataclass(frozen=True, slots=True)
class Epoch:
    """One point of the per-epoch curve; `time_s` is training time since the start, validation included."""

    number: int
    time_s: float
    values: Mapping[str, float] = field(default_factory=dict)  # responses reached by its end


# A run that failed by itself says nothing about how long a good one takes; one that was stopped says "longer".
_STOPPED = re.compile(
    r"kill|cancell?ed|preempt|evict|interrupted|abgebrochen|annul|\bmatad|\btu[eé]e?\b|cancelad", re.I
)
_CROWDED = 0.25  # of the cores that a run could have used


@dataclass(frozen=True, slots=True)
class Utilization:
    """Means over the run, sampled on the machine that ran sparkcast."""

    cpu_percent: float
    iowait_percent: float
    memory_bytes: float
    network_bytes_per_s: float
    disk_bytes_per_s: float
    samples: int
    cores: int = 0  # of all machines that ran executors
    wanted_cores: float = 0.0  # that the run could have used of them
    other_cores: float | None = None  # kept busy by other work, on average; None where that is not known

    @property
    def crowding(self) -> float:
        """The share of the cores the run could have used that other work took from it.

        Work beside it on cores that it had no use for does not count.
        """
        if not self.wanted_cores or self.other_cores is None:
            return 0.0
        return min(max(self.other_cores + self.wanted_cores - self.cores, 0.0) / self.wanted_cores, 1.0)

    @property
    def is_crowded(self) -> bool:
        """Whether others took so much that the run was slower for it; kernels work a little for everybody."""
        return self.crowding >= _CROWDED


@dataclass(frozen=True, slots=True)
class TaskTotals:
    """Sums over all tasks of the run's event log."""

    jobs: int
    stages: int
    tasks: int
    failed_tasks: int
    executors: int
    lost_executors: int
    run_s: float
    cpu_s: float
    gc_s: float
    deserialize_s: float
    shuffle_read_bytes: int
    shuffle_write_bytes: int
    spilled_bytes: int
    first_task_s: float | None = None  # first task's launch, as seconds since the Unix epoch
    first_job_s: float | None = None  # the first Spark job's submission, likewise
    last_job_s: float | None = None  # the last Spark job's end
    registered_s: float | None = None  # the application's start, as its driver told the cluster
    first_executor_s: float | None = None  # when the first executor was there
    master: str = ""  # that the application ran on, as Spark was told


@dataclass(frozen=True, slots=True)
class Fingerprint:
    """What the numbers depend on beside the settings. Two runs with different ones are not replicates."""

    cpu: str = ""
    cores: int = 0
    memory_bytes: int = 0
    system: str = ""
    python: str = ""
    spark: str = ""
    java: str = ""
    cluster: str = ""
    data: str = ""
    affinity: str = ""  # how executors were kept to their cores; "" where nobody knows
    # Measured, and a little different each time: replicates may have different ones.
    speed: ClusterSpeed | None = field(default=None, compare=False)


@dataclass(frozen=True, slots=True)
class Sharing:
    """What jobs that ran at once shared, and by which rule."""

    policy: str  # between applications
    cores: int | None  # of the cluster; None where only the cluster knows
    mode: str = "FIFO"  # spark.scheduler.mode: between the Spark jobs of one application


@dataclass(frozen=True, slots=True)
class JobRun:
    """One job of a run that had several. Moments are seconds since the run began."""

    number: int  # in order of arrival, from 1
    configuration: Configuration
    arrived_s: float  # submitted
    registered_s: float | None  # with the cluster: its driver is up; None where its event log does not tell
    started_s: float | None  # its first executor is there
    ended_s: float
    responses: Mapping[str, float]
    outcome: Outcome = Outcome.OK
    cause: str = ""
    curve: tuple[Epoch, ...] = ()
    tasks: TaskTotals | None = None
    artifacts: str = ""  # its folder, relative to the store
    cores: int | None = None  # that it may hold at most: spark.cores.max
    slowdown: float | None = None  # response time over that of the same job alone, where that is known

    @property
    def response_s(self) -> float:
        """From its arrival to its end: launching the driver, waiting and service."""
        return self.ended_s - self.arrived_s

    @property
    def waiting_s(self) -> float | None:
        """From registering to the first executor; of a job alone, what launching an executor takes."""
        if self.started_s is None or self.registered_s is None:
            return None
        return self.started_s - self.registered_s

    @property
    def service_s(self) -> float | None:
        """From the first executor to the end: as long as it holds cores."""
        return None if self.started_s is None else self.ended_s - self.started_s


@dataclass(frozen=True, slots=True)
class LogOrigin:
    """The log that a run was read from. It was made without sparkcast: no trial asked for it, and it fills none."""

    job: str
    log: str
    size_bytes: int  # a log that has grown is read again
    is_complete: bool  # an application that has not ended has no time yet
    properties: Mapping[str, str] = field(default_factory=dict)  # those that differ among runs become settings


@dataclass(frozen=True, slots=True)
class Observation:
    configuration: Configuration
    responses: Mapping[str, float]
    outcome: Outcome = Outcome.OK
    cause: str = ""
    replicate: int = 1
    position: int = 0
    curve: tuple[Epoch, ...] = ()
    utilization: Utilization | None = None
    tasks: TaskTotals | None = None
    fingerprint: Fingerprint | None = None
    started_at: float | None = None  # seconds since the Unix epoch
    artifacts: str = ""  # the run's folder, relative to the store
    run_id: str = ""
    jobs: tuple[JobRun, ...] = ()  # of a run that had several, in order of arrival
    sharing: Sharing | None = None  # of such a run
    origin: LogOrigin | None = None  # of a run that was ingested
    requested: Configuration | None = None  # what its trial asked for, where the cluster gave something else
    leaves_open: bool = False  # its trial is to be run again: the cluster gave something else than this study controls
    labels: Mapping[str, str] = field(default_factory=dict)  # what a table says of it beside settings and responses
    record: AppRecord | None = field(default=None, compare=False, repr=False)  # of an ingested run: read where needed

    if TYPE_CHECKING:  # takes settings however they are written

        def __init__(
            self,
            configuration: Levels,
            responses: Mapping[str, float],
            outcome: Outcome = Outcome.OK,
            cause: str = "",
            replicate: int = 1,
            position: int = 0,
            curve: tuple[Epoch, ...] = (),
            utilization: Utilization | None = None,
            tasks: TaskTotals | None = None,
            fingerprint: Fingerprint | None = None,
            started_at: float | None = None,
            artifacts: str = "",
            run_id: str = "",
            jobs: tuple[JobRun, ...] = (),
            sharing: Sharing | None = None,
            origin: LogOrigin | None = None,
            requested: Configuration | None = None,
            leaves_open: bool = False,
            labels: Mapping[str, str] = ...,
            record: AppRecord | None = None,
        ) -> None: ...

    def row(self) -> dict[str, Level]:
        """A row of a table of runs."""
        row: dict[str, Level] = {**self.configuration, "replicate": self.replicate}
        row |= {"position": self.position, "outcome": self.outcome.value, **self.responses}
        if self.utilization:
            row["cpu_percent"] = self.utilization.cpu_percent
            row["iowait_percent"] = self.utilization.iowait_percent
        return row | {"run_id": self.run_id}

    def __post_init__(self) -> None:
        object.__setattr__(self, "configuration", Configuration(self.configuration))

    @property
    def ok(self) -> bool:
        return self.outcome is Outcome.OK

    @property
    def was_stopped(self) -> bool:
        """Whether somebody or a limit ended it while it still worked: it would have taken longer than it did."""
        return self.outcome is Outcome.TIMEOUT or (
            self.outcome is Outcome.ERROR and _STOPPED.search(self.cause) is not None
        )

    @property
    def is_ingested(self) -> bool:
        return self.origin is not None

    @property
    def difference(self) -> str:
        """What its trial asked for and did not get: `asked for executors=2, got executors=1`; "" for most runs."""
        if self.requested is None:
            return ""
        names = [name for name, level in self.requested.items() if self.configuration.get(name) != level]
        return f"asked for {self.requested.only(names)}, got {self.configuration.only(names)}"


@dataclass(frozen=True, slots=True)
class Dataset:
    """Observations with the names of what was varied, and what all names mean: what every later room takes.

    What `vocabulary` does not say is filled in from the usual names.
    """

    factors: tuple[str, ...]
    observations: tuple[Observation, ...]
    name: str = "data"
    responses: tuple[str, ...] = (TIME,)
    vocabulary: Vocabulary = field(default=Vocabulary(), compare=False, repr=False)

    def __post_init__(self) -> None:
        first = self.observations[0].configuration if self.observations else ()
        if not self.vocabulary.names.issuperset((*self.factors, *self.responses, *first)):
            settings = dict.fromkeys((*self.factors, *(name for o in self.observations for name in o.configuration)))
            words = completed(self.vocabulary, settings, self.measured)
            object.__setattr__(self, "vocabulary", words)

    def successful(self, response: str) -> tuple[Observation, ...]:
        """The runs that ended well and measured `response`."""
        return tuple(o for o in self.observations if o.ok and response in o.responses)

    def levels(self, factor: str) -> tuple[Level, ...]:
        """The different values of a factor that occur, numbers in order."""
        seen = dict.fromkeys(o.configuration[factor] for o in self.observations)
        numbers = sorted(v for v in seen if isinstance(v, (int, float)))
        return (*numbers, *(v for v in seen if isinstance(v, str)))

    def key(self, observation: Observation) -> Configuration:
        """The varied settings of a run: equal for replicates, which must never straddle a split."""
        return observation.configuration.only(self.factors)

    @property
    def measured(self) -> tuple[str, ...]:
        """Every response that some run has, also those that `responses` does not name."""
        return tuple(dict.fromkeys((*self.responses, *(name for o in self.observations for name in o.responses))))
