"""The values that fixes name: each is derived here, from what the application did, and nowhere else."""

import math

from sparkcast.facts.shape import memory_bytes
from sparkcast.facts.stages import StageFacts
from sparkcast.profile.findings.base import Evidence
from sparkcast.units import shortest_size

MIB, GIB = 1024**2, 1024**3
PARTITIONS = "spark.sql.shuffle.partitions"
BROADCAST = "spark.sql.autoBroadcastJoinThreshold"
WAVES = 3  # tasks for each slot, from which the last ones no longer matter
_FILE = 128 * MIB  # spark.sql.files.maxPartitionBytes: what one task reads
_BROADCAST = 10 * MIB  # spark.sql.autoBroadcastJoinThreshold
_MERGED = 64 * MIB  # spark.sql.adaptive.advisoryPartitionSizeInBytes
_RESERVED, _UNIFIED = 300 * MIB, 0.6  # of a heap: what Spark keeps, and the share of the rest for tasks and caches
_MARGIN = 1.2
_MOST_TIMES = 4.0  # the memory there is: nobody buys more for one setting


def set_(name: str, value: object) -> str:
    return f"set {name}={value}"


def tasks_to_fill(evidence: Evidence) -> int:
    """How many tasks keep all slots busy to the end of a stage."""
    return int(WAVES * evidence.n_slots)


def tasks_of(size: float, evidence: Evidence) -> int:
    """As many as there are slots, or more where a task would read more than 128 MiB."""
    return max(math.ceil(size / _FILE), int(evidence.n_slots), 1)


def files_of(size: float) -> int:
    """As few as have 128 MiB each."""
    return max(math.ceil(size / _FILE), 1)


def size(n_bytes: float) -> str:
    """Whole MiB or GiB, rounded up."""
    mib = max(math.ceil(n_bytes / MIB), 1)
    return f"{math.ceil(mib / 1024)}g" if mib >= 2048 else f"{mib}m"


def broadcast_threshold(n_bytes: float) -> str:
    """Spark's own default at least: before it runs it judges by estimates, which are coarse."""
    return size(max(n_bytes * _MARGIN, _BROADCAST))


def heap(evidence: Evidence) -> int:
    """Of an executor, or of the driver in local mode; bytes."""
    return evidence.facts.shape.memory_bytes or GIB


def heap_setting(evidence: Evidence) -> str:
    return evidence.by_place(cluster="spark.executor.memory", local="spark.driver.memory")


def more_memory(evidence: Evidence, times: float) -> str:
    """The heap that many times as large; "" where that is more than anybody would buy."""
    return size(times * heap(evidence)) if 1 < times <= _MOST_TIMES else ""


def for_cache(evidence: Evidence, share_that_fits: float) -> str:
    """The heap in which all of the cached data fit; "" where that is more than anybody would buy."""
    if share_that_fits <= 0:
        return ""
    needed = (heap(evidence) - _RESERVED) / share_that_fits * _MARGIN + _RESERVED
    return size(needed) if needed <= _MOST_TIMES * heap(evidence) else ""


def times_for_spill(stage: StageFacts, evidence: Evidence) -> float:
    """How many times as much memory, or as many partitions, keep the tasks of a stage from spilling."""
    cores = max(evidence.facts.shape.cores, 1)
    share = _share(evidence.setting("spark.memory.fraction", str(_UNIFIED)))
    each = max(heap(evidence) - _RESERVED, heap(evidence) / 2) * share / cores
    return 1 + stage.memory_spilled_bytes / max(stage.n_tasks, 1) / each


def _share(text: str) -> float:
    try:
        return min(max(float(text), 0.05), 0.95)
    except ValueError:
        return _UNIFIED


def fill_slots(stage: StageFacts, evidence: Evidence) -> tuple[str, str]:
    """The setting by which a stage gets enough tasks, and its value; of RDDs the call."""
    wanted = tasks_to_fill(evidence)
    if not stage.operator:
        return "repartition", str(wanted)
    if stage.shuffle_read_bytes:
        if number(evidence.setting(PARTITIONS, "200")) <= max(stage.n_tasks, 1):
            return PARTITIONS, str(wanted)
        if is_adaptive(evidence) and stage.median_bytes <= 2 * _MERGED:
            # They were merged: smaller ones stay apart.
            least = max(stage.shuffle_read_bytes // wanted, 1024)
            return "spark.sql.adaptive.advisoryPartitionSizeInBytes", shortest_size(least // 1024 * 1024)
    if stage.input_bytes >= wanted * MIB:
        return "spark.sql.files.maxPartitionBytes", size(stage.input_bytes / wanted)
    return "repartition", str(wanted)


def merge_tasks(stage: StageFacts, evidence: Evidence) -> tuple[str, str]:
    wanted = str(max(tasks_to_fill(evidence), tasks_of(stage.shuffle_read_bytes + stage.input_bytes, evidence)))
    return (PARTITIONS, wanted) if stage.operator and stage.shuffle_read_bytes else ("coalesce", wanted)


def is_adaptive(evidence: Evidence) -> bool:
    default = "false" if evidence.facts.application.spark_version.startswith(("2.", "3.0", "3.1")) else "true"
    return evidence.setting("spark.sql.adaptive.enabled", default).lower() == "true"


def number(text: str) -> float:
    try:
        return float(text)
    except ValueError:
        return 0.0


def setting_bytes(text: str) -> int:
    """Of a size that Spark takes a bare number of as bytes; -1 for what is switched off."""
    return int(text) if text.lstrip("-").isdigit() else memory_bytes(text)


def overhead(evidence: Evidence) -> str:
    """Half as much again as an executor has beside its heap."""
    told = [one.memory_overhead_mib * MIB for one in evidence.log.resource_profiles if one.memory_overhead_mib]
    now = max(told, default=0) or max(heap(evidence) // 10, 384 * MIB)
    return size(1.5 * now)


def executors_for(n_tasks: float, evidence: Evidence) -> int:
    """As many as that many tasks can keep busy."""
    shape = evidence.facts.shape
    each = max(shape.slots / max(shape.executors, 1), 1)
    return max(math.ceil(n_tasks / each), 1)


def as_fix(name: str, value: str) -> str:
    """`set spark.x=1`, or `call repartition(8)`."""
    return set_(name, value) if name.startswith("spark.") else f"call {name}({value})"


def salts_for(stage: StageFacts, evidence: Evidence) -> int:
    """Into how many parts the largest key is to be split: to the median, but no more than keep all slots busy."""
    times = stage.longest_task_s / max(stage.median_task_s, 1e-3)
    return max(min(math.ceil(times), tasks_to_fill(evidence)), 2)


def idle_timeout(gap_s: float) -> str:
    """How long an executor may idle before it goes: a quarter of the longest gap, a minute at most as Spark has it."""
    return f"{min(max(int(gap_s / 4), 1), 60)}s"
