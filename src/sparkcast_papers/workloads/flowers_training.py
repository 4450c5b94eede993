"""Training of MobileNetV2 on pictures of five classes, under TensorFlow's distribution strategies."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path

from sparkcast.errors import StudyError
from sparkcast.workloads.base import (
    ACCURACY,
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
    require_extra,
)
from sparkcast_papers.workloads._image_job import (
    CLASSES,
    DATA_PATH,
    as_shards,
    images_of,
    images_setting,
    require_images,
)
from sparkcast_papers.workloads._images import images_in
from sparkcast_papers.workloads._one_attempt import ONE_ATTEMPT
from sparkcast_papers.workloads._shards import read_manifest

ONE_DEVICE, MIRRORED, MULTI_WORKER = "one-device", "mirrored", "multi-worker-mirrored"
_HELD_OUT_OF = 5  # every fifth picture of a class is for validation


@WORKLOADS.register("flowers-training")
class FlowersTraining:
    """Trains MobileNetV2 with TensorFlow on one device, several, or several executors."""

    settings: tuple[Setting, ...] = (
        Setting(
            "strategy",
            ONE_DEVICE,
            "one replica of the network, one per core of an executor, or one per executor",
            choices=(ONE_DEVICE, MIRRORED, MULTI_WORKER),
        ),
        Setting("batch_size", 16, "images per step, over all replicas", minimum=1, role=Role.BATCH),
        Setting("learning_rate", 0.003, "learning rate of Adam", minimum=0),
        Setting("epochs", 5, "passes over the training images", minimum=1, role=Role.EPOCHS),
        images_setting(200),
        Setting("image_size", 32, "pixels per side of the images that the network sees", minimum=32),
        Setting("alpha", 0.35, "width of the network; 1 is MobileNetV2 as published", minimum=0.05),
        DATA_PATH,
        Setting("seed", 1, "random seed for generated pictures, initial weights and their order", minimum=0),
    )
    responses: tuple[Response, ...] = (
        TIME,
        WORK,
        ACCURACY,
        THROUGHPUT,
        Response("loss"),
        Response("validation_loss"),
        Response("training_accuracy", kind=Kind.SHARE, unit="share correct"),
    )
    chance: Mapping[str, float] = {"accuracy": 0.2}  # five classes
    example: Mapping[str, object] = {
        "strategy": [ONE_DEVICE, MIRRORED],
        "batch_size": [16, 32],
        "epochs": 5,
        "images": 400,
        "image_size": 32,
        "cores": 2,
        "memory": "2g",
    }

    def check(self, settings: Configuration) -> None:
        executors, batch_size = int(settings["executors"]), int(settings["batch_size"])
        strategy, n_replicas = str(settings["strategy"]), replicas(settings)
        if float(settings["learning_rate"]) <= 0:
            raise StudyError(
                f"learning_rate = {settings['learning_rate']} is not positive, so nothing is learned",
                hint="0.003 suits a few epochs",
            )
        if (strategy == MULTI_WORKER) != (executors > 1):
            raise StudyError(
                f"strategy {strategy!r} does not work with executors = {executors}: {MULTI_WORKER} takes two or more, "
                "the others take one",
                hint=f"add the rule: (strategy == '{MULTI_WORKER}') == (executors > 1)",
            )
        if batch_size % n_replicas:
            raise StudyError(
                f"batch_size = {batch_size} cannot be divided equally among {n_replicas} replicas",
                hint="add the rule: batch_size % (executors * cores) == 0",
            )
        share, held_out = (len(files) // executors for files in _split(_files(settings)))
        if held_out < n_replicas:
            raise StudyError(
                f"{held_out} images for validation are too few for {n_replicas} replicas", hint="use more images"
            )
        if batch_size > share:
            raise StudyError(
                f"batch_size = {batch_size} is more than the {share} training images of an executor",
                hint=f"use a batch_size up to {share}, or more images",
            )

    def prepare(self, settings: Configuration, data_dir: Path) -> str:
        require_extra("tensorflow", ("tensorflow", "keras"), needed_by="workload 'flowers-training'")
        require_images("flowers-training")
        images = images_of(settings, data_dir)
        manifests = [read_manifest(folder) for folder in _shards(settings, data_dir)]
        n_skipped = sum(len(manifest.skipped) for manifest in manifests)
        if not all(manifest.records for manifest in manifests):
            raise StudyError(
                f"none of the {len(images)} images could be decoded, the first because: "
                f"{manifests[0].skipped[0].problem}",
                hint="data_path needs JPEG files",
            )
        return images.fingerprint + (f", {n_skipped} of them left out as corrupt" if n_skipped else "")

    def spark_conf(self, settings: Configuration) -> Mapping[str, str]:
        return {
            # One task, and so one process of TensorFlow, per executor; it has all of its cores.
            "spark.task.cpus": str(settings["cores"]),
            **ONE_ATTEMPT,
        }

    def run(self, job: Job) -> None:
        from sparkcast_papers.workloads._flowers_keras import train

        settings = job.settings
        training, held_out = _shards(settings, job.data_dir)
        train(
            job,
            {
                "strategy": str(settings["strategy"]),
                "workers": int(settings["executors"]),
                "cores": int(settings["cores"]),
                "replicas": replicas(settings),
                "batch_size": int(settings["batch_size"]),
                "learning_rate": float(settings["learning_rate"]),
                "epochs": int(settings["epochs"]),
                "side": int(settings["image_size"]),
                "alpha": float(settings["alpha"]),
                "seed": int(settings["seed"]),
                "classes": len(images_of(settings, job.data_dir).classes),
                "training": _data(training),
                "held_out": _data(held_out),
            },
        )


def replicas(settings: Configuration) -> int:
    return int(settings["executors"]) * (int(settings["cores"]) if settings["strategy"] == MIRRORED else 1)


def _files(settings: Configuration) -> Sequence[str]:
    """The names of the pictures, with their classes; generated ones need not be there yet."""
    if folder := str(settings["data_path"]):
        return images_in(Path(folder)).files
    return [f"{index % CLASSES}/{index}" for index in range(int(settings["images"]))]


def _split(files: Sequence[str]) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """For training and for validation, from each class in proportion."""
    by_class: dict[str, list[str]] = {}
    for file in files:
        by_class.setdefault(str(Path(file).parent), []).append(file)
    held_out = {file for members in by_class.values() for file in members[_HELD_OUT_OF - 1 :: _HELD_OUT_OF]}
    if len(by_class) < 2 or not held_out:
        raise StudyError(
            f"{len(files)} images of {len(by_class)} classes are too few to train and to validate",
            hint=f"use two classes or more with at least {_HELD_OUT_OF} images",
        )
    return tuple(file for file in files if file not in held_out), tuple(file for file in files if file in held_out)


def _shards(settings: Configuration, data_dir: Path) -> list[Path]:
    """The TFRecord folders for training and validation, made where they are missing."""
    images = images_of(settings, data_dir)
    parts = zip(("training", "validation"), _split(images.files), strict=True)
    sets = [replace(images, files=files, fingerprint=f"{images.fingerprint} {name}") for name, files in parts]
    return [as_shards(part, data_dir, side=int(settings["image_size"])) for part in sets]


def _data(folder: Path) -> tuple[list[str], int]:
    """The files of a data set and how many records they have."""
    manifest = read_manifest(folder)
    return [str((folder / shard.name).resolve()) for shard in manifest.shards], manifest.records
