"""Every job that was measured in public often enough to learn it from a few runs.

The folder of measurements holds one folder for each data set; a new one is one file in `data_sets`. Roles and units
are declared, as a user who knows the job would declare them; a total over all machines has no role of its own unless it
counts cores.
"""

from collections.abc import Iterable
from importlib import import_module
from pathlib import Path
from pkgutil import iter_modules

import data_sets
from data_sets._job import Job

__all__ = ["ALL_SETS", "CLUSTERS", "Job", "jobs"]

CLUSTERS = ("c3o", "bell", "scout", "courier", "polimi")  # times of jobs on clusters that their settings describe
ALL_SETS = tuple(module.name for module in iter_modules(data_sets.__path__) if not module.name.startswith("_"))
FEWEST = 9  # configurations, so that a few remain to be asked about: drops the 7 of c3o/ernest_rcv1.csv


def jobs(folder: Path, only: Iterable[str] = CLUSTERS) -> list[Job]:
    """The jobs of these data sets, in their order."""
    sources = (import_module(f"data_sets.{name}") for name in only)
    found = [job for source in sources for job in source.jobs(folder / source.FOLDER)]
    return [job for job in found if len({job.data.key(run) for run in job.data.observations}) >= FEWEST]
