"""Inference as Spark jobs: replicas in all slots, a task per partition of images, and a check of what came back."""

import math
import sys
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from sparkcast.errors import RunError
from sparkcast.study import Configuration
from sparkcast.units import parse_bytes
from sparkcast_papers.workloads._cnn_partition import forget_zip_files, predict_files, ready_replica
from sparkcast_papers.workloads._cnn_replica import NETWORKS

_CHECKED = 8  # images that are predicted once more, each on its own
_CLOSE = 1e-3  # relative: a convolution sums in another order when the batch has another size
_COLUMNS = "partition long, places array<int>, labels array<int>, scores array<float>, unreadable array<int>"


class InferenceJobs:
    """The Spark jobs of one run."""

    def __init__(self, session: Any, settings: Configuration, files: Sequence[str]) -> None:
        self._session, self._files = session, files
        self._partition_size = int(settings["partition_size"])
        slots = int(settings["cores"]) // int(settings["threads"])  # of an executor: each has a replica
        self._n_replicas = int(settings["executors"]) * slots
        network = NETWORKS[str(settings["network"])]
        self._network: dict[str, Any] = {
            "network": network.name,
            "module": network.module,
            "side": int(settings["image_size"]),
            "batch_size": int(settings["batch_size"]),
            "threads": int(settings["threads"]),
            "seed": int(settings["seed"]),
        }
        self._most_bytes = parse_bytes(str(settings["memory"])) // slots

    def load_replicas(self) -> None:
        """One in the Python process of each slot: tasks of a barrier stage all run at once."""
        slots = self._session.sparkContext.defaultParallelism // int(self._network["threads"])
        self._run([[]] * max(1, min(self._n_replicas, slots)), barrier=True)

    def predict(self) -> list[Any]:
        size = self._partition_size
        return self._run([self._files[start : start + size] for start in range(0, len(self._files), size)])

    def checked(self, rows: Sequence[Any]) -> int:
        """How many images are unreadable. Raises RunError unless each image was predicted once, and rightly."""
        found: dict[int, tuple[int, float]] = {}
        unreadable: list[int] = []
        for row in rows:
            first = row.partition * self._partition_size
            unreadable += [first + place for place in row.unreadable]
            found |= {first + p: (lab, s) for p, lab, s in zip(row.places, row.labels, row.scores, strict=True)}
        n_told = sum(len(row.places) + len(row.unreadable) for row in rows)
        if n_told != len(self._files) or {*found, *unreadable} != {*range(len(self._files))}:
            raise RunError(f"{n_told} results for {len(self._files)} images: some are missing or there twice")
        if not found:
            raise RunError(
                f"none of the {len(self._files)} images can be read, such as {self._files[0]}",
                hint="are they JPEG files?",
            )
        for place in sorted(unreadable):
            print(f"unreadable image: {self._files[place]}", file=sys.stderr)
        self._predict_again(found)
        return len(unreadable)

    def _predict_again(self, found: Mapping[int, tuple[int, float]]) -> None:
        """Some images once more, each alone, in whichever replica: it must see the same as in its batch."""
        places = sorted(found)[:: math.ceil(len(found) / _CHECKED)]
        for row in self._run([[self._files[place]] for place in places]):
            place = places[row.partition]
            alone = (row.labels[0], row.scores[0])
            if alone[0] != found[place][0] or not math.isclose(alone[1], found[place][1], rel_tol=_CLOSE):
                raise RunError(
                    f"{self._files[place]} was predicted as {found[place]} (class, logit), but alone as {alone}",
                    hint="the replicas of the network differ",
                )

    def _run(self, partitions: Sequence[Sequence[str]], *, barrier: bool = False) -> list[Any]:
        """A row for each partition of files."""
        context, n = self._session.sparkContext, len(partitions)
        task = _task(context.broadcast(partitions), self._network, self._most_bytes)
        numbers = self._session.range(0, n, 1, n)  # one in each partition
        rows: list[Any] = numbers.mapInArrow(task, _COLUMNS, barrier=barrier).collect()
        return rows


def _task(partitions: Any, network: Mapping[str, Any], most_bytes: int) -> Callable[[Iterable[Any]], Iterator[Any]]:
    def predict(batches: Iterable[Any]) -> Iterator[Any]:
        import pyarrow

        replica = ready_replica(network, most_bytes)
        side, batch_size = network["side"], network["batch_size"]
        for batch in batches:
            for number in batch.column(0).to_pylist():
                files = [Path(file) for file in partitions.value[number]]
                row = predict_files(replica, files, side=side, batch_size=batch_size)._asdict()
                yield pyarrow.RecordBatch.from_pylist([{"partition": number, **row}], schema=_schema(pyarrow))
        forget_zip_files()

    return predict


def _schema(pyarrow: Any) -> Any:
    integers, floats = pyarrow.list_(pyarrow.int32()), pyarrow.list_(pyarrow.float32())
    columns = {"places": integers, "labels": integers, "scores": floats, "unreadable": integers}
    return pyarrow.schema({"partition": pyarrow.int64(), **columns})
