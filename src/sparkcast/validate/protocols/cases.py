"""Name the levels to learn from and the levels to test, as papers list their cases."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Self

from sparkcast.errors import StudyError
from sparkcast.study import Dataset, same_level
from sparkcast.validate.protocols import PROTOCOLS, Split
from sparkcast.validate.protocols._configurations import Configurations, Key, configurations, show_levels
from sparkcast.validate.protocols.holdout import SHARE, hold_out

_EXAMPLE = "e.g. 'cases:data_size=250+750|1000;cores=8|16': levels to train on | levels to test"


@dataclass(frozen=True, slots=True)
class Case:
    """The levels of one factor on the two sides, as written."""

    factor: str
    train: tuple[str, ...]
    test: tuple[str, ...]


@PROTOCOLS.register("cases")
@dataclass(frozen=True, slots=True)
class Cases:
    """Trains on and tests at the levels you list; other runs are left out.

    `cases:FACTOR=a+b|c` learns from the configurations with the levels a and b of FACTOR and tests those with c. Of
    several factors, joined with `;`, each must agree. Sides that name the very same configurations
    (`data_size=250|250`) stand for a random fifth of them tested on the rest, 10 times: such rows of the Polimi study
    are meant so.
    """

    cases: tuple[Case, ...]
    seed: int = 0

    @classmethod
    def parse(cls, argument: str, *, seed: int) -> Self:
        if not argument:
            raise StudyError("cases needs levels", hint=_EXAMPLE)
        cases = tuple(_parse_case(part.strip()) for part in argument.split(";"))
        factors = [case.factor for case in cases]
        if twice := next((factor for factor in factors if factors.count(factor) > 1), None):
            raise StudyError(f"cases lists {twice!r} twice", hint="put all its levels in one place: a=1+2|3")
        return cls(cases, seed)

    def splits(self, data: Dataset, response: str) -> Sequence[Split]:
        found = configurations(data, response)
        train, test = found.different(), found.different()
        for case in self.cases:
            train = _choose(found, train, case.factor, case.train)
            test = _choose(found, test, case.factor, case.test)
        _require_configurations(train, "learn from")
        _require_configurations(test, "test")
        if train == test and len(train) > 1:
            return hold_out(found, train, SHARE, self.seed)
        _require_apart(train, test)
        return [found.split(train, test, "learning from " + "; ".join(map(_show_learned, self.cases)))]


def _parse_case(text: str) -> Case:
    factor, equals, sides = (part.strip() for part in text.partition("="))
    train, bar, test = sides.partition("|")
    if not factor or not equals or not bar or "|" in test:
        raise StudyError(f"{text!r} is not FACTOR=LEVELS|LEVELS", hint=_EXAMPLE)
    return Case(factor, _parse_levels(train, text), _parse_levels(test, text))


def _parse_levels(text: str, case: str) -> tuple[str, ...]:
    levels = tuple(level.strip() for level in text.split("+"))
    if not all(levels):
        raise StudyError(f"{case!r} lacks a level", hint=_EXAMPLE)
    return levels


def _choose(found: Configurations, among: Sequence[Key], factor: str, wanted: Sequence[str]) -> list[Key]:
    levels = found.levels(factor)
    for level in wanted:
        if not any(same_level(level, seen) for seen in levels.values()):
            raise StudyError(f"no run has {factor} = {level}", hint=f"measured: {show_levels(levels.values())}")
    return [key for key in among if any(same_level(level, levels[key]) for level in wanted)]


def _require_configurations(chosen: Sequence[Key], purpose: str) -> None:
    if not chosen:
        raise StudyError(
            f"no configuration has all the levels to {purpose}", hint="choose levels that were run together"
        )


def _require_apart(train: Sequence[Key], test: Sequence[Key]) -> None:
    tested = set(test)
    both = [key for key in train if key in tested]
    if both:
        raise StudyError(
            f"{len(both)} of {len(test)} tested configurations are also in the training data, e.g. {both[0]}",
            hint="put each level of a factor on one side only",
        )


def _show_learned(case: Case) -> str:
    return f"{case.factor}={'+'.join(case.train)}"
