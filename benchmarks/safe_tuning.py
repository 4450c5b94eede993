"""Safe tuning in production, replayed: what twenty runs of a recurring job gain, and how bad its worst run was.

    python benchmarks/safe_tuning.py --data DIR [--sets tuneful,lite] [--starts 4] [--runs 20] [--noise 0.05]

Each job is a program and a data size of Tuneful (30 Spark properties varied at random) or LITE (15). It begins with
settings of middling time; the settings it may use are those that were measured, so the nearest measured setting is the
setting itself. The share is what the settings in use after so many runs save, in terms of what the best measured would.
The worst run is that of all runs after the first two, over the start. `noise` is by how much each replayed run varies.
"""

import argparse
import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from statistics import fmean, median

import numpy as np
from _jobs import Job, jobs

from sparkcast.search.base import Evaluation, Search
from sparkcast.search.safe import Guard, PastRun, Step, propose
from sparkcast.search.searchers.cherrypick import CherryPick
from sparkcast.study import Configuration

SETS = ("tuneful", "lite")
CHECKPOINTS = (10, 20)
SLOWER = 1.2


@dataclass(frozen=True, slots=True)
class Replayed:
    shares: tuple[float, ...]  # of the possible gain, by the settings in use after each run
    over_start: tuple[float, ...]  # the time of each run, in terms of the start's
    ended: int  # after how many runs it stopped


Chosen = tuple[Configuration | None, Configuration]  # to run next, None to stop; and what is best known
Way = Callable[[Sequence[PastRun], Sequence[Configuration], Job, int], Chosen]


def safely(risk: float) -> Way:
    def choose(history: Sequence[PastRun], candidates: Sequence[Configuration], job: Job, seed: int) -> Chosen:
        guard = Guard(slower=SLOWER, risk=risk)
        found = propose(history, candidates, guard, vocabulary=job.data.vocabulary, seed=seed)
        return (None if found.step is Step.STOP else found.configuration), found.base

    return choose


def at_random(history: Sequence[PastRun], candidates: Sequence[Configuration], job: Job, seed: int) -> Chosen:
    rng = np.random.default_rng((seed, len(history)))
    return candidates[int(rng.integers(len(candidates)))], _best(history)


def by_cherrypick(history: Sequence[PastRun], candidates: Sequence[Configuration], job: Job, seed: int) -> Chosen:
    searcher = CherryPick(Search(tuple(candidates), seed=seed, vocabulary=job.data.vocabulary))
    for run in history:
        searcher.tell(Evaluation(run.configuration, run.time_s, run.time_s))
    return searcher.ask() or _best(history), _best(history)


def _best(history: Sequence[PastRun]) -> Configuration:
    return min(history, key=lambda run: run.time_s or math.inf).configuration


WAYS: dict[str, Way] = {
    "safe at 5%": safely(0.05),
    "safe at 10%": safely(0.10),
    "safe at 20%": safely(0.20),
    "cherrypick": by_cherrypick,
    "random": at_random,
}


def replay(job: Job, start: Configuration, way: Way, n_runs: int, noise: float, seed: int) -> Replayed:
    times = {run.configuration: run.responses[job.response] for run in job.data.observations}
    candidates, best = tuple(times), min(times.values())
    rng = np.random.default_rng(seed)

    def run(configuration: Configuration) -> PastRun:
        return PastRun(configuration, times[configuration] * math.exp(noise * rng.normal()))

    history, shares, ended, in_use = [run(start), run(start)], [], n_runs, start
    for n in range(n_runs):
        if ended == n_runs:
            asked, in_use = way(history, candidates, job, seed)
            ended = n if asked is None else n_runs
        history.append(run(asked if asked is not None else in_use))
        known = way(history, candidates, job, seed)[1] if n + 1 in CHECKPOINTS and ended == n_runs else in_use
        shares.append((times[start] - times[known]) / (times[start] - best))
    return Replayed(tuple(shares), tuple(times[one.configuration] / times[start] for one in history[2:]), ended)


def starts_of(job: Job, n: int, seed: int) -> list[Configuration]:
    """Settings of middling time."""
    ordered = sorted(job.data.observations, key=lambda run: run.responses[job.response])
    middle = ordered[int(0.4 * len(ordered)) : int(0.6 * len(ordered)) + 1]
    chosen = np.random.default_rng(seed).choice(len(middle), min(n, len(middle)), replace=False)
    return [middle[i].configuration for i in sorted(chosen)]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data", type=Path, required=True)
    parser.add_argument("--sets", default=",".join(SETS))
    parser.add_argument("--starts", type=int, default=4)
    parser.add_argument("--runs", type=int, default=20)
    parser.add_argument("--noise", type=float, default=0.05)
    parser.add_argument("--ways", default=",".join(WAYS))
    options = parser.parse_args()
    for name in options.sets.split(","):
        known = jobs(options.data, (name,))
        print(f"\n{name}: {len(known)} jobs, {options.starts} starts each")
        print(f"{'':18}{'share 10':>10}{'share 20':>10}{'worst':>8}{'median worst':>14}{'over limit':>12}{'stops':>8}")
        for label in options.ways.split(","):
            found = [
                replay(job, start, WAYS[label], options.runs, options.noise, seed)
                for job in known
                for seed, start in enumerate(starts_of(job, options.starts, 0))
            ]
            worst = [max(one.over_start) for one in found]
            over = fmean(value > SLOWER for one in found for value in one.over_start)
            at = [fmean(one.shares[min(n, options.runs) - 1] for one in found) for n in CHECKPOINTS]
            print(
                f"{label:18}{at[0]:10.0%}{at[1]:10.0%}{max(worst):8.2f}{median(worst):14.2f}{over:12.1%}"
                f"{fmean(one.ended for one in found):8.1f}",
                flush=True,
            )


if __name__ == "__main__":
    main()
