"""What other slots would have made of a run, from what is kept of its stages: for jobs that never varied them."""

from math import ceil, log

from sparkcast.study import AppRecord, StageRecord

_IDLE_S = 60.0  # spark.dynamicAllocation.executorIdleTimeout
_LAST_TASK = 0.5
_EVEN = 1.3  # of the median task, up to which the longest one is like the others


def log_ratio(record: AppRecord, slots: int, others: int) -> float | None:
    """The logarithm of the time with `others` slots against that with `slots`; None where stages are not known."""
    life = sum(stage.wall_s for stage in record.stages)
    if not record.stages or record.wall_s <= 0 or slots < 1 or others < 1 or life <= 0:
        return None
    outside = max(record.wall_s - life, 0.0)
    played = sum(stage.wall_s * _ratio(stage, slots, others) for stage in record.stages)
    return log((outside + played) / (outside + life))


def _ratio(stage: StageRecord, slots: int, others: int) -> float:
    now, then = _alone(stage, slots), _alone(stage, others)
    return then / now if now > 0 else 1.0


def _alone(stage: StageRecord, slots: int) -> float:
    """How long the tasks of a stage take on so many slots: in waves where they are even, else with a last one to wait
    for, of which half is left on average.
    """
    if stage.n_tasks < 1:
        return 0.0
    if stage.n_tasks <= slots:
        return stage.longest_task_s
    shared = stage.task_s / slots
    if stage.longest_task_s <= _EVEN * stage.median_task_s:
        return max(stage.longest_task_s, shared, ceil(stage.n_tasks / slots) * stage.median_task_s)
    return max(stage.longest_task_s, shared + _LAST_TASK * stage.longest_task_s * (1 - 1 / slots))


def dynamic_share(record: AppRecord, executors: int, cores: int) -> float:
    """What dynamic allocation would hold of the executors' time: each goes when it was idle for a minute."""
    slots = executors * cores
    life = record.wall_s
    if life <= 0 or not record.stages:
        return 1.0
    held = 0.0
    outside = max(life - sum(stage.wall_s for stage in record.stages), 0.0)
    for stage in record.stages:
        needed = min(ceil(max(stage.n_tasks, 1) / cores), executors)
        idle = executors - needed
        held += stage.wall_s * needed + min(stage.wall_s, _IDLE_S) * idle
    held += min(outside, _IDLE_S) * executors + max(outside - _IDLE_S, 0.0)
    return min(held * cores / (slots * life), 1.0)
