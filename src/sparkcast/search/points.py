"""The candidates of a search as points, and what was told of each."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from itertools import chain

import numpy as np

from sparkcast.arrays import Floats
from sparkcast.fitting.encoding import Axis, Domain, domain_of
from sparkcast.search.base import Evaluation, Search
from sparkcast.study import Configuration, Outcome, Vocabulary


@dataclass(frozen=True)
class CandidatePoints:
    """Different candidates, and their settings as numbers."""

    candidates: tuple[Configuration, ...]
    words: Vocabulary

    @cached_property
    def factors(self) -> tuple[str, ...]:
        """The settings that every candidate has."""
        return tuple(name for name in self.candidates[0] if all(name in c for c in self.candidates))

    @cached_property
    def domain(self) -> Domain:
        return domain_of(self.factors, self.candidates, self.words)

    @cached_property
    def encoded(self) -> Floats:
        """One row per candidate, one column per factor."""
        return self.domain.encode([c.only(self.factors) for c in self.candidates])

    @cached_property
    def coordinates(self) -> Floats:
        """The candidates in the unit cube: ratios of positive numbers count, and all levels are equally far apart."""
        parts = [part for j in range(len(self.domain.axes)) for part in self.columns(j)]
        return np.column_stack([np.zeros(len(self.candidates)), *parts])

    def columns(self, factor: int) -> list[Floats]:
        """The coordinates of one factor; none of one that never varies."""
        return _columns(self.domain.axes[factor], self.encoded[:, factor])

    @cached_property
    def places(self) -> Mapping[Configuration, int]:
        return {candidate.only(self.factors): i for i, candidate in enumerate(self.candidates)}

    def place(self, configuration: Configuration) -> int | None:
        """Which candidate this is; None for any other configuration."""
        return self.places.get(configuration.only(self.factors))


def points_of(search: Search) -> CandidatePoints:
    """The different ones among the candidates, in their order."""
    return CandidatePoints(tuple(dict.fromkeys(search.candidates)), search.vocabulary)


@dataclass(frozen=True, slots=True)
class CandidateMeans:
    """What the runs told, by the place of each candidate: replicates are averaged, and one good run is enough."""

    values: Mapping[int, float]
    times: Mapping[int, float]
    failed: tuple[int, ...]
    limits: Mapping[int, float] = field(default_factory=dict)  # of those that failed by taking longer
    out_of_memory: frozenset[int] = frozenset()  # those that failed by that
    slacks: Mapping[int, tuple[float, ...]] = field(default_factory=dict)  # how far limits were kept, in the mean
    repeated: Mapping[int, tuple[float, ...]] = field(default_factory=dict)  # values of each, where there are several

    @property
    def tried(self) -> tuple[int, ...]:
        return (*self.values, *self.failed)

    def keeps(self, place: int) -> bool:
        """Whether a run that worked kept to all limits but that on the time."""
        return all(slack >= 0 for slack in self.slacks.get(place, ()))


def known_from(evaluations: Sequence[Evaluation], points: CandidatePoints) -> CandidateMeans:
    values: dict[int, list[float]] = {}
    times: dict[int, list[float]] = {}
    failed: dict[int, Evaluation] = {}
    slacks: dict[int, list[tuple[float, ...]]] = {}
    for one in evaluations:
        place = points.place(one.configuration)
        if place is None:
            continue
        if one.value is None:
            failed[place] = one
            continue
        values.setdefault(place, []).append(one.value)
        slacks.setdefault(place, []).append(one.slacks)
        if one.time_s is not None:
            times.setdefault(place, []).append(one.time_s)
    in_vain = {place: one for place, one in failed.items() if place not in values}
    return CandidateMeans(
        _means(values),
        _means(times),
        tuple(in_vain),
        _limits(in_vain, max(chain.from_iterable(times.values()), default=None)),
        frozenset(place for place, one in in_vain.items() if one.outcome is Outcome.OOM),
        {place: tuple(sum(s) / len(s) for s in zip(*some, strict=True)) for place, some in slacks.items()},
        {place: tuple(some) for place, some in values.items() if len(some) > 1},
    )


def _limits(failed: Mapping[int, Evaluation], longest_s: float | None) -> dict[int, float]:
    """What timeouts took longer than: their limit, or where it is not known any run that was not stopped by it."""
    stopped = {place: one.limit_s or longest_s for place, one in failed.items() if one.outcome is Outcome.TIMEOUT}
    return {place: limit for place, limit in stopped.items() if limit is not None and limit > 0}


def _means(groups: Mapping[int, Sequence[float]]) -> dict[int, float]:
    return {place: sum(group) / len(group) for place, group in groups.items()}


def _columns(axis: Axis, values: Floats) -> list[Floats]:
    if axis.is_constant:
        return []
    if axis.numbers is None:
        return [(values == code) / np.sqrt(2) for code in range(len(axis.levels))]
    low, high = axis.numbers[0], axis.numbers[-1]
    if axis.is_positive:
        return [np.log(values / low) / np.log(high / low)]
    return [(values - low) / (high - low)]
