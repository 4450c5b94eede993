"""Applications made up for tests of profiles: a few lines say what ran when."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

from sparkcast.eventlogs import (
    Application,
    Environment,
    Executor,
    JobRecord,
    LogRead,
    LogStatus,
    PlanNode,
    ResourceProfile,
    SqlExecution,
    SqlMetric,
    Stage,
)
from sparkcast.eventlogs.columns import Growing
from sparkcast.eventlogs.result import TASK_NUMBERS, TASK_TEXTS

START = 1_700_000_000_000


def at(seconds: float) -> int:
    return START + round(seconds * 1000)


@dataclass(frozen=True)
class T:
    """One task: seconds from its launch to its finish, and any column of the tasks."""

    launch: float
    finish: float
    stage: int = 0
    index: int = 0
    attempt: int = 0
    executor: str = "1"
    host: str = "a"
    reason: str = "Success"
    detail: str = ""
    columns: dict[str, int] = field(default_factory=dict)


def tasks_of(tasks: Sequence[T], busy: float = 0.9) -> Any:
    """Their table. Unless said otherwise, a task computes for nine tenths of its time."""
    growing = Growing(TASK_NUMBERS, TASK_TEXTS)
    for number, task in enumerate(tasks):
        took_ms = max(at(task.finish) - at(task.launch), 0)
        columns = {
            "stage_id": task.stage,
            "task_id": number,
            "index": task.index or number,
            "attempt": task.attempt,
            "launch_ms": at(task.launch),
            "finish_ms": at(task.finish),
            "run_ms": round(took_ms * 0.98),
            "cpu_ns": round(took_ms * busy * 1e6),
        } | task.columns
        texts = (task.executor, task.host, "ANY", task.reason, task.detail)
        growing.add([columns.get(name, 0) for name in TASK_NUMBERS], texts)
    return growing.table()


def operator(
    name: str,
    metrics: dict[str, float] | None = None,
    *,
    text: str = "",
    parent: int = -1,
    first_id: int = 1,
    metadata: dict[str, str] | None = None,
) -> PlanNode:
    """One operator of a plan; its metrics have the ids from `first_id` on. Times are in milliseconds."""
    told = tuple(
        SqlMetric(one, "timing" if "time" in one else "sum", first_id + at, value)
        for at, (one, value) in enumerate((metrics or {}).items())
    )
    return PlanNode(name, text or name, parent, told, metadata or {})


def log_of(
    tasks: Sequence[T],
    *,
    end: float,
    executors: Sequence[Executor] | None = None,
    jobs: Sequence[JobRecord] | None = None,
    stages: Sequence[Stage] | None = None,
    spark: dict[str, str] | None = None,
    sql: Sequence[SqlExecution] = (),
    profiles: Sequence[ResourceProfile] = (ResourceProfile(0, 4, 4096),),
    command: str = "",
    application: Application | None = None,
) -> LogRead:
    """A whole application. Without more, one executor of four cores, and one job and stage from first to last task."""
    numbers = sorted({task.stage for task in tasks})
    spans = {
        n: (min(t.launch for t in tasks if t.stage == n), max(t.finish for t in tasks if t.stage == n)) for n in numbers
    }
    made = [
        Stage(
            n, n_tasks=sum(t.stage == n for t in tasks), submitted_ms=at(low), completed_ms=at(high), name=f"do at {n}"
        )
        for n, (low, high) in spans.items()
    ]
    made_jobs = [JobRecord(n, at(low), at(high), True, stage_ids=(n,)) for n, (low, high) in spans.items()]
    stages, jobs = made if stages is None else stages, made_jobs if jobs is None else jobs
    told = application or Application("app-1", "1", "job", "me", "3.5.9", at(0), at(end), at(end))
    return LogRead(
        "a.log",
        LogStatus.OK,
        application=told,
        environment=Environment(spark=spark or {}, system={"sun.java.command": command}),
        resource_profiles=tuple(profiles),
        executors=tuple([Executor("1", "a", 4, 0, at(0))] if executors is None else executors),
        jobs=tuple(jobs),
        stages=tuple(stages),
        sql_executions=tuple(sql),
        tasks=tasks_of(tasks),
    )
