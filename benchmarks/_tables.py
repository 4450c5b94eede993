"""Tables of a few runs of a job that was measured in full: what is learned from, what may be chosen, and what it gives.

Half of the repeats of a configuration are learned from, one of the others is its next run. Where a configuration was
run once, the next run of one that was learned from is that run again, scattered like a repeat (`NOISE`): a run that
came back exactly would flatter whoever trusts it.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np
from _jobs import Job

from sparkcast.arrays import Bools, Floats, Ints
from sparkcast.study import Configuration, Dataset, Kind, Observation, Vocabulary

MOST_CANDIDATES = 400  # of tables of thousands
NOISE = 0.05  # standard deviation of repeats, of logarithms of times and of log-odds of shares


@dataclass(frozen=True, slots=True)
class Full:
    """A job with all responses that were measured of its runs."""

    label: str
    data_set: str
    data: Dataset
    work: tuple[str, ...]
    runs: Mapping[Configuration, list[Observation]]

    @property
    def responses(self) -> tuple[str, ...]:
        return self.data.responses


@dataclass(frozen=True, slots=True)
class Table:
    """What was run, and every configuration that may be chosen with what its next run gives."""

    full: Full
    n: int
    number: int
    learned: Dataset
    candidates: tuple[Configuration, ...]
    was_run: Bools
    measured: Mapping[str, Floats]  # by response: the mean of the runs learned from; not a number where there is none
    real: Mapping[str, Floats]

    @property
    def key(self) -> tuple[str, int, int]:
        return self.full.label, self.n, self.number


def full_jobs(jobs: Sequence[Job]) -> list[Full]:
    """Jobs of the same runs that follow each other, one for each response, are one."""
    found: list[list[Job]] = []
    for job in jobs:
        if found and _is_of_same_runs(found[-1], job):
            found[-1].append(job)
        else:
            found.append([job])
    return [_joined(alike) for alike in found]


def _is_of_same_runs(jobs: Sequence[Job], other: Job) -> bool:
    first = jobs[0]
    if other.data_set != first.data_set or other.response in {job.response for job in jobs}:
        return False
    own, others = first.data.observations, other.data.observations
    return [first.data.key(run) for run in own] == [other.data.key(run) for run in others]


def _joined(jobs: Sequence[Job]) -> Full:
    first = jobs[0].data
    together = zip(*(job.data.observations for job in jobs), strict=True)
    observations = tuple(
        replace(runs[0], responses={name: value for run in runs for name, value in run.responses.items()})
        for runs in together
    )
    responses = tuple(job.response for job in jobs)
    words = Vocabulary(first.vocabulary.settings, tuple(job.data.vocabulary.response(job.response) for job in jobs))
    data = replace(first, observations=observations, responses=responses, vocabulary=words)
    by_configuration: dict[Configuration, list[Observation]] = {}
    for run in observations:
        by_configuration.setdefault(data.key(run), []).append(run)
    label = jobs[0].label if len(jobs) == 1 else jobs[0].data_set
    return Full(label, jobs[0].data_set, data, jobs[0].work, by_configuration)


def draw_table(full: Full, n: int, number: int, random: np.random.Generator) -> Table | None:
    """`n` configurations at random; None where these vary nothing or leave nothing to choose."""
    configurations = list(full.runs)
    chosen = [configurations[i] for i in sorted(random.choice(len(configurations), n, replace=False).tolist())]
    levels = {factor: {c[factor] for c in chosen} for factor in full.data.factors}
    varied = tuple(factor for factor, seen in levels.items() if len(seen) > 1)
    others = [c for c in configurations if c not in set(chosen) and all(_is_known(c[f], levels[f]) for f in levels)]
    if not varied or not others:
        return None
    if len(others) > MOST_CANDIDATES:
        others = [others[i] for i in sorted(random.choice(len(others), MOST_CANDIDATES, replace=False).tolist())]
    learned: list[Observation] = []
    real: dict[str, list[float]] = {name: [] for name in full.responses}
    measured: dict[str, list[float]] = {name: [] for name in full.responses}
    for place, c in enumerate((*chosen, *others)):
        runs, was_run = full.runs[c], place < n
        order = random.permutation(len(runs))
        own, later = order[: (len(runs) + 1) // 2], order[(len(runs) + 1) // 2 :]
        if was_run:
            learned += [runs[i] for i in own]
        again = runs[int(later[0])] if len(later) else runs[0]
        for name in full.responses:
            value = again.responses[name]
            kind = full.data.vocabulary.response(name).kind
            real[name].append(_scattered(value, kind, random) if was_run and not len(later) else value)
            measured[name].append(float(np.mean([runs[i].responses[name] for i in own])) if was_run else np.nan)
    return Table(
        full,
        n,
        number,
        replace(full.data, factors=varied, observations=tuple(learned)),
        tuple(c.only(varied) for c in (*chosen, *others)),
        np.arange(len(chosen) + len(others)) < len(chosen),
        {name: np.array(values) for name, values in measured.items()},
        {name: np.array(values) for name, values in real.items()},
    )


def _is_known(level: object, seen: set[object]) -> bool:
    return level in seen if isinstance(level, str) or len(seen) == 1 else True


def _scattered(value: float, kind: Kind, random: np.random.Generator) -> float:
    if kind is Kind.SHARE:
        share = min(max(value, 1e-4), 1 - 1e-4)
        odds = share / (1 - share) * np.exp(NOISE * random.standard_normal())
        return float(odds / (1 + odds))
    return float(value * np.exp(NOISE * random.standard_normal()))


def same_work(table: Table, as_row: int) -> Ints:
    """The candidates that do the same work as one of them: what the job is to do is no choice."""
    varied = [name for name in table.full.work if name in table.learned.factors]
    given = table.candidates[as_row]
    return np.array([i for i, c in enumerate(table.candidates) if all(c[name] == given[name] for name in varied)])
