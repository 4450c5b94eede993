"""Synchronous mini-batch training of a digit classifier on Spark executors: the papers' main workload."""

from collections.abc import Mapping
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
)
from sparkcast_papers.workloads._mnist_data import prepare, read_prepared, sample_size, training_size
from sparkcast_papers.workloads._mnist_recipe import NETWORKS, OPTIMIZERS, SCHEDULED, SCHEDULES, Recipe
from sparkcast_papers.workloads._one_attempt import ONE_ATTEMPT


@WORKLOADS.register("mnist-training")
class MnistTraining:
    """Trains LeNet-5, a shallow or a recurrent network on MNIST with BigDL or PyTorch."""

    settings: tuple[Setting, ...] = (
        Setting("batch_size", 128, "images per step, over the whole cluster", minimum=1, role=Role.BATCH),
        Setting("learning_rate", 0.2, "learning rate; 0.2 suits sgd, 0.001 to 0.01 the others", minimum=0),
        Setting("epochs", 2, "passes over the training images", minimum=1, role=Role.EPOCHS),
        Setting("network", "lenet5", "deep (lenet5), shallow (simplenet) or recurrent (bi-rnn)", choices=NETWORKS),
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
        Setting("optimizer", "sgd", "how weights are updated", choices=OPTIMIZERS, is_later=True),
        Setting("momentum", 0.0, "momentum of sgd and nesterov, below 1", minimum=0, is_later=True),
        Setting("schedule", "constant", "how the learning rate decays", choices=SCHEDULES, is_later=True),
        Setting(
            "schedule_on",
            "learning_rate",
            "what the schedule changes: batch_size is raised by as much as the learning rate would decay",
            choices=SCHEDULED,
            is_later=True,
        ),
        Setting("decay", 0.5, "factor of one decay, for schedule: step and exponential", minimum=0, is_later=True),
        Setting("decay_epochs", 1, "epochs from one decay to the next", minimum=1, is_later=True),
        Setting("warmup_epochs", 0, "first epochs, in which the learning rate rises", minimum=0, is_later=True),
        Setting("patience", 0, "stop so many epochs after the most accurate one; 0: never", minimum=0, is_later=True),
        Setting("target_accuracy", 0.0, "stop at this held-out accuracy; 0: never", minimum=0, is_later=True),
    )
    responses: tuple[Response, ...] = (
        TIME,
        WORK,
        ACCURACY,
        THROUGHPUT,
        Response("loss"),
        Response("epochs_trained", kind=Kind.COUNT),
    )
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
        rate = float(settings["sampling_rate"])
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
        batch_size = max(stage.batch_size for stage in Recipe.of(settings).stages)
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
        if settings["framework"] == "torch":
            return ONE_ATTEMPT
        from sparkcast_papers.workloads import _mnist_bigdl

        return ONE_ATTEMPT | dict(_mnist_bigdl.spark_conf())

    def run(self, job: Job) -> None:
        settings = job.settings
        recipe = Recipe.of(settings)
        dataset = read_prepared(settings, job.data_dir).sampled(float(settings["sampling_rate"]), recipe.seed)
        if settings["framework"] == "torch":
            from sparkcast_papers.workloads._mnist_torch import train
        else:
            from sparkcast_papers.workloads._mnist_bigdl import train
        train(job, dataset, recipe)
