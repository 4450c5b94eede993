"""Spark programs on EMR, five repeats of each configuration (C3O, Will et al. 2021)."""

from collections.abc import Iterator
from pathlib import Path

import pandas as pd

from data_sets._job import Job, job_of
from sparkcast.study import Role, Setting

FOLDER = "c3o"
_MACHINES = (
    Setting("instance_count", role=Role.MACHINES),
    Setting("machine_type", role=Role.MACHINE_TYPE),
    Setting("slots_total", role=Role.TOTAL_CORES),
    Setting("memory_total_mb", unit="mb"),
)
_DATA = (Setting("data_size_mb", role=Role.DATA_SIZE, unit="mb"),)
_PARAMETERS = {
    "grep": (Setting("lines", role=Role.DATA_SIZE), Setting("p_occurrence")),
    "kmeans": (Setting("features"), Setting("observations", role=Role.DATA_SIZE), Setting("k")),
    "sgd": (
        Setting("features"),
        Setting("observations", role=Role.DATA_SIZE),
        Setting("iterations", role=Role.ITERATIONS),
    ),
}


def jobs(folder: Path) -> Iterator[Job]:
    for name, parameters in _PARAMETERS.items():
        runs = pd.read_csv(folder / f"{name}.csv").rename(columns={"gross_runtime_s": "time_s"})
        yield job_of("c3o", name, runs, (*_MACHINES, *_DATA, *parameters), work=(*_DATA, *parameters))
