"""Pictures into TFRecord files on Spark: read, resized, and written as one shard per partition."""

import os
import secrets
import tempfile
import time
from collections.abc import Iterator, Mapping
from dataclasses import astuple
from errno import ENOSPC
from pathlib import Path
from typing import Any

from sparkcast.errors import RunError, StudyError
from sparkcast.workloads.base import THROUGHPUT, TIME, WORK, WORKLOADS, Configuration, Job, Kind, Response, Setting
from sparkcast_papers.workloads._image_job import (
    DATA_PATH,
    SEED,
    Corrupt,
    Picture,
    count_images,
    image_size_setting,
    images_of,
    images_setting,
    pictures_of,
    require_images,
    resized,
    tell_skipped,
    wake,
)
from sparkcast_papers.workloads._shards import (
    Draft,
    Skipped,
    check_shard,
    commit,
    discard,
    new_folder,
    read_manifest,
    write_draft,
)


@WORKLOADS.register("tfrecord-write")
class TFRecordWrite:
    """Resizes images and writes them to TFRecord shards with a manifest."""

    settings: tuple[Setting, ...] = (
        Setting("partitions", 4, "number of tasks, each of which writes one shard", minimum=1),
        Setting("resize_to", 96, "pixels per side after resizing", minimum=1),
        images_setting(256),
        image_size_setting(192),
        DATA_PATH,
        Setting("output_path", "", "folder that gets one folder per run; empty: the shards are removed once checked"),
        SEED,
    )
    responses: tuple[Response, ...] = (
        TIME,
        WORK,
        THROUGHPUT,
        Response("bytes_written", kind=Kind.COUNT, unit="bytes"),
        Response("corrupt", kind=Kind.COUNT, unit="images"),
    )
    example: Mapping[str, object] = {
        "executors": [1, 2],
        "partitions": [2, 8],
        "images": [512, 1024],
        "image_size": 192,
        "resize_to": 96,
    }

    def check(self, settings: Configuration) -> None:
        n_images, partitions = count_images(settings), int(settings["partitions"])
        if partitions > n_images:
            raise StudyError(
                f"{n_images} images leave some of the {partitions} partitions empty",
                hint=f"use at most {n_images} partitions, or more images",
            )

    def prepare(self, settings: Configuration, data_dir: Path) -> str:
        require_images("tfrecord-write")
        if output := str(settings["output_path"]):
            _require_writable(Path(output))
        return images_of(settings, data_dir).fingerprint

    def spark_conf(self, settings: Configuration) -> Mapping[str, str]:
        return {}

    def run(self, job: Job) -> None:
        settings = job.settings
        images = images_of(settings, job.data_dir)
        side, partitions = int(settings["resize_to"]), int(settings["partitions"])
        output = str(settings["output_path"])
        name = f"written-{time.strftime('%Y%m%d-%H%M%S')}-{secrets.token_hex(3)}"
        folder = Path(output or job.data_dir).resolve() / name
        context = job.spark_context()
        wake(context, settings)
        is_kept = False
        try:
            new_folder(folder)
            job.started()
            start = time.perf_counter()
            tasks = context.parallelize(pictures_of(images), partitions)
            written = tasks.mapPartitions(lambda share: [_write(str(folder), share, side)]).collect()
            skipped = [Skipped(*corrupt) for _, corrupts in written for corrupt in corrupts]
            manifest = commit(folder, [draft for draft, _ in written], skipped)
            time_s = time.perf_counter() - start
            tell_skipped(job, skipped)
            _check(context, folder, len(images))
            is_kept = bool(output)
        except Exception as error:
            if (full := os.strerror(ENOSPC)) not in str(error):
                raise
            raise RunError(
                f"{folder.parent}: {full}; nothing of this run was kept",
                hint="free some space, or set output_path to a folder on another disk",
            ) from error
        finally:
            if not is_kept:
                discard(folder)
        job.result(
            work_s=time_s,
            throughput=manifest.records / time_s,
            bytes_written=manifest.bytes,
            corrupt=len(skipped),
        )


def _write(folder: str, pictures: Iterator[Picture], side: int) -> tuple[Draft, Corrupt]:
    """One shard, and what was left out of it."""
    corrupt: Corrupt = []
    return write_draft(Path(folder), resized(pictures, side, corrupt)), corrupt


def _check(context: Any, folder: Path, n_images: int) -> None:
    """Read back what was written: each shard is what the manifest says, and no image is missing or twice there."""
    manifest = read_manifest(folder)
    shards, where = [astuple(shard) for shard in manifest.shards], str(folder)
    context.parallelize(shards, len(shards)).foreach(lambda shard: check_shard(Path(where), shard))
    if manifest.records + len(manifest.skipped) != n_images:
        raise RunError(
            f"{manifest.records} records and {len(manifest.skipped)} skipped files are not {n_images} images"
        )
    if not manifest.records:
        raise RunError(
            f"none of the images could be decoded, the first because: {manifest.skipped[0].problem}",
            hint="data_path needs JPEG files",
        )


def _require_writable(folder: Path) -> None:
    try:
        folder.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryFile(dir=folder):
            pass
    except OSError as error:
        raise StudyError(
            f"output_path = {folder} cannot be written to: {error.strerror}", hint="use a folder that you may write to"
        ) from error
