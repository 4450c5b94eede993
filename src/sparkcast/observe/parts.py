"""Where the time of a run went, in parts that add up to all of it."""

from collections.abc import Mapping

from sparkcast.study.names import BOOT, COMPUTE, IDLE, LOADING, STARTUP_TIME, SYNC, TEARDOWN, TIME, TOTAL_TIME


def parts_of(responses: Mapping[str, float], boot_s: float) -> dict[str, float]:
    """The parts of a run whose workload told what it computed and how long it waited; nothing for others.

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
