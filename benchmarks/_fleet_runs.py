"""The runs of the generated fleet as a store has them, without writing and reading their logs."""

from collections.abc import Mapping, Sequence

from _fleet import Fleet, FleetRun

from sparkcast.history import JobHistory
from sparkcast.study import (
    AppRecord,
    Configuration,
    ExecutorsSince,
    LogOrigin,
    Observation,
    StageRecord,
)

_BEFORE_S, _LAUNCH_S = 8.0, 4.0


def observed(run: FleetRun, blocks: Sequence[int]) -> Observation:
    """As `ingest` reads the log of a run: the same times, stages, settings and input."""
    slots = run.executors * run.job.cores
    work_s = run.time_s + 0.2 * len(blocks)
    started = run.started.timestamp()
    total_s = _LAUNCH_S + _BEFORE_S + work_s + 1.0
    properties = {name: value for name, value in run.properties.items() if name.startswith("spark.sql.")}
    memory = run.properties["spark.executor.memory"]
    record = AppRecord(
        run.app_id,
        "",
        run.name,
        "etl",
        "default",
        "yarn",
        started - _LAUNCH_S,
        started,
        started + total_s - _LAUNCH_S,
        run.input_bytes,
        stages=tuple(_stage(run, place, took, slots) for place, took in enumerate(run.stage_s)),
        n_stages=len(run.stage_s),
        executors=(ExecutorsSince(3.0, run.executors, slots),),
        properties=dict(run.properties),
    )
    responses = {
        "time_s": work_s,
        "total_s": total_s,
        "task_s": run.time_s * slots,
        "core_hours": slots * (total_s - _LAUNCH_S - 3) / 3600,
        "gib_hours": run.executors * run.job.memory_gb * total_s / 3600,
        "input_bytes": float(run.input_bytes),
        "part_cpu_s": run.time_s,
        "part_launch_s": _LAUNCH_S,
        "part_before_first_job_s": _BEFORE_S,
    }
    return Observation(
        Configuration({"executors": run.executors, "cores": run.job.cores, "memory": memory}),
        responses,
        started_at=started,
        run_id=run.app_id,
        origin=LogOrigin(run.job.job, run.app_id, 1, is_complete=True, properties=properties),
        record=record,
    )


def _stage(run: FleetRun, place: int, took_s: float, slots: int) -> StageRecord:
    n_tasks = 4 * slots
    return StageRecord(
        place,
        0,
        f"stage {place}",
        "",
        _BEFORE_S,
        took_s,
        took_s,
        took_s * slots,
        took_s / 4,
        took_s / 4,
        n_tasks,
        0,
        run.input_bytes if place == 0 else 0,
        0,
        0,
        0,
    )


def histories(fleet: Fleet) -> Mapping[str, JobHistory]:
    """Of each job; grouped by the truth, as grouping has a bar of its own."""
    runs: dict[str, list[Observation]] = {}
    for run in fleet.runs():
        runs.setdefault(run.job.job, []).append(observed(run, run.job.blocks))
    return {job: JobHistory(job, job, tuple(own)) for job, own in runs.items()}
