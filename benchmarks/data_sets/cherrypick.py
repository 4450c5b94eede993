"""Two of CherryPick's own jobs on EC2 (Alipourfard et al. 2017)."""

from collections.abc import Iterator
from pathlib import Path

import pandas as pd

from data_sets._job import Job, job_of
from sparkcast.study import Role, Setting

FOLDER = "cherrypick"
_SETTINGS = (
    Setting("vm_name", role=Role.MACHINE_TYPE),
    Setting("num_machines", role=Role.MACHINES),
    Setting("cpu_count", role=Role.CORES),
    Setting("ram", role=Role.MEMORY, unit="gib"),
    Setting("vm_speed"),
    Setting("disk_name"),
    Setting("disk_count"),
    Setting("disk_speed"),
)


def jobs(folder: Path) -> Iterator[Job]:
    for path in sorted(folder.glob("*.csv")):
        yield job_of("cherrypick", path.stem.removeprefix("cherrypick_"), pd.read_csv(path), _SETTINGS)
