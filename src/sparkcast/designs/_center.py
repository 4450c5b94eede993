"""Center points: the middle of every number, to see curvature and noise that two levels cannot show."""

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import product

from sparkcast.errors import StudyError
from sparkcast.study import Configuration, Factor, Level, Study, natural_order
from sparkcast.units import as_number

_UNITS = ((2**40, "t"), (2**30, "g"), (2**20, "m"), (2**10, "k"), (1, "b"))


@dataclass(frozen=True, slots=True)
class CenterPoints:
    configurations: tuple[Configuration, ...] = ()  # each as often as a replicate runs it
    notes: tuple[str, ...] = ()


def center_points(study: Study) -> CenterPoints:
    """The center points of one replicate: `study.design.center_points` at each combination of categories."""
    if not study.design.center_points:
        return CenterPoints()
    notes: list[str] = []
    levels = {
        factor.name: _levels(factor, notes, takes_fractions=study.vocabulary.setting(factor.name).takes_fractions)
        for factor in study.factors
    }
    if all(len(middle) > 1 for middle in levels.values()):
        raise StudyError(
            f"{study.where('design', 'center_points')}center points need a numeric factor with a midpoint, and "
            f"{', '.join(levels)} {'has' if len(levels) == 1 else 'have'} none",
            hint="use replicates instead, or vary a numeric setting",
        )
    points = [Configuration(zip(levels, values, strict=True)) | study.fixed for values in product(*levels.values())]
    verdicts = study.space().allows(points)
    excluded = [point for point, is_allowed in zip(points, verdicts, strict=True) if not is_allowed]
    if excluded:
        shown = "; ".join(str(point.only(levels)) for point in excluded[:3])
        notes.append(f"the rules exclude {len(excluded)} of {len(points)} center points: {shown}")
    allowed = [point for point, is_allowed in zip(points, verdicts, strict=True) if is_allowed]
    return CenterPoints(tuple(p for _ in range(study.design.center_points) for p in allowed), tuple(notes))


def _levels(factor: Factor, notes: list[str], *, takes_fractions: bool) -> Sequence[Level]:
    """The middle of a number; every level of what has no middle."""
    if any(as_number(level) is None for level in factor.levels):
        return factor.levels
    ordered = natural_order(factor.levels)
    low, high = ordered[0], ordered[-1]
    middle = _middle(low, high, takes_fractions=takes_fractions)
    if as_number(middle) in (as_number(low), as_number(high)):
        notes.append(f"{factor.name} has nothing between {low} and {high}: center points are run at each of its levels")
        return factor.levels
    exact = ((as_number(low) or 0.0) + (as_number(high) or 0.0)) / 2
    if as_number(middle) != exact and not isinstance(middle, float):
        notes.append(f"the center of {factor.name} is {middle}, the integer closest to {exact:g}")
    return (middle,)


def _middle(low: Level, high: Level, *, takes_fractions: bool) -> Level:
    middle = ((as_number(low) or 0.0) + (as_number(high) or 0.0)) / 2
    if isinstance(low, int) and isinstance(high, int) and not takes_fractions:
        return int(middle + 0.5)
    if isinstance(low, str) and isinstance(high, str):
        size = round(middle)
        unit, letter = next((unit, letter) for unit, letter in _UNITS if size % unit == 0)
        return f"{size // unit}{letter}"
    return float(f"{middle:.12g}")
