"""The workload as it would be on another cluster, with other partitions, or with more data."""

from collections.abc import Callable, Mapping
from dataclasses import replace

import numpy as np

from sparkcast.replay.parallelism import is_scan, n_tasks_at, resplit
from sparkcast.replay.workload import Parallelism, RecordedWork, StageWork


def changed(
    workload: RecordedWork,
    cores: int,
    *,
    partitions: int | None = None,
    scale: float = 1.0,
    follow_cores: bool = True,
    keep_surroundings: bool = False,
) -> RecordedWork:
    """The workload on a cluster of so many cores (as Spark's default parallelism counts them).

    Args:
        partitions: Of shuffles whose number spark.sql.shuffle.partitions sets.
        scale: How many times as much data.
        follow_cores: Whether the number of tasks follows the cores where nothing but their equality says so.
        keep_surroundings: Whether what surrounds tasks stays as it was in the measured run.
    """
    before = workload.default_cores
    stages = tuple(
        _changed(
            stage, workload, before if stage.in_doubt and not follow_cores else cores, partitions, scale,
            keep_surroundings,
        )
        for stage in workload.stages
    )  # fmt: skip
    return replace(workload, stages=stages, default_cores=cores)


def _changed(
    stage: StageWork, workload: RecordedWork, cores: int, partitions: int | None, scale: float, keep: bool
) -> StageWork:
    work, index = stage.work_s, stage.index
    n_before = stage.n_partitions
    n_after = n_tasks_at(stage, cores, workload.default_cores, partitions, scale)
    grows = scale if not _is_tiny(stage) else 1.0
    if n_after != n_before:
        order = np.argsort(index, kind="stable")
        if grows > 1 and is_scan(stage):  # more of the same files
            work = np.resize(work[order], n_after)
        else:
            work = resplit(work[order], n_after) * grows
        index = np.arange(n_after)
    elif grows != 1:
        work = work * grows
    around = stage.around_s
    if not keep or len(work) != len(around):
        around = np.full(len(work), workload.quiet_around_s)
        if len(work) == len(stage.around_s):
            around = np.minimum(around, stage.around_s)
    retries = stage.retries if len(work) == len(stage.work_s) else {}
    return replace(stage, work_s=work, around_s=around, index=index, retries=retries)


def _is_tiny(stage: StageWork) -> bool:
    """One task that gathers what others have summed up: more data do not make it longer."""
    return stage.n_tasks == 1 and bool(stage.parents) and stage.bytes_read < 1 << 20


def share_following(workload: RecordedWork, cores: int | None = None) -> float:
    """The share of the tasks' time in stages that would have other numbers of tasks on so many cores, or on 4 times."""
    before = workload.default_cores
    after = 4 * before if cores is None else cores
    return _share(
        workload,
        lambda stage: n_tasks_at(stage, after, before, None, 1.0) != n_tasks_at(stage, before, before, None, 1.0),
    )


def share_in_doubt(workload: RecordedWork) -> float:
    """The share of the tasks' time in stages of which nothing but equality says that they follow the cores."""
    return _share(workload, lambda stage: stage.in_doubt)


def _share(workload: RecordedWork, counts: Callable[[StageWork], bool]) -> float:
    took = [(float(stage.work_s.sum() + stage.around_s.sum()), counts(stage)) for stage in workload.stages]
    total = sum(seconds for seconds, _ in took)
    return sum(seconds for seconds, is_counted in took if is_counted) / total if total else 0.0


def following(workload: RecordedWork) -> Mapping[Parallelism, float]:
    """Seconds of tasks by what sets their number."""
    seconds: dict[Parallelism, float] = {}
    for stage in workload.stages:
        took = float(stage.work_s.sum() + stage.around_s.sum())
        seconds[stage.parallelism] = seconds.get(stage.parallelism, 0.0) + took
    return seconds
