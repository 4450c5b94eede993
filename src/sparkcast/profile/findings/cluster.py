"""What was paid for: executors that come late, are idle, are never used, or have memory they never fill."""

import math
from collections.abc import Iterator
from itertools import pairwise

from sparkcast.facts.stages import StageFacts
from sparkcast.profile.findings.base import GIB_PER_CORE, Evidence, Finding, costliest, ids, of, part_of
from sparkcast.profile.findings.partitions import small_partitions, unfilled_stages
from sparkcast.profile.findings.values import executors_for, set_
from sparkcast.study.application import Part
from sparkcast.units import show_bytes, show_percent, show_seconds

_ROOM = 1.3  # what is advised of the highest use


def slow_start(evidence: Evidence) -> Iterator[Finding]:
    """The application waits for its session, or jobs wait for executors."""
    if not evidence.log.jobs or evidence.is_local():
        return
    limits = evidence.thresholds
    before, waiting = _without_executors(evidence), evidence.seconds(Part.NO_EXECUTORS)
    is_long = before >= max(limits.startup_share * evidence.wall_s, limits.startup_s)
    late = _missing_slots(evidence)
    cost = waiting + late if waiting + late >= limits.executor_s else 0.0
    cost += before if is_long else 0.0
    if cost > 0:
        ready = max(evidence.facts.shape.executors, 1)
        is_dynamic = evidence.facts.shape.is_dynamic
        name = "spark.dynamicAllocation.minExecutors" if is_dynamic else "spark.executor.instances"
        how = f"{name}={ready}"
        yield Finding(
            "slow-start",
            f"No executor is available for {show_seconds(before)} before the first job. Jobs then wait "
            f"{show_seconds(waiting)} for the first executor. Later executors cost {show_seconds(late)}.",
            f"keep {of(ready, 'executor')} ready ({how}, a warm pool), or use smaller images and fewer packages.",
            cost,
            evidence={"before_first_job_s": before, "waiting_s": waiting, "missing_slots_s": late},
            values={name: str(ready)},
        )


def _without_executors(evidence: Evidence) -> float:
    """Seconds until the first executor or the first job. What the program does in between is the driver's."""
    span, slots = evidence.attribution.span, evidence.attribution.slots
    ready = min((one.start_ms for one in slots if one.n), default=span.end_ms)
    return min((ready - span.start_ms) / 1e3, evidence.seconds(Part.BEFORE_FIRST_JOB))


def _missing_slots(evidence: Evidence) -> float:
    """Seconds lost between the first executor and most of them, while jobs ran."""
    if evidence.facts.shape.is_dynamic or not evidence.facts.span.first_job_ms:
        return 0.0  # they come when they are asked for
    slots = sorted((one.start_ms, one.n) for one in evidence.attribution.slots if one.n)
    wanted = sum(n for _, n in slots)
    first_job, now, lost = evidence.facts.span.first_job_ms, 0.0, 0.0
    for (start, n), (following, _) in pairwise(slots):
        now += n
        if now >= evidence.thresholds.executor_start_share * wanted:
            break
        lost += max(following - max(start, first_job), 0) / 1e3 * (1 - now / wanted)
    return lost if wanted <= evidence.n_slots else 0.0  # those that replace lost ones are not late


def idle_slots(evidence: Evidence) -> Iterator[Finding]:
    """Slots free while stages run, for another reason than too few or too small tasks."""
    stages = {stage.stage_id for stage in unfilled_stages(evidence)}
    stages |= {stage_id for one in small_partitions(evidence) for stage_id in one.stage_ids}
    idle = evidence.seconds(Part.IDLE) - sum(
        stage.parts[Part.IDLE.value] for stage in evidence.stages if stage.stage_id in stages
    )
    working = evidence.at_work_s
    if working <= 0 or idle < evidence.thresholds.idle_share * working:
        return
    busy, now = evidence.n_slots * (1 - idle / working), evidence.facts.shape.executors
    wanted = max(math.ceil(busy), 1) if evidence.is_local() else executors_for(busy, evidence)
    yield Finding(
        "idle-slots",
        f"{show_percent(idle / working)} of the slots are free while stages run.",
        evidence.by_place(
            cluster=f"request {of(wanted, 'executor')}, as many as were busy on average (now {now}), or run "
            "independent jobs in threads.",
            local=f"use local[{wanted}], as many as were busy on average, or run independent jobs in threads.",
        ),
        idle,
        idle * evidence.cores.mean_cores / 3600,
        {"idle_share": idle / working},
        values={evidence.by_place(cluster="spark.executor.instances", local="local"): str(wanted)},
    )


def launch_wait(evidence: Evidence) -> Iterator[Finding]:
    """Executors have free slots, stages have tasks, and the driver starts none of them."""
    short = {stage_id for one in small_partitions(evidence) for stage_id in one.stage_ids}
    stages = [stage for stage in evidence.stages if part_of(stage, Part.TO_LAUNCH) > 0 and stage.stage_id not in short]
    if not stages:
        return
    worst = costliest(stages, lambda stage: part_of(stage, Part.TO_LAUNCH))
    cost = sum(part_of(stage, Part.TO_LAUNCH) for stage in stages)
    first = worst[0]
    name, value, why = _against_waiting(first, evidence)
    yield Finding(
        "launch-wait",
        f"For {show_seconds(cost)} executors have free slots and stages have tasks, but none runs. The costliest, "
        f"{first.label}, waits {show_seconds(part_of(first, Part.TO_LAUNCH))}.",
        f"{set_(name, value)}, {why}, or send less with each task (large closures and broadcasts), and check "
        "the driver's CPU and garbage collection at that time.",
        cost,
        cost * evidence.cores.mean_cores / 3600,
        {"waiting_s": cost, "stages": float(len(stages))},
        ids(worst),
        operator=first.operator,
        values={name: value},
    )


def _against_waiting(stage: StageFacts, evidence: Evidence) -> tuple[str, str, str]:
    """The first tasks of an application wait for most of its executors; later ones for a place near their data."""
    is_first = stage.started_s <= min(one.started_s for one in evidence.stages)
    if is_first and not evidence.is_local():
        return "spark.scheduler.maxRegisteredResourcesWaitingTime", "5s", "if executors register slowly (default 30s)"
    return "spark.locality.wait", "0s", "if tasks wait for executors near their data (default 3s)"


def never_used_executors(evidence: Evidence) -> Iterator[Finding]:
    cores = evidence.cores
    # Until a task has ended nobody can say who is of use.
    is_known = len(evidence.log.tasks) > 0 or evidence.log.application.has_ended
    if cores.n_never_used and is_known and not evidence.is_local():
        shape = evidence.facts.shape
        name = "spark.dynamicAllocation.maxExecutors" if shape.is_dynamic else "spark.executor.instances"
        # Over time there can be more of them than at once.
        used = max(min(cores.n_executors - cores.n_never_used, shape.executors), 1)
        yield Finding(
            "unused-executors",
            f"{cores.n_never_used} of {of(cores.n_executors, 'executor')} never ran a task: "
            f"{cores.never_used:.2f} of {cores.paid:.2f} core-hours.",
            f"set {name}={used}, as many as ran tasks.",
            cost_core_hours=cores.never_used,
            evidence={"unused": float(cores.n_never_used), "core_hours": cores.never_used},
            values={name: str(used)},
        )


def unused_memory(evidence: Evidence) -> Iterator[Finding]:
    """Heap that no executor ever filled, where Spark looked (spark.eventLog.logStageExecutorMetrics)."""
    heaps = {profile.profile_id: profile.memory_mib * 1024**2 for profile in evidence.log.resource_profiles}
    seen = [
        one for one in evidence.attribution.slots if one.executor.peak_heap_bytes and heaps.get(one.executor.profile_id)
    ]
    if not seen or evidence.is_local():
        return
    fullest = max(seen, key=lambda one: one.executor.peak_heap_bytes / heaps[one.executor.profile_id])
    heap, peak = heaps[fullest.executor.profile_id], fullest.executor.peak_heap_bytes
    limits, cores = evidence.thresholds, max(fullest.executor.cores, 1)
    if peak > (1 - limits.unused_memory_share) * heap or heap <= limits.core_memory_bytes * cores:
        return
    enough = min(max(_ROOM * peak, cores * 1024.0**3), heap)
    value = f"{-int(-enough // 1024**3)}g"
    gib_hours = sum((heap - enough) / 1024**3 * (one.end_ms - one.start_ms) / 3.6e6 for one in seen)
    yield Finding(
        "unused-memory",
        f"Executors have {show_bytes(heap)} of heap but peak at {show_bytes(peak)}.",
        f"set spark.executor.memory={value}.",
        cost_core_hours=gib_hours / GIB_PER_CORE,
        evidence={"heap_bytes": heap, "peak_bytes": peak, "gib_hours": gib_hours},
        values={"spark.executor.memory": value},
    )
