"""Printed numbers beside computed ones. Printed ones are kept as text, for their digits are the tolerance."""

import math
from decimal import Decimal, localcontext

from sparkcast.replications import Row, Verdict

# Further digits depend on the order in which a machine adds, so that no two libraries share them.
MOST_DIGITS = 12


def compare(item: str, quantity: str, printed: str, ours: float, *, digits: int = MOST_DIGITS) -> Row:
    """The row of a number that should be met: ours is rounded to the digits that were printed, `digits` at most.

    >>> compare("nodes", "F", "0.811084", 0.8110843).verdict, compare("nodes", "F", "0.811", 0.8118).verdict
    (<Verdict.AGREES: 'agrees'>, <Verdict.DIFFERS: 'differs'>)
    """
    count = len(Decimal(printed).as_tuple().digits)
    rule = f"{count} printed digit{'s' * (count > 1)}" if count <= digits else f"first {digits} of {count} digits"
    same = at_digits(printed, ours, digits) == at_digits(printed, float(printed), digits)
    return _row(item, quantity, printed, ours, Verdict.AGREES if same else Verdict.DIFFERS, rule)


def show(item: str, quantity: str, ours: float | None, printed: str = "") -> Row:
    """The row of a number that is shown only."""
    return _row(item, quantity, printed, ours, Verdict.SHOWN, "not compared" if printed else "no printed number")


def at_digits(printed: str, value: float, digits: int = MOST_DIGITS) -> str:
    """A value with as many decimals as a printed number has.

    >>> at_digits("0.535950", 0.53594987), at_digits("7.2e-03", 0.0072459)
    ('0.535950', '0.0072')
    """
    if not math.isfinite(value):
        return str(value)
    _, own, exponent = Decimal(printed).as_tuple()
    assert isinstance(exponent, int)
    surplus = max(0, len(own) - digits)
    with localcontext(prec=400):
        return str(Decimal(value).quantize(Decimal(1).scaleb(exponent + surplus)))


def _row(item: str, quantity: str, printed: str, ours: float | None, verdict: Verdict, rule: str) -> Row:
    expected = float(printed) if printed else None
    value = None if ours is None else float(ours)
    difference = None if expected is None or value is None else value - expected
    return Row(item, quantity, printed, expected, value, difference, verdict, rule)
