"""What the four `mllib-*` workloads share: generated rows, and a run that learns from some and is judged by others.

Rows are made in chunks, each from a random stream of its own. So the same settings give the same rows wherever they are
made and however they are partitioned, and no more than one chunk at a time is in memory.
"""

import time
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar

from sparkcast.arrays import Floats
from sparkcast.errors import RunError, StudyError
from sparkcast.study.configuration import Levels
from sparkcast.workloads._generated import generate_once
from sparkcast.workloads.base import Configuration, Job, Kind, Response, Role, Setting
from sparkcast.workloads.extras import require_extra

if TYPE_CHECKING:
    import numpy as np

MakeRows = Callable[["np.random.Generator", int, Levels], tuple[Floats, Floats]]

DATA_SETTINGS = (
    Setting("rows", 100_000, "rows to learn from; others are held out", minimum=1, role=Role.DATA_SIZE),
    Setting("features", 20, "numbers in each row", minimum=1),
    Setting("partitions", 4, "number of parts that the rows are split into, one task each", minimum=1),
    Setting("seed", 1, "random seed for rows and algorithm", minimum=0),
    Setting(
        "source",
        "files",
        "rows from Parquet files that every executor can read, or made by the executors themselves",
        choices=("files", "cluster"),
    ),
)
ITERATIONS = Setting("iterations", 20, "iterations at most, each a pass over the rows", minimum=1, role=Role.ITERATIONS)
ITERATIONS_DONE = Response("iterations_done", kind=Kind.COUNT)
COEFFICIENT_ERROR = Response("coefficient_error", kind=Kind.COUNT, unit="of their length")
READING = Response("read_s", kind=Kind.TIME)  # until the rows are in memory, before `time_s` begins

_VERSION = 1  # of the recipes: raise it when the same settings give other rows
_CHUNK_NUMBERS = 1_000_000  # features of the rows of one chunk: 8 MB
_PARTS = ("training", "held-out")
_MOST_HELD_OUT = 100_000
_SCHEMA = "features array<double>, label double"


@dataclass(frozen=True, slots=True)
class ModelQuality:
    """How good a model is."""

    responses: Mapping[str, float]
    iterations: int = 1  # passes over the rows
    losses: Sequence[float] = ()  # after each iteration


class LearnsFromRows(ABC):
    """A workload that learns from generated rows. It says what rows they are, what to fit and how to judge it.

    The rows are in the executors' memory when the measured work begins: `time_s` is that of the algorithm alone.
    """

    name: ClassVar[str]
    chance: Mapping[str, float]  # what guessing gives: a run that is no better is an error

    @staticmethod
    @abstractmethod
    def make_rows(random: "np.random.Generator", rows: int, settings: Levels) -> tuple[Floats, Floats]:
        """Features (one row each) and labels of one chunk; what all chunks have in common is drawn from `truth`."""

    @abstractmethod
    def fit(self, training: Any, settings: Configuration) -> Any:
        """The measured work: a fitted model of MLlib."""

    @abstractmethod
    def judge(self, model: Any, held_out: Any, settings: Configuration) -> ModelQuality:
        """How good the model is on rows that it has not seen."""

    def prepare(self, settings: Configuration, data_dir: Path) -> str:
        require_extra("parquet", ("pyarrow",), needed_by=f"workload {self.name!r}")
        folder = self._folder(settings, data_dir)
        if settings["source"] == "files":
            n_rows = sum(_n_rows(part, settings) for part in _PARTS)
            fill = partial(_write, make_rows=self.make_rows, settings=settings)
            generate_once(folder, fill, needs_bytes=n_rows * (int(settings["features"]) + 1) * 8)
        return folder.name

    def spark_conf(self, settings: Configuration) -> Mapping[str, str]:
        return {}

    def run(self, job: Job) -> None:
        begin = time.perf_counter()
        training, held_out = (self._load(job, part) for part in _PARTS)
        job.started()
        start = time.perf_counter()
        model = self.fit(training, job.settings)
        time_s = time.perf_counter() - start
        verdict = self.judge(model, held_out, job.settings)
        self._require_better_than_chance(verdict)
        for number, loss in enumerate(verdict.losses, start=1):
            # MLlib does not say when an iteration ended. Each is one pass over the rows: they share the time equally.
            job.epoch(number, time_s * number / len(verdict.losses), loss=loss)
        throughput = int(job.settings["rows"]) * verdict.iterations / time_s
        job.result(work_s=time_s, throughput=throughput, read_s=start - begin, **verdict.responses)

    def _load(self, job: Job, part: str) -> Any:
        """The rows of a part as a DataFrame in the memory of the executors."""
        from pyspark.ml.functions import array_to_vector
        from pyspark.sql import SparkSession

        session, settings = SparkSession(job.spark_context()), job.settings
        if settings["source"] == "files":
            raw = session.read.schema(_SCHEMA).parquet((self._folder(settings, job.data_dir) / part).as_uri())
        else:
            n_chunks = len(_chunk_sizes(part, settings))
            make = partial(_record_batches, part=part, make_rows=self.make_rows, settings=dict(settings))
            raw = session.range(0, n_chunks, 1, n_chunks).mapInArrow(make, _SCHEMA)
        rows = raw.repartition(int(settings["partitions"]))
        frame = rows.select(array_to_vector("features").alias("features"), "label").cache()
        found, expected = frame.count(), _n_rows(part, settings)
        if found != expected:
            raise RunError(f"there are {found} {part} rows instead of {expected}", hint=f"delete {job.data_dir}")
        return frame

    def _folder(self, settings: Configuration, data_dir: Path) -> Path:
        """Named by all that its rows depend on."""
        facts = [f"{settings['rows']}x{settings['features']}", f"seed{settings['seed']}"]
        facts += [f"{settings['clusters']}clusters"] if "clusters" in settings else []
        return data_dir.resolve() / "-".join([self.name, *facts, f"v{_VERSION}"])

    def _require_better_than_chance(self, verdict: ModelQuality) -> None:
        for name, chance in self.chance.items():
            if not verdict.responses[name] > chance:
                raise RunError(
                    f"the model is no better than guessing: {name} = {verdict.responses[name]:.4g} on held-out rows, "
                    f"where guessing gives {chance:g}",
                    hint="use more rows or iterations",
                )


def check_rows(settings: Configuration, *, least: int, because: str) -> None:
    """Raise StudyError for rows that cannot be learned from or split."""
    rows, partitions, seed = int(settings["rows"]), int(settings["partitions"]), int(settings["seed"])
    if rows < least:
        raise StudyError(f"rows = {rows} is too few: {because}", hint=f"use {least} rows or more")
    if partitions > rows:
        raise StudyError(
            f"rows = {rows} leaves some of the {partitions} partitions empty", hint=f"use at most {rows} partitions"
        )
    if seed >= 2**63:
        raise StudyError(f"seed = {seed} is too large", hint="use a number below 2**63")


def check_coefficients(settings: Configuration) -> None:
    features = int(settings["features"])
    check_rows(settings, least=10 * features, because=f"it takes 10 for each of the {features} features")


def judge_coefficients(model: Any, settings: Configuration, **quality: float) -> ModelQuality:
    """Of a regression: how near its coefficients are to those behind the labels, and its loss by iteration."""
    import numpy as np

    true = true_coefficients(settings)
    error = np.linalg.norm(model.coefficients.toArray() - true) / np.linalg.norm(true)
    losses = list(model.summary.objectiveHistory)[1:]  # the first is that before any iteration
    facts = {"loss": losses[-1], "coefficient_error": float(error), "iterations_done": float(len(losses))}
    return ModelQuality({**quality, **facts}, iterations=len(losses), losses=losses)


def correlated(random: "np.random.Generator", rows: int, features: int) -> Floats:
    """Normal features, each correlated with the one before it, so that an optimizer has some way to go."""
    x: Floats = random.normal(size=(rows, features))
    for column in range(1, features):
        x[:, column] = 0.8 * x[:, column - 1] + 0.6 * x[:, column]
    return x


def true_coefficients(settings: Levels) -> Floats:
    """The coefficients behind the labels, a vector of length 2."""
    import numpy as np

    drawn: Floats = truth(settings).normal(size=int(settings["features"]))
    return 2 * drawn / np.linalg.norm(drawn)


def truth(settings: Levels) -> "np.random.Generator":
    """The random stream for what all chunks have in common."""
    return _random(settings, len(_PARTS), 0)


def _random(settings: Levels, part: int, chunk: int) -> "np.random.Generator":
    import numpy as np

    return np.random.default_rng((int(settings["seed"]), part, chunk))


def _n_rows(part: str, settings: Levels) -> int:
    rows = int(settings["rows"])
    return rows if part == _PARTS[0] else min(-(-rows // 5), _MOST_HELD_OUT)


def _chunk_sizes(part: str, settings: Levels) -> list[int]:
    most = max(1, _CHUNK_NUMBERS // int(settings["features"]))
    whole, rest = divmod(_n_rows(part, settings), most)
    return [most] * whole + [rest] * (rest > 0)


def _chunk(index: int, part: str, make_rows: MakeRows, settings: Levels) -> Any:
    """A chunk as a record batch of Arrow."""
    import pyarrow as pa

    random = _random(settings, _PARTS.index(part), index)
    features, labels = make_rows(random, _chunk_sizes(part, settings)[index], settings)
    lists = pa.FixedSizeListArray.from_arrays(pa.array(features.ravel()), features.shape[1])
    return pa.record_batch([lists.cast(pa.list_(pa.float64())), pa.array(labels)], names=["features", "label"])


def _write(folder: Path, make_rows: MakeRows, settings: Levels) -> None:
    import pyarrow as pa
    import pyarrow.parquet as pq

    for part in _PARTS:
        (folder / part).mkdir()
        for index in range(len(_chunk_sizes(part, settings))):
            table = pa.Table.from_batches([_chunk(index, part, make_rows, settings)])
            pq.write_table(table, folder / part / f"chunk-{index:06d}.parquet")


def _record_batches(batches: Iterator[Any], part: str, make_rows: MakeRows, settings: Levels) -> Iterator[Any]:
    """On an executor: the chunks whose numbers it is given."""
    for batch in batches:
        for index in batch.column(0).to_pylist():
            yield _chunk(index, part, make_rows, settings)
