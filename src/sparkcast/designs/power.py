"""How likely a plan is to see an effect, before anything is run.

An effect's size is the difference between the low and the high end of a factor (for categories: between two of its
levels) in units of the noise's standard deviation. The test is the F test of the term in the model that the analysis
fits by default: main effects, bends of numbers, and the pairs that the runs can tell apart.
"""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations

import numpy as np

from sparkcast.arrays import Floats
from sparkcast.designs._columns import bend_column, coding_of, main_columns
from sparkcast.study import Configuration, Study
from sparkcast.study.estimable import ToldApart, leaving
from sparkcast.study.matrix import Coding, interaction

ALPHA = 0.05
TARGETS = (0.8, 0.9)
_MAX_REPLICATES = 100
_SIZES = tuple(round(0.1 * i, 1) for i in range(1, 41))  # of the curve


@dataclass(frozen=True, slots=True)
class EffectPower:
    effect: str
    kind: str  # "main effect" or "interaction"
    df: int
    power: float


@dataclass(frozen=True, slots=True)
class CurvePoint:
    """The power of the main effect that is hardest to see."""

    replicates: int
    effect_sd: float
    power: float


@dataclass(frozen=True, slots=True)
class Power:
    effect_sd: float
    alpha: float
    residual_df: int  # of the model without what is left out
    effects: tuple[EffectPower, ...]  # of the terms in the model; empty when the noise cannot be judged
    reason: str  # why there is none, or ""
    curve: tuple[CurvePoint, ...]
    replicates: int  # of the plan
    replicates_for: Mapping[str, int | None]  # "0.8" -> how many make every main effect that likely to be seen
    left_out: tuple[str, ...] = ()  # terms that the runs can tell apart, given up so that the noise can be judged
    whole_df: int = 0  # residual degrees of freedom with these terms: 0 when the runs are used up by effects

    def lowest(self, kind: str) -> float | None:
        return min((e.power for e in self.effects if e.kind == kind), default=None)


@dataclass(frozen=True, slots=True)
class _Term:
    name: str
    kind: str
    columns: Floats
    pattern: tuple[float, ...]  # the coefficients of an effect of size 2


def plan_power(study: Study, configurations: Sequence[Configuration], replicates: int, effect_sd: float = 1.0) -> Power:
    """The power of a plan whose `configurations` are all its runs: `replicates` times the same ones."""
    once = _PowerModel(study, configurations, replicates)
    effects, reason = once.powers(replicates, effect_sd)
    shown = sorted({1, 2, 3, 5, replicates})
    curve = [
        CurvePoint(r, size, power)
        for r in shown
        for size, power in zip(_SIZES, once.lowest_main(r, _SIZES), strict=True)
        if power is not None
    ]
    needed = {str(target): once.replicates_for(target, effect_sd) for target in TARGETS}
    return Power(
        effect_sd,
        ALPHA,
        once.residual_df(replicates),
        effects,
        reason,
        tuple(curve),
        replicates,
        needed,
        once.left_out(replicates),
        once.whole_df(replicates),
    )


def f_test_power(effect_ncp: float, df: int, residual_df: int, alpha: float = ALPHA) -> float:
    """The power of an F test with a noncentrality; for one degree of freedom that of the two-sided t test."""
    from scipy.special import fdtri, ncfdtr  # a third of the time that scipy.stats takes to import

    if effect_ncp <= 0:
        return alpha
    return float(1 - ncfdtr(df, residual_df, effect_ncp, fdtri(df, residual_df, 1 - alpha)))


class _PowerModel:
    """The model the analysis fits by default, for any number of replicates of the same runs."""

    def __init__(self, study: Study, configurations: Sequence[Configuration], replicates: int) -> None:
        self._rows, self._replicates = len(configurations), replicates
        coding = coding_of(study, configurations)
        columns = main_columns(coding, configurations)
        pattern = {name: _pattern(coding, name) for name in coding.varied}
        self._intercept = np.ones((len(configurations), 1))
        self._main = [_Term(name, "main effect", columns[name], pattern[name]) for name in coding.varied]
        known = ToldApart(self._intercept)
        self.is_estimable = all(known.add(term.columns, limit=math.inf) for term in self._main)
        numbers = [name for name in coding.varied if coding.is_number(name) and len(coding.levels[name]) > 2]
        bends = [_Term(f"{name}^2", "bend", bend_column(coding, name, configurations), (1.0,)) for name in numbers]
        self._bends = [term for term in bends if known.add(term.columns)]
        self._pairs = []
        for a, b in combinations(coding.varied, 2):
            product = interaction(columns[a], columns[b])
            if known.add(product):
                self._pairs.append(_Term(f"{a}:{b}", "interaction", product, _outer(pattern[a], pattern[b])))
        self._ncps: dict[int, Mapping[str, float]] = {}

    def powers(self, replicates: int, effect_sd: float) -> tuple[tuple[EffectPower, ...], str]:
        n = self._n(replicates)
        if not self._main:
            return (), "no factor has two levels in the runs"
        if not self.is_estimable and n > 1 + sum(len(term.pattern) for term in self._main):
            return (), "the runs cannot separate the main effects"
        if self.residual_df(replicates) < 1 or not self.is_estimable:
            return (
                (),
                f"{n} runs leave no degrees of freedom to estimate the noise: the main effects use all of them; "
                "add replicates",
            )
        return tuple(
            EffectPower(term.name, term.kind, len(term.pattern), self._power(term, replicates, effect_sd))
            for term in self.terms(replicates)
            if term.kind != "bend"
        ), ""

    def lowest_main(self, replicates: int, sizes: Sequence[float]) -> list[float | None]:
        """The power of the main effect that is hardest to see, for each size of the effect."""
        if not self._main or not self.is_estimable or self.residual_df(replicates) < 1:
            return [None] * len(sizes)
        weakest = min(self._main, key=lambda term: self._power(term, replicates, 1.0))
        return [self._power(weakest, replicates, size) for size in sizes]

    def replicates_for(self, target: float, effect_sd: float) -> int | None:
        for replicates in range(1, _MAX_REPLICATES + 1):
            [power] = self.lowest_main(replicates, (effect_sd,))
            if power is not None and power >= target:
                return replicates
        return None

    def residual_df(self, replicates: int) -> int:
        return self._n(replicates) - 1 - sum(len(term.pattern) for term in self.terms(replicates))

    def terms(self, replicates: int) -> list[_Term]:
        """Interactions go, the costliest first, then bends, until something is left to judge the noise by."""
        sizes = [len(pair.pattern) for pair in self._pairs]
        places, n_bends = leaving(self.whole_df(replicates), sizes, len(self._bends))
        pairs = [pair for place, pair in enumerate(self._pairs) if place not in places]
        return [*self._main, *self._bends[: len(self._bends) - n_bends], *pairs]

    def left_out(self, replicates: int) -> tuple[str, ...]:
        kept = {term.name for term in self.terms(replicates)}
        return tuple(term.name for term in (*self._bends, *self._pairs) if term.name not in kept)

    def whole_df(self, replicates: int) -> int:
        """Residual degrees of freedom with every term that the runs can tell apart."""
        return self._n(replicates) - 1 - sum(len(t.pattern) for t in (*self._main, *self._bends, *self._pairs))

    def _n(self, replicates: int) -> int:
        return self._rows * replicates // self._replicates

    def _power(self, term: _Term, replicates: int, effect_sd: float) -> float:
        terms = self.terms(replicates)
        if len(terms) not in self._ncps:  # terms leave in a fixed order, so their number says which they are
            self._ncps[len(terms)] = _noncentralities(self._intercept, terms)
        ncp = self._ncps[len(terms)][term.name] * replicates / self._replicates * effect_sd**2
        return f_test_power(ncp, len(term.pattern), self.residual_df(replicates))


def _noncentralities(intercept: Floats, terms: Sequence[_Term]) -> Mapping[str, float]:
    """For each term that of an effect of one standard deviation.

    As in an analysis of type II, a main effect is judged beside all terms that do not contain it.
    """
    everything = _information(intercept, terms)
    found = {}
    for term in terms:
        beside = [other for other in terms if other is term or term.name not in other.name.split(":")]
        information = everything if len(beside) == len(terms) else _information(intercept, beside)
        coefficients = [x / 2 for x in term.pattern]
        found[term.name] = float(coefficients @ information[term.name] @ coefficients)
    return found


def _information(intercept: Floats, terms: Sequence[_Term]) -> Mapping[str, Floats]:
    """What the runs say about each term's coefficients, once all others are accounted for."""
    covariance = np.linalg.inv(_gram(intercept, terms))
    information, start = {}, 1
    for term in terms:
        part = slice(start, start + len(term.pattern))
        start = part.stop
        information[term.name] = np.linalg.inv(covariance[part, part])
    return information


def _gram(intercept: Floats, terms: Sequence[_Term]) -> Floats:
    matrix = np.hstack([intercept, *(term.columns for term in terms)])
    return matrix.T @ matrix


def _pattern(coding: Coding, name: str) -> tuple[float, ...]:
    """Coefficients of an effect of size 2: a number from -1 to 1; a category's first and last level apart.

    With the other levels in the middle, that is the arrangement of this size that is hardest to see.
    """
    if coding.is_number(name):
        return (1.0,)
    return (1.0, *[0.0] * (len(coding.levels[name]) - 2))


def _outer(a: Sequence[float], b: Sequence[float]) -> tuple[float, ...]:
    return tuple(x * y for x in a for y in b)
