"""Spark and Hadoop workloads on 69 clusters of AWS (Scout, Hsu et al. 2018)."""

from collections.abc import Iterator
from pathlib import Path

import pandas as pd

from data_sets._job import Job, job_of
from sparkcast.study import Role, Setting

FOLDER = "scout"
_SETTINGS = (
    Setting("nodes", role=Role.MACHINES),
    Setting("vcpu_per_vm", role=Role.CORES),
    Setting("mem_gib_per_vm", role=Role.MEMORY, unit="gib"),
)


def jobs(folder: Path) -> Iterator[Job]:
    """What a run took that did not complete is no run time."""
    runs = pd.read_csv(folder / "multiple_nodes.csv").rename(columns={"elapsed_s": "time_s"})
    runs = runs[runs["completed"] == 1]
    for key, of_workload in runs.groupby(["workload", "framework", "datasize"]):
        yield job_of("scout", " ".join(map(str, key)), of_workload, _SETTINGS)
