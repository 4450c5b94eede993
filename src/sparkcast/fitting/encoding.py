"""Settings as numbers, and the settings about which runs say something.

Everything here is learned from the settings alone, never from the response.
"""

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np

from sparkcast.arrays import Floats, Ints
from sparkcast.errors import NotEnoughDataError, StudyError
from sparkcast.registry import did_you_mean
from sparkcast.study import Configuration, Level, Role, Setting, Vocabulary, same_level
from sparkcast.study.configuration import Levels, normal_level
from sparkcast.units import as_number

_TOO_FAR = 1.0 + 1e-9  # asked further from the measured range than that range is wide (as a ratio, for positive ones)


@dataclass(frozen=True, slots=True)
class Axis:
    """One factor: numbers have a measured range, categories a list of known levels."""

    name: str
    levels: tuple[Level, ...]
    numbers: tuple[float, ...] | None  # the levels as numbers in order; None for a category
    role: Role = Role.OTHER

    @property
    def is_constant(self) -> bool:
        return len(self.numbers or self.levels) == 1

    @property
    def is_number(self) -> bool:
        return self.numbers is not None

    @property
    def is_positive(self) -> bool:
        return self.numbers is not None and self.numbers[0] > 0

    def encode(self, value: Level) -> float:
        """The number itself, or the position of a category in `levels`."""
        number = as_number(value)
        if self.numbers is not None and (number is None or not math.isfinite(number)):
            raise StudyError(f"{self.name} = {value!r} is not a number", hint=f"measured: {self._measured}")
        if self.is_constant and not same_level(value, self.levels[0]):
            raise _never_varied(self.name, self.levels[0], value)
        if self.numbers is not None:
            assert number is not None
            return number
        wanted = normal_level(value)
        for code, level in enumerate(self.levels):
            if normal_level(level) == wanted:
                return float(code)
        raise NotEnoughDataError(
            f"{self.name} = {value!r} was never run, and a category cannot be predicted from others",
            hint=f"run it, or choose a measured one: {self._measured}",
        )

    @property
    def _measured(self) -> str:
        return ", ".join(str(level) for level in self.levels)

    def overshoot(self, x: Floats) -> Floats:
        """How far outside the measured range, as a multiple of that range; 0 inside."""
        if self.numbers is None or self.is_constant:
            return np.zeros(len(x))
        low, high = self.numbers[0], self.numbers[-1]
        outside: Floats = np.maximum(0.0, np.maximum(low - x, x - high))
        return outside / (high - low)

    def distance(self, x: float) -> float:
        """Like `overshoot`, but of a positive number its ratio counts: 8 to 16 is one step, 16 to 32 the next."""
        if self.numbers is None or self.is_constant:
            return 0.0
        low, high = self.numbers[0], self.numbers[-1]
        plain = max(0.0, low - x, x - high) / (high - low)
        if low <= 0 or x <= 0:
            return plain
        return min(plain, max(0.0, math.log(low / x), math.log(x / high)) / math.log(high / low))

    def can_encode(self, level: Level) -> bool:
        """Whether it is a number among numbers, or a category that was run."""
        try:
            self.encode(level)
        except NotEnoughDataError:
            return False
        return True

    def is_beyond(self, level: Level) -> bool:
        """Whether an answer at this level would be a guess, whatever the other settings are."""
        try:
            return self.distance(self.encode(level)) > _TOO_FAR
        except NotEnoughDataError:
            return True

    def reachable(self, x: float) -> float:
        """The value nearest to the measured range from which, once it is run, `x` is no longer too far."""
        assert self.numbers is not None
        low, high = self.numbers[0], self.numbers[-1]
        other_end = low if x > high else high
        return math.sqrt(x * other_end) if low > 0 and x > 0 else (x + other_end) / 2


@dataclass(frozen=True, slots=True)
class Domain:
    """The settings about which the runs say something."""

    axes: tuple[Axis, ...]
    fixed: tuple[tuple[str, Level], ...]  # settings that are no factors and had one value in every run
    known: tuple[str, ...]  # every setting that any run had
    roles: tuple[tuple[str, Role], ...] = ()  # of the settings whose meaning is known, by precedence

    def first(self, *roles: Role, among: Iterable[str] | None = None) -> str | None:
        """The setting with one of these roles: a factor or a fixed one, or among these names."""
        names = {*(axis.name for axis in self.axes), *(name for name, _ in self.fixed)} if among is None else set(among)
        return next((name for name, role in self.roles if role in roles and name in names), None)

    def encode(self, configurations: Sequence[Levels]) -> Floats:
        """One row per configuration, one column per factor; raises for what nothing measured can speak about."""
        known, fixed = set(self.known), dict(self.fixed)
        for configuration in configurations:
            if not known.issuperset(configuration) or not fixed.keys().isdisjoint(configuration):
                self._check_names(configuration)
        columns = [_encoded(axis, [_value(axis, c) for c in configurations]) for axis in self.axes]
        return np.array(columns, dtype=float).reshape(len(self.axes), len(configurations)).T

    def encode_columns(self, levels: Mapping[str, Sequence[Level]], codes: Mapping[str, Ints]) -> Floats:
        """Like `encode`, of many configurations at once: each is given by the positions of its settings in `levels`."""
        numbers = [np.array([axis.encode(level) for level in levels[axis.name]]) for axis in self.axes]
        return np.column_stack([known[codes[axis.name]] for axis, known in zip(self.axes, numbers, strict=True)])

    def narrowed(self, x: Floats) -> "Domain":
        """As if only these rows had been measured; categories keep their codes."""
        numbers = [tuple(sorted(set(x[:, j].tolist()))) for j in range(len(self.axes))]
        axes = [
            replace(axis, levels=seen, numbers=seen) if axis.is_number and seen else axis
            for axis, seen in zip(self.axes, numbers, strict=True)
        ]
        return replace(self, axes=tuple(axes))

    def _check_names(self, configuration: Levels) -> None:
        for name in configuration:
            if name not in self.known:
                raise StudyError(f"no run has the setting {name!r}", hint=did_you_mean(name, self.known))
        for name, value in self.fixed:
            if name in configuration and not same_level(configuration[name], value):
                raise _never_varied(name, value, configuration[name])

    def beyond(self, configuration: Levels) -> NotEnoughDataError | None:
        """Why an answer at these settings would be a guess: a number too far from all that was measured."""
        try:
            [row] = self.encode([configuration])
        except NotEnoughDataError as error:
            return error
        far = [(axis.distance(x), axis, float(x)) for axis, x in zip(self.axes, row, strict=True)]
        distance, axis, x = max(far, key=lambda item: item[0], default=(0.0, None, 0.0))
        if axis is None or distance <= _TOO_FAR:
            return None
        assert axis.numbers is not None
        helpful = Configuration({**configuration, axis.name: _rounded(axis.reachable(x))})
        return NotEnoughDataError(
            f"{axis.name} = {configuration[axis.name]} is too far from the measured range ({axis.numbers[0]:g} "
            f"to {axis.numbers[-1]:g})",
            hint=f"the run that would help most: {helpful}; `extrapolate=True` answers anyway, with a wide interval",
        )


def domain_of(factors: Sequence[str], configurations: Sequence[Levels], words: Vocabulary) -> Domain:
    axes = tuple(_axis(words.setting(name), configurations) for name in factors)
    first = configurations[0]
    fixed = tuple(
        (name, value)
        for name, value in first.items()
        if name not in factors and all(c.get(name) == value for c in configurations)
    )
    known = tuple(dict.fromkeys((*factors, *(name for c in configurations for name in c))))
    roles = tuple((setting.name, setting.role) for setting in words.settings if setting.role is not Role.OTHER)
    return Domain(axes, fixed, known, roles)


def _axis(setting: Setting, configurations: Sequence[Levels]) -> Axis:
    levels = tuple(dict.fromkeys(c[setting.name] for c in configurations))
    numbers = [number for level in levels if (number := as_number(level)) is not None]
    if len(numbers) < len(levels):
        return Axis(setting.name, levels, None, setting.role)
    return Axis(setting.name, levels, tuple(sorted(set(numbers))), setting.role)


def _encoded(axis: Axis, values: Sequence[Level]) -> list[float]:
    """Levels repeat: each is understood once."""
    codes = {value: axis.encode(value) for value in dict.fromkeys(values)}
    return [codes[value] for value in values]


def _value(axis: Axis, configuration: Levels) -> Level:
    try:
        return configuration[axis.name]
    except KeyError:
        measured = ", ".join(str(level) for level in axis.levels)
        raise StudyError(
            f"the setting {axis.name!r} is missing", hint=f"give it a value; measured values: {measured}"
        ) from None


def _rounded(value: float) -> float:
    """A setting to write down: whole where it is large enough to be a count."""
    return math.ceil(value) if value > 1 else float(f"{value:.2g}")


def _never_varied(name: str, seen: Level, wanted: Level) -> NotEnoughDataError:
    return NotEnoughDataError(
        f"every run has {name} = {seen}, so nothing is known about {name} = {wanted}",
        hint=f"run the study with {name} = {wanted} as an additional level",
    )
