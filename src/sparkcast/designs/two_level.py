"""The extremes of each factor: 2^k combinations."""

from collections.abc import Sequence
from dataclasses import replace

from sparkcast.designs import DESIGNS
from sparkcast.errors import StudyError
from sparkcast.study import Configuration, Factor, Study
from sparkcast.units import as_number


@DESIGNS.register("two-level")
class TwoLevelFactorial:
    """The lowest and the highest level of each factor, in every combination (2^k)."""

    def combinations(self, study: Study) -> Sequence[Configuration]:
        return list(replace(study, factors=tuple(map(_extremes, study.factors))).combinations())


def _extremes(factor: Factor) -> Factor:
    if len(factor.levels) == 2:
        return factor
    numbers = {level: as_number(level) for level in factor.levels}
    if None in numbers.values():
        raise StudyError(
            f"design 'two-level' cannot choose two of the categories {list(factor.levels)} of factor {factor.name!r}",
            hint="list two of them, or use design kind: full",
        )
    ordered = sorted(factor.levels, key=lambda level: numbers[level] or 0.0)
    return Factor(factor.name, (ordered[0], ordered[-1]))
