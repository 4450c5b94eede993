"""Runs that a limit stopped: what models make of them, on trainings of which a quarter ended at 600 s (Lynceus).

    python benchmarks/stopped_runs.py --data DIR [--n 20,30] [--draws 10] [--models auto,bayesian] [--limits 600,400]

From n configurations drawn at random a model learns, and is asked about all others. A run at the limit or above it
counts as `stopped` there, as `failed` (its time is not used), or as if it had taken `exactly` so long. A limit below
the real one stops runs whose times are known, so that those can be told, too. Scored is only what is known:

- CRPS %: continuous ranked probability score of the time or the real limit, whichever is less, for all runs: a proper
  score of what is known, in percent of the mean; 90 %: the share of these in the interval, and its median width;
- MAPE % of the runs that ended before the real limit: it favors low answers, since long runs are not in it;
- Brier: the mean square of what the probability of staying below the limit lacks, of all runs (0.25 is a coin).
"""

import argparse
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path

import numpy as np
from data_sets import lynceus

from sparkcast.models import MODELS
from sparkcast.study import Dataset, Observation, Outcome

REAL_S = 600.0
KINDS = ("stopped", "failed", "exactly")
_SLICES = 20  # of the probability, for the CRPS


def learned_as(kind: str, run: Observation, limit_s: float) -> Observation:
    if run.responses["time_s"] < limit_s:
        return run
    stopped = {"time_s": limit_s}
    if kind == "exactly":
        return replace(run, responses=stopped)
    return replace(run, outcome=Outcome.TIMEOUT, responses=stopped if kind == "stopped" else {})


def scores(model: str, learned: Dataset, asked: list[Observation], limit_s: float) -> Mapping[str, float]:
    fitted = MODELS.get(model)().fit(learned, "time_s")
    at = [run.configuration for run in asked]
    times = np.array([run.responses["time_s"] for run in asked])
    ended, known = times < REAL_S, np.minimum(times, REAL_S)
    predicted, below = np.array(fitted.predict(at)), np.array(fitted.probability_below(at, limit_s))
    low, high = np.minimum(np.array(fitted.interval(at)).T, REAL_S)
    losses = np.zeros(len(times))
    for k in range(_SLICES // 2):
        share = (k + 0.5) / _SLICES
        ends = np.minimum(np.array(fitted.interval(at, level=1 - 2 * share)).T, REAL_S)
        for quantile, tau in zip(ends, (share, 1 - share), strict=True):
            losses += np.maximum(tau * (known - quantile), (tau - 1) * (known - quantile))
    return {
        "CRPS %": float(100 * np.mean(2 * losses / _SLICES) / known.mean()),
        "90 %": float(100 * np.mean((low <= known) & (known <= high))),
        "width %": float(100 * np.median((high - low) / known)),
        "MAPE %": float(100 * np.mean(np.minimum(np.abs(predicted - times) / times, 10)[ended])),
        "Brier": float(((below - (times < limit_s)) ** 2).mean()),
    }


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data", type=Path, required=True)
    parser.add_argument("--n", default="20,30")
    parser.add_argument("--draws", type=int, default=10)
    parser.add_argument("--models", default="auto,bayesian")
    parser.add_argument("--limits", default="600,400")
    parser.add_argument("--kinds", default=",".join(KINDS))
    options = parser.parse_args()
    data = next(job for job in lynceus.jobs(options.data / lynceus.FOLDER) if job.name == "time").data
    runs = data.observations
    for limit_s in map(float, options.limits.split(",")):
        for n in map(int, options.n.split(",")):
            for model in options.models.split(","):
                for kind in options.kinds.split(","):
                    found = []
                    for number in range(options.draws):
                        order = np.random.default_rng((number, n)).permutation(len(runs)).tolist()
                        some = tuple(learned_as(kind, runs[i], limit_s) for i in order[:n])
                        seen = {
                            f: {run.configuration[f] for run in some if run.ok} for f in ("vm_flavor", "synchronism")
                        }
                        asked = [runs[i] for i in order[n:] if all(runs[i].configuration[f] in seen[f] for f in seen)]
                        found.append(scores(model, replace(data, observations=some), asked, limit_s))
                    means = {name: float(np.mean([row[name] for row in found])) for name in found[0]}
                    told = "  ".join(f"{name} {value:.3g}" for name, value in means.items())
                    print(f"limit {limit_s:g} s, n = {n}, {model:9} {kind:8} {told}", flush=True)


if __name__ == "__main__":
    main()
