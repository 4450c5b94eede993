"""Effects in numbers that people can use: changes, means, pairwise differences, simple regressions."""

import math
from collections.abc import Sequence
from functools import cache
from itertools import combinations
from typing import Any

import numpy as np
from scipy.sparse import csr_array
from scipy.stats import f as f_distribution
from scipy.stats import linregress, norm, studentized_range, t

from sparkcast.analysis import (
    RESIDUAL,
    AnovaRow,
    CellMean,
    Effect,
    LevelComparison,
    LevelMean,
    Regression,
    ResidualPoint,
)
from sparkcast.analysis.fit import Fit
from sparkcast.analysis.noise import FTest, Noise, f_test, standard_error
from sparkcast.arrays import Floats, Ints
from sparkcast.study import Level, Observation
from sparkcast.study.formula import term_label
from sparkcast.study.matrix import Coding

_MAX_LEVELS = 12  # beyond it, pairs of levels and cells of two factors fill pages that nobody reads
_MAX_MEANS = 30
_MAX_POINTS = 1000
_ALIKE = 1e-3  # means that differ by a smaller share are told once


def effects(fit: Fit, rows: Sequence[AnovaRow], anova_type: int, noises: Sequence[Noise] = ()) -> tuple[Effect, ...]:
    """`noises` are what to compare with instead of equal and independent noise."""
    found = []
    for row in rows:
        if row.term == RESIDUAL:
            continue
        test = FTest(row.f, row.p, fit.residual_df)
        if noises and row.f is not None:
            test = f_test(noises, fit.model.weights(fit.model.tested_space(row.term, anova_type)), fit.response)
        standardized = None if test.f is None else math.sqrt(max(test.f, 0.0))
        critical = None if test.f is None else math.sqrt(float(f_distribution.isf(0.05, row.df, test.df)))
        change = _change(fit, row.term, noises) if row.df == 1 else {}
        found.append(Effect(row.term, row.df, standardized, critical, test.p, **change))
    return tuple(found)


def _change(fit: Fit, term: str, noises: Sequence[Noise]) -> dict[str, Any]:
    """Twice the coefficient, for from -1 to +1 are two units of a coded column."""
    column = fit.model.terms[term].start
    slope = float(fit.coefficients[column])
    error, df = fit.standard_error(column, noises)
    half = 2 * float(t.ppf(0.975, df)) * error if not fit.is_exact else 0.0
    change = _sign(fit, term) * 2 * slope
    return {
        "change": change,
        "low": change - half,
        "high": change + half,
        "ratio": math.exp(change) if fit.scale.is_log else None,
        **_per_unit(fit, term, slope),
    }


def _sign(fit: Fit, term: str) -> int:
    """Sum coding and inverses give the first level +1, where a number has its lowest at -1."""
    return math.prod(-1 if part.startswith(("levels", "inverse")) else 1 for part in fit.model.parts[term])


def _per_unit(fit: Fit, term: str, slope: float) -> dict[str, Any]:
    coding = fit.runs.coding
    value, units = slope, []
    for part in fit.model.parts[term]:
        kind, _, index = part.partition("_")
        if kind == "levels":
            return {}  # they have no slope
        name = coding.factors[int(index)]
        value = value * coding.curvature(name) if kind == "curve" else value / coding.half_range(name, kind)
        units.append(f"{name}²" if kind == "curve" else term_label(part, coding.factors))
    return {"coefficient": value, "unit": f"{fit.scale.label} per {' × '.join(units)}"}


class AdjustedMeans:
    """Means of groups of runs, moved by the model to where all other settings are alike.

    With a term for every difference between the groups they are the model's marginal means. Where a straight line or
    a bend stands for many levels, what these leave of the runs at a level stays in its mean; so in balanced runs, where
    there is nothing to adjust, they are the plain means.
    """

    def __init__(self, fit: Fit, groups: Ints, targets: Floats, noises: Sequence[Noise] = ()) -> None:
        """`groups` is the group of each run, from 0; `targets` has the row of the model each group is moved to."""
        n = len(groups)
        members = csr_array((np.ones(n), (groups, np.arange(n))), shape=(len(targets), n))
        self.sizes = np.bincount(groups, minlength=len(targets))
        rows = members @ fit.model.matrix / self.sizes[:, None]
        self.raw: Floats = members @ fit.response / self.sizes
        self.means: Floats = self.raw + (targets - rows) @ fit.coefficients
        self._noise, self._df = fit.noise, fit.residual_df
        self._noises = noises
        self._weights: Floats = np.empty((0, 0))  # for each run and each group the weight of the response in its mean
        if noises:
            shares = members.toarray() / self.sizes[:, None]
            self._weights = shares.T + fit.model.weights(fit.model.inverse.T @ (targets - rows).T)
        self._rows, self._targets = rows @ fit.model.inverse, targets @ fit.model.inverse

    def errors(self) -> tuple[Floats, Floats]:
        """The standard error of each mean, and the degrees of freedom it is known by."""
        if self._noises:
            return self._noisy(self._weights)
        added = (self._targets**2).sum(axis=1) - (self._rows**2).sum(axis=1)
        return self._error(1 / self.sizes + added)

    def errors_between(self, i: Ints, j: Ints) -> tuple[Floats, Floats]:
        """The standard error of the difference of means, pair by pair, and the degrees of freedom it is known by."""
        if self._noises:
            return self._noisy(self._weights[:, i] - self._weights[:, j])
        added = ((self._targets[i] - self._targets[j]) ** 2).sum(axis=1)
        added -= ((self._rows[i] - self._rows[j]) ** 2).sum(axis=1)
        return self._error(1 / self.sizes[i] + 1 / self.sizes[j] + added)

    def _error(self, variance: Floats) -> tuple[Floats, Floats]:
        return self._noise * np.sqrt(np.maximum(variance, 0.0)), np.full(len(variance), float(self._df))

    def _noisy(self, weights: Floats) -> tuple[Floats, Floats]:
        found = np.array([standard_error(self._noises, column) for column in weights.T])
        return found[:, 0], found[:, 1]


def level_means(fit: Fit, noises: Sequence[Noise] = ()) -> tuple[LevelMean, ...]:
    """Adjusted means at each level, with intervals from the model's residual: other factors' effects are no noise.

    They are taken on the scale of the model and turned back, so after a log they are geometric means.
    """
    coding, scale = fit.runs.coding, fit.scale
    found = []
    for name in fit.model.formula.names:
        codes = fit.runs.codes[name].to_numpy()
        groups, labels = _few_levels(codes, coding.levels[name])
        reference = fit.model.reference([name])
        targets = np.stack([reference[codes[groups == group]].mean(axis=0) for group in range(len(labels))])
        by = AdjustedMeans(fit, groups, targets, noises)
        errors, df = by.errors()
        halves = t.ppf(0.975, df) * errors
        for label, mean, half, raw, size in zip(labels, by.means, halves, by.raw, by.sizes, strict=True):
            low, high = sorted((scale.back(mean - half), scale.back(mean + half)))
            found.append(LevelMean(name, label, scale.back(mean), low, high, int(size), _raw(fit, raw, mean)))
    return tuple(found)


def _raw(fit: Fit, raw: float, mean: float) -> float | None:
    """The plain mean, unless it is the adjusted one for any reader."""
    plain, adjusted = fit.scale.back(raw), fit.scale.back(mean)
    return None if math.isclose(plain, adjusted, rel_tol=_ALIKE) else plain


def _few_levels(codes: Ints, levels: Sequence[Level]) -> tuple[Ints, Sequence[Level]]:
    """The levels, or ten ranges of about equally many runs where a setting has dozens of levels."""
    if len(levels) <= _MAX_MEANS:
        return codes, levels
    cuts = np.unique(np.quantile(codes, np.linspace(0, 1, 11), method="nearest"))[1:]
    place = np.searchsorted(cuts, codes)
    starts = [0, *(cut + 1 for cut in cuts[:-1])]
    return place, [f"{levels[a]} to {levels[b]}" for a, b in zip(starts, cuts, strict=True)]


def cell_means(fit: Fit) -> tuple[CellMean, ...]:
    """The adjusted mean at each pair of levels, of any two factors with few levels, at which there are runs."""
    coding = fit.runs.coding
    few = [name for name in fit.model.formula.names if len(coding.levels[name]) <= _MAX_LEVELS]
    codes = {name: fit.runs.codes[name].to_numpy() for name in few}
    cells = []
    for a, b in combinations(few, 2):
        width = len(coding.levels[b])
        places, groups = np.unique(codes[a] * width + codes[b], return_inverse=True)
        by = AdjustedMeans(fit, groups, fit.model.reference([a, b])[places])
        for place, mean, raw, size in zip(places, by.means, by.raw, by.sizes, strict=True):
            levels = coding.levels[a][place // width], coding.levels[b][place % width]
            cells.append(CellMean(a, b, *levels, fit.scale.back(mean), int(size), _raw(fit, raw, mean)))
    return tuple(cells)


def tukey(fit: Fit, noises: Sequence[Noise] = ()) -> tuple[LevelComparison, ...]:
    """All pairs of levels of each factor (Tukey-Kramer), by their adjusted means, with the noise of the model."""
    coding = fit.runs.coding
    if fit.is_exact:
        return ()
    found = []
    for name in fit.model.formula.names:
        count = len(coding.levels[name])
        if count > _MAX_LEVELS:
            continue
        by = AdjustedMeans(fit, fit.runs.codes[name].to_numpy(), fit.model.reference([name]), noises)
        first, second = np.triu_indices(count, 1)
        difference = by.means[second] - by.means[first]
        error, known_by = by.errors_between(first, second)
        error /= math.sqrt(2)
        # Beyond a thousand degrees of freedom the noise is known: one integral instead of two.
        df = float(known_by.min()) if known_by.min() < 1000 else math.inf
        critical = _tukey_limit(count, df)
        p = np.clip(studentized_range.sf(np.abs(difference) / error, count, df), 0.0, 1.0)
        for i, j, d, e, value in zip(first, second, difference, error, p, strict=True):
            levels = coding.levels[name][i], coding.levels[name][j]
            half = critical * e
            found.append(LevelComparison(name, *levels, float(d), float(d - half), float(d + half), float(value)))
    return tuple(found)


@cache
def _tukey_limit(count: int, df: float) -> float:
    return float(studentized_range.ppf(0.95, count, df))


def regressions(factors: Sequence[str], runs: Sequence[Observation], response: str) -> tuple[Regression, ...]:
    """The response on each numeric setting alone, and on the repetition, which should not matter."""
    at = [run.configuration for run in runs]
    coding = Coding.of({name: [configuration[name] for configuration in at] for name in factors})
    variables = {name: np.array(own)[coding.codes(name, at)] for name, own in coding.numbers.items()}
    variables["repetition"] = np.array([float(run.replicate) for run in runs])
    y = np.array([run.responses[response] for run in runs])
    found = []
    for name, x in variables.items():
        if len(x) < 3 or np.ptp(x) == 0 or np.ptp(y) == 0:
            continue
        line = linregress(x, y)
        slope, intercept, r, p = (float(v) for v in (line.slope, line.intercept, line.rvalue, line.pvalue))
        found.append(Regression(name, slope, intercept, r, p, len(x), name in coding.factors))
    return tuple(found)


def residual_points(fit: Fit, order: Sequence[int]) -> tuple[ResidualPoint, ...]:
    n = len(fit.residuals)
    rank = np.empty(n)
    rank[np.argsort(fit.residuals, kind="stable")] = np.arange(1, n + 1)
    quantile = norm.ppf((rank - 0.375) / (n + 0.25))  # Blom's places
    chosen = np.argsort(order, kind="stable")
    if n > _MAX_POINTS:  # evenly, but never without the ones that stand out
        shown = np.zeros(n, dtype=bool)
        shown[np.argsort(-np.abs(fit.standardized))[: _MAX_POINTS // 10]] = True
        shown[chosen[np.linspace(0, n - 1, _MAX_POINTS - _MAX_POINTS // 10).astype(int)]] = True
        chosen = chosen[shown[chosen]]
    columns = (np.asarray(order)[chosen], *(a[chosen] for a in (fit.fitted, fit.residuals, fit.standardized, quantile)))
    return tuple(ResidualPoint(int(o), *map(float, rest)) for o, *rest in zip(*columns, strict=True))
