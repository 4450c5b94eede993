"""One linear model, fitted: the numbers that tables, checks and effects are made of.

The columns are reduced once to the triangle R of their QR decomposition. All sums of squares then come from matrices
as small as the model, so that a table of 100,000 runs costs little more than one of a hundred.
"""

import math
from collections.abc import Container, Sequence
from dataclasses import dataclass, replace
from functools import cached_property, reduce
from typing import cast

import numpy as np
from scipy.linalg import solve_triangular
from scipy.optimize import brentq
from scipy.special import fdtr, ncfdtr
from scipy.stats import f as f_distribution

from sparkcast.analysis import RESIDUAL, AnovaRow
from sparkcast.analysis.estimable import CodedRuns
from sparkcast.analysis.noise import FTest, Noise, block_noises, f_test, standard_error
from sparkcast.analysis.scale import PowerScale
from sparkcast.arrays import Floats
from sparkcast.study.formula import Formula, term_label
from sparkcast.study.matrix import interaction, model_columns

_PERMUTATIONS = 1999
# Beyond this many runs the tests no longer need normal residuals, and permuting would take minutes.
MAX_PERMUTED = 5000


class DesignMatrix:
    """The columns of a formula over the runs; the same whatever the response and its scale."""

    def __init__(self, runs: CodedRuns, formula: Formula) -> None:
        self.runs, self.formula = runs, formula
        places, self.matrix = model_columns(formula, runs.frame)
        labels = {name: term_label(name, runs.coding.factors) for name in places}
        self.terms: dict[str, slice] = {labels[name]: at for name, at in places.items()}
        self.parts: dict[str, list[str]] = {labels[name]: name.split(":") for name in places}  # levels_0, number_1, ...
        self.factors = {term: frozenset(self._by_factor(term)) for term in self.terms}

    def _by_factor(self, term: str) -> dict[str, list[str]]:
        """The parts of a term, by the factor whose columns they are."""
        found: dict[str, list[str]] = {}
        for part in self.parts[term]:
            found.setdefault(self.runs.coding.factors[int(part.partition("_")[2])], []).append(part)
        return found

    def reference(self, names: Sequence[str]) -> Floats:
        """A row for each combination of the levels of `names`: the mean over all combinations of all other levels."""
        coding = self.runs.coding
        counts = [len(coding.levels[name]) for name in names]
        codes = dict(zip(names, np.indices(counts).reshape(len(counts), -1), strict=True))
        rows = np.ones((math.prod(counts), self.matrix.shape[1]))
        for term, place in self.terms.items():
            block: Floats = np.ones((len(rows), 1))
            for name, parts in self._by_factor(term).items():
                own = reduce(interaction, map(coding.by_level, parts))
                at = own[codes[name]] if name in codes else np.tile(own.mean(axis=0), (len(rows), 1))
                block = interaction(block, at)
            rows[:, place] = block
        return rows

    @cached_property
    def triangle(self) -> Floats:
        """R of X = QR."""
        return cast("Floats", np.linalg.qr(self.matrix, mode="r"))  # numpy's own types only know of a pair

    @cached_property
    def inverse(self) -> Floats:
        inverse: Floats = solve_triangular(self.triangle, np.eye(len(self.triangle)))
        return inverse

    @cached_property
    def leverage(self) -> Floats:
        """How far each run determines its own prediction, from 0 to 1."""
        # In pieces: a second copy of a large matrix may not fit.
        pieces = np.array_split(self.matrix, max(1, len(self.matrix) // 10_000))
        leverage: Floats = np.concatenate([((piece @ self.inverse) ** 2).sum(axis=1) for piece in pieces])
        return np.minimum(leverage, 1.0)

    def reduce(self, response: Floats) -> Floats:
        """Q'y: all that least squares needs to know of a response."""
        return self.inverse.T @ (self.matrix.T @ response)

    def tested_space(self, term: str, anova_type: int) -> Floats:
        """What a term adds to the others that its type of ANOVA takes into account: orthonormal columns, times Q."""
        parts, names = set(term.split(":")), list(self.terms)
        if anova_type == 1:
            others = names[: names.index(term)]
        elif anova_type == 2:  # all but the interactions that contain the term
            others = [name for name in names if name != term and not parts <= set(name.split(":"))]
        else:
            others = [name for name in names if name != term]
        return self.space_beyond([term], others)

    def weights(self, space: Floats) -> Floats:
        """For each run and each column of a space (times Q) the weight with which the response enters."""
        return self.matrix @ (self.inverse @ space)

    def space_beyond(self, terms: Sequence[str], others: Sequence[str]) -> Floats:
        """What terms together add to others: orthonormal columns, times Q."""
        columns = np.hstack([self.triangle[:, self.terms[term]] for term in terms])
        known = np.hstack([self.triangle[:, :1], *(self.triangle[:, self.terms[other]] for other in others)])
        basis = np.linalg.qr(known)[0]
        return np.linalg.qr(columns - basis @ (basis.T @ columns))[0]


@dataclass(frozen=True)
class Fit:
    """Least squares of a response, already on its scale. Arrays have one entry per run."""

    model: DesignMatrix
    scale: PowerScale
    response: Floats

    @property
    def runs(self) -> CodedRuns:
        return self.model.runs

    @cached_property
    def coefficients(self) -> Floats:
        return self.model.inverse @ self.model.reduce(self.response)

    @cached_property
    def fitted(self) -> Floats:
        return self.model.matrix @ self.coefficients

    @cached_property
    def residuals(self) -> Floats:
        return self.response - self.fitted

    @cached_property
    def residual_sq(self) -> float:
        return float((self.residuals**2).sum())

    @property
    def residual_df(self) -> int:
        rows, columns = self.model.matrix.shape
        return int(rows - columns)

    @cached_property
    def total_sq(self) -> float:
        return float(((self.response - self.response.mean()) ** 2).sum())

    @property
    def r_squared(self) -> float:
        return 1 - self.residual_sq / self.total_sq

    @property
    def is_exact(self) -> bool:
        """Nothing is left unexplained, so that there is no noise to test against."""
        return self.residual_sq <= 1e-12 * self.total_sq

    @cached_property
    def noise(self) -> float:
        """The standard deviation of one run about the model."""
        return math.sqrt(self.residual_sq / self.residual_df)

    def standard_error(self, column: int, noises: Sequence[Noise] = ()) -> tuple[float, float]:
        """Of one coefficient, with the degrees of freedom it is known by."""
        if not noises:
            return self.noise * float(np.linalg.norm(self.model.inverse[column])), self.residual_df
        return standard_error(noises, self.model.weights(self.model.inverse[column][:, None]))

    @cached_property
    def standardized(self) -> Floats:
        """Internally studentised residuals; 0 where a run determines its own prediction."""
        spread = self.noise * np.sqrt(1 - self.model.leverage)
        return np.divide(self.residuals, spread, out=np.zeros_like(self.residuals), where=spread > 1e-9 * self.noise)

    @cached_property
    def robust_covariance(self) -> Floats | None:
        """HC3 of MacKinnon and White (1985); None where a run determines its own prediction."""
        leverage, inverse = self.model.leverage, self.model.inverse
        if leverage.max() > 1 - 1e-8:
            return None
        weighted = self.model.matrix * (self.residuals / (1 - leverage))[:, None]
        outer = inverse @ inverse.T
        return outer @ (weighted.T @ weighted) @ outer


def anova_rows(fit: Fit, anova_type: int, *, permute: bool = False) -> tuple[AnovaRow, ...]:
    permuted = _permutation_tests(fit, anova_type) if permute and not fit.is_exact else {}
    reduced = fit.model.reduce(fit.response)
    rows = []
    for term, columns in fit.model.terms.items():
        df = float(columns.stop - columns.start)
        sum_sq = float(((fit.model.tested_space(term, anova_type).T @ reduced) ** 2).sum())
        share = 100 * sum_sq / fit.total_sq
        if fit.is_exact:
            rows.append(AnovaRow(term, df, sum_sq, share, None, None))
            continue
        f = sum_sq / df / fit.noise**2
        p = float(f_distribution.sf(f, df, fit.residual_df))
        size, low, high = effect_size(f, df, fit.residual_df)
        rows.append(
            AnovaRow(term, df, sum_sq, share, f, p, _robust_p(fit, columns), permuted.get(term), size, low, high)
        )
    unexplained = 100 * fit.residual_sq / fit.total_sq
    return (*rows, AnovaRow(RESIDUAL, float(fit.residual_df), fit.residual_sq, unexplained, None, None))


def with_noise(fit: Fit, rows: Sequence[AnovaRow], anova_type: int, noises: Sequence[Noise]) -> tuple[AnovaRow, ...]:
    """The rows with tests that allow for differences between blocks."""
    found = []
    for row in rows:
        if row.p is not None:
            test = _test(fit, fit.model.tested_space(row.term, anova_type), noises)
            row = replace(row, p_blocks=test.p, df_blocks=test.df)
        found.append(row)
    return tuple(found)


def joint_rows(
    fit: Fit, rows: Sequence[AnovaRow], anova_type: int, noises: Sequence[Noise] = ()
) -> tuple[AnovaRow, ...]:
    """One row for each factor and each interaction, with the bend of a number counted with its trend.

    `noises` are what to test against instead of equal and independent noise.
    """
    terms: dict[frozenset[str], list[str]] = {}
    for term, factors in fit.model.factors.items():
        terms.setdefault(factors, []).append(term)
    own = {row.term: row for row in rows}
    return tuple(_joint_row(fit, [own[term] for term in members], anova_type, noises) for members in terms.values())


def _joint_row(fit: Fit, members: Sequence[AnovaRow], anova_type: int, noises: Sequence[Noise]) -> AnovaRow:
    factors = fit.model.factors[members[0].term]
    terms = [row.term for row in members]
    if anova_type == 1 or len(terms) == 1:
        space = np.hstack([fit.model.tested_space(term, anova_type) for term in terms])
    else:
        others = [
            term
            for term, theirs in fit.model.factors.items()
            if theirs != factors and not (anova_type == 2 and theirs > factors)
        ]
        space = fit.model.space_beyond(terms, others)
    sum_sq = float(((space.T @ fit.model.reduce(fit.response)) ** 2).sum())
    df = sum(row.df for row in members)
    name = ":".join(name for name in fit.runs.coding.factors if name in factors)
    row = AnovaRow(name, df, sum_sq, 100 * sum_sq / fit.total_sq, None, None)
    if fit.is_exact:
        return row
    f = sum_sq / df / fit.noise**2
    if not noises:
        return replace(row, f=f, p=float(f_distribution.sf(f, df, fit.residual_df)))
    test = _test(fit, space, noises)
    return replace(row, f=f, p=test.p, df_blocks=test.df if block_noises(noises) else None)


def _test(fit: Fit, space: Floats, noises: Sequence[Noise]) -> FTest:
    return f_test(noises, fit.model.weights(space), fit.response)


def explained_sq(fit: Fit, terms: Sequence[str], others: Sequence[str]) -> float:
    """The sum of squares that terms explain together, beyond others."""
    return float(((fit.model.space_beyond(terms, others).T @ fit.model.reduce(fit.response)) ** 2).sum())


def share_of(fit: Fit, factors: Container[str]) -> float:
    """What the model would explain less without these factors, in percent of the variation; never above 100."""
    terms = [term for term, own in fit.model.factors.items() if any(name in factors for name in own)]
    others = [term for term in fit.model.terms if term not in terms]
    return 100 * explained_sq(fit, terms, others) / fit.total_sq if terms else 0.0


def _robust_p(fit: Fit, columns: slice) -> float | None:
    """A Wald test of the term's coefficients with errors that allow each run its own variance."""
    if fit.robust_covariance is None:
        return None
    estimate = fit.coefficients[columns]
    statistic = estimate @ np.linalg.solve(fit.robust_covariance[columns, columns], estimate) / len(estimate)
    return float(f_distribution.sf(statistic, len(estimate), fit.residual_df))


def effect_size(f: float, df: float, residual_df: float) -> tuple[float, float | None, float | None]:
    """Partial eta squared, with the 95 % interval that follows from the noncentral F distribution (Smithson 2001)."""
    size = f * df / (f * df + residual_df)
    ends = [_noncentrality(f, df, residual_df, probability) for probability in (0.975, 0.025)]
    low, high = (None if end is None else end / (end + df + residual_df + 1) for end in ends)
    return size, low, high


def _noncentrality(f: float, df: float, residual_df: float, probability: float) -> float | None:
    """The noncentrality at which F falls below the one seen with this probability; 0 when none does."""
    if fdtr(df, residual_df, f) <= probability:
        return 0.0

    def excess(noncentrality: float) -> float:
        return float(ncfdtr(df, residual_df, noncentrality, f)) - probability

    top = 2 * f * df + 20
    while (here := excess(top)) > 0 and top < 1e9:
        top *= 2
    if not here <= 0:  # so far out that the series does not converge
        return None
    try:
        return float(brentq(excess, 0.0, top, xtol=1e-9 * top))
    except ValueError:
        return None


def _permutation_tests(fit: Fit, anova_type: int) -> dict[str, float]:
    """How often shuffled residuals (ter Braak 1992) give each term an F as large as the one seen; seeded."""
    if len(fit.residuals) > MAX_PERMUTED:
        return {}
    generator = np.random.default_rng(0)
    shuffled = generator.permuted(np.tile(fit.residuals, (_PERMUTATIONS, 1)), axis=1).T
    reduced, seen = fit.model.reduce(shuffled), fit.model.reduce(fit.response)
    noise = ((shuffled**2).sum(axis=0) - (reduced**2).sum(axis=0)) / fit.residual_df
    noise = np.maximum(noise, 1e-12 * fit.noise**2)  # a shuffle may fit exactly
    tests = {}
    for term in fit.model.terms:
        basis = fit.model.tested_space(term, anova_type)
        observed = ((basis.T @ seen) ** 2).sum() / fit.noise**2
        by_chance = ((basis.T @ reduced) ** 2).sum(axis=0) / noise
        tests[term] = float((1 + (by_chance >= observed * (1 - 1e-12)).sum()) / (_PERMUTATIONS + 1))
    return tests
