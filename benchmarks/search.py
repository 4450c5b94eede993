"""Searchers side by side: how near to the cheapest cluster after 6, 9 and 12 runs, and what the search itself costs.

    python benchmarks/search.py --data FOLDER [--seeds 20] [--runs 12] [--searchers random,guided] [--json]

FOLDER holds Scout's `multiple_nodes.csv`. Each workload is searched with each seed. The ratio is the cheapest run found
over the cheapest of all; while nothing completed it is that of the dearest run that did. A searcher that stops is told
again what it found and goes on, to see its ratio after more runs. Money is what all runs of the search cost, failures
included, in terms of the cheapest run. Searchers that learn from earlier workloads get those of other programs only.
"""

import argparse
import json
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from statistics import fmean
from typing import Any

from _scout import Table, earlier_than, read_tables

from sparkcast.search.base import SEARCHERS, Evaluation, Search, Searcher
from sparkcast.study import Dataset

NEAR = 1.1  # of the optimum
PUBLISHED = {  # on all 18 workloads of the same data set
    "random": "1.34 at 6 runs, 1.19 at 9, 1.15 at 12",
    "cherrypick": "stops after 6.1 runs at 1.27; 1.15 at 9, 1.10 at 12; within 10 % at 6: 37 %",
}


@dataclass(frozen=True, slots=True)
class Trace:
    """One search: what was known and spent after each run."""

    ratios: tuple[float, ...]
    spent: tuple[float, ...]
    n_at_stop: int | None  # None: it would have gone on

    @property
    def end(self) -> int:
        return self.n_at_stop or len(self.ratios)


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


def trace(name: str, table: Table, seed: int, earlier: tuple[Dataset, ...], n_runs: int) -> Trace:
    search = Search(table.clusters, seed=seed, per_second=table.per_second, earlier=earlier)
    evaluations = run_on(SEARCHERS.get(name)(search), table, [], n_runs)
    n_at_stop = len(evaluations) if len(evaluations) < n_runs else None
    if n_at_stop is not None:
        evaluations = run_on(unstoppable(name)(search), table, evaluations, n_runs)
    return traced(table, [table.clusters.index(one.configuration) for one in evaluations], n_at_stop)


def run_on(searcher: Searcher, table: Table, evaluations: Sequence[Evaluation], n_runs: int) -> list[Evaluation]:
    known = list(evaluations)
    for one in known:
        searcher.tell(one)
    while len(known) < n_runs and (asked := searcher.ask()) is not None:
        place = table.clusters.index(asked)
        run = table.runs[place]
        known.append(Evaluation(asked, table.cost(place), run.took_s) if run.is_ok else Evaluation(asked, None))
        searcher.tell(known[-1])
    return known


def unstoppable(name: str) -> Any:
    return type("Unstoppable", (SEARCHERS.get(name),), {"stops": False})


def traced(table: Table, places: Sequence[int], n_at_stop: int | None) -> Trace:
    optimum, best, money = min(table.costs), max(table.costs), 0.0
    ratios, spent = [], []
    for place in places:
        money += table.cost(place)
        if table.runs[place].is_ok:
            best = min(best, table.cost(place))
        ratios.append(best / optimum)
        spent.append(money / optimum)
    return Trace(tuple(ratios), tuple(spent), n_at_stop)


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
    )


def measured(
    tables: Sequence[Table], searchers: Sequence[str], n_seeds: int, n_runs: int
) -> tuple[list[Row], dict[str, dict[str, float]]]:
    """A row per searcher, and the mean ratio after 6 runs by searcher and workload."""
    checkpoints = [n for n in (6, 9, 12) if n <= n_runs] or [n_runs]
    rows, by_workload = [], {}
    for label in searchers:
        name, _, without = label.partition(" ")
        traces = {
            table.name: [
                trace(name, table, seed, () if without else earlier_than(table, tables), n_runs)
                for seed in range(n_seeds)
            ]
            for table in tables
        }
        print(f"{label} done", file=sys.stderr, flush=True)
        rows.append(row_of(label, [one for some in traces.values() for one in some], checkpoints))
        by_workload[label] = {
            workload: fmean(one.ratios[checkpoints[0] - 1] for one in some) for workload, some in traces.items()
        }
    return rows, by_workload


def bars(rows: Sequence[Row]) -> list[tuple[str, float, float, bool]]:
    """What was set as a goal, what was measured, the limit, and whether it is met."""
    by_name = {row.searcher: row for row in rows}
    found: list[tuple[str, float, float]] = []
    cherrypick, guided = by_name.get("cherrypick"), by_name.get("guided")
    if cherrypick is not None:
        found.append(("cherrypick: ratio where it stops", cherrypick.ratio_at_stop, 1.27 * 1.03))
        found += [
            (f"cherrypick: ratio after {n} runs", cherrypick.ratios[n], published * 1.03)
            for n, published in ((9, 1.15), (12, 1.10))
            if n in cherrypick.ratios
        ]
    if guided is not None:
        found += [
            (f"guided: ratio after {n} runs", guided.ratios[n], limit)
            for n, limit in ((6, 1.15), (9, 1.06))
            if n in guided.ratios
        ]
        if 6 in guided.near:
            found.append(("guided: not within 10 % after 6 runs", 1 - guided.near[6], 0.40))
    if cherrypick is not None and guided is not None:
        found += [
            (f"guided: money after {n} runs, against cherrypick's", guided.spent[n], cherrypick.spent[n])
            for n in guided.spent
            if n < 12
        ]
        found.append(
            ("guided: money at the stop, against cherrypick's", guided.spent_at_stop, cherrypick.spent_at_stop)
        )
    return [(what, value, limit, value <= limit) for what, value, limit in found]


def show(rows: Sequence[Row], by_workload: dict[str, dict[str, float]]) -> None:
    checkpoints = list(rows[0].ratios)
    heads = [f"ratio {n}" for n in checkpoints] + [f"money {n}" for n in checkpoints]
    print(f"{'searcher':24}" + "".join(f"{head:>10}" for head in [*heads, f"near {checkpoints[0]}"]), end="")
    print("".join(f"{head:>10}" for head in ("stopped", "runs", "ratio", "money")))
    for row in rows:
        numbers = [*row.ratios.values(), *row.spent.values()]
        print(f"{row.searcher:24}" + "".join(f"{number:10.3f}" for number in numbers), end="")
        print(f"{row.near[checkpoints[0]]:10.0%}{row.stopped:10.0%}", end="")
        print(f"{row.runs_at_stop:10.2f}{row.ratio_at_stop:10.3f}{row.spent_at_stop:10.2f}")
    print(f"\nratio after {checkpoints[0]} runs by workload")
    print(f"{'':30}" + "".join(f"{label[:16]:>17}" for label in by_workload))
    for workload in next(iter(by_workload.values())):
        print(f"{workload:30}" + "".join(f"{ratios[workload]:17.3f}" for ratios in by_workload.values()))
    print("\npublished, on all 18 workloads of the data set")
    for name, figures in PUBLISHED.items():
        print(f"  {name}: {figures}")
    print("\nbars")
    for what, value, limit, is_met in bars(rows):
        print(f"  {'met   ' if is_met else 'MISSED'} {what}: {value:.3f}, at most {limit:.3f}")


def as_json(rows: Sequence[Row], by_workload: dict[str, dict[str, float]]) -> str:
    document = {
        "rows": [{name: getattr(row, name) for name in row.__dataclass_fields__} for row in rows],
        "by_workload": by_workload,
        "published": PUBLISHED,
        "bars": [
            {"what": what, "value": value, "limit": limit, "met": is_met} for what, value, limit, is_met in bars(rows)
        ],
    }
    return json.dumps(document, indent=2)


def searchers_at_hand() -> list[str]:
    """Those that choose among the candidates, and guided without earlier workloads."""
    names = [name for name in SEARCHERS.names() if not getattr(SEARCHERS.get(name), "asks_elsewhere", False)]
    return [*sorted(names, key=lambda name: name != "random"), "guided alone"]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data", type=Path, required=True)
    parser.add_argument("--seeds", type=int, default=20)
    parser.add_argument("--runs", type=int, default=12)
    parser.add_argument("--searchers", default=",".join(searchers_at_hand()), help='"guided alone": no earlier runs')
    parser.add_argument("--json", action="store_true")
    options = parser.parse_args()
    found = measured(read_tables(options.data), options.searchers.split(","), options.seeds, options.runs)
    if options.json:
        print(as_json(*found))
    else:
        show(*found)


if __name__ == "__main__":
    main()
