"""HiBench programs with 30 Spark properties varied at random (Tuneful, Fekry et al. 2020)."""

from collections.abc import Iterator
from pathlib import Path

import pandas as pd

from data_sets._job import Job, job_of
from sparkcast.study import Role, Setting

FOLDER = "tuneful"
_ROLES = {
    "spark.executor.cores": Role.CORES,
    "spark.executor.instances": Role.MACHINES,
    "spark.executor.memory": Role.MEMORY,
}


def jobs(folder: Path) -> Iterator[Job]:
    """One job for each program and data size."""
    for path in sorted(folder.glob("*.csv")):
        runs = pd.read_csv(path)
        properties = [name for name in runs.columns if "." in name]
        settings = tuple(Setting(name, role=_ROLES.get(name, Role.OTHER)) for name in properties)
        for size, of_size in runs.groupby("input_size"):
            yield job_of("tuneful", f"{path.stem.removeprefix('tuneful_')} {size}", of_size, settings)
