"""Jobs that could be the one searched for: how their times depend on the settings, and where they fail.

The times are those of the `scaling` models, with shares drawn at random: work done by one process, shared by all cores,
or shared by the machines (their disks and networks), and waiting that grows with the machines. Half of the jobs go over
data again and again that they keep in memory. When all machines together hold less than that, the share that is missing
is made again on every pass; or all of it, because the data that are needed last were dropped first (the usual fate of
a loop over a cache that drops what was used longest ago). Some of a machine's memory is never free for data.

Half of the jobs break where they have too little, or too much, of some resource: memory, where they run out of it,
cores, machines, or settings of which nothing is known.

Such settings make times longer or shorter by a power of them, categories by a ratio per level. Types of machines of
which nothing but a name is known have cores and memory all the same: each job has its own guess at them, near to what
their prices buy (see machine_types).
"""

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from sparkcast.arrays import Bools, Floats
from sparkcast.fitting.encoding import Axis
from sparkcast.search.machine_types import guessed_types
from sparkcast.search.numbers import Numbers
from sparkcast.search.points import CandidatePoints
from sparkcast.study import Role
from sparkcast.study.setting import PASSES, SIZES

_ROLES = {"machines": Role.MACHINES, "cores": Role.CORES, "memory": Role.MEMORY}
_AGAIN = (0.1, 30.0)  # the work of making dropped data again, in terms of the work itself
_TAKEN = 0.6  # at most, of the memory of the smallest machine: by its system and by Spark itself
_SLOPE_SD = 0.5  # of the power of an unknown setting
_LEVEL_SD = (0.05, 0.5)  # of the logarithm of the ratio of a level: some categories hardly matter, some do much
_TINY = 1e-12
RARELY = 0.02  # share of runs that fail, or succeed, against all reason


@dataclass(frozen=True, slots=True)
class JobGrid:
    """One row per job, one column per candidate."""

    log_times: Floats  # up to a constant of each job, which the first run shows
    failures: Floats  # probabilities, for other reasons than the time they take
    out_of_memory: Floats  # of these, the probabilities that it is memory that was lacking
    room: Floats  # for data in the memory of each candidate, as an expected logarithm; all alike where it is unknown


class JobLaws:
    """How jobs on these candidates may behave. Each job is told by some numbers between 0 and 1, all equally likely."""

    def __init__(self, points: CandidatePoints, per_second: Floats | None = None) -> None:
        """`per_second` is what a second of each candidate costs, where that is known."""
        self._points, self._per_second = points, per_second
        most = 100 + 4 * sum(len(axis.levels) for axis in points.domain.axes)
        numbers = Numbers(np.full((1, most), 0.5))
        self._made_of(numbers)
        self.n_numbers = numbers.used

    def jobs(self, numbers: Floats) -> JobGrid:
        """One for each row."""
        return self._made_of(Numbers(numbers))

    def _made_of(self, numbers: Numbers) -> JobGrid:
        points, known = self._points, role_columns(self._points)
        roles = {**known, **guessed_types(numbers, points, known, self._per_second)}
        machines, cores = roles.get("machines", np.ones(1)), roles.get("cores", np.ones(1))
        ones = np.ones(len(points.candidates))
        serial, by_core, by_machine, waiting = (_relative(ones * part) for part in _parts(machines, cores))
        shares = _shares(numbers)[:, :, None]
        divided = shares[:, 1] * by_core + shares[:, 2] * by_machine
        times = shares[:, 0] * serial + divided + shares[:, 3] * waiting
        free = _relative(ones * machines * _free(numbers, roles["memory"])) if "memory" in roles else ones
        needed = _within(numbers, free)
        times = times + _again(numbers) * _missing(numbers, free, needed) * divided
        failures, is_memory = _failures(numbers, points, roles, free, needed)
        log_times, room = np.log(times) + _others(numbers, points), np.log(free).reshape(-1, len(ones)).mean(axis=0)
        return JobGrid(log_times, failures, np.where(is_memory, failures, RARELY), room)


def together(*some: JobGrid) -> JobGrid:
    """All of them, on the same candidates."""
    return JobGrid(
        np.vstack([jobs.log_times for jobs in some]),
        np.vstack([jobs.failures for jobs in some]),
        np.vstack([jobs.out_of_memory for jobs in some]),
        some[0].room,
    )


def flat(jobs: JobGrid) -> JobGrid:
    """The same jobs where nothing is known of the answer, but of the failures."""
    return JobGrid(np.zeros_like(jobs.log_times), jobs.failures, jobs.out_of_memory, jobs.room)


def role_columns(points: CandidatePoints) -> dict[str, Floats]:
    """The settings whose meaning is known, by candidate."""
    columns = {axis.name: points.encoded[:, j] for j, axis in enumerate(points.domain.axes)}
    return {role: columns[name] for role, name in _role_names(points).items()}


def _role_names(points: CandidatePoints) -> dict[str, str]:
    positive = tuple(axis.name for axis in points.domain.axes if axis.is_positive)
    found = {part: points.domain.first(role, among=positive) for part, role in _ROLES.items()}
    return {part: name for part, name in found.items() if name is not None}


def _parts(machines: Floats, cores: Floats) -> tuple[Floats | float, ...]:
    return 1.0, 1 / (machines * cores), 1 / machines, machines


def _relative(values: Floats) -> Floats:
    """1 in the middle of the candidates, so that shares are shares of the time there."""
    relative: Floats = values / np.exp(np.log(values).mean(axis=-1, keepdims=True))
    return relative


def _shares(numbers: Numbers) -> Floats:
    """Of the four kinds of work: squares of normal numbers, which is Dirichlet's distribution with 1/2 (Jeffreys).

    Most of the time goes into one or two of them.
    """
    squares = numbers.normal(4) ** 2 + _TINY
    shares: Floats = squares / squares.sum(axis=1, keepdims=True)
    return shares


def _free(numbers: Numbers, memory: Floats) -> Floats:
    """What each machine has for data."""
    free: Floats = memory - _TAKEN * numbers.uniform() * memory.min(axis=-1, keepdims=True)
    return free


def _within(numbers: Numbers, values: Floats) -> Floats:
    logs = np.log(values)
    least, most = logs.min(axis=-1, keepdims=True), logs.max(axis=-1, keepdims=True)
    amounts: Floats = np.exp(least + numbers.uniform() * (most - least))
    return amounts


def _again(numbers: Numbers) -> Floats:
    work: Floats = numbers.between(*_AGAIN) * (numbers.uniform() < 0.5)
    return work


def _missing(numbers: Numbers, free: Floats, needed: Floats) -> Floats:
    share = np.maximum(0.0, 1 - free / needed)
    return np.where(numbers.uniform() < 0.5, share, share > 0)


def _others(numbers: Numbers, points: CandidatePoints) -> Floats:
    """The logarithm of what all other settings do."""
    found: Floats = np.zeros((1, len(points.candidates)))
    known = set(_role_names(points).values())
    for j, axis in enumerate(points.domain.axes):
        if axis.is_constant or axis.name in known:
            continue
        column = points.encoded[:, j]
        if axis.numbers is None:
            ratios = numbers.between(*_LEVEL_SD) * numbers.normal(len(axis.levels))
            found = found + ratios[:, column.astype(int)]
        elif axis.role in (*SIZES, *PASSES) and axis.is_positive:
            found = found + numbers.uniform() * np.log(column)  # between no matter and proportional
        else:
            found = found + _SLOPE_SD * numbers.normal() * _centered(axis, column)
    return found


def _centered(axis: Axis, column: Floats) -> Floats:
    values = np.log(column) if axis.is_positive else column / np.ptp(column)
    centered: Floats = values - values.mean()
    return centered


def _failures(
    numbers: Numbers, points: CandidatePoints, roles: Mapping[str, Floats], free: Floats, needed: Floats
) -> tuple[Floats, Bools]:
    """Half of the jobs fail below some amount of one resource; and whether that is memory, or may be."""
    resources = _resources(points, roles, free)
    which, least, does_fail = numbers.uniform(), numbers.uniform(), numbers.uniform() < 0.5
    fails, is_memory = np.zeros((len(which), len(points.candidates)), dtype=bool), np.ones((len(which), 1), dtype=bool)
    weights = np.array([resource.weight for resource in resources])
    ends = np.cumsum(weights / weights.sum()) if resources else weights
    for resource, end, share in zip(resources, ends, weights / weights.sum() if resources else (), strict=True):
        is_this = (which < end) & (which >= end - share) & does_fail
        low, high = resource.amounts.min(axis=-1, keepdims=True), resource.amounts.max(axis=-1, keepdims=True)
        high = np.log(needed) if resource.is_for_data else high  # who lacks that is slow, but need not fail
        fails |= is_this & (resource.amounts < low + least * (high - low))
        is_memory &= ~is_this | resource.may_be_memory
    return np.where(fails, 1 - RARELY, RARELY), is_memory


@dataclass(frozen=True, slots=True)
class _Resource:
    """What a job may need some amount of."""

    amounts: Floats
    weight: float = 1.0
    may_be_memory: bool = True
    is_for_data: bool = False


def _resources(points: CandidatePoints, roles: Mapping[str, Floats], free: Floats) -> list[_Resource]:
    """Memory first; then cores, fewer machines, and of settings with no known meaning more or less of any."""
    found: list[_Resource] = []
    known = set(_role_names(points).values()) if "memory" in roles else set()
    if "memory" in roles:
        found.append(_Resource(np.log(free), is_for_data=True))
        found.append(_Resource(np.log(roles["memory"] / roles.get("cores", 1.0))))
        machines, cores = roles.get("machines", np.ones(1)), roles.get("cores", np.ones(1))
        found.append(_Resource(np.log(machines * cores), 0.5, may_be_memory=False))
        found.append(_Resource(-np.log(machines), 0.5, may_be_memory=False))  # each of them adds to what may break
    for j, axis in enumerate(points.domain.axes):
        column = points.encoded[:, j]
        if axis.is_constant or axis.name in known or (axis.role is Role.MACHINE_TYPE and "memory" in roles):
            continue
        if axis.is_number:
            found += [_Resource(_centered(axis, column)), _Resource(-_centered(axis, column))]
        else:
            found += [_Resource((column != code) * 1.0) for code in range(len(axis.levels))]
    return [resource for resource in found if float(np.ptp(resource.amounts, axis=-1).max()) > 0]
