"""What printed test statistics give away about the data behind them."""

from collections.abc import Mapping
from decimal import Decimal


def implied_df(printed: Mapping[str, tuple[str, str]], most: int = 1000) -> list[int]:
    """The residual degrees of freedom with which every printed F of one degree has its printed p.

    F is taken as rounded; p may have been rounded or cut off.

    >>> implied_df({"batch": ("467.919", "8.95e-57"), "njobs": ("42.765", "4.12e-10")})
    [224]
    """
    import numpy as np
    from scipy.stats import f

    df = np.arange(1, most + 1)
    possible = np.full(most, True)
    for statistic, p in printed.values():
        low, high = (f.sf(float(statistic) + side * _half(statistic), 1, df) for side in (1, -1))
        possible &= (low <= float(p) + 2 * _half(p)) & (high >= float(p) - _half(p))
    return [int(number) for number in df[possible]]


def _half(printed: str) -> float:
    """Half a unit of the last printed digit."""
    exponent = Decimal(printed).as_tuple().exponent
    assert isinstance(exponent, int)
    return float(Decimal(1).scaleb(exponent)) / 2
