"""Searchers side by side: how near to the cheapest cluster after 6, 9 and 12 runs, and what the search itself costs.

    python benchmarks/search.py --data FOLDER [FOLDER ...] [--seeds 20] [--runs 12] [--searchers random,guided]
                                [--only clusters] [--programs kmeans,sort] [--within 0.25 [--stop-late]] [--noise 0.2]
                                [--at-once 3] [--json]

FOLDERs hold Scout's `multiple_nodes.csv`, `single_node.csv` or both. Machines are searched twice: with what is known of
each type (cores, memory), and with their names only. Each workload is searched with each seed. The ratio is the
cheapest run found over the cheapest of all; while nothing completed it is that of the dearest run that did. A searcher
that stops is told again what it found and goes on, to see its ratio after more runs. Money is what all runs of the
search cost, failures included, in terms of the cheapest run. Searchers that learn from earlier workloads get those of
other programs only. Optuna's samplers take part where it is installed.
"""

import argparse
import json
import math
import sys
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from statistics import fmean

import numpy as np
from _optuna import peers
from _scout import Table, earlier_than, read_tables

from sparkcast.search.base import SEARCHERS, Evaluation, Search, Searcher
from sparkcast.study import Configuration, Dataset, Outcome

NEAR = 1.1  # of the optimum
ALONE = " alone"  # ends the name of a searcher that is not given earlier workloads
_LATE_S = 30.0  # as `tune --stop-late` allows for start-up
LEARNS = "guided"  # the one that makes use of them
GOALS = {  # the ratio after so many runs, by what is searched; with earlier workloads it is to be no worse
    "clusters": {6: 1.07, 9: 1.02},
    "machines, described": {6: 1.03},
    "machines, names only": {6: 1.10},
}
PUBLISHED = {  # on all 18 workloads of the clusters
    "random": "1.34 at 6 runs, 1.19 at 9, 1.15 at 12",
    "cherrypick": "stops after 6.1 runs at 1.27; 1.15 at 9, 1.10 at 12; within 10 % at 6: 37 %",
}


@dataclass(frozen=True, slots=True)
class Trace:
    """One search: what was known and spent after each run."""

    ratios: tuple[float, ...]
    spent: tuple[float, ...]
    n_at_stop: int | None  # None: it would have gone on
    in_time: tuple[bool, ...] = ()  # whether anything counted

    @property
    def end(self) -> int:
        return self.n_at_stop or len(self.ratios)


@dataclass(frozen=True, slots=True)
class Asked:
    """What makes a search harder."""

    within: float = 1.0  # share of the runs of a workload that are in time
    noise: float = 0.0  # of each run, as a logarithm
    stop_late: bool = False  # runs are stopped so many seconds after they have missed the deadline
    at_once: int = 1  # runs that are asked for before one of them is told

    def stopped_s(self, within_s: float | None) -> float:
        """After how long a run is stopped."""
        return within_s + _LATE_S if self.stop_late and within_s is not None else math.inf


@dataclass(frozen=True, slots=True)
class Row:
    """The means over all searches of one searcher."""

    searcher: str
    ratios: dict[int, float]
    spent: dict[int, float]
    near: dict[int, float]  # share of searches within 10 % of the optimum
    stopped: float  # share of searches
    runs_at_stop: float
    ratio_at_stop: float
    spent_at_stop: float
    in_time: dict[int, float] = field(default_factory=dict)  # share of searches with a run in time


def trace(label: str, table: Table, seed: int, earlier: tuple[Dataset, ...], n_runs: int, asked: Asked) -> Trace:
    within_s = table.time_within(asked.within)
    search = Search(
        table.clusters,
        seed=seed,
        per_second=table.per_second,
        earlier=earlier,
        within_s=within_s,
        vocabulary=table.words,
    )
    name, n_runs = label.removesuffix(ALONE), min(n_runs, len(table.clusters))
    evaluations = run_on(searcher_named(name, search), table, [], n_runs, asked, seed)
    n_at_stop = len(evaluations) if len(evaluations) < n_runs else None
    if n_at_stop is not None:
        unstoppable = searcher_named(name, search, stops=False)
        evaluations = run_on(unstoppable, table, evaluations, n_runs, asked, seed)
    return traced(table, evaluations, n_at_stop, within_s, asked)


def run_on(
    searcher: Searcher, table: Table, evaluations: Sequence[Evaluation], n_runs: int, asked: Asked, seed: int
) -> list[Evaluation]:
    known = list(evaluations)
    for one in known:
        searcher.tell(one)
    late_s = asked.stopped_s(table.time_within(asked.within))
    while batch := batch_of(searcher, min(asked.at_once, n_runs - len(known))):
        for wanted in batch:
            place = table.clusters.index(wanted)
            times = sum(one.configuration == wanted for one in known)  # each run of each cluster is the same for all
            varied = asked.noise * float(np.random.default_rng((seed, place, times)).normal())
            gave = table.evaluation(place, math.exp(varied))
            if gave.time_s is not None and gave.time_s > late_s:
                gave = Evaluation(wanted, None, None, Outcome.TIMEOUT, late_s)
            known.append(gave)
            searcher.tell(gave)
    return known


def batch_of(searcher: Searcher, n: int) -> list[Configuration]:
    found: list[Configuration] = []
    while len(found) < n:
        wanted = searcher.ask_beside(found) if found else searcher.ask()  # type: ignore[attr-defined]
        if wanted is None:
            break
        found.append(wanted)
    return found


def searcher_named(name: str, search: Search, *, stops: bool = True) -> Searcher:
    make: Callable[[Search], Searcher] = peers().get(name) or SEARCHERS.get(name)
    if not stops and name not in peers():
        make = type("Unstoppable", (SEARCHERS.get(name),), {"stops": False})
    return make(search)


def traced(
    table: Table, evaluations: Sequence[Evaluation], n_at_stop: int | None, within_s: float | None, asked: Asked
) -> Trace:
    """The answer is what the runs so far say: the lowest mean of those in time."""
    counting = [place for place in range(len(table.runs)) if table.is_in_time(place, within_s)]
    optimum, money = min(table.cost(place) for place in counting), 0.0
    ratios, spent, in_time = [], [], []
    seen: dict[int, list[Evaluation]] = {}
    for one in evaluations:
        place = table.clusters.index(one.configuration)
        money += min(table.cost(place), asked.stopped_s(within_s) * table.per_second[place])
        seen.setdefault(place, []).append(one)
        means = {
            place: fmean(one.value for one in some if one.value is not None)
            for place, some in seen.items()
            if all(one.value is not None and (one.time_s or 0.0) <= (within_s or math.inf) for one in some)
        }
        answer = min(means, key=lambda place: means[place], default=None)
        ratios.append((max(table.costs) if answer is None else table.cost(answer)) / optimum)
        in_time.append(answer is not None)
        spent.append(money / optimum)
    return Trace(tuple(ratios), tuple(spent), n_at_stop, tuple(in_time))


def row_of(searcher: str, traces: Sequence[Trace], checkpoints: Sequence[int]) -> Row:
    return Row(
        searcher,
        {n: fmean(one.ratios[n - 1] for one in traces) for n in checkpoints},
        {n: fmean(one.spent[n - 1] for one in traces) for n in checkpoints},
        {n: fmean(one.ratios[n - 1] <= NEAR for one in traces) for n in checkpoints},
        fmean(one.n_at_stop is not None for one in traces),
        fmean(one.end for one in traces),
        fmean(one.ratios[one.end - 1] for one in traces),
        fmean(one.spent[one.end - 1] for one in traces),
        {n: fmean(one.in_time[n - 1] for one in traces) for n in checkpoints},
    )


Found = tuple[list[Row], dict[str, dict[str, float]]]


def measured(
    tables: Sequence[Table],
    programs: Sequence[str],
    searchers: Sequence[str],
    n_seeds: int,
    n_runs: int,
    asked: Asked,
) -> Found:
    """A row per searcher, and the mean ratio after 6 runs by searcher and workload."""
    checkpoints = [n for n in (1, 3, 6, 9, 12) if n <= n_runs] or [n_runs]
    rows, by_workload = [], {}
    for label in searchers:
        traces = {
            table.name: [
                trace(label, table, seed, () if label.endswith(ALONE) else earlier_than(table, tables), n_runs, asked)
                for seed in range(n_seeds)
            ]
            for table in tables
            if not programs or table.name.split()[0] in programs
        }
        print(f"{label} done", file=sys.stderr, flush=True)
        rows.append(row_of(label, [one for some in traces.values() for one in some], checkpoints))
        by_workload[label] = {
            workload: fmean(one.ratios[min(6, checkpoints[-1]) - 1] for one in some)
            for workload, some in traces.items()
        }
    return rows, by_workload


def bars(what: str, rows: Sequence[Row]) -> list[tuple[str, float, float, bool]]:
    """What was set as a goal, what was measured, the limit, and whether it is met."""
    if what not in GOALS:
        return []
    by_name = {row.searcher: row for row in rows}
    cherrypick, guided, alone = (by_name.get(name) for name in ("cherrypick", LEARNS, LEARNS + ALONE))
    goals = [(n, limit) for n, limit in GOALS[what].items() if n in rows[0].ratios]
    found: list[tuple[str, float, float]] = []
    if alone is not None:
        found += [(f"guided alone: ratio after {n} runs", alone.ratios[n], limit) for n, limit in goals]
    if alone is not None and guided is not None:
        found += [(f"guided: ratio after {n} runs, against alone", guided.ratios[n], alone.ratios[n]) for n, _ in goals]
    if cherrypick is not None:
        found += [
            (f"{row.searcher}: money at the stop, against cherrypick's", row.spent_at_stop, cherrypick.spent_at_stop)
            for row in (guided, alone)
            if row is not None
        ]
    return [(goal, value, limit, value <= limit) for goal, value, limit in found]


def show(what: str, rows: Sequence[Row], by_workload: Mapping[str, Mapping[str, float]]) -> None:
    checkpoints = list(rows[0].ratios)
    near = min(6, checkpoints[-1])
    print(f"\n{what}\n")
    heads = [f"ratio {n}" for n in checkpoints] + [f"money {n}" for n in checkpoints]
    print(f"{'searcher':24}" + "".join(f"{head:>10}" for head in [*heads, f"near {near}"]), end="")
    print("".join(f"{head:>10}" for head in ("stopped", "runs", "ratio", "money")))
    for row in rows:
        numbers = [*row.ratios.values(), *row.spent.values()]
        print(f"{row.searcher:24}" + "".join(f"{number:10.3f}" for number in numbers), end="")
        print(f"{row.near[near]:10.0%}{row.stopped:10.0%}", end="")
        print(f"{row.runs_at_stop:10.2f}{row.ratio_at_stop:10.3f}{row.spent_at_stop:10.2f}")
    if any(row.in_time[n] < 1 for row in rows for n in row.in_time):
        print("\nshare of the searches with a run that counts, after so many runs")
        for row in rows:
            print(f"{row.searcher:24}" + "".join(f"{n:>6}: {share:4.0%}" for n, share in row.in_time.items()))
    print(f"\nratio after {near} runs by workload")
    print(f"{'':36}" + "".join(f"{label[:16]:>17}" for label in by_workload))
    for workload in next(iter(by_workload.values())):
        print(f"{workload:36}" + "".join(f"{ratios[workload]:17.3f}" for ratios in by_workload.values()))
    for goal, value, limit, is_met in bars(what, rows):
        print(f"  {'met   ' if is_met else 'MISSED'} {goal}: {value:.3f}, at most {limit:.3f}")


def as_json(found: Mapping[str, Found]) -> str:
    document = {
        what: {
            "rows": [{name: getattr(row, name) for name in row.__dataclass_fields__} for row in rows],
            "by_workload": by_workload,
            "bars": [
                {"what": goal, "value": value, "limit": limit, "met": is_met}
                for goal, value, limit, is_met in bars(what, rows)
            ],
        }
        for what, (rows, by_workload) in found.items()
    }
    return json.dumps({**document, "published": PUBLISHED}, indent=2)


def searchers_at_hand() -> list[str]:
    """Those that choose among the candidates, with Optuna's, and guided without earlier workloads."""
    names = [name for name in SEARCHERS.names() if not getattr(SEARCHERS.get(name), "asks_elsewhere", False)]
    return ["random", *peers(), *(name for name in names if name not in ("random", "exhaustive")), LEARNS + ALONE]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data", type=Path, nargs="+", required=True)
    parser.add_argument("--seeds", type=int, default=20)
    parser.add_argument("--runs", type=int, default=12)
    parser.add_argument("--searchers", default=",".join(searchers_at_hand()), help='"guided alone": no earlier runs')
    parser.add_argument("--only", default="", help=f"what is searched: one of {'; '.join(GOALS)}")
    parser.add_argument("--programs", default="", help="those to search, e.g. kmeans,sort; earlier ones are of all")
    parser.add_argument("--within", type=float, default=1.0, help="share of the runs of a workload that are in time")
    parser.add_argument("--noise", type=float, default=0.0)
    parser.add_argument("--stop-late", action="store_true", help="stop runs that have missed the deadline")
    parser.add_argument("--at-once", type=int, default=1, help="runs asked for before one of them is told")
    parser.add_argument("--json", action="store_true")
    options = parser.parse_args()
    tables = {what: some for folder in options.data for what, some in read_tables(folder).items()}
    programs = [name for name in options.programs.split(",") if name]
    found: dict[str, Found] = {}
    for what, some in tables.items():
        if options.only not in ("", what):
            continue
        asked = Asked(options.within, options.noise, options.stop_late, options.at_once)
        found[what] = measured(some, programs, options.searchers.split(","), options.seeds, options.runs, asked)
        if not options.json:
            show(what, *found[what])
    if options.json:
        print(as_json(found))
    elif options.within == 1 and not options.noise:
        print("\npublished, on all 18 workloads of the clusters")
        for name, figures in PUBLISHED.items():
            print(f"  {name}: {figures}")


if __name__ == "__main__":
    main()
