"""The runs by configuration: every protocol splits these, so replicates always stay together."""

import math
from collections.abc import Callable, Collection, Iterable, Mapping
from dataclasses import dataclass, replace

from sparkcast.analysis.runs import usable_runs
from sparkcast.errors import NotEnoughDataError, StudyError
from sparkcast.registry import did_you_mean
from sparkcast.study import Configuration, Dataset, Level, Observation, natural_order
from sparkcast.units import as_number
from sparkcast.validate.protocols import Split

Key = Configuration  # restricted to the factors
MIN_LEVELS = 3  # two to see a trend and one to test it


@dataclass(frozen=True, slots=True)
class Configurations:
    data: Dataset
    runs: tuple[Observation, ...]
    keys: tuple[Key, ...]  # of each run

    def different(self) -> list[Key]:
        """Each configuration once, in order of first appearance."""
        return list(dict.fromkeys(self.keys))

    def levels(self, factor: str) -> dict[Key, Level]:
        """The level of a factor in each configuration."""
        if factor not in self.data.factors:
            hint = did_you_mean(factor, self.data.factors)
            raise StudyError(f"{factor!r} is not a factor of {self.data.name!r}", hint=hint)
        return {key: key[factor] for key in self.different()}

    def split(self, train: Collection[Key], test: Collection[Key], name: str) -> Split:
        return Split(replace(self.data, observations=self._of(set(train))), self._of(set(test)), name)

    def split_off(self, test: Collection[Key], name: str) -> Split:
        """Test these configurations on all the others."""
        return self.split(set(self.keys) - set(test), test, name)

    def _of(self, chosen: Collection[Key]) -> tuple[Observation, ...]:
        return tuple(run for run, key in zip(self.runs, self.keys, strict=True) if key in chosen)


def configurations(data: Dataset, response: str) -> Configurations:
    """The configurations with usable runs; one alone cannot be split."""
    runs = usable_runs(data, response)
    found = Configurations(data, runs, tuple(map(data.key, runs)))
    if len(found.different()) < 2:
        raise NotEnoughDataError(
            f"{data.name} has 1 configuration with {response}, which cannot be used for both training and testing",
            hint="run more configurations; replicates of the same one do not help",
        )
    return found


@dataclass(frozen=True, slots=True)
class Ladder:
    """The levels of a numeric factor in their order, and where each configuration stands."""

    at: Mapping[Key, float]
    rungs: Mapping[float, Level]  # number -> level as it was written, lowest first

    def on(self, rung: float) -> list[Key]:
        return self.where(lambda number: number == rung)

    def below(self, rung: float) -> list[Key]:
        return self.where(lambda number: number < rung)

    def where(self, holds: Callable[[float], bool]) -> list[Key]:
        return [key for key, number in self.at.items() if holds(number)]


def ladder(found: Configurations, factor: str, protocol: str) -> Ladder:
    """The ladder of a factor that has numbers ("1g" and "1024m" are one), and enough of them."""
    levels = found.levels(factor)
    at = {key: _number(level, factor, protocol) for key, level in levels.items()}
    written = {at[key]: level for key, level in reversed(levels.items())}
    if len(written) < MIN_LEVELS:
        raise StudyError(
            f"{protocol} needs {MIN_LEVELS} levels of {factor}, but the runs have {len(written)}: "
            f"{show_levels(written.values())}",
            hint="run more levels, or use loo, kfold or holdout",
        )
    return Ladder(at, {number: written[number] for number in sorted(written)})


def _number(level: Level, factor: str, protocol: str) -> float:
    number = as_number(level)
    if number is None or not math.isfinite(number):
        raise StudyError(
            f"{protocol} needs a numeric factor, but {factor} has the level {level!r}",
            hint="categories have no order; use loo, kfold or holdout",
        )
    return number


def show_levels(levels: Iterable[Level]) -> str:
    """Levels in their order: "1g, 2g, 16g"."""
    return ", ".join(str(level) for level in natural_order(levels))


def factor_name(argument: str, protocol: str) -> str:
    """The argument of a protocol that needs a factor."""
    if not argument:
        raise StudyError(f"{protocol} needs the name of a factor", hint=f"e.g. {protocol}:executors")
    return argument
