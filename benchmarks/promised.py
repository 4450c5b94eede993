"""How often an answer that was promised in time is in time in the other real runs of the same settings.

    python benchmarks/promised.py --data DIR [--draws 20] [--confidence 0.95]

Scout's single machines: 55 workloads on 18 types, about five runs each. Six types are run once each, in random order;
the deadline is a quantile of all times of the workload. The answer is the cheapest run in time, or the cheapest whose
next run is promised to be. If nothing could be promised yet, or something cheaper could be, that type is run again,
as `tune --confidence` does.
"""

import argparse
import csv
from collections import defaultdict
from collections.abc import Mapping, Sequence
from pathlib import Path
from statistics import fmean

import numpy as np

from sparkcast.search.promise import can_be_promised, chance_in_time

Runs = Mapping[str, Sequence[float]]
QUANTILES = (0.25, 0.5)
TRIED, MOST = 6, 3  # types that are run, and how often each at most


def workloads(folder: Path) -> tuple[dict[tuple[str, ...], Runs], dict[str, float]]:
    found: dict[tuple[str, ...], dict[str, list[float]]] = defaultdict(lambda: defaultdict(list))
    prices: dict[str, float] = {}
    with (folder / "scout-single" / "single_node.csv").open() as file:
        for row in csv.DictReader(file):
            prices[row["vm_type"]] = float(row["price_per_hour"])
            if row["completed"] == "1":
                key = (row["workload"], row["framework"], row["datasize"])
                found[key][row["vm_type"]].append(float(row["elapsed_s"]))
    return {key: {t: runs for t, runs in types.items() if len(runs) > MOST} for key, types in found.items()}, prices


def answered(
    runs: Runs, prices: Mapping[str, float], within_s: float, confidence: float | None, random: "np.random.Generator"
) -> tuple[str, list[float], int] | None:
    """The type, its runs that were not used, and how many runs it took."""
    order = {t: [float(x) for x in random.permutation(runs[t])] for t in random.permutation(list(runs))[:TRIED]}
    used = dict.fromkeys(order, 1)

    def cheapest() -> list[str]:
        kept = [t for t in order if max(order[t][: used[t]]) <= within_s]
        return sorted(kept, key=lambda t: prices[t] * fmean(order[t][: used[t]]))

    while True:
        groups = [order[t][: used[t]] for t in order]
        for t in cheapest():
            times = order[t][: used[t]]
            if confidence is None or chance_in_time(times, within_s, groups) >= confidence:
                return t, order[t][used[t] :], sum(used.values())
            left = MOST - used[t]
            if left > 0 and can_be_promised(times, within_s, groups, confidence, left):
                used[t] += 1
                break
        else:
            return None


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data", type=Path, required=True)
    parser.add_argument("--draws", type=int, default=20)
    parser.add_argument("--confidence", type=float, default=0.95)
    options = parser.parse_args()
    tables, prices = workloads(options.data)
    print(f"{'deadline':>10}{'':4}{'answer':24}{'answers':>9}{'in time again':>15}{'runs':>7}{'cost':>7}")
    for quantile in QUANTILES:
        for label, confidence in (("cheapest in time", None), ("promised", options.confidence)):
            kept, n_runs, costs, asked = [], [], [], 0
            for k, runs in enumerate(tables.values()):
                within_s = float(np.quantile([x for some in runs.values() for x in some], quantile))
                for draw in range(options.draws):
                    asked += 1
                    random = np.random.default_rng((k, draw))
                    found = answered(runs, prices, within_s, confidence, random)
                    if found is None:
                        continue
                    machine, others, n = found
                    kept.append(fmean(x <= within_s for x in others))
                    n_runs.append(n)
                    best = min(prices[t] * fmean(runs[t]) for t in runs)
                    costs.append(prices[machine] * fmean(runs[machine]) / best)
            print(
                f"{quantile:10.2f}{'':4}{label:24}{len(kept) / asked:9.0%}{fmean(kept):15.1%}{fmean(n_runs):7.1f}"
                f"{fmean(costs):7.2f}"
            )


if __name__ == "__main__":
    main()
