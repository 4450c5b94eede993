"""What was paid for: executors that come late, are idle, are never used, or have memory they never fill."""

from collections.abc import Iterator
from itertools import pairwise

from sparkcast.profile.findings.base import GIB_PER_CORE, Evidence, Finding, of
from sparkcast.profile.findings.partitions import small_partitions, unfilled_stages
from sparkcast.study.application import Part
from sparkcast.units import show_bytes, show_percent, show_seconds

_ROOM = 1.3  # what is advised of the highest use


def slow_start(evidence: Evidence) -> Iterator[Finding]:
    """The application waits for its session, or jobs wait for executors."""
    if not evidence.log.jobs:
        return
    limits = evidence.thresholds
    before, waiting = _without_executors(evidence), evidence.seconds(Part.NO_EXECUTORS)
    is_long = before >= max(limits.startup_share * evidence.wall_s, limits.startup_s)
    late = _missing_slots(evidence)
    cost = waiting + late if waiting + late >= limits.executor_s else 0.0
    cost += before if is_long else 0.0
    if cost > 0:
        yield Finding(
            "slow-start",
            f"before the first job there is no executor for {show_seconds(before)}; jobs wait "
            f"{show_seconds(waiting)} for the first one, and those that come later cost {show_seconds(late)}",
            "keep executors ready (spark.dynamicAllocation.minExecutors, a warm pool), smaller images and "
            "fewer --packages",
            cost,
            evidence={"before_first_job_s": before, "waiting_s": waiting, "missing_slots_s": late},
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
    yield Finding(
        "idle-slots",
        f"{show_percent(idle / working)} of the slots are free while stages run, "
        f"{show_seconds(idle)} of the time in all",
        "fewer executors or cores, spark.dynamicAllocation.enabled=true, a smaller spark.locality.wait, or "
        "jobs in threads",
        idle,
        idle * evidence.cores.mean_cores / 3600,
        {"idle_share": idle / working},
    )


def never_used_executors(evidence: Evidence) -> Iterator[Finding]:
    cores = evidence.cores
    # Until a task has ended nobody can say who is of use.
    is_known = len(evidence.log.tasks) > 0 or evidence.log.application.has_ended
    if cores.n_never_used and is_known and not evidence.is_local():
        yield Finding(
            "unused-executors",
            f"{cores.n_never_used} of {of(cores.n_executors, 'executor')} never ran a task: "
            f"{cores.never_used:.2f} core-hours of "
            f"{cores.paid:.2f}",
            "ask for fewer (spark.executor.instances, spark.dynamicAllocation.maxExecutors)",
            cost_core_hours=cores.never_used,
            evidence={"unused": float(cores.n_never_used), "core_hours": cores.never_used},
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
    gib_hours = sum((heap - enough) / 1024**3 * (one.end_ms - one.start_ms) / 3.6e6 for one in seen)
    yield Finding(
        "unused-memory",
        f"executors have {show_bytes(heap)} of heap and never use more than {show_bytes(peak)}; what they do not "
        f"need costs as much as {gib_hours / GIB_PER_CORE:.2g} core-hours",
        f"spark.executor.memory={-int(-enough // 1024**3)}g",
        cost_core_hours=gib_hours / GIB_PER_CORE,
        evidence={"heap_bytes": heap, "peak_bytes": peak, "gib_hours": gib_hours},
    )
