"""What an application did, apart from the cluster it did it on: its jobs, the driver between them, stages and tasks.

Times are seconds. A task's time is its *work* (deserializing, running, serializing its result) and its *surroundings*
(from launch to finish, less that), which belong to the cluster and the driver of the run rather than to the task.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from math import ceil

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]


class Parallelism(StrEnum):
    """What sets the number of a stage's tasks."""

    FIXED = "fixed"  # by the program, or by the data
    PARTITIONS = "partitions"  # by spark.sql.shuffle.partitions
    CORES = "cores"  # as many as the cluster has cores
    BYTES = "bytes"  # by splits of files, which also look at the number of cores
    ADAPTIVE = "adaptive"  # coalesced by AQE, which also looks at the number of cores


@dataclass(frozen=True, slots=True)
class FileSplits:
    """How files become tasks, as Spark splits and packs them; of files of equal size."""

    total_bytes: float
    open_bytes: float  # what opening a file counts as
    most_bytes: float  # of a task
    n_files: int = 0  # 0: not known
    parallelism: int = 0  # that is set; 0: as many as there are cores

    def n_tasks(self, cores: int, scale: float = 1.0) -> float:
        """Tasks on so many cores, with so many times as many files."""
        files = max(round(self.n_files * scale), 1) if self.n_files else 0
        total = self.total_bytes * scale
        share = (total + files * self.open_bytes) // max(self.parallelism or cores, 1)
        target = max(min(self.most_bytes, max(self.open_bytes, share)), 1.0)
        if not files:
            return max(total / target, 1.0)
        n_whole, rest = divmod(total // files, target)
        together = (target - rest) // (rest + self.open_bytes) + 1
        return max(files * n_whole + (ceil(files / together) if rest else 0.0), 1.0)


@dataclass(frozen=True, slots=True)
class Coalesced:
    """How AQE makes tasks of the partitions of a shuffle, which it takes for equal."""

    total_bytes: float
    n_partitions: int
    least_bytes: float  # of a task
    most_bytes: float
    parallelism: int = 0  # that is set; 0: as many as there are cores

    def n_tasks(self, cores: int, scale: float = 1.0) -> float:
        """Tasks on so many cores, with so many times as much data."""
        total = max(self.total_bytes * scale, 1.0)
        target = max(min(ceil(total / max(self.parallelism or cores, 1)), self.most_bytes), self.least_bytes)
        together = max(int(target * self.n_partitions / total), 1)
        return float(ceil(self.n_partitions / together))


@dataclass(frozen=True, slots=True)
class StageWork:
    """One attempt of one stage. Tasks are in the order of their launch."""

    stage_id: int
    attempt: int
    name: str
    job: int  # place of its job in the workload
    parents: tuple[int, ...]  # places of stages that have to end before
    delay_s: float  # of the driver, before its first task starts
    tail_s: float  # of the driver, after its last task
    work_s: Floats = field(repr=False)
    around_s: Floats = field(repr=False)
    index: NDArray[np.int64] = field(repr=False)  # of the partition
    parallelism: Parallelism = Parallelism.FIXED
    splits: FileSplits | Coalesced | None = None
    in_doubt: bool = False  # whether its number of tasks, which is that of the cores, follows them
    profile_id: int = 0
    is_barrier: bool = False
    caches: tuple[int, ...] = ()  # RDDs of which this stage makes the cached partitions
    reads_cached: int = -1  # the RDD whose cached partitions its tasks go to; -1 for none
    bytes_read: float = 0.0
    retries: Mapping[int, int] = field(default_factory=dict)  # a failed task -> the one that repeats it

    @property
    def n_tasks(self) -> int:
        return len(self.work_s)

    @property
    def n_partitions(self) -> int:
        """Without tasks that ran again."""
        return len(np.unique(self.index))

    @property
    def label(self) -> str:
        return f"stage {self.stage_id}" + (f" (attempt {self.attempt})" if self.attempt else "")


@dataclass(frozen=True, slots=True)
class JobWork:
    """One Spark job: submitted so long after others have ended, or after the application's start."""

    job_id: int
    description: str
    after: tuple[int, ...]  # places of jobs that have to end before
    gap_s: float
    tail_s: float  # from the end of its last stage
    stages: tuple[int, ...]  # places
    pool: str = ""


@dataclass(frozen=True, slots=True)
class RecordedWork:
    name: str
    jobs: tuple[JobWork, ...]
    stages: tuple[StageWork, ...]
    after_s: float  # from the end of the last job to that of the application
    wall_s: float  # as measured
    default_cores: int  # of the cluster that ran it: Spark's default parallelism
    is_fair: bool = False
    locality_wait_s: float = 3.0
    task_cpus: Mapping[int, float] = field(default_factory=dict)  # by resource profile
    notes: tuple[str, ...] = ()
    quiet_around_s: float = 0.0  # what surrounds a task when its executor is warm and the driver has time

    @property
    def n_tasks(self) -> int:
        return sum(stage.n_tasks for stage in self.stages)

    @property
    def task_s(self) -> float:
        """Seconds of tasks, from launch to finish."""
        return float(sum(stage.work_s.sum() + stage.around_s.sum() for stage in self.stages))
