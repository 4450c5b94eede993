"""What is kept of an application beside its numbers: enough to say later what its job is, and what changed.

Moments are seconds since the Unix epoch, `*_after_s` seconds since the application began. Bytes of paths and words of
plans are short: an application with a hundred stages takes about ten kilobytes.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field


@dataclass(frozen=True, slots=True)
class StageRecord:
    """One attempt of one stage."""

    stage_id: int
    attempt: int
    name: str  # as Spark calls it, without folders: "collect at report.py:35"
    operator: str  # of a query, that it is best called by: "SortMergeJoin customer_id"; "" where there is none
    started_after_s: float
    duration_s: float
    wall_s: float  # its part of the application's life: those of all stages and the driver's time add up
    task_s: float  # sum over its tasks
    median_task_s: float
    longest_task_s: float
    n_tasks: int
    n_lost: int  # tasks that failed, were killed or were repeated
    input_bytes: int
    shuffle_read_bytes: int
    shuffle_write_bytes: int
    spilled_bytes: int

    @property
    def label(self) -> str:
        """The same in every run of a job, unlike its number."""
        return self.operator or self.name


@dataclass(frozen=True, slots=True)
class SourceRecord:
    """A place that the application read from. Numbers are None where its log does not record them."""

    path: str
    format: str = ""
    files: int | None = None
    bytes: int | None = None
    records: int | None = None


@dataclass(frozen=True, slots=True)
class QueryRecord:
    """One SQL execution."""

    description: str
    shape: str  # a hash of the operators of its first plan and of what it reads
    started_after_s: float
    duration_s: float | None  # None: its end is not in the log


@dataclass(frozen=True, slots=True)
class ExecutorsSince:
    """How many executors and cores there were, from a moment on."""

    after_s: float
    executors: int
    cores: int


@dataclass(frozen=True, slots=True)
class MemoryRecord:
    """Bytes. What an executor had, and the most that any of them used; 0 where the log does not record it."""

    heap: int = 0
    container: int = 0  # heap, overhead, off-heap and Python's
    peak_heap: int = 0
    peak_off_heap: int = 0
    peak_jvm_rss: int = 0
    peak_python_rss: int = 0


@dataclass(frozen=True, slots=True)
class AppRecord:
    """One attempt of one application, as its log tells it."""

    app_id: str
    attempt_id: str
    name: str
    user: str
    queue: str  # of YARN, or the namespace of Kubernetes
    cluster: str  # the id of the cluster, or the master's address
    submitted_s: float | None  # None where the log does not record the submission
    started_s: float
    ended_s: float  # of one that goes on, or was killed: the last that its log tells
    input_bytes: int = 0  # read from outside
    input_records: int = 0
    is_upper_bound: bool = False  # the input has some of what came from the cache
    command_line: str = ""
    shape: Mapping[str, int] = field(default_factory=dict)  # what it is made of, and how often: operators, stages
    sources: tuple[SourceRecord, ...] = ()
    queries: tuple[QueryRecord, ...] = ()
    stages: tuple[StageRecord, ...] = ()  # the longest, in order of their start
    n_stages: int = 0  # all of them
    executors: tuple[ExecutorsSince, ...] = ()
    is_dynamic: bool = False  # dynamic allocation was on
    memory: MemoryRecord = MemoryRecord()
    properties: Mapping[str, str] = field(default_factory=dict)  # all that Spark was given, without secrets

    @property
    def wall_s(self) -> float:
        return self.ended_s - self.started_s
