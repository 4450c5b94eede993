"""How often an answer that was promised in time is in time in the other real runs of the same settings.

    python benchmarks/promised.py --data DIR [--draws 20] [--confidence 0.95]

Scout's single machines: 55 workloads on 18 types, about five runs each. Six types are run once each, in random order;
the deadline is a quantile of all times of the workload. The answer is the cheapest run in time, or the cheapest whose
next run is promised to be. If nothing could be promised yet, or something cheaper could be, that type is run again,
as `tune --confidence` does. `stated` is the mean of the probabilities that the answers come with.

What noise is like before a search was learned from the repeats of ten programs (see `search/promise.py`); the others
are shown apart. With at most four runs of a type, at least one is left to see whether the promise is kept.
"""

import argparse
import csv
from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from statistics import fmean

import numpy as np

from sparkcast.search.promise import can_be_promised, chance_in_time

Runs = Mapping[str, Sequence[float]]
QUANTILES = (0.25, 0.5)
TRIED, MOST = 6, 4  # types that are run, and how often each at most
LEARNED = frozenset(  # programs from whose repeats it was learned what noise is like
    "aggregation chi-sq-gof decision-tree join lda pagerank scan spearman svd wordcount".split()
)


def workloads(folder: Path) -> tuple[dict[tuple[str, ...], Runs], dict[str, float]]:
    found: dict[tuple[str, ...], dict[str, list[float]]] = defaultdict(lambda: defaultdict(list))
    prices: dict[str, float] = {}
    with (folder / "scout-single" / "single_node.csv").open() as file:
        for row in csv.DictReader(file):
            prices[row["vm_type"]] = float(row["price_per_hour"])
            if row["completed"] == "1":
                key = (row["workload"], row["framework"], row["datasize"])
                found[key][row["vm_type"]].append(float(row["elapsed_s"]))
    kept = {key: {t: runs for t, runs in types.items() if len(runs) > MOST} for key, types in found.items()}
    return {key: types for key, types in kept.items() if len(types) >= TRIED}, prices


@dataclass(frozen=True, slots=True)
class Answer:
    machine: str
    stated: float  # probability of being in time in its next run
    kept: float  # share of its runs that were not used that are in time
    n_runs: int  # of all types


def answered(
    runs: Runs, prices: Mapping[str, float], within_s: float, confidence: float | None, random: "np.random.Generator"
) -> Answer | None:
    order = {t: [float(x) for x in random.permutation(runs[t])] for t in random.permutation(list(runs))[:TRIED]}
    used = dict.fromkeys(order, 1)

    def cheapest() -> list[str]:
        kept = [t for t in order if max(order[t][: used[t]]) <= within_s]
        return sorted(kept, key=lambda t: prices[t] * fmean(order[t][: used[t]]))

    while True:
        groups = [order[t][: used[t]] for t in order]
        for t in cheapest():
            times = order[t][: used[t]]
            stated = chance_in_time(times, within_s, groups)
            if confidence is None or stated >= confidence:
                kept = fmean(x <= within_s for x in order[t][used[t] :])
                return Answer(t, stated, kept, sum(used.values()))
            left = MOST - used[t]
            if left > 0 and can_be_promised(times, within_s, groups, confidence, left):
                used[t] += 1
                break
        else:
            return None


def show(who: str, quantile: float, confidence: float | None, found: Sequence[Answer | None]) -> None:
    answers = [one for one in found if one is not None]
    label = "cheapest in time" if confidence is None else f"promised with {confidence:.0%}"
    print(f"{who:10}{quantile:10.2f}{'':3}{label:20}{len(answers) / len(found):9.0%}", end="")
    if answers:
        stated, kept, n_runs = (fmean(getattr(one, name) for one in answers) for name in ("stated", "kept", "n_runs"))
        print(f"{stated:9.0%}{kept:15.1%}{n_runs:7.1f}", end="")
    print(flush=True)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data", type=Path, required=True)
    parser.add_argument("--draws", type=int, default=20)
    parser.add_argument("--confidence", default="0.8,0.9,0.95")
    options = parser.parse_args()
    tables, prices = workloads(options.data)
    wanted = [None, *map(float, options.confidence.split(","))]
    print(
        f"{'programs':10}{'deadline':>10}{'':3}{'answer':20}{'has one':>9}{'stated':>9}{'in time again':>15}{'runs':>7}"
    )
    for who in ("learned", "others"):
        chosen = [
            (k, runs) for k, (key, runs) in enumerate(tables.items()) if (key[0] in LEARNED) == (who == "learned")
        ]
        for quantile in QUANTILES:
            for confidence in wanted:
                found = []
                for k, runs in chosen:
                    within_s = float(np.quantile([x for some in runs.values() for x in some], quantile))
                    for draw in range(options.draws):
                        found.append(answered(runs, prices, within_s, confidence, np.random.default_rng((k, draw))))
                show(who, quantile, confidence, found)


if __name__ == "__main__":
    main()
