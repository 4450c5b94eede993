"""Rows of this paper's tables."""

import dataclasses

from sparkcast.replications import Row, Verdict
from sparkcast.replications._compare import show


def near(item: str, quantity: str, expected: str, ours: float, within: float, why: str) -> Row:
    """Agrees when ours differs from the expected number by no more than so much."""
    is_near = abs(ours - float(expected)) <= within
    verdict = Verdict.AGREES if is_near else Verdict.DIFFERS
    return dataclasses.replace(show(item, quantity, ours, expected), verdict=verdict, rule=f"within {within:g}: {why}")
