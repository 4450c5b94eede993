"""Spark programs at two data sizes on ten clusters of Dataproc (Flora, Will et al. 2025)."""

from collections.abc import Iterator
from pathlib import Path

import pandas as pd

from data_sets._job import Job, job_of
from sparkcast.study import Role, Setting

FOLDER = "flora"
_SIZE = (Setting("dataset_size_bytes", role=Role.DATA_SIZE),)
_SETTINGS = (
    *_SIZE,
    Setting("cpu_cores_per_node", role=Role.CORES),
    Setting("memory_gb_per_node", role=Role.MEMORY, unit="gib"),
    Setting("scaleout", role=Role.MACHINES),
)


def jobs(folder: Path) -> Iterator[Job]:
    for name, runs in pd.read_csv(folder / "dataproc_nodes.csv").groupby("algorithm"):
        yield job_of("flora", str(name), runs, _SETTINGS, work=_SIZE)
