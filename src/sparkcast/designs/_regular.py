"""Regular two-level fractions, found in the runs themselves and never taken from what somebody says they are.

A run is a number whose bit i is set when factor i is high. The runs of a regular fraction are a flat in the space of
all such numbers over GF(2); what is aliased with what follows from that flat alone (Box, Hunter & Hunter; Mukerjee &
Wu, A Modern Theory of Factorial Designs, 2006).
"""

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import reduce
from itertools import combinations
from math import comb
from operator import xor

import numpy as np
from numpy.typing import NDArray

_MAX_WORDS = 4096  # listed; more are only counted
_MAX_SEARCHED = 300_000  # products looked at to find short words


@dataclass(frozen=True, slots=True)
class Fraction:
    """A regular fraction of `k` factors in 2^m different runs."""

    k: int
    m: int
    base: int  # one run, for the signs
    signatures: tuple[
        int, ...
    ]  # for each factor, how it follows from m independent directions; aliases have equal ones
    weights: tuple[int, ...]  # how many runs differ from `base` in 0, 1, 2, ... factors

    def signature(self, effect: int) -> int:
        return reduce(xor, (self.signatures[i] for i in bits(effect)), 0)

    def sign(self, effect: int) -> int:
        """The value of a product of columns in the base run."""
        return -1 if (effect.bit_count() - (effect & self.base).bit_count()) % 2 else 1

    @property
    def n_words(self) -> int:
        return (1 << self.k - self.m) - 1

    def word_lengths(self) -> tuple[int, ...]:
        """How many words of length 0, 1, ... k the defining relation has, by MacWilliams' identity."""
        totals = [0] * (self.k + 1)
        for weight, runs in enumerate(self.weights):
            if runs:
                for length, coefficient in enumerate(_krawtchouk(self.k, weight)):
                    totals[length] += runs * coefficient
        return tuple(total // 2**self.m for total in totals)

    def resolution(self) -> int | None:
        """The length of the shortest word; None when nothing is aliased."""
        lengths = self.word_lengths()
        return next((length for length in range(1, self.k + 1) if lengths[length]), None)

    def generators(self) -> tuple[int, ...]:
        """Independent words, one for each factor that follows from factors before it."""
        words = []
        pivots: dict[int, tuple[int, int]] = {}
        for i, signature in enumerate(self.signatures):
            word = 1 << i
            while signature and signature.bit_length() in pivots:
                vector, mask = pivots[signature.bit_length()]
                signature, word = signature ^ vector, word ^ mask
            if signature:
                pivots[signature.bit_length()] = (signature, word)
            else:
                words.append(word)
        return tuple(words)

    def words(self) -> tuple[int, ...]:
        """The defining relation, shortest first: all words, or those of the shortest length when there are too many."""
        if self.n_words <= _MAX_WORDS:
            span = [0]
            for word in self.generators():
                span += [word ^ other for other in span]
            return tuple(sorted(span[1:], key=lambda word: (word.bit_count(), _order(word))))
        length = self.resolution() or 0
        if comb(self.k, length) > _MAX_SEARCHED:
            return ()
        return tuple(effect for effect in effects(self.k, length, length) if self.signature(effect) == 0)


def find_fraction(runs: Sequence[int], k: int) -> Fraction | str:
    """The regular fraction that these runs are, or why they are none."""
    counts = Counter(runs)
    if len(set(counts.values())) > 1:
        return "some combinations are replicated more often than others"
    base = runs[0]
    basis: dict[int, int] = {}
    for run in counts:
        vector = run ^ base
        while vector and vector.bit_length() in basis:
            vector ^= basis[vector.bit_length()]
        if vector:
            basis[vector.bit_length()] = vector
    if len(counts) != 2 ** len(basis):
        return f"its {len(counts)} combinations are not a 2^k or 2^(k-p) fraction"
    directions = list(basis.values())
    signatures = tuple(sum(1 << j for j, v in enumerate(directions) if v >> i & 1) for i in range(k))
    weights = Counter((run ^ base).bit_count() for run in counts)
    return Fraction(k, len(directions), base, signatures, tuple(weights[w] for w in range(k + 1)))


def effects(k: int, lowest: int, highest: int) -> Iterator[int]:
    """Products of `lowest` to `highest` of `k` factors, as bits, main effects first."""
    for order in range(lowest, highest + 1):
        for factors in combinations(range(k), order):
            yield sum(1 << i for i in factors)


def bits(effect: int) -> Iterator[int]:
    i = 0
    while effect:
        if effect & 1:
            yield i
        effect >>= 1
        i += 1


def signs(runs: Iterable[int], k: int) -> "NDArray[np.int64]":
    """The runs as a matrix of -1 and 1."""
    return np.array([[1 if run >> i & 1 else -1 for i in range(k)] for run in runs], dtype=np.int64)


def _order(effect: int) -> tuple[int, ...]:
    return tuple(bits(effect))


def _krawtchouk(k: int, weight: int) -> list[int]:
    """The coefficients of (1 - z)^weight (1 + z)^(k - weight)."""
    polynomial = [1]
    for i in range(k):
        sign = -1 if i < weight else 1
        polynomial = [a + sign * b for a, b in zip([*polynomial, 0], [0, *polynomial], strict=True)]
    return polynomial
