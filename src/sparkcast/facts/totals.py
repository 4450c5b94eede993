"""Sums over all tasks of an application."""

from sparkcast.eventlogs import LogRead
from sparkcast.facts.shape import lost_executors
from sparkcast.facts.span import job_span_ms
from sparkcast.study import TaskTotals


def totals_of(log: LogRead) -> TaskTotals:
    """What the log does not record counts as nothing."""
    tasks = log.tasks
    launched = tasks["launch_ms"]
    launched = launched[launched > 0]
    first_job_ms, last_job_ms = job_span_ms(log)
    return TaskTotals(
        jobs=len(log.jobs),
        stages=sum(stage.completed_ms > 0 for stage in log.stages),
        tasks=len(tasks),
        failed_tasks=int((tasks.text("end_reason") != "Success").sum()),
        executors=len(log.executors),
        lost_executors=len(lost_executors(log)),
        run_s=tasks.total("run_ms") / 1e3,
        cpu_s=tasks.total("cpu_ns") / 1e9,
        gc_s=tasks.total("gc_ms") / 1e3,
        deserialize_s=tasks.total("deserialize_ms") / 1e3,
        shuffle_read_bytes=tasks.total("remote_read_bytes") + tasks.total("local_read_bytes"),
        shuffle_write_bytes=tasks.total("shuffle_write_bytes"),
        spilled_bytes=tasks.total("disk_spilled_bytes"),
        first_task_s=int(launched.min()) / 1e3 if len(launched) else None,
        first_job_s=first_job_ms / 1e3 or None,
        last_job_s=last_job_ms / 1e3 or None,
        registered_s=log.application.started_ms / 1e3 or None,
        first_executor_s=min((one.added_ms for one in log.executors if one.added_ms), default=0) / 1e3 or None,
        master=log.environment.spark.get("spark.master", ""),
    )
