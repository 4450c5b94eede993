"""What earlier workloads say about a new one.

Two things may carry over. What all of them have in common beyond the physical terms (a type of machine that is faster
than its cores and memory tell) moves the drawn jobs. And the new workload may be like one of them, so each is a job
itself. The mean of their times would be neither: it says most about the workloads that happen to be among them.

Or nothing carries over: the drawn jobs are there as well as they were. What counts more is decided by the runs of the
new workload itself, which are likely under some of these jobs and unlikely under others.
"""

from dataclasses import dataclass, replace

import numpy as np

from sparkcast.arrays import Floats
from sparkcast.search.base import Evaluation
from sparkcast.search.belief import Around, believe, fits, normalized, runs_of
from sparkcast.search.jobs import RARELY, JobGrid, together
from sparkcast.search.points import CandidateMeans, CandidatePoints, known_from
from sparkcast.search.posterior import Sampler, sampled
from sparkcast.study import Dataset

_NOTHING_COMMON = 0.5  # prior probability that earlier workloads say nothing about this one
_LIKE_ONE = 0.25  # that it is like one of them
_FAILS_TOO = 0.5  # probability that it then fails where that one did
_LEAST_RUNS = 3  # of a workload, with the settings of candidates, from which a shape can be learned
_MOST_RUNS = 300  # more add little but time
_TINY = 1e-300


@dataclass(frozen=True, slots=True)
class Prior:
    """Jobs, how probable each of them is, and the earlier workloads that said nothing about the candidates."""

    jobs: JobGrid  # those that were drawn, as they are and as moved, and the earlier workloads themselves
    weights: Floats
    ignored: tuple[str, ...] = ()
    in_common: Floats | None = None  # what moves those that were drawn
    curves: JobGrid | None = None  # the earlier workloads

    def sources(self) -> list[tuple[float, Floats | float]]:
        """How probable it is that the job is one of those that can be drawn, and by how much they are then moved."""
        if self.in_common is None:
            return [(1.0, 0.0)]
        return [(_NOTHING_COMMON, 0.0), (1 - _NOTHING_COMMON - _LIKE_ONE, self.in_common)]


def prior_of(drawn: JobGrid, points: CandidatePoints, earlier: tuple[Dataset, ...]) -> Prior:
    even = np.full(len(drawn.log_times), 1 / len(drawn.log_times))
    runs = {i: _runs_of(data, points) for i, data in enumerate(earlier)}
    useful = [known for known in runs.values() if len(known.values) >= _LEAST_RUNS]
    ignored = tuple(data.name for i, data in enumerate(earlier) if len(runs[i].values) < _LEAST_RUNS)
    if not useful:
        return Prior(drawn, even, ignored)
    shapes, moves = zip(*(_curve(drawn, even, points, known) for known in useful), strict=True)
    in_common = np.sum(moves, axis=0) / (len(moves) + 1)  # as if one more workload had not moved at all
    failures = np.array([_failures(known, len(points.candidates)) for known in useful])
    curves = JobGrid(np.array(shapes), failures, failures, drawn.room)
    moved = replace(drawn, log_times=drawn.log_times + in_common)
    weights = np.concatenate(
        [
            even * _NOTHING_COMMON,
            even * (1 - _NOTHING_COMMON - _LIKE_ONE),
            np.full(len(useful), _LIKE_ONE / len(useful)),
        ]
    )
    return Prior(together(drawn, moved, curves), weights, ignored, in_common, curves)


def posterior_of(prior: Prior, sampler: Sampler, numbers: Floats, rng: "np.random.Generator") -> tuple[JobGrid, Floats]:
    """Jobs after some runs and their weights: earlier workloads count by how likely they make the runs."""
    found, logs = [], []
    for probability, moved in prior.sources():
        sample = sampled(replace(sampler, moved=moved), numbers, rng)
        n = len(sample.jobs.log_times)
        found.append(sample.jobs)
        logs.append(np.full(n, np.log(probability / n) + sample.evidence))
    if prior.curves is not None:
        n = len(prior.curves.log_times)
        found.append(prior.curves)
        agree = fits(prior.curves, sampler.points, sampler.around, sampler.told).logs
        logs.append(np.log(_LIKE_ONE / n) + agree)
    return together(*found), normalized(np.concatenate(logs))


def _runs_of(data: Dataset, points: CandidatePoints) -> CandidateMeans:
    """The runs of candidates, as logarithms of their times."""
    time = data.vocabulary.time
    times = [run.responses.get(time) if run.ok and time else None for run in data.observations]
    evaluations = [
        Evaluation(run.configuration, took and float(np.log(max(took, _TINY))), took, run.outcome)
        for run, took in zip(data.observations, times, strict=True)
        if not run.ok or took is not None
    ]
    known = known_from(evaluations, points)
    kept = list(known.values)[:: -(-len(known.values) // _MOST_RUNS) or 1]
    return replace(known, values={place: known.values[place] for place in kept})


def _curve(drawn: JobGrid, even: Floats, points: CandidatePoints, known: CandidateMeans) -> tuple[Floats, Floats]:
    """The workload at every candidate, and how far it lies from the drawn jobs that are most like it."""
    belief = believe(drawn, even, points.coordinates, Around(), runs_of(known, known.values))
    curve = belief.weights @ belief.means
    beyond = curve - belief.weights @ drawn.log_times
    return curve, beyond - beyond.mean()


def _failures(known: CandidateMeans, n_candidates: int) -> Floats:
    failures = np.full(n_candidates, RARELY)
    failures[list(known.failed)] = _FAILS_TOO
    return failures
