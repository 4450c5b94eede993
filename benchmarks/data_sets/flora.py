"""Spark programs at two data sizes on ten clusters of Dataproc (Flora, Will et al. 2025)."""

from collections.abc import Iterator
from pathlib import Path

import pandas as pd

from data_sets._job import Job, job_of
from sparkcast.study import Configuration, Role, Setting

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


def per_second(cluster: Configuration) -> float:
    """Dollars, at Dataproc's prices of a core and of a GB of memory."""
    nodes = float(cluster["scaleout"])
    each = 0.04073 * float(cluster["cpu_cores_per_node"]) + 0.005458 * float(cluster["memory_gb_per_node"])
    return nodes * each / 3600
