"""What measured jobs are like in general: where the numbers of `sparkcast.fitting.prior` come from.

    python benchmarks/priors.py --data DIR [--only c3o,bell,scout,courier,polimi] [--n 40] [--draws 3] [--seed 0]

DIR holds the folders c3o, bell, scout, courier2021 and polimi2019. From up to n random configurations of a job, all
with their repeats, the Bayesian model learns; what it then thinks of its quantities is pooled, every job counting the
same. The columns: the number in use, that of all jobs, and those of all jobs but one data set's, so that one sees
whether a single data set decides.

- sizes: median, and standard deviation of the logarithm;
- powers: mean and standard deviation of what particles expect, by role (how unsure each of them still is, is not in
  it); `one of 2`: two settings of a job mean the same and share the power;
- chances: share of the fits in which it is likelier than not, and in brackets its mean probability, which is what the
  number in use says. `growth` and `proportion` are asked of fits in which a serial part is likelier than not.

Using the pooled numbers instead would be one step of expectation maximization. Where runs say little of a quantity, the
pooled number is near the one in use for that reason alone.
"""

import argparse
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Literal
from zlib import crc32

import numpy as np
from _jobs import CLUSTERS, Job, jobs

from sparkcast.arrays import Bools, Floats
from sparkcast.fitting import prior
from sparkcast.fitting.posterior import Posterior, posterior_of
from sparkcast.fitting.problem import pose
from sparkcast.fitting.uncertainty import one_thread
from sparkcast.study import Role

PARTICLES = 64  # of each fit: more configurations leave a fit with more of them
Kind = Literal["size", "power", "chance"]
Number = tuple[float, ...]
TITLES: dict[Kind, str] = {
    "size": "sizes: median, standard deviation of the logarithm",
    "power": "powers: mean, standard deviation",
    "chance": "chances: how often likelier than not (mean probability)",
}


@dataclass(frozen=True, slots=True)
class Said:
    """What one fit thinks of one quantity: a value per particle; of a chance whether it is there."""

    job: Job
    kind: Kind
    quantity: str
    in_use: Number
    values: Floats


# ---------------------------------------------------------------- learning


def learn(job: Job, n: int, number: int, seed: int) -> Posterior:
    """The same for the same seed, whatever else is run."""
    runs = job.data.observations
    configurations = sorted({job.data.key(run) for run in runs}, key=str)
    random = np.random.default_rng((seed, crc32(job.label.encode()), number))
    chosen = {configurations[i] for i in random.permutation(len(configurations))[:n]}
    some = tuple(run for run in runs if job.data.key(run) in chosen)
    return posterior_of(pose(replace(job.data, observations=some), job.response), seed=number)


def said_by(job: Job, posterior: Posterior) -> Iterator[Said]:
    law = posterior.law
    some = np.linspace(0, len(law.known.noise) - 1, PARTICLES).astype(int)
    known, terrain = law.known.take(some), law.terrain
    lengths = (prior._LENGTH[0], float(np.hypot(prior._LENGTH[1], prior._LENGTH_EACH)))
    sizes: list[tuple[str, Number, Floats]] = [
        ("noise", prior._NOISE, known.noise),
        ("between", prior._BETWEEN, known.between),
        ("remainder", prior._REMAINDER, known.remainder),
        ("lengths", lengths, known.lengths),
        ("offsets", prior._OFFSET, known.offsets),
        ("distance", prior._DISTANCE, known.distance if terrain.n_categories else known.distance[:0]),
        ("cliff", prior._CLIFF, known.cliff[known.cliff > 0]),
    ]
    for name, in_use, values in sizes:
        yield Said(job, "size", name, in_use, np.log(values).ravel())
    powers = power_means(posterior)[some]
    for j in range(len(terrain.roles)):
        name, in_use = power_of(terrain, j)
        yield Said(job, "power", name, in_use, powers[:, j])
    yield Said(job, "chance", "serial part", (1 - prior._NO_SERIAL_PART,), as_numbers(known.serial > 0))
    if terrain.places(Role.MEMORY):
        yield Said(job, "chance", "cliff", (prior._HAS_CLIFF,), as_numbers(known.cliff > 0))
    for j in unknown(terrain):
        for chance, mean, _ in prior._UNKNOWN_POWERS:
            is_near = known.power_means[:, j] == mean
            yield Said(job, "chance", f"unknown power near {mean:g}", (chance,), as_numbers(is_near))
    if np.mean(known.serial > 0) > 0.5:
        if terrain.places(Role.MACHINES, Role.TOTAL_CORES):
            yield Said(job, "chance", "growth", (prior._GROWS_WITH_MACHINES,), as_numbers(known.growth > 0))
        for j, role in enumerate(terrain.roles):
            if role in prior._IN_PROPORTION:
                in_use = (prior._IN_PROPORTION[role],)
                yield Said(job, "chance", f"proportion to {role}", in_use, as_numbers(known.proportion[:, j] > 0))


def as_numbers(are: Bools) -> Floats:
    return are.astype(np.float64)


def power_means(posterior: Posterior) -> Floats:
    """The power of each number that a particle expects, given the runs."""
    known = posterior.law.known
    found: Floats = known.power_means + known.power_spreads**2 * (posterior.heights @ posterior.rows.numbers)
    return found


def power_of(terrain: prior.Terrain, j: int) -> tuple[str, Number]:
    """What a power is called here, and what is expected of it."""
    role, known = terrain.roles[j], terrain.power(j)
    if known is None:
        return "unknown", ()
    if not terrain.are_logs[j]:
        return "linear", known
    if known == prior._POWERS.get(role):
        return str(role), known
    if known == prior._BATCH_OF_A_STEP:
        return "batch of a step", known
    if known == prior._UNKNOWN_POWERS[0][1:]:
        return f"{role} beside total cores", known
    return f"{role}, one of {round(prior._POWERS[role][0] / known[0])}", known


def unknown(terrain: prior.Terrain) -> list[int]:
    return [j for j in range(len(terrain.roles)) if terrain.power(j) is None]


# ---------------------------------------------------------------- over jobs


def pooled(kind: Kind, said: Sequence[Said]) -> Number:
    if kind == "chance":
        chances = [float(one.values.mean()) for one in said]
        return float(np.mean([chance > 0.5 for chance in chances])), float(np.mean(chances))
    by_job: dict[str, list[Floats]] = {}
    for one in said:
        by_job.setdefault(one.job.label, []).append(one.values)
    of_jobs = [np.concatenate(values) for values in by_job.values()]
    values = np.concatenate(of_jobs)
    weights = np.concatenate([np.full(len(own), 1 / len(own) / len(of_jobs)) for own in of_jobs])
    mean = float(weights @ values)
    spread = float(np.sqrt(weights @ (values - mean) ** 2))
    if kind == "power":
        return mean, spread
    order = np.argsort(values)
    middle = values[order][np.searchsorted(np.cumsum(weights[order]), 0.5)]
    return float(np.exp(middle)), spread


def shown(kind: Kind, number: Number) -> str:
    if not number:
        return "-"
    if len(number) == 1:
        return f"({number[0]:.2f})"
    form = {"size": "{:.3f}  {:.2f}", "power": "{:+.2f}  {:.2f}", "chance": "{:.2f} ({:.2f})"}[kind]
    return form.format(*number)


def tell(found: Sequence[Said], data_sets: Sequence[str]) -> None:
    columns = ["in use", "all jobs", *(f"no {name}" for name in data_sets)]
    for kind, title in TITLES.items():
        print(f"\n{title}")
        print(f"{'':28}{'jobs':>5}" + "".join(f"{name:>14}" for name in columns))
        for quantity in dict.fromkeys(one.quantity for one in found if one.kind == kind and len(one.values)):
            said = [one for one in found if (one.kind, one.quantity) == (kind, quantity) and len(one.values)]
            without = [[one for one in said if one.job.data_set != name] for name in data_sets]
            numbers = [said[0].in_use, *(pooled(kind, some) if some else () for some in (said, *without))]
            n_jobs = len({one.job.label for one in said})
            print(f"{quantity:28}{n_jobs:5}" + "".join(f"{shown(kind, number):>14}" for number in numbers))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data", type=Path, required=True)
    parser.add_argument("--only", default=",".join(CLUSTERS))
    parser.add_argument("--n", type=int, default=40)
    parser.add_argument("--draws", type=int, default=3)
    parser.add_argument("--seed", type=int, default=0)
    options = parser.parse_args()
    data_sets = options.only.split(",")
    chosen = jobs(options.data, data_sets)
    found: list[Said] = []
    with one_thread():
        for job in chosen:
            for number in range(options.draws):
                found += said_by(job, learn(job, options.n, number, options.seed))
    print(f"{len(chosen)} jobs, up to {options.n} random configurations of each, {options.draws} draws")
    tell(found, data_sets)


if __name__ == "__main__":
    main()
