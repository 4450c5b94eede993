"""Training a network on MNIST until 85 % or 10 minutes: time and accuracy (Lynceus, Casimiro et al. 2020)."""

from collections.abc import Iterator
from pathlib import Path

import pandas as pd

from data_sets._job import ACCURACY, Job, job_of
from sparkcast.study import Role, Setting

FOLDER = "lynceus"
_SETTINGS = (
    Setting("vm_flavor", role=Role.MACHINE_TYPE),
    Setting("n_workers", role=Role.MACHINES),
    Setting("n_ps"),
    Setting("synchronism"),
    Setting("batch_size", role=Role.BATCH),
    Setting("learning_rate"),
)


def jobs(folder: Path) -> Iterator[Job]:
    runs = pd.read_csv(folder / "lynceus_multilayer.csv")
    yield job_of("lynceus", "time", runs, _SETTINGS)
    yield job_of("lynceus", "accuracy", runs, _SETTINGS, ACCURACY)
