"""Where the time of a run went, in parts that add up to all of it."""

from collections.abc import Mapping
from typing import TYPE_CHECKING

from sparkcast.study.names import BOOT, COMPUTE, IDLE, LOADING, STARTUP_TIME, SYNC, TEARDOWN, TIME, TOTAL_TIME

if TYPE_CHECKING:
    from sparkcast.eventlogs import LogRead


def parts_in_tasks(log: "LogRead", start_s: float, time_s: float) -> dict[str, float]:
    """What the slots of a job did on average from a moment on, for so long, as its tasks tell; nothing without slots.

    A task computes, but for its wait for shuffled data of other executors. A slot without a task is idle.
    """
    import numpy as np

    profiles = {profile.profile_id: profile.task_cpus for profile in log.resource_profiles}
    slots = sum(one.cores // max(profiles.get(one.profile_id, 1.0), 1.0) for one in log.executors)
    if not slots or not len(log.tasks) or time_s <= 0:
        return {}
    launched, finished = (log.tasks[name].astype(float) / 1e3 for name in ("launch_ms", "finish_ms"))
    within = np.clip(np.minimum(finished, start_s + time_s) - np.maximum(launched, start_s), 0.0, None)
    waited = np.clip(log.tasks["fetch_wait_ms"] / 1e3 / np.maximum(finished - launched, 1e-3), 0.0, 1.0)
    busy_s = min(float(within.sum()) / slots, time_s)
    sync_s = min(float((within * waited).sum()) / slots, busy_s)
    return {COMPUTE: busy_s - sync_s, SYNC: sync_s}


def parts_of(responses: Mapping[str, float], boot_s: float) -> dict[str, float]:
    """The parts of a run of which is known what it computed and how long it waited; nothing for others.

    `boot_s` is how long it took until data were made ready. What the workload did after its measured time counts as
    teardown.

    >>> told = {"startup_s": 9.0, "time_s": 10.0, "compute_s": 6.0, "sync_s": 3.0, "total_s": 20.5}
    >>> parts_of(told, boot_s=7.0)
    {'boot_s': 7.0, 'loading_s': 2.0, 'compute_s': 6.0, 'sync_s': 3.0, 'idle_s': 1.0, 'teardown_s': 1.5}
    """
    if not {STARTUP_TIME, TIME, COMPUTE, SYNC, TOTAL_TIME} <= responses.keys():
        return {}
    startup_s, time_s = responses[STARTUP_TIME], responses[TIME]
    return {
        BOOT: boot_s,
        LOADING: startup_s - boot_s,
        COMPUTE: responses[COMPUTE],
        SYNC: responses[SYNC],
        IDLE: time_s - responses[COMPUTE] - responses[SYNC],
        TEARDOWN: responses[TOTAL_TIME] - startup_s - time_s,
    }
