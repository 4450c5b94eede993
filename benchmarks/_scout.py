"""The measurements of Scout (Hsu et al. 2018) as searches: workloads on the same clusters, or machines, of a cloud.

`multiple_nodes.csv` has one run of each workload on each of 69 clusters. Their settings are given the names that
sparkcast knows: machines, cores and memory (in GiB) of each. A run that did not complete is a failure; what it took was
paid all the same. Failures at the limit of two hours are timeouts; why the others failed is not known.

`single_node.csv` has about five runs of each workload on each of 18 types of machine; their median counts. A failed run
of a type on which others completed is left out.
"""

import csv
import math
from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from statistics import median
from types import ModuleType

from data_sets import cherrypick, flora

from sparkcast.search.base import Evaluation
from sparkcast.study import Configuration, Dataset, Level, Observation, Outcome, Vocabulary

LIMIT_S = 7200.0  # after which Scout stopped a run
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
Rows = Sequence[Mapping[str, str]]


@dataclass(frozen=True, slots=True)
class Run:
    took_s: float
    outcome: Outcome = Outcome.OK

    @property
    def is_ok(self) -> bool:
        return self.outcome is Outcome.OK


@dataclass(frozen=True, slots=True)
class Table:
    """One workload on every cluster; `clusters` and `per_second` are the same for all workloads of a data set."""

    name: str
    family: str  # the program and its framework, whatever the size of the data
    clusters: tuple[Configuration, ...]
    per_second: tuple[float, ...]
    runs: tuple[Run, ...]
    words: Vocabulary = field(default_factory=Vocabulary)

    def cost(self, place: int) -> float:
        return self.runs[place].took_s * self.per_second[place]

    @property
    def costs(self) -> tuple[float, ...]:
        """Of the runs that completed."""
        return tuple(self.cost(place) for place, run in enumerate(self.runs) if run.is_ok)

    def time_within(self, share: float) -> float | None:
        """What so many of the runs that completed take at most; None: all."""
        times = sorted(run.took_s for run in self.runs if run.is_ok)
        return None if share >= 1 else times[max(0, math.ceil(share * len(times)) - 1)]

    def is_in_time(self, place: int, within_s: float | None) -> bool:
        return self.runs[place].is_ok and self.runs[place].took_s <= (within_s or math.inf)

    def evaluation(self, place: int, varied: float = 1.0) -> Evaluation:
        """What a searcher is told of a run, that took so much longer than it was measured."""
        cluster, run = self.clusters[place], self.runs[place]
        if run.is_ok:
            return Evaluation(cluster, varied * self.cost(place), varied * run.took_s, run.outcome)
        return Evaluation(cluster, None, None, run.outcome, LIMIT_S if run.outcome is Outcome.TIMEOUT else None)

    def dataset(self) -> Dataset:
        runs = [
            Observation(cluster, {"time_s": run.took_s}, run.outcome)
            for cluster, run in zip(self.clusters, self.runs, strict=True)
        ]
        return Dataset(tuple(self.clusters[0]), tuple(runs), name=self.name)


def read_tables(folder: Path) -> dict[str, tuple[Table, ...]]:
    """The searches that the folder has data for, by what is searched."""
    found = {}
    if (folder / "multiple_nodes.csv").exists():
        found["clusters"] = _clusters(_rows(folder / "multiple_nodes.csv"))
    if (folder / "single_node.csv").exists():
        rows = _rows(folder / "single_node.csv")
        found["machines, described"] = _machines(rows, is_described=True)
        found["machines, names only"] = _machines(rows, is_described=False)
    for source in (flora, cherrypick):
        found |= _described(source, folder)
    return found


def _described(source: ModuleType, folder: Path) -> dict[str, tuple[Table, ...]]:
    """Searches over clusters of other data sets, for each work that there is."""
    if folder.name != source.FOLDER:
        return {}
    tables = []
    for job in source.jobs(folder):
        times: dict[tuple[Level, ...], dict[Configuration, list[float]]] = {}
        for run in job.data.observations:
            work = tuple(run.configuration[name] for name in job.work)
            means = run.configuration.without(*job.work)
            times.setdefault(work, {}).setdefault(means, []).append(run.responses[job.response])
        for work, of_work in times.items():
            clusters = tuple(of_work)
            tables.append(
                Table(
                    name=" ".join(map(str, (job.name, *work))),
                    family=job.name,
                    clusters=clusters,
                    per_second=tuple(source.per_second(cluster) for cluster in clusters),
                    runs=tuple(Run(median(of_work[cluster])) for cluster in clusters),
                    words=job.data.vocabulary,
                )
            )
    return {source.FOLDER: tuple(tables)}


def _rows(path: Path) -> Rows:
    with path.open() as file:
        return list(csv.DictReader(file))


def _clusters(rows: Rows) -> tuple[Table, ...]:
    clusters = sorted({(row["vm_type"], int(row["nodes"])) for row in rows})
    settings = {
        (row["vm_type"], int(row["nodes"])): Configuration({"machines": int(row["nodes"]), **_description(row)})
        for row in rows
    }
    found: dict[tuple[str, str, str], dict[tuple[str, int], Run]] = defaultdict(dict)
    for row in rows:
        found[_workload(row)][row["vm_type"], int(row["nodes"])] = Run(float(row["elapsed_s"]), _outcome(row))
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


def _machines(rows: Rows, *, is_described: bool) -> tuple[Table, ...]:
    types = {row["vm_type"]: row for row in sorted(rows, key=lambda row: row["vm_type"])}
    found: dict[tuple[str, str, str], dict[str, list[float]]] = defaultdict(lambda: defaultdict(list))
    for row in rows:
        if row["completed"] == "1":
            found[_workload(row)][row["vm_type"]].append(float(row["elapsed_s"]))
    return tuple(
        Table(
            name=" ".join(key),
            family=" ".join(key[:2]),
            clusters=tuple(
                Configuration({"machine_type": name, **(_description(row) if is_described else {})})
                for name, row in types.items()
            ),
            per_second=tuple(float(row["price_per_hour"]) / 3600 for row in types.values()),
            runs=tuple(Run(median(times[name])) for name in types),
        )
        for key, times in sorted(found.items())
    )


def _workload(row: Mapping[str, str]) -> tuple[str, str, str]:
    return row["workload"], row["framework"], row["datasize"]


def _description(row: Mapping[str, str]) -> dict[str, int | float]:
    return {"cores": int(row["vcpu_per_vm"]), "memory": float(row["mem_gib_per_vm"])}


def _outcome(row: Mapping[str, str]) -> Outcome:
    if row["completed"] == "1":
        return Outcome.OK
    return Outcome.TIMEOUT if float(row["elapsed_s"]) >= LIMIT_S else Outcome.ERROR


def earlier_than(table: Table, tables: Sequence[Table]) -> tuple[Dataset, ...]:
    """What may be known when this workload is new: no other size of its data."""
    return tuple(other.dataset() for other in tables if other.family != table.family)
