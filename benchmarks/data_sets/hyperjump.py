"""A network on MNIST, on parts of the data: time and accuracy (HyperJump, Mendes et al. 2021)."""

from collections.abc import Iterator
from pathlib import Path

import pandas as pd

from data_sets._job import ACCURACY, Job, job_of
from sparkcast.study import Role, Setting

FOLDER = "hyperjump"
_WORK = (Setting("data_fraction", role=Role.FRACTION), Setting("epochs", role=Role.EPOCHS))
_SETTINGS = (
    *_WORK,
    Setting("learning_rate"),
    Setting("momentum"),
    Setting("batch_size", role=Role.BATCH),
    Setting("weight_decay"),
)


def jobs(folder: Path) -> Iterator[Job]:
    runs = pd.read_csv(folder / "hyperjump_mnist.csv")
    yield job_of("hyperjump", "time", runs, _SETTINGS, work=_WORK)
    yield job_of("hyperjump", "accuracy", runs.assign(accuracy=1 - runs["test_error"]), _SETTINGS, ACCURACY, work=_WORK)
