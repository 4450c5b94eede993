"""The extremes of each factor: 2^k combinations."""

from dataclasses import replace

from sparkcast.designs import DESIGNS, Chosen, TimeOf
from sparkcast.errors import StudyError
from sparkcast.study import Factor, Study, natural_order
from sparkcast.units import as_number


@DESIGNS.register("two-level")
class TwoLevelFactorial:
    """The lowest and the highest level of each factor, in every combination (2^k)."""

    def choose(self, study: Study, time_of: TimeOf | None = None) -> Chosen:
        return Chosen(list(replace(study, factors=tuple(map(_extremes, study.factors))).combinations()))


def _extremes(factor: Factor) -> Factor:
    if len(factor.levels) == 2:
        return factor
    if any(as_number(level) is None for level in factor.levels):
        raise StudyError(
            f"design 'two-level' cannot choose two of the categories {list(factor.levels)} of factor {factor.name!r}",
            hint="list two of them, or use design kind: full",
        )
    ordered = natural_order(factor.levels)
    return Factor(factor.name, (ordered[0], ordered[-1]))
