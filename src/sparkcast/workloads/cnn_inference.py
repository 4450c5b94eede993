"""Inference with a convolutional network: each partition of images goes through a replica of it (myung2020)."""

import math
import random
import sys
import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from sparkcast.errors import RunError, StudyError
from sparkcast.units import parse_bytes
from sparkcast.workloads._cnn_partition import predict_files, ready_replica
from sparkcast.workloads._cnn_replica import NETWORKS
from sparkcast.workloads._images import ImageSet, generate_images, images_under
from sparkcast.workloads.base import TIME, WORKLOADS, Configuration, Job, Kind, Response, Role, Setting
from sparkcast.workloads.extras import require_extra

_LEAST_MEMORY = 450 * 2**20  # Spark starts no executor with a smaller heap
_CHECKED = 8  # images that are predicted once more, each on its own
_CLOSE = 1e-3  # relative: a convolution sums in another order when the batch has another size
_COLUMNS = "partition long, places array<int>, labels array<int>, scores array<float>, unreadable array<int>"


@WORKLOADS.register("cnn-inference")
class CnnInference:
    """Classifies images with ResNet50, Xception, Inception-v3 or MobileNetV2, a replica of the network per core."""

    settings: tuple[Setting, ...] = (
        Setting("network", "mobilenet-v2", "network of keras.applications", choices=tuple(NETWORKS)),
        Setting("images", 200, "images to generate", minimum=1, role=Role.DATA_SIZE, unit="images"),
        Setting(
            "sampling_rate", 1.0, "fraction of the images to predict, above 0 and up to 1", minimum=0, role=Role.FRACTION
        ),
        Setting("partition_size", 20, "images per partition: a task reads and decodes them all at once", minimum=1),
        Setting("batch_size", 8, "images that go through the network at once", minimum=1, role=Role.BATCH),
        Setting("threads", 1, "threads per replica, from the cores of the executor", minimum=1),
        Setting("image_size", 224, "side in pixels of what the network takes", minimum=1),
        Setting("photo_size", 320, "side in pixels of generated images", minimum=1),
        Setting("data_path", "", "folder with JPEG files to use instead of generated images"),
        Setting("seed", 1, "random seed for weights, generated images and sampling", minimum=0),
    )
    responses: tuple[Response, ...] = (
        TIME,
        Response("throughput", kind=Kind.COUNT, better="more", unit="images/s"),
        Response("unreadable", kind=Kind.COUNT, unit="images"),
    )
    example: Mapping[str, object] = {
        "executors": [1, 2],
        "cores": 1,
        "memory": "2g",
        "partition_size": [20, 100],
        "sampling_rate": [0.1, 1.0],
        "network": "mobilenet-v2",
        "images": 400,
    }

    def check(self, settings: Configuration) -> None:
        network, side = str(settings["network"]), int(settings["image_size"])
        rate, partition_size = float(settings["sampling_rate"]), int(settings["partition_size"])
        batch_size, cores, threads = (int(settings[name]) for name in ("batch_size", "cores", "threads"))
        smallest = NETWORKS[network].smallest
        if side < smallest:
            raise StudyError(
                f"image_size = {side} is too small for {network}", hint=f"{network} takes images from {smallest} pixels"
            )
        if not 0 < rate <= 1:
            raise StudyError(
                f"sampling_rate = {rate:g} is not between 0 and 1", hint="use a number above 0 and up to 1"
            )
        if batch_size > partition_size:
            raise StudyError(
                f"batch_size = {batch_size} is more than partition_size = {partition_size}, so no batch is ever full",
                hint="add the rule: batch_size <= partition_size",
            )
        if cores % threads:
            raise StudyError(
                f"{cores} cores per executor cannot be divided into replicas of {threads} threads",
                hint="add the rule: cores % threads == 0",
            )
        if parse_bytes(str(settings["memory"])) < _LEAST_MEMORY:
            raise StudyError(
                f"memory = {settings['memory']} is too small: Spark starts no executor with less than 450m",
                hint="use 512m or more",
            )
        if int(settings["seed"]) >= 2**32:
            raise StudyError(f"seed = {settings['seed']} is too large", hint="use a number below 2**32")

    def prepare(self, settings: Configuration, data_dir: Path) -> str:
        require_extra("cnn", ("keras", "tensorflow", "PIL", "pyarrow"), needed_by="workload 'cnn-inference'")
        return _images(settings, data_dir).fingerprint

    def spark_conf(self, settings: Configuration) -> Mapping[str, str]:
        memory = str(settings["memory"])
        return {
            # The heap has its full size from the start, as in the paper: a heap that grows collects garbage each time.
            "spark.executor.extraJavaOptions": f"-Xms{memory}",
            # Where containers are granted (YARN, Kubernetes): as much again, for the Python processes.
            "spark.executor.memoryOverhead": memory,
            "spark.task.cpus": str(settings["threads"]),
            # Arrow's own allocator reserves a gigabyte that it never uses, out of what the process may have.
            "spark.executorEnv.ARROW_DEFAULT_MEMORY_POOL": "system",
            "spark.python.worker.reuse": "true",  # a replica is loaded once per process
            # A run that lost an executor or tried a task again is no measurement.
            "spark.dynamicAllocation.enabled": "false",
            "spark.speculation": "false",
            "spark.task.maxFailures": "1",
            "spark.stage.maxConsecutiveAttempts": "1",
        }

    def run(self, job: Job) -> None:
        from pyspark.sql import SparkSession

        settings = job.settings
        files = _sampled(_images(settings, job.data_dir), float(settings["sampling_rate"]), int(settings["seed"]))
        session = SparkSession(job.spark_context())
        work = _Work(session, settings, files)
        work.load_replicas()
        job.started()
        start = time.perf_counter()
        rows = work.predict()
        time_s = time.perf_counter() - start
        n_unreadable = work.checked(rows)
        if n_unreadable:
            job.note(f"{n_unreadable} of {len(files)} images are unreadable and were skipped")
        job.result(time_s=time_s, throughput=(len(files) - n_unreadable) / time_s, unreadable=n_unreadable)


def _images(settings: Configuration, data_dir: Path) -> ImageSet:
    if path := str(settings["data_path"]):
        return images_under(Path(path).expanduser().resolve())
    count, side, seed = (int(settings[name]) for name in ("images", "photo_size", "seed"))
    return generate_images(data_dir, count=count, side=side, seed=seed)


def _sampled(images: ImageSet, rate: float, seed: int) -> list[str]:
    """This share of the files, the same ones each time; never none."""
    paths = [str(path.resolve()) for path in images.paths()]
    n = max(1, round(rate * len(paths)))
    return sorted(random.Random(seed).sample(paths, n)) if n < len(paths) else paths


class _Work:
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

    return predict


def _schema(pyarrow: Any) -> Any:
    integers, floats = pyarrow.list_(pyarrow.int32()), pyarrow.list_(pyarrow.float32())
    columns = {"places": integers, "labels": integers, "scores": floats, "unreadable": integers}
    return pyarrow.schema({"partition": pyarrow.int64(), **columns})
