"""Training a network on MNIST with parameter servers on EC2: time and accuracy (TrimTuner, Mendes et al. 2020)."""

from collections.abc import Iterator
from pathlib import Path

import pandas as pd

from data_sets._job import ACCURACY, Job, job_of
from sparkcast.study import Role, Setting

FOLDER = "trimtuner"
_SIZE = (Setting("training_set_size", role=Role.DATA_SIZE),)
_SETTINGS = (
    Setting("vm_flavor", role=Role.MACHINE_TYPE),
    Setting("n_workers", role=Role.MACHINES),
    Setting("n_ps"),
    Setting("synchronism"),
    Setting("batch_size", role=Role.BATCH),
    Setting("learning_rate"),
    *_SIZE,
)


def jobs(folder: Path) -> Iterator[Job]:
    runs = pd.read_csv(folder / "trimtuner_cnn.csv")
    yield job_of("trimtuner", "time", runs, _SETTINGS, work=_SIZE)
    yield job_of("trimtuner", "accuracy", runs, _SETTINGS, ACCURACY, work=_SIZE)
