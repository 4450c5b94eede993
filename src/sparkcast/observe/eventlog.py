"""The totals of one run's event log."""

from pathlib import Path
from typing import TYPE_CHECKING

from sparkcast.observe.series import imbalance
from sparkcast.study import TaskTotals
from sparkcast.study.series import StageSpan
from sparkcast.workloads.nodes import JOB_GROUP

if TYPE_CHECKING:
    from sparkcast.eventlogs import LogRead


def read_only_log(path: Path) -> "LogRead | None":
    """The event log at `path` (file, rolling folder, or a folder holding one log); None without one."""
    from sparkcast.eventlogs import find_logs, read_log

    logs = find_logs(path) if path.exists() else ()
    return read_log(logs[0]) if logs else None


def read_task_totals(path: Path) -> TaskTotals | None:
    """Totals of the event log at `path`; None without one."""
    log = read_only_log(path)
    return None if log is None else total(log)


def total(log: "LogRead") -> TaskTotals:
    """Sum a log up. What the log does not tell counts as nothing."""
    tasks = log.tasks
    launched = tasks["launch_ms"]
    launched = launched[launched > 0]
    return TaskTotals(
        jobs=log.events.get("SparkListenerJobStart", 0),
        stages=log.events.get("SparkListenerStageCompleted", 0),
        tasks=len(tasks),
        failed_tasks=int((tasks.text("end_reason") != "Success").sum()),
        executors=log.events.get("SparkListenerExecutorAdded", 0),
        lost_executors=sum(one.is_lost for one in log.executors),
        run_s=tasks.total("run_ms") / 1e3,
        cpu_s=tasks.total("cpu_ns") / 1e9,
        gc_s=tasks.total("gc_ms") / 1e3,
        deserialize_s=tasks.total("deserialize_ms") / 1e3,
        shuffle_read_bytes=tasks.total("remote_read_bytes") + tasks.total("local_read_bytes"),
        shuffle_write_bytes=tasks.total("shuffle_write_bytes"),
        spilled_bytes=tasks.total("disk_spilled_bytes"),
        first_task_s=int(launched.min()) / 1e3 if len(launched) else None,
        first_job_s=_first_job_ms(log) / 1e3 or None,
        last_job_s=log.application.last_job_end_ms / 1e3 or None,
        registered_s=log.application.started_ms / 1e3 or None,
        first_executor_s=min((one.added_ms for one in log.executors if one.added_ms), default=0) / 1e3 or None,
        master=log.environment.spark.get("spark.master", ""),
    )


def _first_job_ms(log: "LogRead") -> int:
    """Of the application's own jobs, and not that which starts samplers."""
    if not any(job.group == JOB_GROUP for job in log.jobs):
        return log.application.first_job_ms
    return min((job.submitted_ms for job in log.jobs if job.group != JOB_GROUP and job.submitted_ms), default=0)


def stage_spans(log: "LogRead") -> tuple[StageSpan, ...]:
    """When its stages ran; one whose end is not in the log, until the last thing that is."""
    ends = (log.application.last_event_ms, *(stage.completed_ms for stage in log.stages))
    found = [
        StageSpan(stage.stage_id, stage.attempt, stage.name, stage.submitted_ms, stage.completed_ms or max(ends))
        for stage in log.stages
        if stage.submitted_ms
    ]
    return tuple(sorted(found, key=lambda stage: (stage.started_ms, stage.stage_id, stage.attempt)))


def task_imbalance(log: "LogRead") -> float | None:
    """Of the time in tasks, among all executors there were, also those without any; None of a log without tasks."""
    if not len(log.tasks):
        return None
    spent = {one.executor_id: 0.0 for one in log.executors}
    for executor, run_ms in zip(log.tasks.text("executor"), log.tasks["run_ms"], strict=True):
        spent[str(executor)] = spent.get(str(executor), 0.0) + float(run_ms)
    return imbalance(tuple(spent.values()))
