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
from sparkcast.replay.workload import Coalesced, FileSplits, Floats, Parallelism, StageWork
from sparkcast.units import parse_bytes

_MIB = 1024**2
_SHUFFLE_PARTITIONS, _DEFAULT_PARALLELISM = "spark.sql.shuffle.partitions", "spark.default.parallelism"
_LEAVES = "spark.sql.leafNodeDefaultParallelism"
_COALESCE = "spark.sql.adaptive.coalescePartitions"
_AGREES = 0.25  # a computed number of tasks with the measured one


def default_parallelism(cores: int, *, is_local: bool) -> int:
    """Spark's, where nobody sets it."""
    return max(cores, 1 if is_local else 2)


class TaskCounts:
    """Tells what sets the number of tasks of each stage of one application."""

    def __init__(self, log: LogRead, facts: AppFacts, jobs: Mapping[int, JobRecord]) -> None:
        self._facts, self._properties = facts, facts.properties
        self._job_of = {stage_id: job for job in jobs.values() for stage_id in job.stage_ids}
        tasks = log.tasks
        self._input = tasks["input_bytes"].astype(np.float64)
        self._shuffled = (tasks["remote_read_bytes"] + tasks["local_read_bytes"]).astype(np.float64)
        cores = round(max((level.cores for level in facts.shape.over_time), default=1))
        self.cores = default_parallelism(cores, is_local=facts.shape.is_local)
        self._scans = {
            metric.accumulator_id: node
            for query in log.sql_executions
            for node in query.scans
            for metric in node.metrics
        }

    def bytes_read(self, rows: NDArray[np.int64]) -> float:
        return float(self._input[rows].sum() + self._shuffled[rows].sum())

    def of(
        self, stage: Stage, n: int, rows: NDArray[np.int64], made: Sequence[StageWork], place_of: Mapping[int, int]
    ) -> tuple[Parallelism, FileSplits | Coalesced | None]:
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

    def _parallelism(self, stage: Stage) -> int:
        """That is set; 0 where it is the number of cores."""
        return self._whole(stage, _LEAVES, self._whole(stage, _DEFAULT_PARALLELISM, 0))

    def _by_default(self, stage: Stage, n: int) -> Parallelism:
        """`parallelize`, `range` and the like."""
        return Parallelism.CORES if n == self.cores and not self._parallelism(stage) else Parallelism.FIXED

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

    def _adaptive(self, stage: Stage, n: int, n_bytes: float) -> tuple[Parallelism, Coalesced]:
        most = self._whole(stage, f"{_COALESCE}.initialPartitionNum", self._whole(stage, _SHUFFLE_PARTITIONS, 200))
        advisory = float(self._size(stage, "spark.sql.adaptive.advisoryPartitionSizeInBytes", 64 * _MIB))
        least = float(self._size(stage, f"{_COALESCE}.minPartitionSize", _MIB))
        is_first = self._setting(stage, f"{_COALESCE}.parallelismFirst", "true") != "false"
        usual = self._whole(stage, _DEFAULT_PARALLELISM, 0) if is_first else 1
        parallelism = self._whole(stage, f"{_COALESCE}.minPartitionNum", usual)
        return Parallelism.ADAPTIVE, Coalesced(n_bytes, max(most, n), least, advisory, parallelism)

    def _of_files(self, stage: Stage, n: int, n_bytes: float) -> tuple[Parallelism, FileSplits | None]:
        most = float(self._size(stage, "spark.sql.files.maxPartitionBytes", 128 * _MIB))
        cost = float(self._size(stage, "spark.sql.files.openCostInBytes", 4 * _MIB))
        parallelism = self._whole(stage, "spark.sql.files.minPartitionNum", self._parallelism(stage))
        n_files, of_files = self._files_of(stage)
        # Tasks tell the bytes that they read, of some columns; the plan those of the files, by which Spark splits them.
        for splits in (
            FileSplits(of_files, cost, most, n_files, parallelism),
            FileSplits(max(n_bytes, 1.0), cost, most, 0, parallelism),
        ):
            if splits.total_bytes and abs(splits.n_tasks(self.cores) / n - 1) <= _AGREES:
                return Parallelism.BYTES, splits
        if n == self.cores and not parallelism:
            return Parallelism.CORES, None
        return Parallelism.FIXED, splits

    def _files_of(self, stage: Stage) -> tuple[int, float]:
        """Number and bytes of the files that the only scan of a stage reads; 0 where it has none, or several."""
        found = {id(scan): scan for one in stage.accumulated if (scan := self._scans.get(one)) is not None}
        if len(found) != 1:
            return 0, 0.0
        [scan] = found.values()
        return round(scan.value("number of files read") or 0.0), scan.value("size of files read") or 0.0


def n_tasks_at(stage: StageWork, cores: int, before: int, partitions: int | None, scale: float) -> int:
    """How many tasks a stage has with so many cores, other shuffle partitions, and so many times as much data."""
    n = stage.n_partitions
    kind = stage.parallelism
    if kind is Parallelism.PARTITIONS and partitions:
        return partitions
    if kind is Parallelism.CORES:
        return cores
    if kind in (Parallelism.BYTES, Parallelism.ADAPTIVE) and stage.splits is not None:
        usual, after = stage.splits.n_tasks(before), stage.splits
        if partitions and isinstance(after, Coalesced):
            after = replace(after, n_partitions=partitions)
        found = after.n_tasks(cores, scale)
        # Where the formula is off, the measured number times what it says of the difference: it is off in both.
        return max(round(found if usual == n else n * found / usual), 1)
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
