"""When executors could take tasks. One that has registered need not be ready: Spark waits for others."""

import numpy as np

from sparkcast.eventlogs import LogRead
from sparkcast.facts.attribution import Attribution, rows_by_stage

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
            since = min((low for low, high in waits if low <= first <= high), default=first)
            if first - max(since, moment) > _AT_ONCE_MS:
                # The driver starts the first tasks of an application one after the other.
                is_one_of_the_first = one.start_ms <= first_of_all and first - first_of_all <= _FIRST_MS
                moment = first_of_all if is_one_of_the_first else first
        elif any(low < first_of_all and moment < first_of_all for low, _ in waits):
            moment = max(moment, first_of_all)
        ready.append((moment - start) / 1e3)
    return tuple(ready)


def _waits(log: LogRead, found: Attribution) -> list[tuple[int, int]]:
    """From the submission of each stage to its last launch: some of its tasks wait."""
    launch, rows = found.times.launch, rows_by_stage(log)[1]
    waits = []
    for stage in log.stages:
        own = launch[rows[stage.key]]
        if stage.submitted_ms and len(own):
            waits.append((stage.submitted_ms, int(np.max(own))))
    return waits
