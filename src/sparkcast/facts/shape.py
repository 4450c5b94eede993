"""The cluster that an application really had: executors at once over time, and what each of them had."""

from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass

from sparkcast.errors import StudyError
from sparkcast.eventlogs import Executor, LogRead
from sparkcast.facts.attribution import Slots, task_cpus
from sparkcast.facts.span import Span
from sparkcast.units import parse_bytes

_MIB = 1024**2


@dataclass(frozen=True, slots=True)
class ExecutorCount:
    """How many executors and cores there were, from a moment on."""

    since_s: float  # from the start of the application
    executors: int
    cores: int


@dataclass(frozen=True, slots=True)
class ProfileShape:
    """What executors of one resource profile have."""

    profile_id: int
    executors: int  # most at once
    cores: int  # of most of them
    memory_bytes: int  # heap, 0 where the log does not record it
    container_bytes: int  # heap, overhead, off-heap and Python's
    task_cpus: float


@dataclass(frozen=True, slots=True)
class ClusterShape:
    """What was there, and not what was asked for. In local mode the driver is the one executor."""

    executors: int  # most at once
    cores: int  # of an executor; where they differ, of most of them
    memory_bytes: int  # heap of an executor; 0 where the log does not record it
    slots: float  # tasks that could run at once, at most
    mean_executors: float  # from the first to the last Spark job
    is_local: bool
    is_dynamic: bool  # dynamic allocation was on
    is_uniform: bool  # all executors had the same cores
    profiles: tuple[ProfileShape, ...]
    over_time: tuple[ExecutorCount, ...]


def cluster_shape(log: LogRead, span: Span, slots: tuple[Slots, ...]) -> ClusterShape:
    workers = [one for one in slots if one.executor.executor_id != "driver"]
    present = workers or list(slots)
    levels = _levels(present, span)
    profiles = tuple(_profile(log, number, present) for number in sorted({one.executor.profile_id for one in present}))
    cores = [one.executor.cores for one in present if one.executor.cores]
    main = max(profiles, key=lambda one: one.executors * one.cores, default=None)
    return ClusterShape(
        executors=int(most_at_once((one.start_ms, one.end_ms, 1) for one in present)),
        cores=_usual(cores),
        memory_bytes=_driver_heap(log) if present and not workers else (main.memory_bytes if main else 0),
        slots=most_at_once((one.start_ms, one.end_ms, one.n) for one in present),
        mean_executors=_mean(present, span),
        is_local=bool(present) and not workers,
        is_dynamic=log.environment.spark.get("spark.dynamicAllocation.enabled", "false").lower() == "true",
        is_uniform=len(set(cores)) <= 1,
        profiles=profiles,
        over_time=levels,
    )


def most_at_once(intervals: Iterable[tuple[int, int, float]]) -> float:
    """The greatest sum of weights at any moment; of what ends as something else begins, only one counts."""
    changes = [change for start, end, weight in intervals for change in ((start, weight), (end, -weight))]
    most = now = 0.0
    for _, change in sorted(changes):
        now += change
        most = max(most, now)
    return most


def container_bytes(log: LogRead, profile_id: int) -> int:
    """What one executor of a profile takes of its machine; 0 where the log does not record it."""
    for profile in log.resource_profiles:
        if profile.profile_id == profile_id:
            parts = (profile.memory_mib, profile.memory_overhead_mib, profile.off_heap_mib, profile.pyspark_memory_mib)
            return sum(parts) * _MIB
    return 0


def _levels(present: list[Slots], span: Span) -> tuple[ExecutorCount, ...]:
    changes: dict[int, list[int]] = {}
    for one in present:
        for moment, sign in ((one.start_ms, 1), (one.end_ms, -1)):
            change = changes.setdefault(moment, [0, 0])
            change[0] += sign
            change[1] += sign * one.executor.cores
    levels, executors, cores = [], 0, 0
    for moment, (more_executors, more_cores) in sorted(changes.items()):
        executors, cores = executors + more_executors, cores + more_cores
        levels.append(ExecutorCount((moment - span.start_ms) / 1e3, executors, cores))
    return tuple(levels)


def _mean(present: list[Slots], span: Span) -> float:
    """Over the time of the jobs, or over all of it when there were none."""
    start, end = (span.first_job_ms, span.last_job_ms) if span.time_s else (span.start_ms, span.end_ms)
    held = sum(max(min(one.end_ms, end) - max(one.start_ms, start), 0) for one in present)
    return held / (end - start) if end > start else 0.0


def _profile(log: LogRead, profile_id: int, present: list[Slots]) -> ProfileShape:
    own = [one for one in present if one.executor.profile_id == profile_id]
    heap = next((one.memory_mib * _MIB for one in log.resource_profiles if one.profile_id == profile_id), 0)
    return ProfileShape(
        profile_id,
        int(most_at_once((one.start_ms, one.end_ms, 1) for one in own)),
        _usual([one.executor.cores for one in own if one.executor.cores]),
        heap or memory_bytes(log.environment.spark.get("spark.executor.memory", "")),
        container_bytes(log, profile_id),
        task_cpus(log, profile_id),
    )


def _usual(numbers: list[int]) -> int:
    return Counter(numbers).most_common(1)[0][0] if numbers else 0


def _driver_heap(log: LogRead) -> int:
    """The driver runs the tasks of local mode."""
    return memory_bytes(log.environment.spark.get("spark.driver.memory", "1g"))


def memory_bytes(text: str) -> int:
    """Bytes of a memory property: Spark takes a bare number as MiB."""
    try:
        return int(text) * _MIB if text.isdecimal() else parse_bytes(text or 0)
    except StudyError:
        return 0


def lost_executors(log: LogRead) -> list[Executor]:
    """Those that vanished while the application lived: what ends after it is not lost."""
    ended_ms = log.application.ended_ms
    return [one for one in log.executors if one.is_lost and (not ended_ms or one.removed_ms <= ended_ms)]
