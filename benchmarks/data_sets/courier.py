"""Training with BigDL, several jobs at once (Courier, 2021)."""

from collections.abc import Iterator
from pathlib import Path

import pandas as pd

from data_sets._job import Job, job_of
from sparkcast.study import Role, Setting

FOLDER = "courier2021"
_NETWORK = (Setting("network"),)
_SETTINGS = (
    Setting("cpu", role=Role.TOTAL_CORES),
    Setting("batch", role=Role.BATCH),
    Setting("njobs", role=Role.JOBS),
    *_NETWORK,
)


def jobs(folder: Path) -> Iterator[Job]:
    """Without the rows whose time was left over from the run before them."""
    runs = pd.read_csv(folder / "fullfact_rep1.csv")
    yield job_of("courier", "training", runs[~runs["time_equals_previous_row"].astype(bool)], _SETTINGS, work=_NETWORK)
