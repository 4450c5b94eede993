"""Generators of two-level fractions: a table of the best known ones, and a search where the table ends."""

import random
from collections.abc import Iterator, Sequence
from functools import cache
from math import comb
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from sparkcast.arrays import Ints
from sparkcast.designs._regular import find_fraction

if TYPE_CHECKING:
    _Counts = NDArray[np.int64]

LETTERS = "ABCDEFGHJKLMNOPQRSTUVWXYZ"  # I is the mean
MAX_LOG_RUNS = 12  # a fraction of more runs is no saving that anybody makes
_STARTS = 30
_PASSES = 10

# Generators of minimum aberration for each number of factors and runs: Box, Hunter & Hunter, Statistics for
# Experimenters, table 12.15; Montgomery, Design and Analysis of Experiments, table 8.14. What is built from them is
# checked like anything else.
_TABLE = {
    (3, 4): "AB",
    (4, 8): "ABC",
    (5, 16): "ABCD",
    (5, 8): "AB AC",
    (6, 32): "ABCDE",
    (6, 16): "ABC BCD",
    (6, 8): "AB AC BC",
    (7, 64): "ABCDEF",
    (7, 32): "ABCD ABDE",
    (7, 16): "ABC BCD ACD",
    (7, 8): "AB AC BC ABC",
    (8, 64): "ABCD ABEF",
    (8, 32): "ABC ABD BCDE",
    (8, 16): "BCD ACD ABC ABD",
    (9, 128): "ACDFG BCEFG",
    (9, 64): "ABCD ACEF CDEF",
    (9, 32): "BCDE ACDE ABDE ABCE",
    (9, 16): "ABC BCD ACD ABD ABCD",
    (10, 128): "ABCG BCDE ACDF",
    (10, 64): "BCDF ACDF ABDE ABCE",
    (10, 32): "ABCD ABCE ABDE ACDE BCDE",
    (10, 16): "ABC BCD ACD ABD ABCD AB",
    (11, 128): "ABCG BCDE ACDF ABCDEFG",
    (11, 64): "CDE ABCD ABF BDEF ADEF",
    (11, 32): "ABC BCD CDE ACD ADE BDE",
    (11, 16): "ABC BCD ACD ABD ABCD AB AC",
}


@cache
def generators_for(k: int, m: int) -> tuple[int, ...] | None:
    """Columns for factors m+1 to k of a fraction in 2^m runs, as products (bits) of the first m factors.

    The highest resolution comes first, then few words of that length, and so on (minimum aberration). None when 2^m
    runs do not hold k factors.
    """
    if k > 2**m - 1:
        return None
    if (k, 2**m) in _TABLE:
        return tuple(_bits_of(word) for word in _TABLE[k, 2**m].split())
    if k == m + 1:
        return (2**m - 1,)
    for resolution in range(_highest_resolution(k, m), 2, -1):
        found = _search(k, m, resolution)
        if found is None and (resolution, m) == (5, 8) and k <= 17:
            found = _quadratic_residues(k)
        if found:
            return found
    return None


def _quadratic_residues(k: int) -> tuple[int, ...]:
    """Up to 17 factors at resolution V in 256 runs, which growing column by column misses: the powers of x modulo
    x^8 + x^5 + x^4 + x^3 + 1 are the columns of the [17, 9, 5] quadratic residue code."""
    column, columns = 1, []
    for _ in range(k):
        columns.append(column)
        column = column << 1 ^ (0b100111001 if column >> 7 else 0)
    return tuple(columns[8:])


def smallest_for(k: int, resolution: int) -> int | None:
    """The smallest m for which 2^m runs hold k factors at this resolution; None beyond what is searched."""
    for m in range(2, min(k - 1, MAX_LOG_RUNS) + 1):
        if _may_hold(k, m, resolution):
            found = generators_for(k, m)
            if found is not None and resolution_of(found, m) >= resolution:
                return m
    return None


def runs_of(generators: Sequence[int], m: int) -> list[int]:
    """The runs of a fraction, each a number whose bit i tells whether factor i is high, in standard order."""
    runs = []
    for base in range(2**m):
        run = base
        for i, word in enumerate(generators):
            # A product of signs is high when an even number of its factors is low.
            low = word.bit_count() - (word & base).bit_count()
            run |= (low % 2 == 0) << (m + i)
        runs.append(run)
    return runs


def resolution_of(generators: Sequence[int], m: int) -> int:
    fraction = find_fraction(runs_of(generators, m), m + len(generators))
    assert not isinstance(fraction, str)
    return fraction.resolution() or 0


def _bits_of(word: str) -> int:
    return sum(1 << LETTERS.index(letter) for letter in word)


def _highest_resolution(k: int, m: int) -> int:
    """Plotkin's bound: words cannot all be longer than they are on average."""
    words = 1 << k - m
    return min(k * words // (2 * (words - 1)), m + 1)


def _may_hold(k: int, m: int, resolution: int) -> bool:
    """Whether the bounds of Hamming and of Rao leave room; most sizes are ruled out without a search."""
    half = (resolution - 1) // 2
    even = resolution % 2 == 0  # then one factor fewer, in half the runs, has one resolution less
    return sum(comb(k - even, i) for i in range(half + 1)) <= 1 << m - even


def _search(k: int, m: int, resolution: int) -> tuple[int, ...] | None:
    """The columns that make the fewest words of the shortest lengths, the best of several starts."""
    if not _may_hold(k, m, resolution):
        return None
    best: tuple[tuple[int, ...], tuple[int, ...]] | None = None
    shuffler = random.Random(1000 * k + m)
    for pool in _pools(m, resolution):
        for _ in range(_STARTS if m <= 8 else _STARTS // 6):
            added = _grow(k, m, resolution, pool, shuffler)
            if added is None:
                continue
            fraction = find_fraction(runs_of(added, m), k)
            assert not isinstance(fraction, str)
            pattern = fraction.word_lengths()[1:]
            if best is None or pattern < best[0]:
                best = (pattern, added)
    return best[1] if best else None


def _pools(m: int, resolution: int) -> Iterator[list[int]]:
    every = [v for v in range(3, 2**m) if v.bit_count() >= resolution - 1]
    if resolution % 2 == 0:  # products of an odd number of factors only make words of even length
        yield [v for v in every if v.bit_count() % 2]
    yield every


def _grow(k: int, m: int, resolution: int, pool: list[int], shuffler: random.Random) -> tuple[int, ...] | None:
    """Columns added one by one, the first by chance, then each exchanged for a better one as long as there is one."""
    # ways[j][v]: how many sets of j columns multiply to v. A new column v makes as many words of length j + 1.
    ways = np.zeros((resolution + 2, 2**m), dtype=np.int64)
    ways[0, 0] = 1
    for i in range(m):
        _add(ways, 1 << i)
    columns = np.array(pool)
    added: list[int] = []
    while len(added) < k - m:
        free, cost = _open(ways, columns, resolution)
        if not len(free):
            return None
        chosen = int(shuffler.choice(free[cost == cost.min()] if added else free))
        added.append(chosen)
        _add(ways, chosen)
    _exchange(ways, columns, resolution, added)
    return tuple(added)


def _exchange(ways: "_Counts", columns: Ints, resolution: int, added: list[int]) -> None:
    for _ in range(_PASSES):
        improved = False
        for i, old in enumerate(added):
            _remove(ways, old)
            free, cost = _open(ways, columns, resolution)
            if cost.min() < cost[free == old][0]:
                added[i] = int(free[cost.argmin()])
                improved = True
            _add(ways, added[i])
        if not improved:
            return


def _open(ways: "_Counts", columns: Ints, resolution: int) -> "tuple[Ints, _Counts]":
    """Columns that keep the resolution, and how many words of the two shortest lengths each makes."""
    free = columns[(ways[: resolution - 1, columns] == 0).all(axis=0)]
    return free, ways[resolution - 1, free] * 10**6 + ways[resolution, free]


def _add(ways: "_Counts", column: int) -> None:
    moved = _places(ways) ^ column
    for j in range(len(ways) - 1, 0, -1):
        ways[j] += ways[j - 1, moved]


def _remove(ways: "_Counts", column: int) -> None:
    moved = _places(ways) ^ column
    for j in range(1, len(ways)):
        ways[j] -= ways[j - 1, moved]


def _places(ways: "_Counts") -> Ints:
    return np.arange(ways.shape[1])
