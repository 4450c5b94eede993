"""What earlier workloads say about a new one.

Two things carry over. What all of them have in common beyond the physical terms (a type of machine that is faster than
its cores and memory tell) moves every drawn job. And the new workload may be like one of them, so each is a job itself.
The mean of their times would be neither: it says most about the workloads that happen to be among them.
"""

from dataclasses import dataclass

from sparkcast.arrays import Floats
from sparkcast.search.base import Evaluation
from sparkcast.search.belief import Around, believe
from sparkcast.search.jobs import RARELY, Jobs
from sparkcast.search.points import Known, Points, known_from
from sparkcast.study import Dataset

_LIKE_ONE = 0.5  # prior probability that the new workload is like one of the earlier ones
_FAILS_TOO = 0.5  # probability that it then fails where that one did
_LEAST_RUNS = 3  # of a workload, with the settings of candidates, from which a shape can be learned
_MOST_RUNS = 300  # more add little but time
_TINY = 1e-300


@dataclass(frozen=True, slots=True)
class Prior:
    """Jobs, how probable each of them is, and the earlier workloads that said nothing about the candidates."""

    jobs: Jobs
    weights: Floats
    ignored: tuple[str, ...] = ()


def prior_of(drawn: Jobs, points: Points, earlier: tuple[Dataset, ...]) -> Prior:
    import numpy as np

    even = np.full(len(drawn.log_times), 1 / len(drawn.log_times))
    runs = {i: _runs_of(data, points) for i, data in enumerate(earlier)}
    useful = [known for known in runs.values() if len(known.values) >= _LEAST_RUNS]
    ignored = tuple(data.name for i, data in enumerate(earlier) if len(runs[i].values) < _LEAST_RUNS)
    if not useful:
        return Prior(drawn, even, ignored)
    curves, moves = zip(*(_curve(drawn, even, points, known) for known in useful), strict=True)
    in_common = np.sum(moves, axis=0) / (len(moves) + 1)  # as if one more workload had not moved at all
    failures = [_failures(known, len(points.candidates)) for known in useful]
    jobs = Jobs(np.vstack([drawn.log_times + in_common, *curves]), np.vstack([drawn.failures, *failures]))
    weights = np.concatenate([even * (1 - _LIKE_ONE), np.full(len(useful), _LIKE_ONE / len(useful))])
    return Prior(jobs, weights, ignored)


def _runs_of(data: Dataset, points: Points) -> Known:
    """The runs of candidates, as logarithms of their times."""
    import numpy as np

    time = data.vocabulary.time
    evaluations = [
        Evaluation(run.configuration, float(np.log(max(run.responses[time], _TINY))) if run.ok and time else None)
        for run in data.observations
        if not run.ok or time in run.responses
    ]
    known = known_from(evaluations, points)
    kept = list(known.values)[:: -(-len(known.values) // _MOST_RUNS) or 1]
    return Known({place: known.values[place] for place in kept}, {}, known.failed)


def _curve(drawn: Jobs, even: Floats, points: Points, known: Known) -> tuple[Floats, Floats]:
    """The workload at every candidate, and how far it lies from the drawn jobs that are most like it."""
    belief = believe(drawn, even, points.coordinates, Around(), known.values, known.failed)
    curve = belief.weights @ belief.means
    beyond = curve - belief.weights @ drawn.log_times
    return curve, beyond - beyond.mean()


def _failures(known: Known, n_candidates: int) -> Floats:
    import numpy as np

    failures = np.full(n_candidates, RARELY)
    failures[list(known.failed)] = _FAILS_TOO
    return failures
