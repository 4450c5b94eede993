"""Section III: is Table II the fractional factorial that it is said to be?"""

import math
from itertools import combinations
from pathlib import Path

from sparkcast.replications import PaperPart, PartResult, Section, compare
from sparkcast_papers.marinos2020 import PARTS
from sparkcast_papers.marinos2020._tables import FACTORS, TABLE_I, TABLE_II

Signs = tuple[int, ...]


@PARTS.register("design")
class Design(PaperPart):
    """Table II against the design it is said to follow, I = ABCDEF."""

    def run(self, data: Path | None) -> PartResult:
        signs = coded()
        balanced = sum(sum(row[i] for row in signs) == 0 for i in range(len(FACTORS)))
        pairs = list(combinations(range(len(FACTORS)), 2))
        orthogonal = sum(sum(row[i] * row[j] for row in signs) == 0 for i, j in pairs)
        rows = (
            compare("settings", "different ones", "32", len(set(signs))),
            compare("A·B·C·D·E·F", "rows where it is +1", "32", sum(math.prod(row) == 1 for row in signs)),
            compare("factors", "at each level equally often", "6", balanced),
            compare("pairs of factors", "orthogonal", "15", orthogonal),
            compare("replicates", "per setting", "10", min(len(costs) for _, costs in TABLE_II)),
            compare("Table I", "signs that differ from Table II", "0", len(misprints())),
        )
        notes = tuple(
            f"Table I has a misprint: row {row}, column {column} must have the other sign, as in Table II"
            for row, column in misprints()
        )
        hardware = (
            "configurations with 1 node, 4 executors and 4 cores ran on another machine type (Section III.C), "
            "so part of what looks like an effect of these settings may come from the machine"
        )
        return PartResult((Section("The 2^(6-1) design of Table II", "Section III", rows, notes),), notes=(hardware,))


def coded() -> tuple[Signs, ...]:
    """The settings of Table II as -1 (low) and +1 (high)."""
    lows = [min(levels[i] for levels, _ in TABLE_II) for i in range(len(FACTORS))]
    return tuple(
        tuple(-1 if level == low else 1 for level, low in zip(levels, lows, strict=True)) for levels, _ in TABLE_II
    )


def misprints() -> list[tuple[int, str]]:
    """Row and column of the signs in Table I that Table II does not follow."""
    return [
        (number, "ABCDEF"[i])
        for number, (printed, right) in enumerate(zip(TABLE_I, coded(), strict=True), start=1)
        for i, sign in enumerate(printed)
        if (sign == "+") != (right[i] == 1)
    ]
