"""The measurements of Scout (Hsu et al. 2018) as searches: workloads on the same 69 clusters of a public cloud.

The function takes the folder that holds `multiple_nodes.csv`. Settings are given the names that sparkcast knows:
machines, cores and memory (in GiB) of each. A run that did not complete is a failure; what it took was paid all the
same.
"""

import csv
from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from sparkcast.study import Configuration, Dataset, Observation, Outcome

FACTORS = ("machines", "cores", "memory")
PRICES = {  # of an hour on demand in us-east-1, 2018, in dollars
    "c4.large": 0.100,
    "c4.xlarge": 0.199,
    "c4.2xlarge": 0.398,
    "m4.large": 0.100,
    "m4.xlarge": 0.200,
    "m4.2xlarge": 0.400,
    "r4.large": 0.133,
    "r4.xlarge": 0.266,
    "r4.2xlarge": 0.532,
}


@dataclass(frozen=True, slots=True)
class Run:
    took_s: float
    is_ok: bool


@dataclass(frozen=True, slots=True)
class Table:
    """One workload on every cluster; `clusters` and `per_second` are the same for all workloads."""

    name: str
    family: str  # the program and its framework, whatever the size of the data
    clusters: tuple[Configuration, ...]
    per_second: tuple[float, ...]
    runs: tuple[Run, ...]

    def cost(self, place: int) -> float:
        return self.runs[place].took_s * self.per_second[place]

    @property
    def costs(self) -> tuple[float, ...]:
        """Of the runs that completed."""
        return tuple(self.cost(place) for place, run in enumerate(self.runs) if run.is_ok)

    def dataset(self) -> Dataset:
        outcomes = [Outcome.OK if run.is_ok else Outcome.ERROR for run in self.runs]
        runs = [
            Observation(cluster, {"time_s": run.took_s}, outcome)
            for cluster, run, outcome in zip(self.clusters, self.runs, outcomes, strict=True)
        ]
        return Dataset(FACTORS, tuple(runs), name=self.name)


def read_tables(folder: Path) -> tuple[Table, ...]:
    with (folder / "multiple_nodes.csv").open() as file:
        rows = list(csv.DictReader(file))
    clusters = sorted({(row["vm_type"], int(row["nodes"])) for row in rows})
    settings = {
        (row["vm_type"], int(row["nodes"])): Configuration(
            {
                "machines": int(row["nodes"]),
                "cores": int(row["vcpu_per_vm"]),
                "memory": float(row["mem_gib_per_vm"]),
            }
        )
        for row in rows
    }
    found: dict[tuple[str, str, str], dict[tuple[str, int], Run]] = defaultdict(dict)
    for row in rows:
        run = Run(float(row["elapsed_s"]), row["completed"] == "1")
        found[row["workload"], row["framework"], row["datasize"]][row["vm_type"], int(row["nodes"])] = run
    return tuple(
        Table(
            name=" ".join(key),
            family=" ".join(key[:2]),
            clusters=tuple(settings[cluster] for cluster in clusters),
            per_second=tuple(PRICES[machine] * n / 3600 for machine, n in clusters),
            runs=tuple(runs[cluster] for cluster in clusters),
        )
        for key, runs in sorted(found.items())
    )


def earlier_than(table: Table, tables: Sequence[Table]) -> tuple[Dataset, ...]:
    """What may be known when this workload is new: no other size of its data."""
    return tuple(other.dataset() for other in tables if other.family != table.family)
