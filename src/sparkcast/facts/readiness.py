"""When executors could take tasks. One that has registered need not be ready: Spark waits for others.

Nor does one that is still there: Spark gives no task to executors that it is about to remove.
"""

import numpy as np

from sparkcast.eventlogs import LogRead
from sparkcast.facts.attribution import Attribution, StageKey, rows_by_stage

_FIRST_MS = 1000  # executors that begin within this were ready together
_AT_ONCE_MS = 200  # a task that starts within this did not wait for its executor


def ready_s(log: LogRead, found: Attribution) -> tuple[float, ...]:
    """Seconds since the start for each of `found.slots`: its first launch if a task waited for it, else when it came.

    Nobody is ready before the first launch of all if a stage waited for it.
    """
    start, launch = found.span.start_ms, found.times.launch
    waits = _waits(log, found)
    executors = log.tasks.texts["executor"]
    codes = {word: code for code, word in enumerate(log.tasks.words["executor"])}
    first_of_all = int(launch.min()) if len(launch) else 0
    ready = []
    for one in found.slots:
        own = launch[executors == codes.get(one.executor.executor_id, -1)]
        own = own[own >= one.start_ms]
        moment = one.start_ms
        if len(own):
            first = int(own.min())
            since = min((low for _, low, high in waits if low <= first <= high), default=first)
            if first - max(since, moment) > _AT_ONCE_MS:
                # The driver starts the first tasks of an application one after the other.
                is_one_of_the_first = one.start_ms <= first_of_all and first - first_of_all <= _FIRST_MS
                moment = first_of_all if is_one_of_the_first else first
        elif any(low < first_of_all and moment < first_of_all for _, low, _ in waits):
            moment = max(moment, first_of_all)
        ready.append((moment - start) / 1e3)
    return tuple(ready)


def retired_s(log: LogRead, found: Attribution) -> tuple[float, ...]:
    """Seconds since the start for each of `found.slots`: when tasks began to wait that it no longer took; else its end.

    The log has the end of an executor when its process is gone, which may be seconds after Spark gave it up.
    """
    start, times = found.span.start_ms, found.times
    executors = log.tasks.texts["executor"]
    codes = {word: code for code, word in enumerate(log.tasks.words["executor"])}
    waits, profiles = _waits(log, found), {stage.key: stage.profile_id for stage in log.stages}
    launches = {key: times.launch[rows] for key, rows in rows_by_stage(log)[1].items() if len(rows)}
    retired = []
    for one in found.slots:
        moment = one.end_ms
        own = times.finish[executors == codes.get(one.executor.executor_id, -1)]
        if one.executor.removed_ms and one.end_ms < found.span.end_ms and len(own):
            idle = int(own.max())
            for key, low, _ in waits:
                begun = max(low, idle)
                later = launches[key][(launches[key] > begun + _AT_ONCE_MS) & (launches[key] < one.end_ms)]
                if len(later) and profiles[key] == one.executor.profile_id:
                    moment = min(moment, max(begun, one.start_ms))
        retired.append((moment - start) / 1e3)
    return tuple(retired)


def _waits(log: LogRead, found: Attribution) -> list[tuple[StageKey, int, int]]:
    """From the submission of each stage to its last launch: some of its tasks wait."""
    launch, rows = found.times.launch, rows_by_stage(log)[1]
    waits = []
    for stage in log.stages:
        own = launch[rows[stage.key]]
        if stage.submitted_ms and len(own):
            waits.append((stage.key, stage.submitted_ms, int(np.max(own))))
    return waits
