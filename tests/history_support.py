"""Generated histories: runs of jobs whose laws are known."""

import math
import random
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path

from sparkcast.store import open_store
from sparkcast.study import (
    AppRecord,
    Configuration,
    ExecutorsSince,
    LogOrigin,
    MemoryRecord,
    Observation,
    Outcome,
    StageRecord,
)

MONDAY = 1_790_553_600.0  # 2026-09-28
DAY = 86400.0
GIB = 1024**3


def a_run(
    number: int,
    *,
    job: str = "nightly",
    work_s: float = 600.0,
    gib: float = 100.0,
    noise: float = 1.0,
    executors: int = 4,
    cores: int = 4,
    properties: Mapping[str, str] | None = None,
    shares: Sequence[float] = (0.2, 0.5, 0.3),
    waiting_s: float = 0.0,
    outcome: Outcome = Outcome.OK,
    cause: str = "",
    peak_gib: float = 5.0,
    memory_gib: int = 8,
) -> Observation:
    """A run whose stages take `work_s` together, on 16 slots and at 100 GiB, and in proportion elsewhere."""
    slots = executors * cores
    stages_s = [share * work_s * noise * gib / 100 * 16 / slots for share in shares]
    time_s = sum(stages_s) + waiting_s
    total_s = time_s + 20
    started = MONDAY + number * DAY
    app_id = f"application_{job.replace(' ', '_')}_{number:04d}"
    given = {"spark.sql.shuffle.partitions": "200", **(properties or {})}
    record = AppRecord(
        app_id,
        "",
        f"{job} {number:05d}",
        "etl",
        "default",
        "yarn",
        started - 5,
        started,
        started + total_s - 5,
        int(gib * GIB),
        command_line=f"org.apache.spark.deploy.SparkSubmit {job.replace(' ', '_')}.py",
        shape={"Scan parquet": 2, "Join id": 1},
        stages=tuple(
            _stage(place, took, slots, gib, 15.0 + sum(stages_s[:place])) for place, took in enumerate(stages_s)
        ),
        n_stages=len(stages_s),
        executors=(ExecutorsSince(3.0, executors, slots),),
        memory=MemoryRecord(heap=memory_gib * GIB, container=memory_gib * GIB, peak_heap=int(peak_gib * GIB)),
        properties={**given, "spark.executor.memory": f"{memory_gib}g"},
    )
    ended_well = outcome is Outcome.OK
    responses = {
        "time_s": time_s,
        "total_s": total_s,
        "startup_s": 15.0,
        "task_s": sum(stages_s) * slots,
        "core_hours": slots * total_s / 3600,
        "gib_hours": executors * memory_gib * total_s / 3600,
        "input_bytes": gib * GIB,
        "part_launch_s": 5.0,
        "part_before_first_job_s": 10.0,
        "part_no_executors_s": waiting_s,
        "part_cpu_s": sum(stages_s),
        "part_driver_only_s": 5.0,
    }
    return Observation(
        Configuration({"executors": executors, "cores": cores, "memory": f"{memory_gib}g"}),
        responses,
        outcome=outcome,
        cause=cause,
        started_at=started,
        run_id=app_id,
        origin=LogOrigin(job, f"/logs/{app_id}", 1000, is_complete=ended_well or bool(cause), properties=given),
        record=record,
    )


def _stage(place: int, took_s: float, slots: int, gib: float, begun_s: float) -> StageRecord:
    """Twenty even tasks a slot."""
    n_tasks = 20 * 16
    task_s = took_s * slots / n_tasks
    return StageRecord(
        stage_id=place,
        attempt=0,
        name=f"stage at etl.py:{place}",
        operator=("Scan", "SortMergeJoin id", "Write")[place % 3],
        started_after_s=begun_s,
        duration_s=took_s,
        wall_s=took_s,
        task_s=took_s * slots,
        median_task_s=task_s,
        longest_task_s=task_s * 1.1,
        n_tasks=n_tasks,
        n_lost=0,
        input_bytes=int(gib * GIB) if place == 0 else 0,
        shuffle_read_bytes=int(gib * GIB) // 4,
        shuffle_write_bytes=int(gib * GIB) // 4,
        spilled_bytes=0,
    )


def in_progress(run: Observation, n_stages: int, beyond_s: float = 0.0) -> Observation:
    """The same run as its log showed it so long after it finished its first stages."""
    assert run.record is not None
    assert run.origin is not None
    begun, stages = 15.0, []
    for stage in run.record.stages[:n_stages]:
        stages.append(replace(stage, started_after_s=begun))
        begun += stage.duration_s
    ended = run.record.started_s + begun + max(beyond_s, 0.01)
    record = replace(run.record, stages=tuple(stages), ended_s=ended)
    return replace(run, responses={}, record=record, origin=replace(run.origin, is_complete=False))


def a_history(n: int = 40, *, sigma: float = 0.06, seed: int = 1, **fixed: object) -> list[Observation]:
    """Runs day by day, with input that varies and less of it on weekends."""
    draw = random.Random(f"{seed} {fixed.get('job', '')}")
    runs = []
    for number in range(n):
        gib = 100 * (0.6 if number % 7 >= 5 else 1.0) * math.exp(draw.gauss(0, 0.1))
        runs.append(a_run(number, gib=gib, noise=math.exp(draw.gauss(0, sigma)), **fixed))  # type: ignore[arg-type]
    return runs


def write_store(place: Path, *histories: Sequence[Observation]) -> Path:
    """A store with the runs of several jobs."""
    store = open_store(place, create=True)
    for runs in histories:
        assert runs[0].origin is not None
        store.keep_ingested(runs[0].origin.job, {}, runs)
    store.close()
    return place
