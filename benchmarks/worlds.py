"""Simulated worlds: whether intervals and promises hold where runs vary in other ways than the prior expects.

    python benchmarks/worlds.py [--n 10] [--studies 100] [--model auto] [--worlds noisy,days] [--seed 0]

Nothing here was measured. In each study a job is drawn at random (a serial part, a power of the machines and of the
data), n configurations of it are run once, and 30 other runs are asked about. The worlds:

- calm: runs differ by 5 %. noisy: by 30 %. days: half of the runs are on another day, 20 % slower or quicker.
- stragglers: one run in ten takes two to four times as long. two jobs: three runs in ten are of another job that
  takes twice as long, and nobody wrote down which.
- steps: data are split among machines in whole waves of tasks. waves: the logarithm of the time swings by 0.15.

Printed for each: the share of runs in the 90 % interval, and the share that stayed within what was promised with
probability 0.8, 0.9, 0.95, 0.98 and 0.99; in brackets the standard error of the first over studies.
"""

import argparse
from collections.abc import Callable, Mapping

import numpy as np

from sparkcast.models import MODELS
from sparkcast.study import Dataset, Level, Observation

PROMISED = (0.8, 0.9, 0.95, 0.98, 0.99)
_ASKED = 30
_MACHINES, _DATA = (1, 2, 3, 4, 6, 8, 12, 16), (1, 2, 4, 8, 16)

Random = np.random.Generator
World = Callable[[float, Mapping[str, float], Random, Mapping[str, float]], float]  # a run: mean, settings, dice, study


def _scattered(mean: float, cv: float, random: Random) -> float:
    return mean * float(np.exp(random.normal(0, cv)))


def calm(mean: float, at: Mapping[str, float], random: Random, study: Mapping[str, float]) -> float:
    return _scattered(mean, 0.05, random)


def noisy(mean: float, at: Mapping[str, float], random: Random, study: Mapping[str, float]) -> float:
    return _scattered(mean, 0.3, random)


def days(mean: float, at: Mapping[str, float], random: Random, study: Mapping[str, float]) -> float:
    return calm(mean * (study["day"] if random.random() < 0.5 else 1), at, random, study)


def stragglers(mean: float, at: Mapping[str, float], random: Random, study: Mapping[str, float]) -> float:
    return calm(mean * (random.uniform(2, 4) if random.random() < 0.1 else 1), at, random, study)


def two_jobs(mean: float, at: Mapping[str, float], random: Random, study: Mapping[str, float]) -> float:
    return calm(mean * (2 if random.random() < 0.3 else 1), at, random, study)


def steps(mean: float, at: Mapping[str, float], random: Random, study: Mapping[str, float]) -> float:
    tasks = 6 * at["data_gb"] / at["machines"]
    return calm(mean * np.ceil(tasks) / tasks if tasks > 0.5 else mean, at, random, study)


def waves(mean: float, at: Mapping[str, float], random: Random, study: Mapping[str, float]) -> float:
    swing = np.sin(2.5 * np.log(at["machines"]) + study["phase"]) + np.sin(2 * np.log(at["data_gb"]))
    return calm(mean * float(np.exp(0.15 * swing)), at, random, study)


WORLDS: dict[str, World] = {
    "calm": calm,
    "noisy": noisy,
    "days": days,
    "stragglers": stragglers,
    "two jobs": two_jobs,
    "steps": steps,
    "waves": waves,
}


def study(world: World, model: str, n: int, random: Random) -> list[float]:
    """Of one study: the share in the 90 % interval, and within each promise."""
    serial, power, growth = random.uniform(0, 60), random.uniform(0.6, 1.1), random.uniform(0.7, 1.2)
    of_study = {"day": float(np.exp(random.choice([-0.2, 0.2]))), "phase": float(random.uniform(0, 6))}

    def run(at: Mapping[str, float]) -> float:
        mean = serial + 100 * at["data_gb"] ** growth / at["machines"] ** power
        return float(world(mean, at, random, of_study))

    grid: list[dict[str, Level]] = [{"machines": m, "data_gb": d} for m in _MACHINES for d in _DATA]
    chosen = [grid[i] for i in random.choice(len(grid), n, replace=False)]
    learned = Dataset(("machines", "data_gb"), tuple(Observation(at, {"time_s": run(at)}) for at in chosen))
    fitted = MODELS.get(model)().fit(learned, "time_s")
    asked = [grid[i] for i in random.choice(len(grid), _ASKED)]
    times = np.array([run(at) for at in asked])
    low, high = np.array(fitted.interval(asked)).T
    ends = [np.array(fitted.interval(asked, level=abs(2 * p - 1)))[:, 1] for p in PROMISED]
    return [float(((low <= times) & (times <= high)).mean()), *(float((times <= end).mean()) for end in ends)]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--n", type=int, default=10)
    parser.add_argument("--studies", type=int, default=100)
    parser.add_argument("--model", default="auto")
    parser.add_argument("--worlds", default=",".join(WORLDS))
    parser.add_argument("--seed", type=int, default=0)
    options = parser.parse_args()
    print(f"{'world':12}in 90 %          within the promise of {'  '.join(f'{p:<5}' for p in PROMISED)}")
    for name in options.worlds.split(","):
        rows = np.array(
            [
                study(WORLDS[name], options.model, options.n, np.random.default_rng((options.seed, number)))
                for number in range(options.studies)
            ]
        )
        means, error = rows.mean(axis=0), rows[:, 0].std(ddof=1) / np.sqrt(len(rows))
        told = "  ".join(f"{mean:.3f}" for mean in means[1:])
        print(f"{name:12}{means[0]:.3f} ({error:.3f}) {'':21}  {told}", flush=True)


if __name__ == "__main__":
    main()
