"""Core-hours paid against core-hours used, from the lives of executors."""

from dataclasses import dataclass

import numpy as np

from sparkcast.eventlogs import LogRead
from sparkcast.profile.attribution import Attribution

_HOUR_S = 3600.0


@dataclass(frozen=True, slots=True)
class CoreHours:
    """What executors cost from their registration to their removal, and how much of it tasks had."""

    paid: float
    in_tasks: float  # cores held by tasks, whatever they did
    cpu: float  # what they computed
    lost: float  # held by tasks whose work was lost or repeated
    never_used: float  # of executors that never ran a task
    n_executors: int
    n_never_used: int
    most_cores: float  # at once
    mean_cores: float  # over the life of the application
    gib_hours: float  # memory: heap, overhead, off-heap and Python's

    @property
    def idle(self) -> float:
        return max(self.paid - self.in_tasks, 0.0)


def core_hours(log: LogRead, found: Attribution) -> CoreHours:
    slots, tasks = found.slots, log.tasks
    paid = sum(one.executor.cores * (one.end_ms - one.start_ms) / 1e3 for one in slots) / _HOUR_S
    cpus = {stage.key: _cpus(log, stage.profile_id) for stage in log.stages}
    default = _cpus(log, 0)
    held = (found.times.finish - found.times.launch) / 1e3 / _HOUR_S
    if len(set(cpus.values()) | {default}) > 1:
        pairs = zip(tasks["stage_id"].tolist(), tasks["stage_attempt"].tolist(), strict=True)
        held = held * np.array([cpus.get(pair, default) for pair in pairs])
    else:
        held = held * default
    busy = set(np.unique(tasks.texts["executor"]).tolist())
    names = {tasks.words["executor"][code] for code in busy}
    unused = [one for one in slots if one.executor.executor_id not in names]
    never = sum(one.executor.cores * (one.end_ms - one.start_ms) / 1e3 for one in unused) / _HOUR_S
    return CoreHours(
        paid=paid,
        in_tasks=float(held.sum()),
        cpu=max(tasks.total("cpu_ns"), 0) / 1e9 / _HOUR_S,
        lost=float(held[found.times.is_lost].sum()),
        never_used=never,
        n_executors=len(slots),
        n_never_used=len(unused),
        most_cores=_most(found),
        mean_cores=paid * _HOUR_S / found.wall_s,
        gib_hours=sum(
            memory_mib(log, one.executor.profile_id) / 1024 * (one.end_ms - one.start_ms) / 1e3 for one in slots
        )
        / _HOUR_S,
    )


def memory_mib(log: LogRead, profile_id: int) -> float:
    """What one executor of a profile takes of its machine."""
    for profile in log.resource_profiles:
        if profile.profile_id == profile_id:
            return float(
                profile.memory_mib + profile.memory_overhead_mib + profile.off_heap_mib + profile.pyspark_memory_mib
            )
    return 0.0


def _cpus(log: LogRead, profile_id: int) -> float:
    for profile in log.resource_profiles:
        if profile.profile_id == profile_id:
            return profile.task_cpus or 1.0
    return 1.0


def _most(found: Attribution) -> float:
    changes = [(one.start_ms, one.executor.cores) for one in found.slots]
    changes += [(one.end_ms, -one.executor.cores) for one in found.slots]
    most = now = 0.0
    for _, change in sorted(changes):  # at one moment, those who go first
        now += change
        most = max(most, now)
    return most
