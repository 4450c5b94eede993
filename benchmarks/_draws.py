"""Small studies of a job that was measured in full: a few of its configurations to learn from, the others to ask about.

Configurations are drawn at random, chosen as an `optimal` design, or drawn `beyond`: among those up to some level of a
number, to be asked about what lies above. All repeats of a configuration are on one side. Of a category that was never
seen, and of another value of a setting that the study never varied, nothing can be known: such configurations are not
asked about.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import combinations
from zlib import crc32

import numpy as np
from _jobs import Job

from sparkcast.arrays import Floats, Ints
from sparkcast.designs._exchange import ExchangeProblem, best_runs
from sparkcast.study import Configuration, Dataset, Level, Observation
from sparkcast.study.formula import make_formula
from sparkcast.study.matrix import Coding, model_matrix

FEWEST_LEFT = 4  # configurations that a study of this size leaves over
FEWEST_ASKED = 3
MOST_ASKED = 500  # of tables of thousands: more add time and no precision


@dataclass(frozen=True, slots=True)
class Draw:
    """`learned` without the settings that it never varies; of each configuration asked about all runs."""

    learned: Dataset
    asked: tuple[Configuration, ...]
    runs: tuple[tuple[float, ...], ...]
    is_inside: tuple[bool, ...]  # every number between the least and the largest that was learned
    fingerprint: int  # of the chosen configurations: the same in two runs of the benchmark if they learned the same


def sizes_for(job: Job, sizes: Sequence[int]) -> list[int]:
    return [n for n in sizes if n + FEWEST_LEFT <= len(_by_configuration(job))]


def draw(job: Job, design: str, n: int, random: np.random.Generator) -> Draw | None:
    """A study of `n` configurations; None if it teaches too little to ask about anything."""
    runs = _by_configuration(job)
    configurations = list(runs)
    split = _SPLITS[design](configurations, n, random)
    if split is None:
        return None
    chosen, others = split
    learned = [configurations[i] for i in sorted(chosen)]
    levels = {factor: {c[factor] for c in learned} for factor in job.data.factors}
    varied = tuple(factor for factor, seen in levels.items() if len(seen) > 1)
    left = [configurations[i] for i in others]
    asked = [c for c in left if all(_is_known(c[factor], seen) for factor, seen in levels.items())]
    if not varied or len(asked) < FEWEST_ASKED:
        return None
    if len(asked) > MOST_ASKED:
        asked = [asked[i] for i in sorted(random.choice(len(asked), MOST_ASKED, replace=False).tolist())]
    return Draw(
        replace(job.data, factors=varied, observations=tuple(run for c in learned for run in runs[c])),
        tuple(asked),
        tuple(tuple(run.responses[job.response] for run in runs[c]) for c in asked),
        tuple(all(_is_within(c[factor], levels[factor]) for factor in varied) for c in asked),
        crc32(repr([sorted(c.items()) for c in learned]).encode()),
    )


def _by_configuration(job: Job) -> dict[Configuration, list[Observation]]:
    found: dict[Configuration, list[Observation]] = {}
    for run in job.data.observations:
        found.setdefault(job.data.key(run), []).append(run)
    return found


def _is_known(level: Level, seen: set[Level]) -> bool:
    return level in seen if isinstance(level, str) or len(seen) == 1 else True


def _is_within(level: Level, seen: set[Level]) -> bool:
    numbers = [x for x in seen if isinstance(x, (int, float))]
    return min(numbers) <= level <= max(numbers) if isinstance(level, (int, float)) else True


# ---------------------------------------------------------------- designs


Split = tuple[list[int], list[int]]  # configurations to learn from, and those to ask about


def _random(configurations: Sequence[Configuration], n: int, random: np.random.Generator) -> Split:
    return _and_others([int(i) for i in random.choice(len(configurations), n, replace=False)], len(configurations))


def _and_others(chosen: list[int], n: int) -> Split:
    return chosen, sorted(set(range(n)) - set(chosen))


def _beyond(configurations: Sequence[Configuration], n: int, random: np.random.Generator) -> Split | None:
    """Some of those up to a level of one number, to ask about those above it: more machines, more data, ...

    The number and the level are drawn, among those with two levels below and enough configurations on both sides.
    """
    cuts = [
        (below, above)
        for name in configurations[0]
        if all(isinstance(c[name], (int, float)) for c in configurations)
        for level in sorted({c[name] for c in configurations}, key=float)[1:-1]
        for below, above in [_cut([float(c[name]) for c in configurations], float(level))]
        if len(below) >= n and len(above) >= FEWEST_ASKED
    ]
    if not cuts:
        return None
    below, above = cuts[int(random.integers(len(cuts)))]
    return [int(i) for i in random.choice(below, n, replace=False)], above


def _cut(values: Sequence[float], level: float) -> Split:
    return _and_others([i for i, value in enumerate(values) if value <= level], len(values))


def _optimal(configurations: Sequence[Configuration], n: int, random: np.random.Generator) -> Split:
    """The D-optimal design of sparkcast among what was measured, without its repeats: these were all measured anyway.

    In place of a repeat comes the best of those that are left.
    """
    rows = _terms(configurations, n - 2, random)
    chosen: list[int] = []
    while len(chosen) < n:
        left = np.setdiff1d(np.arange(len(rows)), chosen)
        seed = int(random.integers(2**31))
        found = best_runs(ExchangeProblem(rows[left], np.ones(len(left))), n - len(chosen), seed)
        chosen += np.unique(left[found]).tolist()
    return _and_others(chosen, len(configurations))


_SPLITS = {"random": _random, "optimal": _optimal, "beyond": _beyond}
DESIGNS = tuple(_SPLITS)


def _terms(configurations: Sequence[Configuration], most: int, random: np.random.Generator) -> Floats:
    """Trends, bends and pairs, in this order, as far as they can be told apart and the runs suffice.

    The settings are in random order, so that where they are too many for the runs each has its turn.
    """
    names = [str(name) for name in random.permutation(list(configurations[0]))]
    coding = Coding.of({name: [c[name] for c in configurations] for name in names})
    columns = model_matrix(make_formula(coding, names, list(combinations(names, 2))), coding.frame(configurations))
    return columns[:, _independent(columns)[:most]]


def _independent(columns: Floats) -> Ints:
    """The columns that are no combination of those before them."""
    kept: list[int] = []
    basis = np.empty((len(columns), 0))
    for j in range(columns.shape[1]):
        rest = columns[:, j] - basis @ (basis.T @ columns[:, j])
        if np.linalg.norm(rest) > 1e-6 * np.linalg.norm(columns[:, j]):
            kept.append(j)
            basis = np.column_stack([basis, rest / np.linalg.norm(rest)])
    return np.array(kept, dtype=np.intp)
