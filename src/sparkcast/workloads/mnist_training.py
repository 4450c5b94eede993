"""Synchronous mini-batch training of a digit classifier on Spark executors: the papers' main workload."""

from collections.abc import Mapping
from pathlib import Path

from sparkcast.errors import StudyError
from sparkcast.workloads._mnist_data import Recipe, prepare, read_prepared, sample_size, training_size
from sparkcast.workloads.base import ACCURACY, THROUGHPUT, TIME, WORKLOADS, Configuration, Job, Response, Role, Setting


@WORKLOADS.register("mnist-training")
class MnistTraining:
    """Trains LeNet-5 or a shallow network on MNIST with BigDL or PyTorch."""

    settings: tuple[Setting, ...] = (
        Setting("batch_size", 128, "images per step, over the whole cluster", minimum=1, role=Role.BATCH),
        Setting("learning_rate", 0.2, "learning rate of SGD", minimum=0),
        Setting("epochs", 2, "passes over the training images", minimum=1, role=Role.EPOCHS),
        Setting("network", "lenet5", "deep (lenet5) or shallow (simplenet)", choices=("lenet5", "simplenet")),
        Setting(
            "sampling_rate",
            1.0,
            "fraction of the training images to use, above 0 and up to 1",
            minimum=0,
            role=Role.FRACTION,
        ),
        Setting("framework", "bigdl", "training framework", choices=("bigdl", "torch")),
        Setting(
            "dataset",
            "mnist-5k",
            "5,000 images of MNIST, scikit-learn's digits, or MNIST's own files in data_path (idx)",
            choices=("mnist-5k", "digits", "idx"),
        ),
        Setting("data_path", "", "folder with MNIST's four IDX files, for dataset: idx"),
        Setting("seed", 1, "random seed for initial weights and sampling", minimum=0),
    )
    responses: tuple[Response, ...] = (TIME, ACCURACY, THROUGHPUT, Response("loss"))
    chance: Mapping[str, float] = {"accuracy": 0.1}  # ten digits
    example: Mapping[str, object] = {
        "executors": [1, 2],
        "batch_size": [64, 128, 256],
        "sampling_rate": [0.25, 0.5],
        "epochs": 2,
        "network": "lenet5",
        "learning_rate": 0.2,
    }

    def check(self, settings: Configuration) -> None:
        batch_size, rate = int(settings["batch_size"]), float(settings["sampling_rate"])
        executors, cores = int(settings["executors"]), int(settings["cores"])
        if float(settings["learning_rate"]) <= 0:
            raise StudyError(
                f"learning_rate = {settings['learning_rate']} is not positive, so nothing is learned",
                hint="0.2 suits 2 epochs",
            )
        if int(settings["seed"]) >= 2**32:
            raise StudyError(f"seed = {settings['seed']} is too large", hint="use a number below 2**32")
        if not 0 < rate <= 1:
            raise StudyError(
                f"sampling_rate = {rate:g} is not between 0 and 1", hint="use a number above 0 and up to 1"
            )
        if batch_size % (executors * cores):
            raise StudyError(
                f"batch_size = {batch_size} cannot be divided equally among {executors} executors of {cores} cores",
                hint="add the rule: batch_size % (executors * cores) == 0",
            )
        n_images = sample_size(training_size(settings), rate)
        if batch_size > n_images:
            raise StudyError(
                f"batch_size = {batch_size} is more than the {n_images} training images of dataset "
                f"{settings['dataset']!r} at sampling_rate = {rate:g}",
                hint=f"use a batch_size up to {n_images}, or a higher sampling_rate",
            )

    def prepare(self, settings: Configuration, data_dir: Path) -> str:
        return prepare(settings, data_dir).fingerprint

    def spark_conf(self, settings: Configuration) -> Mapping[str, str]:
        conf = {
            # All processes work from the first step to the last: add none, replace none. A training that lost one is
            # no measurement, and Spark's retries would hide the first error under later ones.
            "spark.dynamicAllocation.enabled": "false",
            "spark.speculation": "false",
            "spark.task.maxFailures": "1",
            "spark.stage.maxConsecutiveAttempts": "1",
        }
        if settings["framework"] == "torch":
            return conf
        from sparkcast.workloads import _mnist_bigdl

        return conf | dict(_mnist_bigdl.spark_conf())

    def run(self, job: Job) -> None:
        settings = job.settings
        recipe = Recipe(
            network=str(settings["network"]),
            batch_size=int(settings["batch_size"]),
            learning_rate=float(settings["learning_rate"]),
            epochs=int(settings["epochs"]),
            processes=int(settings["executors"]) * int(settings["cores"]),
            seed=int(settings["seed"]),
        )
        dataset = read_prepared(settings, job.data_dir).sampled(float(settings["sampling_rate"]), recipe.seed)
        if settings["framework"] == "torch":
            from sparkcast.workloads._mnist_torch import train
        else:
            from sparkcast.workloads._mnist_bigdl import train
        train(job, dataset, recipe)
