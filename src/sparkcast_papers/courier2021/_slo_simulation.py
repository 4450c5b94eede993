"""Many jobs with random deadlines, for all of whose batch sizes it was measured what happens."""

import dataclasses
from collections.abc import Sequence
from dataclasses import dataclass

from sparkcast.arrays import Bools, Floats, Ints
from sparkcast.errors import StudyError
from sparkcast.study import Configuration, Dataset, Observation
from sparkcast_papers.courier2021._slo_rules import REFUSED, Rule, oracles_rule

MEAN_S, DEVIATION_S = 300, 100  # Section 5.2
JOB = ("cpu", "njobs", "network")


@dataclass(frozen=True, slots=True)
class Job:
    """All that is given but the batch size, and what each batch size leads to."""

    candidates: tuple[Configuration, ...]  # from the smallest batch size to the largest
    times_s: tuple[float, ...]
    accuracies: tuple[float, ...]

    @property
    def oracle(self) -> Rule:
        return oracles_rule(self.times_s, self.accuracies)


@dataclass(frozen=True, slots=True)
class Counted:
    """How many jobs there are, and why some cannot be played."""

    everything: int
    accuracies_known: int  # of every batch size, be its time stale or not
    stale: int  # of these, with a stale time
    any_stale: int  # of all, with a stale time


@dataclass(frozen=True, slots=True, eq=False)
class Draws:
    jobs: Ints  # places
    deadlines_s: Floats
    random: Ints  # places among the candidates: what one takes who knows nothing
    redrawn: int  # deadlines that were not positive at first


@dataclass(frozen=True, slots=True)
class Outcome:
    """What a method reached. Shares are from 0 to 1; a deadline is feasible when the oracle meets it."""

    met_of_promised: float  # of feasible deadlines that were not refused
    met_of_feasible: float
    kept: float  # of all that were not refused, feasible or not
    accuracy: float  # measured, mean over feasible deadlines that were not refused
    oracles_accuracy: float  # over the same
    gap_where_met: float  # accuracy minus the oracle's, over those of them that were met
    refused: float  # of all deadlines
    refused_feasible: float  # of feasible ones
    larger: float  # share of the first, for which a larger batch than the oracle's was taken

    @property
    def accuracy_gap(self) -> float:
        return self.accuracy - self.oracles_accuracy


def job_of(configuration: Configuration) -> tuple[object, ...]:
    return tuple(configuration[name] for name in JOB)


def by_job(runs: Dataset) -> dict[tuple[object, ...], list[Observation]]:
    found: dict[tuple[object, ...], list[Observation]] = {}
    for run in sorted(runs.observations, key=lambda run: float(run.configuration["batch"])):
        found.setdefault(job_of(run.configuration), []).append(run)
    return found


def playable(clean: Dataset) -> dict[tuple[object, ...], Job]:
    """The jobs of which time and accuracy are known at every batch size."""
    n_batches = len({run.configuration["batch"] for run in clean.observations})
    jobs = {
        key: Job(
            tuple(run.configuration for run in runs),
            tuple(run.responses["time_s"] for run in runs),
            tuple(run.responses["accuracy"] for run in runs),
        )
        for key, runs in by_job(clean).items()
        if len(runs) == n_batches and all("accuracy" in run.responses for run in runs)
    }
    if not jobs:
        raise StudyError("no job has all accuracies", hint="complete the accuracy column for at least one job")
    return jobs


def count_jobs(runs: Dataset, stale: Sequence[int]) -> Counted:
    jobs = by_job(runs).values()
    known = [job for job in jobs if all("accuracy" in run.responses for run in job)]
    with_stale = [sum(any(run.position in stale for run in job) for job in some) for some in (known, jobs)]
    return Counted(len(jobs), len(known), *with_stale)


def without_job(runs: Dataset, job: tuple[object, ...]) -> Dataset:
    kept = tuple(run for run in runs.observations if job_of(run.configuration) != job)
    return dataclasses.replace(runs, observations=kept)


def draw(
    n: int, n_jobs: int, n_candidates: int, seed: int, mean_s: float = MEAN_S, deviation_s: float = DEVIATION_S
) -> Draws:
    import numpy as np

    random = np.random.default_rng(seed)
    deadlines_s = random.normal(mean_s, deviation_s, n)
    redrawn = 0
    while (wrong := deadlines_s <= 0).any():
        redrawn += int(wrong.sum())
        deadlines_s[wrong] = random.normal(mean_s, deviation_s, int(wrong.sum()))
    return Draws(random.integers(n_jobs, size=n), deadlines_s, random.integers(n_candidates, size=n), redrawn)


def chosen(rules: Sequence[Rule], draws: Draws) -> Ints:
    """What is taken in each draw, by the rule of its job."""
    import numpy as np

    taken = np.full(len(draws.jobs), REFUSED)
    for place, rule in enumerate(rules):
        own = draws.jobs == place
        taken[own] = rule.choose(draws.deadlines_s[own])
    return taken


def judge(taken: Ints, jobs: Sequence[Job], draws: Draws) -> Outcome:
    """What came of it, by what was measured."""
    import numpy as np

    times = np.array([job.times_s for job in jobs])
    accuracies = np.array([job.accuracies for job in jobs])
    best = chosen([job.oracle for job in jobs], draws)
    promised, feasible = taken != REFUSED, best != REFUSED
    # A refusal takes some candidate here as well; `promised` leaves it out.
    met = promised & (times[draws.jobs, taken] <= draws.deadlines_s)
    both = promised & feasible
    gaps = accuracies[draws.jobs, taken] - accuracies[draws.jobs, best]
    return Outcome(
        met_of_promised=_share(met, both),
        met_of_feasible=_share(met, feasible),
        kept=_share(met, promised),
        accuracy=_share(accuracies[draws.jobs, taken], both),
        oracles_accuracy=_share(accuracies[draws.jobs, best], both),
        gap_where_met=_share(gaps, both & met),
        refused=1 - float(promised.mean()),
        refused_feasible=_share(~promised, feasible),
        larger=_share(taken > best, both),
    )


def _share(values: Floats | Bools, of: Bools) -> float:
    """The mean of some."""
    return float(values[of].mean()) if of.any() else float("nan")
