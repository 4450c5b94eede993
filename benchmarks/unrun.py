"""How near to the cheapest cluster the first choice is, without any run of a workload: `recommend --earlier`.

    python benchmarks/unrun.py --data FOLDER [FOLDER ...] [--only clusters]

FOLDERs are as for `search.py`. Earlier workloads are those of other programs. `kept` is the share of workloads whose
real ratio is at most the one that is stated for 90 % of jobs. Beside it: the laws alone, and the cluster whose mean
cost over the earlier workloads, each in terms of its cheapest, is the lowest.
"""

import argparse
from collections.abc import Callable, Sequence
from pathlib import Path
from statistics import fmean

from _scout import Table, earlier_than, read_tables

from sparkcast.search.base import Search
from sparkcast.search.searchers.guided import Guided
from sparkcast.search.unrun import UnrunOption, compared
from sparkcast.study import Configuration, Dataset

Choice = tuple[Configuration, float | None]  # and the ratio that is stated for 90 % of jobs


def asked(table: Table, earlier: tuple[Dataset, ...]) -> Choice:
    search = Search(table.clusters, per_second=table.per_second, earlier=earlier, vocabulary=table.words)
    chosen: UnrunOption = compared(Guided(search))[0]
    return chosen.configuration, chosen.at_most


def with_earlier(table: Table, tables: Sequence[Table]) -> Choice:
    return asked(table, earlier_than(table, tables))


def by_laws(table: Table, tables: Sequence[Table]) -> Choice:
    return asked(table, ())


def by_mean(table: Table, tables: Sequence[Table]) -> Choice:
    others = [other for other in tables if other.family != table.family]

    def mean(place: int) -> float:
        return fmean((o.cost(place) if o.runs[place].is_ok else max(o.costs)) / min(o.costs) for o in others)

    return table.clusters[min(range(len(table.clusters)), key=mean)], None


WAYS: dict[str, Callable[[Table, Sequence[Table]], Choice]] = {
    "earlier workloads": with_earlier,
    "laws alone": by_laws,
    "mean of earlier": by_mean,
}


def ratio(table: Table, chosen: Configuration) -> float:
    place = table.clusters.index(chosen)
    cost = table.cost(place) if table.runs[place].is_ok else max(table.costs)
    return cost / min(table.costs)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data", type=Path, nargs="+", required=True)
    parser.add_argument("--only", default="")
    options = parser.parse_args()
    tables = {what: some for folder in options.data for what, some in read_tables(folder).items()}
    for what, some in tables.items():
        if options.only not in ("", what):
            continue
        print(f"\n{what}: {len(some)} workloads\n{'':20}{'ratio':>8}{'worst':>8}{'kept':>7}{'stated':>8}", flush=True)
        for name, way in WAYS.items():
            found = [(ratio(table, chosen), most) for table in some for chosen, most in [way(table, some)]]
            stated = [(real, most) for real, most in found if most is not None]
            kept = ""
            if stated:
                share, most = fmean(real <= most for real, most in stated), fmean(most for _, most in stated)
                kept = f"{share:7.0%}{most:8.2f}"
            print(f"{name:20}{fmean(r for r, _ in found):8.3f}{max(r for r, _ in found):8.3f}{kept}", flush=True)


if __name__ == "__main__":
    main()
