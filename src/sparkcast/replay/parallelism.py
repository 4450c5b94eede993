"""What sets the number of a stage's tasks, as far as a log records it, and the tasks there would be instead.

Spark's default parallelism is the number of cores. Files are split into `min(maxPartitionBytes, max(openCost, bytes /
cores))`, and AQE coalesces to `max(1 MB, bytes / cores)` while `parallelismFirst` holds.
"""

from collections.abc import Mapping, Sequence
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from sparkcast.errors import StudyError
from sparkcast.eventlogs import JobRecord, LogRead, Stage
from sparkcast.facts import AppFacts
from sparkcast.replay.workload import Floats, Parallelism, Splits, StageWork
from sparkcast.units import parse_bytes

_MIB = 1024**2
_SHUFFLE_PARTITIONS, _DEFAULT_PARALLELISM = "spark.sql.shuffle.partitions", "spark.default.parallelism"
_AGREES = 0.25  # a computed number of tasks with the measured one


class TaskCounts:
    """Tells what sets the number of tasks of each stage of one application."""

    def __init__(self, log: LogRead, facts: AppFacts, jobs: Mapping[int, JobRecord]) -> None:
        self._facts, self._properties = facts, facts.properties
        self._job_of = {stage_id: job for job in jobs.values() for stage_id in job.stage_ids}
        tasks = log.tasks
        self._input = tasks["input_bytes"].astype(np.float64)
        self._shuffled = (tasks["remote_read_bytes"] + tasks["local_read_bytes"]).astype(np.float64)
        self.cores = round(max((level.cores for level in facts.shape.over_time), default=1)) or 1

    def bytes_read(self, rows: NDArray[np.int64]) -> float:
        return float(self._input[rows].sum() + self._shuffled[rows].sum())

    def of(
        self, stage: Stage, n: int, rows: NDArray[np.int64], made: Sequence[StageWork], place_of: Mapping[int, int]
    ) -> tuple[Parallelism, Splits | None]:
        names = {rdd.name for rdd in stage.rdds}
        parents = [made[place_of[one]] for one in stage.parent_ids if one in place_of]
        reads_shuffle = bool(stage.parent_ids) or "ShuffledRowRDD" in names
        if any(rdd.scope == "AQEShuffleRead" for rdd in stage.rdds):
            return self._adaptive(stage, n, float(self._shuffled[rows].sum()))
        if reads_shuffle:
            return self._of_shuffle(stage, n, parents), None
        if "FileScanRDD" in names:
            return self._of_files(stage, n, float(self._input[rows].sum()))
        return self._by_default(stage, n), None

    def _setting(self, stage: Stage, name: str, default: str = "") -> str:
        job = self._job_of.get(stage.stage_id)
        return (job.sql_settings.get(name) if job else None) or self._properties.get(name, default)

    def _whole(self, stage: Stage, name: str, default: int) -> int:
        text = self._setting(stage, name)
        return int(text) if text.isdecimal() else default

    def _size(self, stage: Stage, name: str, default: int) -> int:
        text = self._setting(stage, name)
        try:
            return parse_bytes(text.removesuffix("b").removesuffix("B") if text else default) or default
        except StudyError:
            return default

    def _by_default(self, stage: Stage, n: int) -> Parallelism:
        """`parallelize`, `range` and the like."""
        is_set = self._setting(stage, _DEFAULT_PARALLELISM) or self._setting(
            stage, "spark.sql.leafNodeDefaultParallelism"
        )
        return Parallelism.CORES if n == max(self.cores, 2) and not is_set else Parallelism.FIXED

    def _of_shuffle(self, stage: Stage, n: int, parents: Sequence[StageWork]) -> Parallelism:
        is_sql = any(rdd.name == "ShuffledRowRDD" for rdd in stage.rdds)
        if is_sql:
            is_as_set = n == self._whole(stage, _SHUFFLE_PARTITIONS, 200)
            return Parallelism.PARTITIONS if is_as_set and n > 1 else Parallelism.FIXED
        # RDDs take spark.default.parallelism, else as many partitions as the largest of their parents.
        if self._setting(stage, _DEFAULT_PARALLELISM) or not parents:
            return Parallelism.FIXED
        largest = max(parents, key=lambda one: one.n_tasks)
        follows = largest.parallelism is Parallelism.CORES and len(np.unique(largest.index)) == n
        return Parallelism.CORES if follows else Parallelism.FIXED

    def _adaptive(self, stage: Stage, n: int, n_bytes: float) -> tuple[Parallelism, Splits | None]:
        most = self._whole(
            stage,
            "spark.sql.adaptive.coalescePartitions.initialPartitionNum",
            self._whole(stage, _SHUFFLE_PARTITIONS, 200),
        )
        advisory = float(self._size(stage, "spark.sql.adaptive.advisoryPartitionSizeInBytes", 64 * _MIB))
        least = float(self._size(stage, "spark.sql.adaptive.coalescePartitions.minPartitionSize", _MIB))
        is_first = self._setting(stage, "spark.sql.adaptive.coalescePartitions.parallelismFirst", "true") != "false"
        splits = Splits(n_bytes, least if is_first else advisory, advisory, max(most, n))
        return Parallelism.ADAPTIVE, splits

    def _of_files(self, stage: Stage, n: int, n_bytes: float) -> tuple[Parallelism, Splits | None]:
        most = float(self._size(stage, "spark.sql.files.maxPartitionBytes", 128 * _MIB))
        cost = float(self._size(stage, "spark.sql.files.openCostInBytes", 4 * _MIB))
        fixed = self._whole(stage, "spark.sql.files.minPartitionNum", 0)
        splits = Splits(max(n_bytes, 1.0), cost, most)
        if fixed:
            return Parallelism.FIXED, None
        if abs(splits.n_tasks(self.cores) / n - 1) <= _AGREES:
            return Parallelism.BYTES, splits
        # Bytes of columns that were left out, and files smaller than it costs to open one, are not in the metrics.
        total = n * splits.target_bytes(self.cores)
        if n == self.cores:
            return Parallelism.CORES, None
        return Parallelism.FIXED, replace(splits, total_bytes=total)


def n_tasks_at(stage: StageWork, cores: int, before: int, partitions: int | None, scale: float) -> int:
    """How many tasks a stage has with so many cores, other shuffle partitions, and so many times as much data."""
    n = len(np.unique(stage.index))
    kind = stage.parallelism
    if kind is Parallelism.PARTITIONS and partitions:
        return partitions
    if kind is Parallelism.CORES:
        return max(cores, 2)
    if kind in (Parallelism.BYTES, Parallelism.ADAPTIVE) and stage.splits is not None:
        splits = stage.splits
        if partitions and kind is Parallelism.ADAPTIVE:
            splits = replace(splits, most_tasks=partitions)
        # The measured number, times what the formula says of the difference: it has the formula's bias in both.
        ratio = splits.n_tasks(cores, scale) / stage.splits.n_tasks(before)
        most = splits.most_tasks or n * max(scale, cores)
        return int(min(max(round(n * ratio), 1), most))
    if scale != 1 and is_scan(stage):
        return max(round(n * scale), 1)
    return n


def is_scan(stage: StageWork) -> bool:
    """A stage whose tasks each read a piece of the input of a certain size."""
    return stage.parallelism is Parallelism.FIXED and stage.splits is not None


def resplit(times: Floats, n: int) -> Floats:
    """The same work in so many tasks: neighbors are added up, or each is divided.

    Scaling quantiles instead would keep the skew of small tasks in large ones.
    """
    if n == len(times):
        return times
    done = np.concatenate(([0.0], np.cumsum(times)))
    return np.diff(np.interp(np.linspace(0.0, len(times), n + 1), np.arange(len(times) + 1), done))
