"""How fast pictures are read, decoded and resized on Spark: single JPEG files against TFRecord files."""

import os
import socket
import time
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from sparkcast.errors import RunError, StudyError
from sparkcast.workloads.base import (
    THROUGHPUT,
    TIME,
    WORK,
    WORKLOADS,
    Configuration,
    Job,
    Kind,
    Response,
    Role,
    Setting,
)
from sparkcast_papers.workloads._image_job import (
    DATA_PATH,
    SEED,
    Corrupt,
    as_shards,
    count_images,
    image_size_setting,
    images_of,
    images_setting,
    require_batches,
    require_images,
    tell_skipped,
    wake,
)
from sparkcast_papers.workloads._images import ImageSet, decode_jpeg
from sparkcast_papers.workloads._shards import Skipped, read_manifest
from sparkcast_papers.workloads._tfrecord import decode_image_example, read_records, record_offsets

if TYPE_CHECKING:
    from sparkcast_papers.workloads._images import Pixels

# Plain values, because tasks exchange them.
Place = tuple[str, int, int]  # a file, the first byte and the number of records to read; a JPEG file is read whole
Batch = tuple[int, list[Place]]  # its number, and where its pictures lie
Decoded = tuple[int, list["Pixels"], Corrupt]
Read = tuple[int, str, int, int, float, Corrupt]  # number, executor, pictures, checksum, busy seconds


@WORKLOADS.register("image-read")
class ImageRead:
    """Reads, decodes and resizes images from JPEG or TFRecord files."""

    settings: tuple[Setting, ...] = (
        Setting("format", "jpeg", "one JPEG file per image, or TFRecord files", choices=("jpeg", "tfrecord")),
        Setting("batch_size", 16, "images that are read together, by one task", minimum=1, role=Role.BATCH),
        Setting("batches", 16, "number of batches to read", minimum=1, role=Role.ITERATIONS),
        Setting("repetitions", 3, "times that all is read; the first is the warm-up and does not count", minimum=2),
        Setting("partitions", 4, "number of tasks that share the batches", minimum=1),
        Setting(
            "cache",
            "false",
            "keep the decoded images in the memory of the executors after the first repetition",
            choices=("false", "true"),
        ),
        Setting("resize_to", 96, "pixels per side after resizing", minimum=1),
        images_setting(256, role=Role.OTHER),  # how much is read is up to the batches
        image_size_setting(192),
        DATA_PATH,
        SEED,
    )
    responses: tuple[Response, ...] = (
        TIME,
        WORK,
        THROUGHPUT,
        Response("first_throughput", kind=THROUGHPUT.kind, better="more", unit="records/s"),
        Response("imbalance"),
        Response("corrupt", kind=Kind.COUNT, unit="images"),
    )
    example: Mapping[str, object] = {
        "format": ["jpeg", "tfrecord"],
        "batch_size": [8, 32],
        "batches": [16, 32],
        "cache": ["false", "true"],
        "partitions": 4,
        "images": 1024,
        "executors": 2,
    }

    def check(self, settings: Configuration) -> None:
        batches, partitions = int(settings["batches"]), int(settings["partitions"])
        if partitions > batches:
            raise StudyError(
                f"batches = {batches} leaves some of the {partitions} partitions empty",
                hint="add the rule: partitions <= batches",
            )
        require_batches(int(settings["batch_size"]), batches, count_images(settings))

    def prepare(self, settings: Configuration, data_dir: Path) -> str:
        require_images("image-read")
        images = images_of(settings, data_dir)
        if settings["format"] == "tfrecord":
            as_shards(images, data_dir)
        return images.fingerprint

    def spark_conf(self, settings: Configuration) -> Mapping[str, str]:
        return {}

    def run(self, job: Job) -> None:
        settings = job.settings
        images = images_of(settings, job.data_dir)
        places = _records(as_shards(images, job.data_dir)) if settings["format"] == "tfrecord" else _files(images)
        batches = _batches(places, int(settings["batch_size"]), int(settings["batches"]))
        side, partitions = int(settings["resize_to"]), int(settings["partitions"])
        context = job.spark_context()
        wake(context, settings)
        decoded = context.parallelize(batches, partitions).map(lambda batch: _decode(batch, side))
        if settings["cache"] == "true":
            decoded.cache()
        job.started()
        start, times, reads = time.perf_counter(), [], []
        for number in range(1, int(settings["repetitions"]) + 1):
            begun = time.perf_counter()
            reads.append(decoded.mapPartitions(_sum_up).collect())
            times.append(time.perf_counter() - begun)
            job.epoch(number, time.perf_counter() - start, throughput=_count(reads[-1]) / times[-1])
        _check(reads, images, int(settings["batch_size"]), side)
        skipped = [Skipped(file, problem) for read in reads[0] for file, problem in read[5]]
        tell_skipped(job, skipped)
        time_s = sum(times[1:]) / len(times[1:])
        job.result(
            work_s=time_s,
            throughput=_count(reads[0]) / time_s,
            first_throughput=_count(reads[0]) / times[0],
            imbalance=_imbalance([read for repetition in reads[1:] for read in repetition], int(settings["executors"])),
            corrupt=len(skipped),
        )


def _files(images: ImageSet) -> list[Place]:
    return [(str(path), 0, 1) for path in images.paths()]


def _records(folder: Path) -> list[Place]:
    names = [shard.name for shard in read_manifest(folder).shards]
    return [(str(folder / name), start, 1) for name in names for start in record_offsets(folder / name)]


def _batches(places: Sequence[Place], batch_size: int, n_batches: int) -> list[Batch]:
    """Pictures that follow each other in one file are read in one go."""
    batches = []
    for number in range(n_batches):
        joined: list[Place] = []
        for path, start, count in places[number * batch_size : (number + 1) * batch_size]:
            if joined and joined[-1][0] == path:
                joined[-1] = (path, joined[-1][1], joined[-1][2] + count)
            else:
                joined.append((path, start, count))
        batches.append((number, joined))
    return batches


def _decode(batch: Batch, side: int) -> Decoded:
    number, places = batch
    pixels, corrupt = [], []
    for file, content in _contents(places):
        try:
            pixels.append(decode_jpeg(content, side))
        except OSError as error:
            corrupt.append((file, str(error)))
    return number, pixels, corrupt


def _contents(places: Sequence[Place]) -> Iterator[tuple[str, bytes]]:
    """The encoded pictures with the files they come from."""
    for name, start, count in places:
        path = Path(name)
        if path.suffix == ".tfrecord":
            for record in read_records(path, start=start, count=count):
                image, _, file = decode_image_example(record)
                yield file, image
        else:
            yield name, path.read_bytes()


def _sum_up(batches: Iterator[Decoded]) -> Iterator[Read]:
    """What the driver needs to know of each batch. Getting a batch, wherever from, is part of its time."""
    begun = time.perf_counter()
    for number, pixels, corrupt in batches:
        checksum = _checksum(pixels)
        now = time.perf_counter()
        yield number, _executor(), len(pixels), checksum, now - begun, corrupt
        begun = time.perf_counter()


def _checksum(pixels: Sequence["Pixels"]) -> int:
    import google_crc32c

    return sum(google_crc32c.value(picture.tobytes()) for picture in pixels)


def _executor() -> str:
    """All Python workers of an executor are children of one process."""
    return f"{socket.gethostname()} {os.getppid()}"


def _count(reads: Sequence[Read]) -> int:
    return sum(read[2] for read in reads)


def _check(repetitions: Sequence[Sequence[Read]], images: ImageSet, batch_size: int, side: int) -> None:
    """Every repetition saw the same pixels, and those of the first batch are what its JPEG files hold."""
    expected = {(number, count, checksum) for number, _, count, checksum, _, _ in repetitions[0]}
    for reads in repetitions[1:]:
        if {(number, count, checksum) for number, _, count, checksum, _, _ in reads} != expected:
            raise RunError("two repetitions read different images", hint="did somebody change the files meanwhile?")
    if not _count(repetitions[0]):
        raise RunError(
            f"none of the images could be decoded, the first because: {repetitions[0][0][5][0][1]}",
            hint="data_path needs JPEG files",
        )
    _, pixels, _ = _decode((0, _files(images)[:batch_size]), side)
    if (0, len(pixels), _checksum(pixels)) not in expected:
        raise RunError("the images that were read are not those of the JPEG files", hint="remove the data folder")


def _imbalance(reads: Sequence[Read], executors: int) -> float:
    """How much longer the busiest executor worked than the average one: 1 is even, `executors` is one alone."""
    busy_s: dict[str, float] = {}
    for _, executor, _, _, seconds, _ in reads:
        busy_s[executor] = busy_s.get(executor, 0.0) + seconds
    return max(busy_s.values()) * executors / sum(busy_s.values())
