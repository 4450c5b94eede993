"""Programs of spark-bench with 15 Spark properties varied at random (LITE, Lin et al. 2022)."""

from collections.abc import Iterator
from pathlib import Path

import pandas as pd

from data_sets._job import Job, job_of
from sparkcast.study import Role, Setting

FOLDER = "lite"
_ROLES = {
    "spark.executor.cores": Role.CORES,
    "spark.executor.instances": Role.MACHINES,
    "spark.executor.memory": Role.MEMORY,
}


def jobs(folder: Path) -> Iterator[Job]:
    runs = pd.read_csv(folder / "lite_sparkbench.csv")
    properties = [name for name in runs.columns if name.startswith("spark.")]
    settings = tuple(Setting(name, role=_ROLES.get(name, Role.OTHER)) for name in properties)
    for name, of_program in runs.groupby("AppName"):
        yield job_of("lite", str(name), of_program, settings)
