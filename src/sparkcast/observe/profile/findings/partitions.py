"""How the work was cut: skew, too few, too small and too large partitions."""

from collections.abc import Iterator

from sparkcast.observe.profile.findings.base import Evidence, Finding, costliest, ids, named, of, part_of
from sparkcast.observe.profile.parts import Part
from sparkcast.observe.profile.stages import StageProfile
from sparkcast.units import show_bytes, show_seconds

_SHUFFLE = "spark.sql.shuffle.partitions"
_MORE_DATA = 2.0  # the slowest task reads that many times the median: then it is the data
_FEW_WAVES = 3.0  # tasks for each slot from which the last ones no longer matter


def skew(evidence: Evidence) -> Iterator[Finding]:
    """Slots wait for tasks that take much longer than the others."""
    for stage in evidence.stages:
        if not is_skewed(stage, evidence):
            continue
        ratio = stage.longest_task_s / max(stage.median_task_s, 1e-3)
        by_data = stage.longest_bytes >= _MORE_DATA * max(stage.median_bytes, 1.0)
        why = (
            f"it reads {show_bytes(stage.longest_bytes)}, the median {show_bytes(stage.median_bytes)}"
            if by_data
            else "not because of its data"
        )
        cost = part_of(stage, Part.SLOW_TASKS)
        yield Finding(
            "skew" if by_data else "slow-tasks",
            f"{stage.label}: the slowest of {of(stage.n_tasks, 'task')} takes "
            f"{show_seconds(stage.longest_task_s)}, the median "
            f"{show_seconds(stage.median_task_s)} ({why}); evenly spread, {show_seconds(cost)} less",
            _against_skew(evidence)
            if by_data
            else "look at that task's host and log; spark.speculation=true starts a copy of it",
            cost,
            evidence={
                "longest_task_s": stage.longest_task_s,
                "median_task_s": stage.median_task_s,
                "ratio": ratio,
                "longest_bytes": stage.longest_bytes,
                "median_bytes": stage.median_bytes,
            },
            stage_ids=(stage.stage_id,),
        )


def is_skewed(stage: StageProfile, evidence: Evidence) -> bool:
    return (
        stage.n_tasks - stage.n_lost > 2
        and stage.longest_task_s >= evidence.thresholds.skew_ratio * max(stage.median_task_s, 1e-3)
        and part_of(stage, Part.SLOW_TASKS) > 0
    )


def _against_skew(evidence: Evidence) -> str:
    if evidence.settings.get("spark.sql.adaptive.enabled", "true") == "false":
        return "spark.sql.adaptive.enabled=true splits skewed partitions of joins; else add a salt to the key"
    return "add a salt to the key, or lower spark.sql.adaptive.skewJoin.skewedPartitionThresholdInBytes"


def few_tasks(evidence: Evidence) -> Iterator[Finding]:
    """Stages that cannot fill the slots, or fill them once and a bit."""
    slots, stages = evidence.n_slots, unfilled_stages(evidence)
    cost = sum(_unfilled(stage, slots) for stage in stages)
    if not stages or cost < evidence.thresholds.idle_share * evidence.at_work_s:
        return
    worst = costliest(stages, lambda stage: _unfilled(stage, slots))
    first = worst[0]
    yield Finding(
        "few-tasks",
        f"{named(worst)}: too few tasks to fill {of(slots, 'slot')} evenly ({first.label} has "
        f"{of(first.n_tasks, 'task')} of "
        f"{show_seconds(first.median_task_s)}); slots are free for {show_seconds(cost)} in all",
        f"use more partitions: repartition(), {_SHUFFLE}, smaller spark.sql.files.maxPartitionBytes; or take "
        "fewer cores",
        cost,
        evidence={"tasks": first.n_tasks, "slots": slots, "stages": len(stages)},
        stage_ids=ids(worst),
    )


def unfilled_stages(evidence: Evidence) -> list[StageProfile]:
    slots = evidence.n_slots
    return [
        stage
        for stage in evidence.stages
        if 0 < stage.n_tasks < _FEW_WAVES * slots and not is_skewed(stage, evidence) and _unfilled(stage, slots) > 0
    ]


def _unfilled(stage: StageProfile, slots: float) -> float:
    """Seconds that more tasks could fill. Idle slots count where the stage had no task left to give them."""
    idle = part_of(stage, Part.IDLE) if stage.most_at_once >= stage.n_tasks and stage.n_tasks < slots else 0.0
    return idle + part_of(stage, Part.SLOW_TASKS)


def small_partitions(evidence: Evidence) -> Iterator[Finding]:
    """Tasks so short that starting them is most of their work."""
    limits = evidence.thresholds
    stages = [
        stage
        for stage in evidence.stages
        if stage.n_tasks > 2 * evidence.n_slots
        and stage.median_task_s < limits.small_task_s
        and _overhead(stage) >= limits.overhead_share * _in_tasks(stage)
    ]
    if not stages:
        return
    worst = costliest(stages, _overhead)
    n_tasks = sum(stage.n_tasks for stage in stages)
    # Three tasks for each slot would do; they would still have to be started.
    kept = sum(min(1.0, _FEW_WAVES * evidence.n_slots / stage.n_tasks) * _overhead(stage) for stage in stages)
    cost = sum(_overhead(stage) for stage in stages) - kept
    yield Finding(
        "small-partitions",
        f"{named(worst)}: {of(n_tasks, 'task')} of {show_seconds(worst[0].median_task_s)} (median), of which "
        "starting and "
        f"ending them takes {100 * (sum(map(_overhead, stages)) / max(sum(map(_in_tasks, stages)), 1e-9)):.0f} %: "
        f"{show_seconds(cost)}",
        f"fewer partitions: coalesce(), a smaller {_SHUFFLE}, or spark.sql.adaptive.coalescePartitions.enabled=true",
        cost,
        evidence={"tasks": n_tasks, "median_task_s": worst[0].median_task_s},
        stage_ids=ids(worst),
    )


_OVERHEAD = (Part.SCHEDULING, Part.SERIALIZATION, Part.IDLE, Part.SLOW_TASKS)
_WORK = (Part.CPU, Part.GC, Part.FETCH_WAIT, Part.SHUFFLE_WRITE, Part.SPILL, Part.UNINSTRUMENTED)


def _overhead(stage: StageProfile) -> float:
    """With many tasks, slots are idle between two of them because the driver cannot start them faster."""
    return part_of(stage, *_OVERHEAD)


def _in_tasks(stage: StageProfile) -> float:
    return part_of(stage, *_OVERHEAD, *_WORK)


def large_partitions(evidence: Evidence) -> Iterator[Finding]:
    """Tasks that read so much that they collect garbage, spill, and leave long ends."""
    stages = [
        stage
        for stage in evidence.stages
        if stage.median_bytes > evidence.thresholds.large_partition_bytes and not stage.spilled_bytes
    ]
    worst = costliest(stages, _size_cost)
    if worst:
        yield Finding(
            "large-partitions",
            f"{named(worst)}: a task reads {show_bytes(worst[0].median_bytes)} (median), with "
            f"{show_seconds(sum(map(_size_cost, worst)))} "
            "of garbage collection and waiting for the last ones",
            f"more partitions: repartition(), a larger {_SHUFFLE}, smaller spark.sql.files.maxPartitionBytes",
            sum(map(_size_cost, worst)),
            evidence={"median_bytes": worst[0].median_bytes, "tasks": worst[0].n_tasks},
            stage_ids=ids(worst),
        )


def _size_cost(stage: StageProfile) -> float:
    return part_of(stage, Part.GC, Part.SLOW_TASKS)
