"""What earlier workloads say about a new one.

Three things may carry over. What all of them have in common beyond the physical terms (a type of machine that is faster
than its cores and memory tell) moves the drawn jobs. The new workload may be like one of them, so each is a job itself.
Or it is like their mean.

Or nothing carries over: the drawn jobs are there as well as they were. How often each is true is learned from the
earlier workloads: each in turn is taken for the new one, and a few of its runs are more or less likely under what the
others say. Then the runs of the new workload itself decide.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass, field, replace

import numpy as np

from sparkcast.arrays import Floats
from sparkcast.search.base import Evaluation
from sparkcast.search.belief import Around, believe, fits, normalized, runs_of
from sparkcast.search.jobs import RARELY, JobGrid, together
from sparkcast.search.points import CandidateMeans, CandidatePoints, known_from
from sparkcast.search.posterior import Sampler, sampled
from sparkcast.study import Dataset

_BEFORE = 4.0  # workloads that what is usual counts as, when its probabilities are learned
_N_TRIED = 4  # runs of a workload by which that is judged, spread over the candidates
_STEPS = 50  # of expectation and maximization
_FAILS_TOO = 0.5  # probability that it then fails where that one did
_LEAST_RUNS = 3  # of a workload, with the settings of candidates, from which a shape can be learned
_MOST_RUNS = 300  # more add little but time
_TINY = 1e-300


@dataclass(frozen=True, slots=True)
class Carries:
    """What earlier workloads say about another, by how often."""

    nothing: float = 0.45
    in_common: float = 0.25
    one: float = 0.2  # it is like one of them
    mean: float = 0.1  # it is like their mean

    def of_curves(self, n: int) -> Floats:
        return np.array([*[self.one / (n - 1)] * (n - 1), self.mean])


@dataclass(frozen=True, slots=True)
class Prior:
    """Jobs, how probable each of them is, and the earlier workloads that said nothing about the candidates."""

    jobs: JobGrid  # those that were drawn, as they are and as moved, and the earlier workloads themselves
    weights: Floats
    ignored: tuple[str, ...] = ()
    in_common: Floats | None = None  # what moves those that were drawn
    curves: JobGrid | None = None  # the earlier workloads, and their mean in the last row
    carries: Carries = field(default_factory=Carries)

    def sources(self) -> list[tuple[float, Floats | float]]:
        """How probable it is that the job is one of those that can be drawn, and by how much they are then moved."""
        if self.in_common is None:
            return [(1.0, 0.0)]
        return [(self.carries.nothing, 0.0), (self.carries.in_common, self.in_common)]

    @property
    def of_curves(self) -> Floats:
        """How probable each of the curves is."""
        assert self.curves is not None
        return self.carries.of_curves(len(self.curves.log_times))


def prior_of(drawn: JobGrid, points: CandidatePoints, earlier: tuple[Dataset, ...]) -> Prior:
    even = np.full(len(drawn.log_times), 1 / len(drawn.log_times))
    runs = {i: _runs_of(data, points) for i, data in enumerate(earlier)}
    useful = [known for known in runs.values() if len(known.values) >= _LEAST_RUNS]
    ignored = tuple(data.name for i, data in enumerate(earlier) if len(runs[i].values) < _LEAST_RUNS)
    if not useful:
        return Prior(drawn, even, ignored)
    found = [_curve(drawn, even, points, known) for known in useful]
    shapes, moves = np.array([shape for shape, _ in found]), np.array([move for _, move in found])
    in_common = np.sum(moves, axis=0) / (len(moves) + 1)  # as if one more workload had not moved at all
    failures = np.array([_failures(known, len(points.candidates)) for known in useful])
    curves = _curves(shapes, failures, drawn)
    carries = _learned(drawn, points, useful, shapes, moves, failures)
    moved = replace(drawn, log_times=drawn.log_times + in_common)
    weights = np.concatenate(
        [even * carries.nothing, even * carries.in_common, carries.of_curves(len(curves.log_times))]
    )
    return Prior(together(drawn, moved, curves), weights, ignored, in_common, curves, carries)


def _curves(shapes: Floats, failures: Floats, drawn: JobGrid) -> JobGrid:
    """The workloads, and their mean."""
    centered = shapes - shapes.mean(axis=1, keepdims=True)
    rows = np.vstack([centered, centered.mean(axis=0)])
    fails = np.vstack([failures, failures.mean(axis=0)])
    return JobGrid(rows, fails, fails, drawn.room)


def _learned(
    drawn: JobGrid,
    points: CandidatePoints,
    known: Sequence[CandidateMeans],
    shapes: Floats,
    moves: Floats,
    failures: Floats,
) -> Carries:
    """How often each thing carries over: every earlier workload in turn is taken for the new one."""
    usual = Carries()
    before = np.array([usual.nothing, usual.in_common, usual.one, usual.mean])
    if len(known) < 2:
        return usual
    found: list[list[float]] = []
    for i, workload in enumerate(known):
        others = [k for k in range(len(known)) if k != i]
        told = runs_of(replace(workload, failed=(), limits={}), _some(workload, points))
        moved = replace(drawn, log_times=drawn.log_times + moves[others].sum(axis=0) / (len(others) + 1))
        curves = _curves(shapes[others], failures[others], drawn)
        agree = [fits(jobs, points.coordinates, Around(), told).logs for jobs in (drawn, moved, curves)]
        found.append([_evidence(agree[0]), _evidence(agree[1]), _evidence(agree[2][:-1]), float(agree[2][-1])])
    logs = np.array(found)
    likely = np.exp(logs - logs.max(axis=1, keepdims=True))
    shares = before
    for _ in range(_STEPS):
        belongs = shares * likely
        belongs /= belongs.sum(axis=1, keepdims=True)
        shares = (belongs.sum(axis=0) + _BEFORE * before) / (len(known) + _BEFORE)
    return Carries(*shares.tolist())


def _some(workload: CandidateMeans, points: CandidatePoints) -> dict[int, float]:
    """A few runs of a workload, spread over its candidates."""
    places = list(workload.values)
    order = np.argsort(points.coordinates[places].sum(axis=1), kind="stable")
    picked = order[np.linspace(0, len(order) - 1, min(_N_TRIED, len(order))).round().astype(int)]
    return {places[k]: workload.values[places[k]] for k in picked}


def _evidence(logs: Floats) -> float:
    most = float(logs.max())
    return most + math.log(float(np.exp(logs - most).mean()))


def posterior_of(prior: Prior, sampler: Sampler, numbers: Floats, rng: "np.random.Generator") -> tuple[JobGrid, Floats]:
    """Jobs after some runs and their weights: earlier workloads count by how likely they make the runs."""
    found: list[JobGrid] = []
    logs: list[Floats] = []
    for probability, moved in prior.sources():
        sample = sampled(replace(sampler, moved=moved), numbers, rng)
        n = len(sample.jobs.log_times)
        found.append(sample.jobs)
        logs.append(np.full(n, np.log(probability / n) + sample.evidence))
    if prior.curves is not None:
        found.append(prior.curves)
        agree = fits(prior.curves, sampler.points, sampler.around, sampler.told).logs
        logs.append(np.log(prior.of_curves) + agree)
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
