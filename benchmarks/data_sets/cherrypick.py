"""Two of CherryPick's own jobs on EC2 (Alipourfard et al. 2017)."""

from collections.abc import Iterator
from pathlib import Path

import pandas as pd

from data_sets._job import Job, job_of
from sparkcast.study import Configuration, Role, Setting

FOLDER = "cherrypick"
_PRICES = {  # of an hour, in dollars
    "c4.large": 0.138,
    "c4.xlarge": 0.276,
    "c4.2xlarge": 0.552,
    "i2.xlarge": 0.938,
    "i2.2xlarge": 1.876,
    "m4.large": 0.147,
    "m4.xlarge": 0.294,
    "m4.2xlarge": 0.588,
    "r3.large": 0.195,
    "r3.xlarge": 0.390,
    "r3.2xlarge": 0.780,
}
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


def per_second(cluster: Configuration) -> float:
    """Dollars, at the prices of machines that come with the measurements."""
    return _PRICES[str(cluster["vm_name"])] * float(cluster["num_machines"]) / 3600
