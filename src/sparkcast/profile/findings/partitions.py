"""How the work was cut: skew, too few, too small and too large partitions."""

from collections.abc import Iterator

import numpy as np

from sparkcast.facts.operators import SHUFFLED_JOINS
from sparkcast.facts.stages import StageFacts
from sparkcast.profile.findings.base import RUN, Evidence, Finding, costliest, ids, named, of, part_of, stages_have
from sparkcast.profile.findings.values import (
    MIB,
    PARTITIONS,
    WAVES,
    as_fix,
    executors_for,
    fill_slots,
    merge_tasks,
    salts_for,
    size,
    tasks_of,
    tasks_to_fill,
)
from sparkcast.study.application import Part
from sparkcast.units import show_bytes, show_percent, show_seconds

_ADAPTIVE = "spark.sql.adaptive.enabled"
_THRESHOLD = "spark.sql.adaptive.skewJoin.skewedPartitionThresholdInBytes"
_MERGING = "spark.sql.adaptive.coalescePartitions.enabled"
_MORE_DATA = 2.0  # the slowest task reads that many times the median: then it is the data


def skew(evidence: Evidence) -> Iterator[Finding]:
    """Slots wait for stragglers: each stage with some, or many stages together that cost little."""
    uneven = [stage for stage in evidence.stages if is_skewed(stage, evidence)]
    for by_data in (True, False):
        stages = [stage for stage in uneven if _has_more_data(stage) == by_data]
        found = {stage.key: _one_skewed(stage, by_data, evidence) for stage in stages}
        small = [stage for stage in stages if not evidence.is_worth_telling(found[stage.key])]
        if len(small) > 1:
            found = {key: one for key, one in found.items() if key not in {stage.key for stage in small}}
            yield _many_skewed(small, by_data, evidence)
        yield from found.values()


def _one_skewed(stage: StageFacts, by_data: bool, evidence: Evidence) -> Finding:
    cost = part_of(stage, Part.SLOW_TASKS)
    return Finding(
        "skew" if by_data else "slow-tasks",
        f"In {stage.label}, the slowest of {of(stage.n_tasks, 'task')} takes {show_seconds(stage.longest_task_s)}, the "
        f"median {show_seconds(stage.median_task_s)} ({_why(stage, by_data)}). Balanced tasks would save up to "
        f"{show_seconds(cost)}.",
        _against_skew(stage, evidence)[0] if by_data else _against_slow_tasks(stage, evidence),
        cost,
        evidence={
            "longest_task_s": stage.longest_task_s,
            "median_task_s": stage.median_task_s,
            "ratio": stage.longest_task_s / max(stage.median_task_s, 1e-3),
            "longest_bytes": stage.longest_bytes,
            "median_bytes": stage.median_bytes,
            "longest_records": stage.longest_records,
            "median_records": stage.median_records,
        },
        stage_ids=(stage.stage_id,),
        operator=stage.operator,
        values=_against_skew(stage, evidence)[1] if by_data else {},
    )


def _many_skewed(stages: list[StageFacts], by_data: bool, evidence: Evidence) -> Finding:
    worst = costliest(stages, lambda stage: part_of(stage, Part.SLOW_TASKS))
    cost = sum(part_of(stage, Part.SLOW_TASKS) for stage in stages)
    first = worst[0]
    return Finding(
        "skew" if by_data else "slow-tasks",
        f"{stages_have(worst)} a task that takes much longer than the others. In the costliest, {first.label}, it "
        f"takes {show_seconds(first.longest_task_s)}, the median {show_seconds(first.median_task_s)} "
        f"({_why(first, by_data)}). Balanced tasks would save up to {show_seconds(cost)}.",
        _against_skew(first, evidence)[0] if by_data else _against_slow_tasks(first, evidence),
        cost,
        evidence={"stages": float(len(stages)), "longest_task_s": first.longest_task_s},
        stage_ids=ids(worst),
        operator=first.operator,
        values=_against_skew(first, evidence)[1] if by_data else {},
    )


def _why(stage: StageFacts, by_data: bool) -> str:
    if not by_data:
        return "it reads and writes no more than they do"
    if _is_more(stage.longest_bytes, stage.median_bytes):
        return f"it reads {show_bytes(stage.longest_bytes)}, the median {show_bytes(stage.median_bytes)}"
    return f"it has {of(stage.longest_records, 'record')}, the median {stage.median_records:,.0f}"


def _has_more_data(stage: StageFacts) -> bool:
    """Data of one key compress well, so that records can tell more than bytes."""
    return _is_more(stage.longest_bytes, stage.median_bytes) or _is_more(stage.longest_records, stage.median_records)


def _is_more(longest: float, median: float) -> bool:
    return longest >= _MORE_DATA * max(median, 1.0)


def is_skewed(stage: StageFacts, evidence: Evidence) -> bool:
    return (
        stage.n_tasks - stage.n_lost > 1
        and stage.longest_task_s >= evidence.thresholds.skew_ratio * max(stage.median_task_s, 1e-3)
        and part_of(stage, Part.SLOW_TASKS) > 0
    )


def _against_skew(stage: StageFacts, evidence: Evidence) -> tuple[str, dict[str, str]]:
    """What to do, and the values of that."""
    salts = str(salts_for(stage, evidence))
    salting = f"salt the key with {salts} values"
    if evidence.setting(_ADAPTIVE, "true") == "false":
        return (
            f"set {_ADAPTIVE}=true, which splits skewed partitions of joins, or {salting}.",
            {_ADAPTIVE: "true", "salts": salts},
        )
    if any(name in stage.operator for name in SHUFFLED_JOINS) and stage.longest_bytes > 2 * MIB:
        value = size(stage.longest_bytes / 2)
        return f"set {_THRESHOLD}={value}, so that adaptive execution splits it, or {salting}.", {
            _THRESHOLD: value,
            "salts": salts,
        }
    return f"{salting}: add one to the key, and combine the parts afterwards.", {"salts": salts}


def _against_slow_tasks(stage: StageFacts, evidence: Evidence) -> str:
    look = f"check {_slowest(stage, evidence)}, and look for records that take more work than others."
    if evidence.is_local() or evidence.setting("spark.speculation", "false") == "true":
        return look
    return f"{look} spark.speculation=true starts a copy of it on another host."


def _slowest(stage: StageFacts, evidence: Evidence) -> str:
    """That task, by its number, its executor and its host."""
    tasks = evidence.log.tasks
    own = (tasks["stage_id"] == stage.stage_id) & (tasks["stage_attempt"] == stage.attempt)
    rows = np.flatnonzero(own & ~evidence.attribution.times.is_lost)
    if not len(rows):
        return "that task's log and host"
    row = rows[int((tasks["finish_ms"] - tasks["launch_ms"])[rows].argmax())]
    executor, host = (tasks.words[name][int(tasks.texts[name][row])] for name in ("executor", "host"))
    where = "" if evidence.is_local() else f" on executor {executor} ({host})"
    return f"task {int(tasks['index'][row])} of {stage.label}{where}"


def few_tasks(evidence: Evidence) -> Iterator[Finding]:
    """Stages that cannot fill the slots, or fill them once and a bit."""
    slots, stages = evidence.n_slots, unfilled_stages(evidence)
    cost = sum(_unfilled(stage, slots) for stage in stages)
    if not stages or cost < evidence.thresholds.idle_share * evidence.at_work_s:
        return
    worst = costliest(stages, lambda stage: _unfilled(stage, slots))
    first = worst[0]
    name, value = fill_slots(first, evidence)
    yield Finding(
        "few-tasks",
        f"{stages_have(worst)} too few tasks to keep {of(slots, 'slot')} busy. The costliest, {first.label}, has "
        f"{of(first.n_tasks, 'task')} (median {show_seconds(first.median_task_s)}, longest "
        f"{show_seconds(first.longest_task_s)}).",
        f"{as_fix(name, value)}, for {tasks_to_fill(evidence)} tasks, or "
        + evidence.by_place(
            cluster=f"request {of(executors_for(first.n_tasks, evidence), 'executor')}, as many as it can use.",
            local=f"use local[{max(first.n_tasks, 1)}].",
        )
        if first.n_tasks < slots
        else f"{as_fix(name, value)}, for {tasks_to_fill(evidence)} tasks.",
        cost,
        evidence={"tasks": first.n_tasks, "slots": slots, "stages": len(stages)},
        stage_ids=ids(worst),
        operator=first.operator,
        values={name: value},
    )


def unfilled_stages(evidence: Evidence) -> list[StageFacts]:
    slots = evidence.n_slots
    return [
        stage
        for stage in evidence.stages
        if 0 < stage.n_tasks < WAVES * slots and not is_skewed(stage, evidence) and _unfilled(stage, slots) > 0
    ]


def _unfilled(stage: StageFacts, slots: float) -> float:
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
    kept = sum(min(1.0, WAVES * evidence.n_slots / stage.n_tasks) * _overhead(stage) for stage in stages)
    cost = sum(_overhead(stage) for stage in stages) - kept
    name, value = merge_tasks(worst[0], evidence)
    is_off = worst[0].shuffle_read_bytes and evidence.setting(_MERGING, "true") == "false"
    merging = f", or {_MERGING}=true, which merges them" if is_off else ""
    yield Finding(
        "small-partitions",
        f"{stages_have(worst)} {of(n_tasks, 'task')} that take {show_seconds(worst[0].median_task_s)} (median). "
        "Starting and ending them is "
        f"{show_percent(sum(map(_overhead, stages)) / max(sum(map(_in_tasks, stages)), 1e-9))} of "
        "that time.",
        f"{as_fix(name, value)}{merging}.",
        cost,
        evidence={"tasks": n_tasks, "median_task_s": worst[0].median_task_s},
        stage_ids=ids(worst),
        operator=worst[0].operator,
        values={name: value},
    )


_OVERHEAD = (Part.SCHEDULING, Part.SERIALIZATION, Part.IDLE, Part.TO_LAUNCH)


def _overhead(stage: StageFacts) -> float:
    """With many tasks, slots are idle between two of them because the driver cannot start them faster."""
    return part_of(stage, *_OVERHEAD)


def _in_tasks(stage: StageFacts) -> float:
    return part_of(stage, *_OVERHEAD, *RUN)


def large_partitions(evidence: Evidence) -> Iterator[Finding]:
    """Tasks that read so much that they collect garbage, spill, and leave long ends."""
    stages = [
        stage
        for stage in evidence.stages
        if stage.median_bytes > evidence.thresholds.large_partition_bytes and not stage.spilled_bytes
    ]
    worst = costliest(stages, _size_cost)
    if worst:
        first = worst[0]
        n = tasks_of(first.input_bytes + first.shuffle_read_bytes, evidence)
        name = PARTITIONS if first.operator and first.shuffle_read_bytes else "repartition"
        yield Finding(
            "large-partitions",
            f"Tasks of {named(worst)} read {show_bytes(worst[0].median_bytes)} each (median). That costs "
            f"{show_seconds(sum(map(_size_cost, worst)))} of garbage collection and straggler wait.",
            f"{as_fix(name, str(n))}, for 128 MiB in each of {n} tasks.",
            sum(map(_size_cost, worst)),
            evidence={"median_bytes": first.median_bytes, "tasks": first.n_tasks},
            stage_ids=ids(worst),
            operator=first.operator,
            values={name: str(n)},
        )


def _size_cost(stage: StageFacts) -> float:
    return part_of(stage, Part.GC, Part.SLOW_TASKS)
