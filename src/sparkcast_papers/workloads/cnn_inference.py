"""Inference with a convolutional network: each partition of images goes through a replica of it (myung2020)."""

import random
import time
from collections.abc import Mapping
from pathlib import Path

from sparkcast.errors import StudyError
from sparkcast.units import parse_bytes
from sparkcast.workloads.base import (
    TIME,
    WORK,
    WORKLOADS,
    Configuration,
    Job,
    Kind,
    Response,
    Role,
    Setting,
    require_extra,
)
from sparkcast_papers.workloads._cnn_jobs import InferenceJobs
from sparkcast_papers.workloads._cnn_replica import NETWORKS
from sparkcast_papers.workloads._images import ImageSet, generate_images, images_under
from sparkcast_papers.workloads._one_attempt import ONE_ATTEMPT

_LEAST_MEMORY = 450 * 2**20  # Spark starts no executor with a smaller heap


@WORKLOADS.register("cnn-inference")
class CnnInference:
    """Classifies images with ResNet50, Xception, Inception-v3 or MobileNetV2, a replica of the network per core."""

    settings: tuple[Setting, ...] = (
        Setting("network", "mobilenet-v2", "network of keras.applications", choices=tuple(NETWORKS)),
        Setting("images", 200, "images to generate", minimum=1, role=Role.DATA_SIZE, unit="images"),
        Setting(
            "sampling_rate",
            1.0,
            "fraction of the images to predict, above 0 and up to 1",
            minimum=0,
            role=Role.FRACTION,
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
        WORK,
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
            **ONE_ATTEMPT,
        }

    def run(self, job: Job) -> None:
        from pyspark.sql import SparkSession

        settings = job.settings
        files = _sampled(_images(settings, job.data_dir), float(settings["sampling_rate"]), int(settings["seed"]))
        session = SparkSession(job.spark_context())
        jobs = InferenceJobs(session, settings, files)
        jobs.load_replicas()
        job.started()
        start = time.perf_counter()
        rows = jobs.predict()
        time_s = time.perf_counter() - start
        n_unreadable = jobs.checked(rows)
        if n_unreadable:
            job.note(f"{n_unreadable} of {len(files)} images are unreadable and were skipped")
        job.result(work_s=time_s, throughput=(len(files) - n_unreadable) / time_s, unreadable=n_unreadable)


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
