"""A job that never ran, from jobs of the store that resemble it: in what they read and on how much they ran."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from math import log, sqrt

import numpy as np

from sparkcast.history.mixture import StudentMixture
from sparkcast.history.points import RunPoint

_FEWEST = 5  # jobs
_LAST = 10  # runs of each, whose middle stands for it
_REACH = 1.0  # of the logarithm of input and slots, within which jobs resemble each other
_LEAST_SD = 0.4  # jobs are as different as this, even where those of the store are all alike
_NAMED = 3


@dataclass(frozen=True, slots=True)
class Resembling:
    """The logarithm of the time of a job that never ran, and the jobs that it is mostly taken from."""

    time: StudentMixture
    jobs: tuple[str, ...]
    n_jobs: int


def resembling(
    jobs: Mapping[str, Sequence[RunPoint]], *, input_size: float | None = None, slots: int | None = None
) -> Resembling | None:
    """Wide, from all jobs, those nearer in input and slots counting more. None where there are too few jobs."""
    known = {name: list(points)[-_LAST:] for name, points in jobs.items() if points}
    if len(known) < _FEWEST:
        return None
    names = [*known]
    levels = np.array([float(np.median([log(point.total_s) for point in known[name]])) for name in names])
    apart = np.zeros(len(names))
    if input_size:
        apart += np.array([_apart([point.input_size for point in known[name]], input_size) for name in names])
    if slots:
        apart += np.array([_apart([float(point.slots or 0) for point in known[name]], slots) for name in names])
    weights = np.exp(-0.5 * apart) + 0.05  # none counts for nothing: wide rather than wrong
    weights /= weights.sum()
    mean = float(weights @ levels)
    worth = 1 / float((weights**2).sum())
    sd = sqrt(max(float(weights @ (levels - mean) ** 2) * (1 + 2 / worth), _LEAST_SD**2))
    nearest = np.argsort(-weights, kind="stable")[:_NAMED]
    mixture = StudentMixture(np.array([mean]), np.array([sd]), np.array([1.0]), max(worth - 1, 3.0))
    return Resembling(mixture, tuple(names[place] for place in nearest), len(names))


def _apart(sizes: Sequence[float], size: float) -> float:
    """The square of the distance, in terms of the reach; that of one far off where nothing is known."""
    seen = [log(one) for one in sizes if one > 0]
    return ((float(np.median(seen)) - log(size)) / _REACH) ** 2 if seen else 4.0
