"""Core-hours paid against core-hours used, from the lives of executors."""

from dataclasses import dataclass

import numpy as np

from sparkcast.eventlogs import LogRead
from sparkcast.facts.attribution import Attribution, task_cpus
from sparkcast.facts.shape import container_bytes, most_at_once

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
    cpus = {stage.key: task_cpus(log, stage.profile_id) for stage in log.stages}
    default = task_cpus(log, 0)
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
        most_cores=most_at_once((one.start_ms, one.end_ms, one.executor.cores) for one in slots),
        mean_cores=paid * _HOUR_S / found.wall_s,
        gib_hours=sum(
            container_bytes(log, one.executor.profile_id) / 1024**3 * (one.end_ms - one.start_ms) / 1e3 for one in slots
        )
        / _HOUR_S,
    )
