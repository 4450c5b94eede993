"""What reading one event log gives: the application, its parts as rows, its tasks as columns, and how reading went.

Times of day are milliseconds since the Unix epoch as Spark writes them, 0 where the log tells none. Ids are -1 where
the log tells none.
"""

from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from enum import StrEnum
from typing import Any

from sparkcast.eventlogs.columns import ColumnTable, Growing

# The columns of the tasks, in the order in which they are read. One row per TaskEnd: failed, killed and speculative
# tasks and all attempts are there.
TASK_NUMBERS = (
    *("stage_id", "stage_attempt", "task_id", "index", "attempt"),
    *("launch_ms", "getting_result_ms", "finish_ms", "is_speculative", "is_failed", "is_killed"),
    *("deserialize_ms", "deserialize_cpu_ns", "run_ms", "cpu_ns", "gc_ms", "result_serialization_ms"),
    *("result_bytes", "peak_execution_memory_bytes", "memory_spilled_bytes", "disk_spilled_bytes"),
    *("fetch_wait_ms", "remote_read_bytes", "remote_read_to_disk_bytes", "local_read_bytes"),
    *("remote_blocks", "local_blocks", "shuffle_records_read"),
    *("shuffle_write_bytes", "shuffle_write_ns", "shuffle_records_written"),
    *("input_bytes", "input_records", "output_bytes", "output_records"),
    # Highest while the task ran, where spark.executor.metrics.* made Spark look; else 0.
    *("jvm_heap_bytes", "jvm_off_heap_bytes", "jvm_rss_bytes", "python_rss_bytes"),
)
# `end_reason` is Spark's ("Success", "ExceptionFailure", "TaskKilled", ...); `end_detail` says more of failed ones.
TASK_TEXTS = ("executor", "host", "locality", "end_reason", "end_detail")


_SCANS = ("Scan", "BatchScan", "FileScan")  # how the names of operators begin that read from outside

# Why Spark itself lets executors go: these are not lost.
_LET_GO = ("killed by driver", "idle", "finished", "shutdown", "decommission")


class LogStatus(StrEnum):
    OK = "ok"
    PARTIAL = "partial"  # read, but not all of the application is there: see the reason
    SKIPPED = "skipped"  # not an event log, or an empty one
    FAILED = "failed"  # could not be read


@dataclass(frozen=True, slots=True)
class Counts:
    """How much was read."""

    files: int = 0
    file_bytes: int = 0  # as stored, compressed or not
    log_bytes: int = 0  # after decompression
    lines: int = 0
    bad_lines: int = 0  # neither an event nor empty: cut off, damaged, or too long
    mended_lines: int = 0  # events of which some field had a wrong type or damaged text
    unknown_events: int = 0  # events that the reader has no use for, Spark's or others'
    duplicate_tasks: int = 0  # the same task end told again: counted once


@dataclass(frozen=True, slots=True)
class Application:
    """One attempt of one application. `app_id` and `attempt_id` are its key; durations of attempts are never added."""

    app_id: str = ""
    attempt_id: str = ""
    name: str = ""
    user: str = ""
    spark_version: str = ""
    started_ms: int = 0
    ended_ms: int = 0  # 0: in progress, killed, or the log is cut off
    last_event_ms: int = 0  # the latest time of day that any event tells

    @property
    def key(self) -> str:
        """Application and attempt: durations of attempts are never added."""
        return f"{self.app_id}/{self.attempt_id}" if self.attempt_id else self.app_id

    @property
    def has_ended(self) -> bool:
        return self.ended_ms > 0

    @property
    def duration_s(self) -> float | None:
        """From its start to its end; None where the log does not tell both."""
        return (self.ended_ms - self.started_ms) / 1e3 if self.started_ms and self.ended_ms else None


@dataclass(frozen=True, slots=True)
class Environment:
    spark: Mapping[str, str] = field(default_factory=dict)  # Spark Properties
    jvm: Mapping[str, str] = field(default_factory=dict)
    system: Mapping[str, str] = field(default_factory=dict)

    @property
    def command_line(self) -> str:
        """The driver's command line (class or SparkSubmit, and arguments), "" where the log does not keep it."""
        return self.system.get("sun.java.command", "")


@dataclass(frozen=True, slots=True)
class ResourceProfile:
    """What executors and tasks of a profile ask for. Profile 0 is the application's default."""

    profile_id: int
    executor_cores: int = 0
    memory_mib: int = 0
    memory_overhead_mib: int = 0
    off_heap_mib: int = 0
    pyspark_memory_mib: int = 0
    task_cpus: float = 1.0
    executor_resources: Mapping[str, float] = field(
        default_factory=dict
    )  # all of them by Spark's names, gpu among them
    task_resources: Mapping[str, float] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Executor:
    """`added_ms` is 0 when the log begins later, `removed_ms` when it was there to the end. Local mode: "driver"."""

    executor_id: str
    host: str = ""
    cores: int = 0
    profile_id: int = 0
    added_ms: int = 0
    removed_ms: int = 0
    removed_reason: str = ""
    storage_memory_bytes: int = 0  # what its block manager may use: about 0.6 of the heap
    # Highest ever seen, by stage or by task; 0 where Spark did not look.
    peak_heap_bytes: int = 0
    peak_off_heap_bytes: int = 0
    peak_jvm_rss_bytes: int = 0
    peak_python_rss_bytes: int = 0

    @property
    def is_lost(self) -> bool:
        """Whether it vanished, as far as the reason for its removal tells."""
        reason = self.removed_reason.lower()
        return self.removed_ms > 0 and bool(reason) and not any(word in reason for word in _LET_GO)


@dataclass(frozen=True, slots=True)
class JobRecord:
    job_id: int
    submitted_ms: int = 0
    completed_ms: int = 0
    succeeded: bool | None = None  # None: its end is not in the log
    failure: str = ""
    stage_ids: tuple[int, ...] = ()
    name: str = ""  # of its last stage, as Spark's own pages call a job
    group: str = ""
    description: str = ""
    pool: str = ""
    sql_execution_id: int = -1
    properties: Mapping[str, str] = field(default_factory=dict)  # those beginning with spark.sparkcast.
    # What sets the number of tasks and the joins of this job, as its session had it: spark.sql.shuffle.partitions, ...
    sql_settings: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Rdd:
    rdd_id: int
    name: str = ""
    callsite: str = ""
    scope: str = ""  # the operator that made it
    parent_ids: tuple[int, ...] = ()
    n_partitions: int = 0
    n_cached_partitions: int = 0
    is_cached: bool = False  # its storage level asks for memory or disk
    is_barrier: bool = False  # its tasks start together or not at all
    memory_bytes: int = 0
    disk_bytes: int = 0


@dataclass(frozen=True, slots=True)
class Stage:
    """One attempt of one stage. Stages that jobs name but that never ran (skipped) are not here."""

    stage_id: int
    attempt: int = 0
    name: str = ""
    details: str = ""  # the call site, its first lines
    n_tasks: int = 0
    parent_ids: tuple[int, ...] = ()
    submitted_ms: int = 0
    completed_ms: int = 0  # 0: still running where the log ends
    failure: str = ""
    profile_id: int = 0
    rdds: tuple[Rdd, ...] = ()
    # Accumulators that are not Spark's own task metrics, by name ("data sent to Python workers", ...): the value after
    # the stage. Values of one name are added; an accumulator that several stages share counts in each.
    accumulators: Mapping[str, float] = field(default_factory=dict)
    accumulated: Mapping[int, float] = field(default_factory=dict)  # the same by the accumulator's id, as plans name it

    @property
    def key(self) -> tuple[int, int]:
        return self.stage_id, self.attempt


@dataclass(frozen=True, slots=True)
class SqlMetric:
    """One number of one operator in a plan."""

    name: str  # "data size", "number of files read", ...
    kind: str  # "sum", "size", "timing" (ms), "nsTiming", "average"
    accumulator_id: int
    value: float | None = None  # None: nothing was added to it


@dataclass(frozen=True, slots=True)
class PlanNode:
    """One operator of a plan, which is a list of them: depth first, parents before their children."""

    name: str  # "BroadcastExchange", "Scan parquet", "BatchScan csv", "WholeStageCodegen (3)", ...
    text: str = ""  # as Spark writes it: "SortMergeJoin [customer#1L], [customer#7L], Inner", its first characters
    parent: int = -1  # its place in the list
    metrics: tuple[SqlMetric, ...] = ()
    metadata: Mapping[str, str] = field(default_factory=dict)  # of scans of files: Location, Format, PushedFilters, ...

    def value(self, metric: str) -> float | None:
        """What a metric came to; None where nothing was added to it."""
        return next((one.value for one in self.metrics if one.name == metric and one.value is not None), None)

    @property
    def is_scan(self) -> bool:
        """Whether it reads from outside."""
        return self.name.startswith(_SCANS)


@dataclass(frozen=True, slots=True)
class SqlExecution:
    execution_id: int
    root_execution_id: int = -1
    description: str = ""
    details: str = ""
    started_ms: int = 0
    ended_ms: int = 0
    error: str = ""
    modified_configs: Mapping[str, str] = field(default_factory=dict)
    job_ids: tuple[int, ...] = ()
    first_plan: tuple[PlanNode, ...] = ()  # before adaptive execution changed it
    plan: tuple[PlanNode, ...] = ()  # the last one

    @property
    def scans(self) -> tuple[PlanNode, ...]:
        return tuple(node for node in self.plan if node.is_scan)


@dataclass(frozen=True, slots=True)
class LogRead:
    """Everything one log says. Of a log that could not be read: its name, status and reason, and empty tables."""

    log: str  # as it was given: path or URL
    status: LogStatus
    reason: str = ""  # "" only when ok
    counts: Counts = Counts()
    events: Mapping[str, int] = field(default_factory=dict)  # how many of each, by Spark's name
    application: Application = Application()
    environment: Environment = Environment()
    resource_profiles: tuple[ResourceProfile, ...] = ()
    executors: tuple[Executor, ...] = ()  # in the order in which they came; an id can come back
    jobs: tuple[JobRecord, ...] = ()
    stages: tuple[Stage, ...] = ()
    sql_executions: tuple[SqlExecution, ...] = ()
    tasks: ColumnTable = field(default_factory=lambda: Growing(TASK_NUMBERS, TASK_TEXTS).table(), repr=False)

    @property
    def was_read(self) -> bool:
        return self.status in (LogStatus.OK, LogStatus.PARTIAL)

    def frame(self, name: str) -> Any:
        """One part as a pandas DataFrame: tasks, stages, jobs, executors, sql_executions or resource_profiles."""
        if name == "tasks":
            return self.tasks.frame()
        import pandas as pd

        return pd.DataFrame([asdict(row) for row in getattr(self, name)])

    def summary(self) -> "LogSummary":
        return LogSummary(self.log, self.status, self.reason, self.counts, self.application, len(self.tasks))


@dataclass(frozen=True, slots=True)
class LogSummary:
    """How reading one log went: a row of the table that `ingest` shows."""

    log: str
    status: LogStatus
    reason: str
    counts: Counts
    application: Application
    n_tasks: int
