"""Leave out levels beyond others."""

import math
import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal, Self

from sparkcast.errors import StudyError
from sparkcast.study import Dataset
from sparkcast.units import as_number
from sparkcast.validate.protocols import PROTOCOLS, Split
from sparkcast.validate.protocols._configurations import (
    Configurations,
    Ladder,
    configurations,
    factor_name,
    ladder,
    show_levels,
)

_BEYOND = re.compile(r"([^<>]*)([<>])(.*)")
_MIN_LEARNED = 2  # one level shows no trend


@dataclass(frozen=True, slots=True)
class Beyond:
    """Where learning ends and testing begins."""

    direction: Literal["<", ">"]
    value: float
    text: str  # as it was written: 1g, not 1.07374e+09

    def holds(self, number: float) -> bool:
        return number > self.value if self.direction == ">" else number < self.value


@PROTOCOLS.register("extrapolate")
@dataclass(frozen=True, slots=True)
class Extrapolate:
    """Predicts higher levels of a numeric factor from lower ones: extrapolate:FACTOR, or extrapolate:FACTOR>VALUE.

    Without a VALUE, each level from the third on is predicted from all levels below it. With one there is a single
    split: the levels above VALUE are predicted from those up to it, VALUE included. `FACTOR<VALUE` goes downwards.
    """

    factor: str
    beyond: Beyond | None = None

    @classmethod
    def parse(cls, argument: str, *, seed: int) -> Self:
        match = _BEYOND.fullmatch(argument)
        if match is None:
            return cls(factor_name(argument, "extrapolate"))
        factor, value = match[1].strip(), match[3].strip()
        number = as_number(value) if value else None
        if number is None or not math.isfinite(number):
            raise StudyError(
                f"extrapolate:{argument} has no number after {match[2]!r}",
                hint="e.g. extrapolate:executors>8: trains on up to 8, tests above",
            )
        return cls(factor_name(factor, "extrapolate"), Beyond("<" if match[2] == "<" else ">", number, value))

    def splits(self, data: Dataset, response: str) -> Sequence[Split]:
        found = configurations(data, response)
        steps = ladder(found, self.factor, "extrapolate")
        if self.beyond is not None:
            return [_split_at(found, steps, self.factor, self.beyond)]
        return [
            found.split(steps.below(number), steps.on(number), f"training on {self.factor} below {level}")
            for number, level in list(steps.rungs.items())[_MIN_LEARNED:]
        ]


def _split_at(found: Configurations, steps: Ladder, factor: str, beyond: Beyond) -> Split:
    tested = steps.where(beyond.holds)
    learned = steps.where(lambda number: not beyond.holds(number))
    measured = f"measured: {show_levels(steps.rungs.values())}"
    where = f"{factor} {'up' if beyond.direction == '>' else 'down'} to {beyond.text}"
    if not tested:
        raise StudyError(
            f"no configuration has {factor} {beyond.direction} {beyond.text}, so there is nothing to test",
            hint=measured,
        )
    count = len({steps.at[key] for key in learned})
    if count < _MIN_LEARNED:
        raise StudyError(
            f"the runs with {where} have {count} level{'' if count == 1 else 's'}, but a trend needs at least "
            f"{_MIN_LEARNED}",
            hint=measured,
        )
    return found.split(learned, tested, f"training on {where}")
