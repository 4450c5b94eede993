"""Spark and Flink programs at 4 to 60 nodes, seven runs each (Bell, Thamsen et al. 2016)."""

from collections.abc import Iterator
from pathlib import Path

import pandas as pd

from data_sets._job import Job, job_of
from sparkcast.study import Role, Setting

FOLDER = "bell"


def jobs(folder: Path) -> Iterator[Job]:
    for path in sorted(folder.glob("*.csv")):
        yield job_of("bell", path.stem, pd.read_csv(path), (Setting("nodes", role=Role.MACHINES),))
