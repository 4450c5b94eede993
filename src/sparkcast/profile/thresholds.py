"""From which number on something is worth telling. Each has a reason that does not come from any single log."""

from collections.abc import Mapping
from dataclasses import dataclass, fields, replace
from difflib import get_close_matches

from sparkcast.errors import Hint, UnknownNameError


@dataclass(frozen=True, slots=True)
class Thresholds:
    """Names as `--threshold NAME=VALUE` takes them. Shares are between 0 and 1, sizes in bytes, times in seconds."""

    cost: float = 0.05  # of the life of the application or of its core-hours: less hides in the noise between two runs
    cost_s: float = 1.0  # and in seconds, of all cores where it is core-hours: nobody changes a setting for less
    startup_share: float = 0.25  # before the first job: short applications always have some
    startup_s: float = 30.0  # what getting containers from YARN or Kubernetes takes without trouble
    executor_s: float = 10.0  # for which jobs wait for executors: starting and registering a JVM takes seconds anywhere
    driver_share: float = 0.2  # a driver that plans and collects has a tenth or so; twice that is another thing
    driver_s: float = 5.0  # planning, warming up and stopping take seconds in any application
    first_job_s: float = 20.0  # before the first job, with executors there: to load classes and read schemas
    skew_ratio: float = 3.0  # slowest to median task: what Spark 4's own speculation calls slow
    small_task_s: float = 0.2  # Spark's tuning guide: tasks may be as short as 200 ms
    overhead_share: float = 0.3  # of the time of tasks, spent on starting and ending them
    large_partition_bytes: float = 1024**3  # 16 times the 64 MiB that adaptive execution aims at
    gc_share: float = 0.1  # of run time: where Spark's own pages turn red
    shuffle_share: float = 0.2  # of the life of the application, waiting for and writing shuffles
    python_share: float = 0.2  # of the life of the application, in Python workers
    idle_share: float = 0.15  # of slots: the ends of stages always leave some
    unused_memory_share: float = 0.5  # of the heap, at its highest: half of it still leaves room for growing data
    core_memory_bytes: float = 2 * 1024**3  # of heap per core: machines with less are rare, so that nothing is saved
    small_file_bytes: float = 4 * 1024**2  # spark.sql.files.openCostInBytes: what opening a file is worth to Spark
    small_files: float = 100.0  # files; fewer are opened at once by one executor
    broadcast_bytes: float = 100 * 1024**2  # ten times spark.sql.autoBroadcastJoinThreshold
    host_ratio: float = 1.5  # a host's tasks to those of the others: spark.speculation.multiplier up to Spark 3
    host_tasks: float = 10.0  # tasks on a host before its median means anything
    executor_start_share: float = 0.8  # of the slots that there ever are; those after that are dynamic allocation's


def with_thresholds(given: Mapping[str, float]) -> Thresholds:
    """The usual ones with some changed.

    Raises:
        UnknownNameError: there is no such threshold.
    """
    names = [one.name for one in fields(Thresholds)]
    for name in given:
        if name not in names:
            near = tuple(get_close_matches(name, names))
            hint = f"did you mean {near[0]!r}?" if near else f"known: {', '.join(names)}"
            raise UnknownNameError(f"no threshold named {name!r}", hint=Hint.naming(hint, near))
    return replace(Thresholds(), **given)
