"""The extremes of each factor: 2^k combinations."""

from sparkcast.designs import DESIGNS, Chosen, TimeOf
from sparkcast.errors import StudyError
from sparkcast.study import Factor, Level, Study, natural_order
from sparkcast.units import as_number


@DESIGNS.register("two-level")
class TwoLevelFactorial:
    """Every combination of the lowest and highest level of each factor (2^k)."""

    def choose(self, study: Study, time_of: TimeOf | None = None) -> Chosen:
        return Chosen.whole(study.space().with_levels({factor.name: _extremes(factor) for factor in study.factors}))


def _extremes(factor: Factor) -> tuple[Level, ...]:
    if len(factor.levels) == 2:
        return factor.levels
    if any(as_number(level) is None for level in factor.levels):
        raise StudyError(
            f"design 'two-level' cannot choose two out of the categories {list(factor.levels)} of factor "
            f"{factor.name!r}",
            hint="list two of them, or use design kind: full",
        )
    ordered = natural_order(factor.levels)
    return ordered[0], ordered[-1]
