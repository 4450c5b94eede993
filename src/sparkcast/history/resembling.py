"""A job that never ran, from jobs of the store that resemble it.

In what they read, on how many slots and how much memory they ran, in the words of their names and programs, and, where
the job runs already, in the operators and stages that it is made of so far.
"""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from math import log, sqrt

import numpy as np

from sparkcast.history.mixture import StudentMixture
from sparkcast.history.points import RunPoint
from sparkcast.history.shapes import in_common
from sparkcast.study import AppRecord

_FEWEST = 5  # jobs
_LAST = 10  # runs of each, whose middle stands for it
_REACH = 1.0  # of the logarithm of input and slots, within which jobs resemble each other
_LEAST_SD = 0.4  # jobs are as different as this, even where those of the store are all alike
_NAMED = 3
_UNLIKE_WORDS, _UNLIKE_SHAPE = 1.5, 4.0  # squares of the distance of jobs that have none in common
_UNKNOWN = 4.0  # the same of what is not known of the other job
_WORD = re.compile(r"[a-z]{2,}")
_SAYS_NOTHING = frozenset("spark job etl app main py jar com org run daily nightly hourly".split())


@dataclass(frozen=True, slots=True)
class NewJob:
    """What is known of a job that never ran."""

    input_size: float | None = None  # bytes
    slots: int | None = None
    memory: int | None = None  # bytes of heap of an executor
    words: frozenset[str] = frozenset()
    shape: Mapping[str, int] = field(default_factory=dict)  # as far as it has run


def words_of(*texts: str) -> frozenset[str]:
    """Of names and programs, those that say what a job is about."""
    found = {word for text in texts for word in _WORD.findall(re.sub(r"([a-z])([A-Z])", r"\1 \2", text).lower())}
    return frozenset(found - _SAYS_NOTHING)


@dataclass(frozen=True, slots=True)
class Resembling:
    """The logarithm of the time of a job that never ran, and the jobs that it is mostly taken from."""

    time: StudentMixture
    jobs: tuple[str, ...]
    n_jobs: int


def resembling(jobs: Mapping[str, Sequence[RunPoint]], asked: NewJob) -> Resembling | None:
    """Wide, from all jobs, those nearer counting more. None where there are too few jobs."""
    known = {name: list(points)[-_LAST:] for name, points in jobs.items() if points}
    if len(known) < _FEWEST:
        return None
    names = [*known]
    levels = np.array([float(np.median([log(point.total_s) for point in known[name]])) for name in names])
    apart = np.array([_distance(name, known[name], asked) for name in names])
    weights = np.exp(-0.5 * (apart - apart.min())) + 0.05  # none counts for nothing: wide rather than wrong
    weights /= weights.sum()
    mean = float(weights @ levels)
    worth = 1 / float((weights**2).sum())
    sd = sqrt(max(float(weights @ (levels - mean) ** 2) * (1 + 2 / worth), _LEAST_SD**2))
    nearest = np.argsort(-weights, kind="stable")[:_NAMED]
    mixture = StudentMixture(np.array([mean]), np.array([sd]), np.array([1.0]), max(worth - 1, 3.0))
    return Resembling(mixture, tuple(names[place] for place in nearest), len(names))


def _distance(name: str, points: Sequence[RunPoint], asked: NewJob) -> float:
    """The square of it."""
    record = next((point.record for point in reversed(points) if point.record is not None), None)
    apart = 0.0
    if asked.input_size:
        apart += _apart([point.input_size for point in points], asked.input_size)
    if asked.slots:
        apart += _apart([float(point.slots or 0) for point in points], asked.slots)
    if asked.memory:
        apart += _apart([float(record.memory.heap)] if record else [], asked.memory)
    if asked.words:
        own = words_of(name, *_program(record))
        apart += _UNLIKE_WORDS * (1 - len(own & asked.words) / len(own | asked.words))
    if asked.shape:
        apart += _UNLIKE_SHAPE * (1 - in_common(asked.shape, record.shape)) if record and record.shape else _UNKNOWN
    return apart


def _program(record: AppRecord | None) -> tuple[str, ...]:
    """The last words of the command: the program and what it was given."""
    return () if record is None else tuple(record.command_line.split()[-3:])


def _apart(sizes: Sequence[float], size: float) -> float:
    """The square of the distance, in terms of the reach; that of one far off where nothing is known."""
    seen = [log(one) for one in sizes if one > 0]
    return ((float(np.median(seen)) - log(size)) / _REACH) ** 2 if seen else _UNKNOWN
