"""Public measurements: what is left of runs that go on (enel), clusters for jobs that never ran (flora)."""

import csv
from collections.abc import Sequence
from pathlib import Path

import numpy as np

from sparkcast.history.clusters import ClusterBelief, KnownCluster
from sparkcast.history.remaining import EndedRun, SoFar, remaining

_SHARES = (0.0, 1 / 3, 0.5, 0.75)


def show_remaining(folder: Path) -> None:
    """Each run from all others, as if it were the last one: after a third of its Spark jobs, and later."""
    print("What is left of a run, leaving it out      after   MAPE   MdAPE   in 90%   mean of the past: MAPE   MdAPE")
    for name in ("kmeans", "gbt"):
        runs = read_runs(folder / f"enel_{name}_jobs.csv")
        for share in _SHARES:
            rows = [_one(runs, number, share) for number in range(len(runs))]
            ours, naive, inside = (np.array(column) for column in zip(*rows, strict=True))
            print(
                f"  {name:<40}{share:>6.0%}{ours.mean():>8.1%}{np.median(ours):>8.1%}{inside.mean():>8.0%}"
                f"{naive.mean():>22.1%}{np.median(naive):>8.1%}"
            )
    print()


def read_runs(path: Path) -> list[EndedRun]:
    times: dict[str, list[float]] = {}
    with path.open() as file:
        for row in csv.DictReader(file):
            times.setdefault(row["run"], []).append(float(row["time_s"]))
    return [EndedRun(tuple(np.cumsum(own).tolist()), float(sum(own))) for own in times.values()]


def _one(runs: Sequence[EndedRun], number: int, share: float) -> tuple[float, float, bool]:
    run, past = runs[number], [one for place, one in enumerate(runs) if place != number]
    step = int(len(run.ends_s) * share)
    elapsed = run.ends_s[step - 1] if step else 0.0
    truth = run.total_s - elapsed
    found = remaining(past, SoFar(run.ends_s[:step], elapsed)).distribution()
    low, high = found.interval(0.9)
    mean = float(np.mean([one.total_s - (one.ends_s[min(step, len(one.ends_s)) - 1] if step else 0.0) for one in past]))
    return abs(found.median / truth - 1), abs(mean / truth - 1), low <= truth <= high


_CORE_HOUR, _GB_HOUR = 0.04073, 0.005458


def show_clusters(folder: Path) -> None:
    """The cluster chosen for each job from the other algorithms' runs alone, and after runs of its own."""
    clusters, times = _read_clusters(folder / "dataproc_nodes.csv")
    prices = {one.name: one.hourly for one in clusters}
    print("Cost of the cluster chosen, against the cheapest   mean   worst   (published, for 18 jobs: 1.05, 1.24)")
    rows: dict[str, list[float]] = {}
    for (algorithm, _), own in times.items():
        costs = {name: took * prices[name] for name, took in own.items()}
        least = min(costs.values())
        belief = ClusterBelief(clusters, [one for (name, _), one in times.items() if name != algorithm])
        known: dict[str, list[float]] = {}
        for n_runs in range(4):
            rows.setdefault(f"after {n_runs} runs of its own", []).append(costs[belief.choose(known).name] / least)
            run = belief.next_run(known) if known else belief.choose().name
            known[run] = [own[run]]
        cheapest = min(clusters, key=lambda one: one.hourly).name
        rows.setdefault("the cheapest per hour", []).append(costs[cheapest] / least)
        rows.setdefault("any (mean over clusters)", []).append(float(np.mean([*costs.values()])) / least)
    for name, found in rows.items():
        print(f"  {name:<47}{np.mean(found):>7.3f}{max(found):>8.3f}")
    print()


def _read_clusters(path: Path) -> tuple[list[KnownCluster], dict[tuple[str, str], dict[str, float]]]:
    clusters: dict[str, KnownCluster] = {}
    times: dict[tuple[str, str], dict[str, float]] = {}
    with path.open() as file:
        for row in csv.DictReader(file):
            cores, memory, nodes = (float(row[n]) for n in ("cpu_cores_per_node", "memory_gb_per_node", "scaleout"))
            name = f"{nodes:g} x {cores:g} cores, {memory:g} GB"
            hourly = nodes * (cores * _CORE_HOUR + memory * _GB_HOUR)
            clusters[name] = KnownCluster(name, hourly, (nodes * cores, nodes * memory, nodes))
            times.setdefault((row["algorithm"], row["dataset_size_bytes"]), {})[name] = float(row["time_s"])
    return [*clusters.values()], times
