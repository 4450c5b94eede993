"""Runs as numbers: what was measured where, and settings turned into columns.

Everything here is learned from the settings alone, never from the response.
"""

import math
from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from sparkcast.analyse.runs import same_level, usable_runs
from sparkcast.errors import NotEnoughDataError, StudyError
from sparkcast.registry import did_you_mean
from sparkcast.study import Configuration, Dataset, Level
from sparkcast.units import as_number


@dataclass(frozen=True, slots=True)
class Samples:
    """The measured values of one response by configuration: replicates stay together."""

    configurations: tuple[Configuration, ...]
    values: tuple[tuple[float, ...], ...]

    def without(self, indices: Sequence[int]) -> "Samples":
        kept = [i for i in range(len(self.values)) if i not in set(indices)]
        return Samples(tuple(self.configurations[i] for i in kept), tuple(self.values[i] for i in kept))

    def all_values(self) -> tuple[float, ...]:
        return tuple(value for values in self.values for value in values)


def collect(data: Dataset, response: str) -> Samples:
    """The usable runs of `data`, one entry per configuration in order of first appearance."""
    groups = defaultdict(list)
    settings: dict[tuple[Level, ...], Configuration] = {}
    for run in usable_runs(data, response):
        settings.setdefault(data.key(run), run.configuration)
        groups[data.key(run)].append(run.responses[response])
    return Samples(tuple(settings.values()), tuple(tuple(values) for values in groups.values()))


@dataclass(frozen=True, slots=True)
class Axis:
    """One factor: numbers have a measured range, categories a list of known levels."""

    name: str
    levels: tuple[Level, ...]
    numbers: tuple[float, ...] | None  # the levels as numbers in order; None for a category

    @property
    def is_constant(self) -> bool:
        return len(self.numbers or self.levels) == 1

    def number(self, configuration: Configuration) -> float:
        number = as_number(configuration[self.name])
        return math.nan if number is None else number

    def code(self, configuration: Configuration) -> int:
        return [str(level) for level in self.levels].index(str(configuration[self.name]))

    def overshoot(self, configuration: Configuration) -> float:
        """How far outside the measured range, as a multiple of that range; 0 inside."""
        if self.numbers is None or self.is_constant:
            return 0.0
        low, high = self.numbers[0], self.numbers[-1]
        value = self.number(configuration)
        return max(0.0, low - value, value - high) / (high - low)


@dataclass(frozen=True, slots=True)
class Domain:
    """The settings about which the runs say something."""

    axes: tuple[Axis, ...]
    fixed: tuple[tuple[str, Level], ...]  # settings that are no factors and had one value in every run
    known: tuple[str, ...]  # every setting that any run had

    def check(self, configuration: Configuration) -> None:
        """Raise for a configuration that nothing measured can speak about."""
        for name in configuration:
            if name not in self.known:
                raise StudyError(f"no run has a setting {name!r}", hint=did_you_mean(name, self.known))
        for name, value in self.fixed:
            if name in configuration and not same_level(configuration[name], value):
                raise _never_varied(name, value, configuration[name])
        for axis in self.axes:
            _check_axis(axis, configuration)

    def overshoot(self, configuration: Configuration) -> float:
        """How far outside the measured ranges, summed over the factors."""
        return sum(axis.overshoot(configuration) for axis in self.axes)

    def matrix(self, configurations: Sequence[Configuration], *, with_curves: bool = False) -> Any:
        """Columns for a learner: numbers, and one column per category.

        `with_curves` adds log x and 1/x of positive numbers, the shapes that times over cores and data usually have.
        """
        import numpy as np

        rows = [[x for axis in self.axes for x in _columns(axis, c, with_curves)] for c in configurations]
        return np.array(rows, dtype=float).reshape(len(rows), -1)


def domain_of(data: Dataset, samples: Samples) -> Domain:
    axes = tuple(_axis(name, samples.configurations) for name in data.factors)
    first = samples.configurations[0]
    fixed = tuple(
        (name, value)
        for name, value in first.items()
        if name not in data.factors and all(c.get(name) == value for c in samples.configurations)
    )
    known = tuple(dict.fromkeys((*data.factors, *(name for c in samples.configurations for name in c))))
    return Domain(axes, fixed, known)


def _axis(name: str, configurations: Sequence[Configuration]) -> Axis:
    levels = tuple(dict.fromkeys(c[name] for c in configurations))
    numbers = [number for level in levels if (number := as_number(level)) is not None]
    if len(numbers) < len(levels):
        return Axis(name, levels, None)
    return Axis(name, levels, tuple(sorted(set(numbers))))


def _check_axis(axis: Axis, configuration: Configuration) -> None:
    measured = ", ".join(str(level) for level in axis.levels)
    if axis.name not in configuration:
        raise StudyError(f"the setting {axis.name!r} is missing", hint=f"give it a value; measured: {measured}")
    value = configuration[axis.name]
    number = as_number(value)
    if axis.numbers is not None and (number is None or not math.isfinite(number)):
        raise StudyError(f"{axis.name} = {value!r} is not a number", hint=f"measured: {measured}")
    if axis.is_constant and not same_level(value, axis.levels[0]):
        raise _never_varied(axis.name, axis.levels[0], value)
    if axis.numbers is None and str(value) not in map(str, axis.levels):
        raise NotEnoughDataError(
            f"{axis.name} = {value!r} was never run, and a category cannot be guessed from others",
            hint=f"run it, or choose one that was measured: {measured}",
        )


def _never_varied(name: str, seen: Level, wanted: Level) -> NotEnoughDataError:
    return NotEnoughDataError(
        f"every run has {name} = {seen}, so nothing is known about {name} = {wanted}",
        hint=f"run the study with {name} = {wanted} as another level",
    )


def _columns(axis: Axis, configuration: Configuration, with_curves: bool) -> list[float]:
    if axis.is_constant:
        return []
    if axis.numbers is None:
        return [float(code == axis.code(configuration)) for code in range(len(axis.levels))]
    value = axis.number(configuration)
    if not with_curves or axis.numbers[0] <= 0:
        return [value]
    # Outside the measured range a value may reach zero, where log and 1/x end.
    positive = max(value, axis.numbers[0] / 1000)
    return [value, math.log(positive), 1 / positive]
