"""Guesses at types of machines of which nothing but the name is known, and perhaps the price.

A machine that costs more has more cores or more memory, or nobody would rent it. How much of each a price buys differs
between types, of memory more than of cores.
"""

from collections.abc import Mapping

import numpy as np

from sparkcast.arrays import Floats, Ints
from sparkcast.search.numbers import Numbers
from sparkcast.search.points import CandidatePoints
from sparkcast.study import Role

_SPREAD = {"cores": 0.25, "memory": 0.5}  # of the logarithm of what a price buys
_SPREAD_UNPRICED = {"cores": 0.5, "memory": 0.7}  # of the logarithm itself


def guessed_types(
    numbers: Numbers, points: CandidatePoints, known: Mapping[str, Floats], per_second: Floats | None
) -> dict[str, Floats]:
    """Cores and memory of the candidates, as far as they are not known, one row per guess; none without types."""
    axes = [j for j, axis in enumerate(points.domain.axes) if axis.role is Role.MACHINE_TYPE and not axis.is_number]
    missing = [part for part in _SPREAD if part not in known]
    if not axes or not missing or points.domain.axes[axes[0]].is_constant:
        return {}
    codes = points.encoded[:, axes[0]].astype(int)
    prices = _log_prices(codes, known, per_second)
    spread = _SPREAD if np.ptp(prices) > 0 else _SPREAD_UNPRICED
    found: dict[str, Floats] = {}
    for part in missing:
        guesses = prices + spread[part] * numbers.normal(len(prices))
        found[part] = np.exp(guesses)[:, codes]
    return found


def _log_prices(codes: Ints, known: Mapping[str, Floats], per_second: Floats | None) -> Floats:
    """Of one machine of each type; all alike where nothing is known of them."""
    if per_second is None:
        return np.zeros(codes.max() + 1)
    logs = np.log(np.maximum(per_second / known.get("machines", 1.0), 1e-300))
    return np.array([logs[codes == code].mean() for code in range(codes.max() + 1)])
