"""What an analysis of variance takes for granted, tested, with the conclusion in words."""

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import pandas as pd
from scipy.stats import chi2, linregress, norm, shapiro, spearmanr
from scipy.stats import f as f_distribution

from sparkcast.analysis import AssumptionCheck, CheckResult
from sparkcast.analysis.estimable import addable
from sparkcast.analysis.fit import MAX_PERMUTED, Fit
from sparkcast.analysis.sentences import SIGNIFICANCE, show_p
from sparkcast.arrays import Floats, Ints
from sparkcast.units import show_percent

_SHAPIRO_MOST = 5000  # beyond it the p values of the approximation are not known to hold
_MIN_REPLICATES = 3  # with two, both lie equally far from their median and a spread cannot be compared
_HIGH_VIF, _RAISED_VIF = 10.0, 5.0  # the paper's own limit, and half of it


def check_assumptions(fit: Fit, groups: Ints, order: Sequence[int], other_scale: str) -> tuple[AssumptionCheck, ...]:
    """`groups` tells replicates (equal numbers) from other runs, `order` is the place of each run in time.

    `other_scale` is how to analyze on another scale, "" where none is proposed or one was taken already.
    """
    return (
        normality(fit, other_scale),
        equal_variance(fit, groups, other_scale),
        independence(fit, groups, order),
        collinearity(fit),
        influence(fit, order),
        lack_of_fit(fit, groups, other_scale),
    )


def normality(fit: Fit, other_scale: str) -> AssumptionCheck:
    name, test = "normality", "Shapiro-Wilk"
    if fit.is_exact or len(fit.residuals) < 8:
        return _unknown(name, test, "too few runs to tell whether the residuals are normal")
    shown = fit.residuals if len(fit.residuals) <= _SHAPIRO_MOST else _evenly(fit.residuals, _SHAPIRO_MOST)
    w, p = (float(value) for value in shapiro(shown))
    found = f"Shapiro-Wilk W = {w:.3f}, {show_p(p)}"
    if p >= SIGNIFICANCE:
        return AssumptionCheck(name, test, w, p, CheckResult.HOLDS, f"The residuals look normal ({found}).")
    mild = "; W is close to 1, so the deviation is small" if w > 0.95 else ""
    verdict = CheckResult.DOUBTFUL if mild else CheckResult.VIOLATED
    advice = _joined(other_scale, "compare the robust and permutation p values with the classic ones")
    if len(fit.residuals) > MAX_PERMUTED:
        advice = "with this many runs the F tests are valid without normality; prediction intervals are not"
    return AssumptionCheck(name, test, w, p, verdict, f"The residuals are not normal ({found}{mild}).", advice)


def equal_variance(fit: Fit, groups: Ints, other_scale: str) -> AssumptionCheck:
    """Of the response by setting, where settings were run three times; else of the residuals along the prediction."""
    name = "equal variance"
    advice = _joined(other_scale, "compare the robust p values with the classic ones")
    table = pd.DataFrame({"group": groups, "value": fit.response})
    sizes = table.groupby("group")["value"].transform("size")
    repeated = table[sizes >= _MIN_REPLICATES]
    if fit.is_exact:
        return _unknown(name, "Brown-Forsythe", "the model fits exactly, so there is no variance to compare")
    if repeated["group"].nunique() < 2:
        return _spread_along_prediction(fit, repeated["group"].nunique(), advice)
    statistic, p = brown_forsythe(repeated)
    along = breusch_pagan(fit)
    found = f"Brown-Forsythe {statistic:.2f}, {show_p(p)}{_bartlett_words(repeated)}; {along.words}"
    if p >= SIGNIFICANCE and along.p >= SIGNIFICANCE:
        sentence = f"No sign that variances differ between configurations ({found})."
        return AssumptionCheck(name, "Brown-Forsythe", statistic, p, CheckResult.HOLDS, sentence)
    if p >= SIGNIFICANCE:
        sentence = (
            f"The spread {along.direction} with the prediction, although the differences between "
            f"configurations are not significant ({found})."
        )
        return AssumptionCheck(name, "Brown-Forsythe", statistic, p, CheckResult.DOUBTFUL, sentence, advice)
    spreads = repeated.groupby("group")["value"].std()
    spreads = spreads[spreads > _no_spread(repeated)]
    ends = f"standard deviations from {spreads.min():.3g} to {spreads.max():.3g}"
    growing = ", growing with the mean" if grows_with_mean(fit, groups) else ""
    sentence = f"The variances differ between configurations{growing} ({found}; {ends})."
    return AssumptionCheck(name, "Brown-Forsythe", statistic, p, CheckResult.VIOLATED, sentence, advice)


def brown_forsythe(table: "pd.DataFrame") -> tuple[float, float]:
    """Levene's test about the median, vectorized over any number of groups: columns `group` and `value`."""
    by = table.groupby("group")["value"]
    distance = (table["value"] - by.transform("median")).abs()
    own = distance.groupby(table["group"])
    means, sizes = own.mean(), own.size()
    between = float((sizes * (means - distance.mean()) ** 2).sum())
    within = float(((distance - own.transform("mean")) ** 2).sum())
    k, n = len(sizes), len(table)
    if within == 0:
        return (math.inf, 0.0) if between > 0 else (0.0, 1.0)
    statistic = between / (k - 1) / (within / (n - k))
    return statistic, float(f_distribution.sf(statistic, k - 1, n - k))


def bartlett(table: "pd.DataFrame") -> tuple[float, float, int]:
    """Bartlett's test, its p, and how many groups without any spread it had to leave out.

    Equal values have a computed variance of 1e-36 rather than 0, whose logarithm would swamp the statistic.
    """
    by = table.groupby("group")["value"]
    variances, sizes = by.var(), by.size()
    has_spread = variances > _no_spread(table) ** 2
    variances, sizes = variances[has_spread], sizes[has_spread]
    k, n = len(sizes), int(sizes.sum())
    if k < 2:
        return math.nan, math.nan, int((~has_spread).sum())
    pooled = float(((sizes - 1) * variances).sum() / (n - k))
    raw = (n - k) * math.log(pooled) - float(((sizes - 1) * np.log(variances)).sum())
    correction = 1 + (float((1 / (sizes - 1)).sum()) - 1 / (n - k)) / (3 * (k - 1))
    return raw / correction, float(chi2.sf(raw / correction, k - 1)), int((~has_spread).sum())


def _no_spread(table: "pd.DataFrame") -> float:
    """A standard deviation that is rounding error only."""
    return 1e-12 * float(table["value"].abs().max())


def _bartlett_words(table: "pd.DataFrame") -> str:
    statistic, p, constant = bartlett(table)
    if math.isnan(statistic):
        return ""
    without = (
        f" without {constant} setting{'s' * (constant > 1)} that show{'s' * (constant == 1)} no spread at all"
        if constant
        else ""
    )
    return f"; Bartlett {statistic:.1f}, {show_p(p)}{without}"


@dataclass(frozen=True, slots=True)
class BreuschPagan:
    """Whether squared residuals change along the prediction; `statistic` is F, which is p's too."""

    statistic: float
    p: float
    slope: float

    @property
    def direction(self) -> str:
        return "grows" if self.slope > 0 else "falls"

    @property
    def words(self) -> str:
        return f"Breusch-Pagan F = {self.statistic:.2f}, {show_p(self.p)}"


def breusch_pagan(fit: Fit) -> BreuschPagan:
    """Breusch and Pagan's test along the prediction, as Cook and Weisberg proposed, in Koenker's form (any
    distribution): squared residuals on fitted values."""
    line = linregress(fit.fitted, fit.residuals**2)
    share = float(line.rvalue) ** 2
    return BreuschPagan(share / (1 - share) * (len(fit.fitted) - 2), float(line.pvalue), float(line.slope))


def _spread_along_prediction(fit: Fit, repeated: int, advice: str) -> AssumptionCheck:
    name, test = "equal variance", "Breusch-Pagan"
    if len(fit.residuals) < 8:
        return _unknown(name, test, "too few runs to compare variances; run each configuration three times")
    found = breusch_pagan(fit)
    which = "only one configuration" if repeated else "no configuration"
    how = f"{found.words}; {which} was run three times, so configurations cannot be compared with each other"
    if found.p >= SIGNIFICANCE:
        sentence = f"No sign that the variance changes with the size of the response ({how})."
        return AssumptionCheck(name, test, found.statistic, found.p, CheckResult.HOLDS, sentence)
    sentence = f"The variances differ: the variance {found.direction} with the prediction ({how})."
    return AssumptionCheck(name, test, found.statistic, found.p, CheckResult.VIOLATED, sentence, advice)


def grows_with_mean(fit: Fit, groups: Ints) -> bool:
    """Whether settings with a large response also scatter more: then a power or the logarithm can even it out."""
    if fit.is_exact or len(fit.residuals) < 8:
        return False
    by = pd.Series(fit.response).groupby(groups)
    repeated = by.size() >= _MIN_REPLICATES
    if repeated.sum() < 5:
        along = breusch_pagan(fit)
        return along.slope > 0 and along.p < SIGNIFICANCE
    pair = (by.mean()[repeated].to_numpy(), by.std()[repeated].to_numpy())
    if any(np.ptp(one) == 0 for one in pair):
        return False
    r, p = spearmanr(*pair)
    return bool(r > 0 and p < SIGNIFICANCE)


def independence(fit: Fit, groups: Ints, order: Sequence[int]) -> AssumptionCheck:
    name, test = "independence", "Durbin-Watson"
    if fit.is_exact or len(fit.residuals) < 8:
        return _unknown(name, test, "too few runs to tell whether consecutive runs are correlated")
    if len(set(order)) < len(order):
        return _unknown(name, test, "the order of the runs was not recorded")
    in_time = np.argsort(order)
    if (np.diff(groups[in_time]) == 0).mean() > 0.5:  # what the model misses of a setting would look like drift
        return _unknown(name, test, "the rows are sorted by configuration, so they are not in run order")
    residuals = fit.residuals[in_time]
    statistic = float((np.diff(residuals) ** 2).sum() / (residuals**2).sum())
    r = 1 - statistic / 2
    p = float(2 * norm.sf(abs(r) * math.sqrt(len(residuals))))
    found = f"Durbin-Watson {statistic:.2f}, {show_p(p)}"
    # A tiny correlation is significant in long tables and harmless: 1.5 to 2.5 is the usual rule.
    if p >= SIGNIFICANCE or 1.5 < statistic < 2.5:
        return AssumptionCheck(
            name, test, statistic, p, CheckResult.HOLDS, f"Consecutive runs look independent ({found})."
        )
    kind = "positively" if r > 0 else "negatively"
    sentence = f"Consecutive runs are {kind} correlated ({found}): the machine drifted, or the order was not random."
    advice = "randomize the order, add the replicate or block to the model, plot the residuals in run order"
    return AssumptionCheck(name, test, statistic, p, CheckResult.VIOLATED, sentence, advice)


def collinearity(fit: Fit) -> AssumptionCheck:
    name, test = "collinearity", "variance inflation"
    if fit.model.matrix.shape[1] < 3:
        return AssumptionCheck(
            name, test, 1.0, None, CheckResult.HOLDS, "There is only one column, so there is no collinearity."
        )
    # The first row of R holds the means: below it is what varies, and the inverse has what the others leave of that.
    varying = (fit.model.triangle[1:, 1:] ** 2).sum(axis=0)
    factors = varying * (fit.model.inverse[1:] ** 2).sum(axis=1)
    largest = float(factors.max())
    term = next(
        term for term, place in fit.model.terms.items() if place.start <= int(factors.argmax()) + 1 < place.stop
    )
    if largest < _RAISED_VIF:
        sentence = f"The settings varied independently (largest VIF {largest:.2f}, of {term}; coded columns)."
        return AssumptionCheck(name, test, largest, None, CheckResult.HOLDS, sentence)
    verdict = CheckResult.VIOLATED if largest > _HIGH_VIF else CheckResult.DOUBTFUL
    sentence = f"Settings are correlated: the variance of {term} is inflated {largest:.1f}-fold (VIF)."
    return AssumptionCheck(
        name, test, largest, None, verdict, sentence, "run the missing combinations, or an optimal design"
    )


def influence(fit: Fit, order: Sequence[int]) -> AssumptionCheck:
    name, test = "influence", "Cook's distance"
    if fit.is_exact:
        return _unknown(name, test, "the model fits exactly, so no run can be called influential")
    columns = fit.model.matrix.shape[1]
    pull = fit.model.leverage / np.maximum(1 - fit.model.leverage, 1e-12)
    distance = fit.standardized**2 * pull / columns
    # A run beyond the median of F moves all coefficients to the edge of their own 50 % region (Cook 1977).
    limit = float(f_distribution.median(columns, fit.residual_df))
    largest, run = float(distance.max()), int(np.asarray(order)[distance.argmax()])
    if largest <= limit:
        sentence = f"No single run is too influential (largest Cook's distance {largest:.3f}, run {run})."
        return AssumptionCheck(name, test, largest, None, CheckResult.HOLDS, sentence)
    count = int((distance > limit).sum())
    runs = "1 run is" if count == 1 else f"{count} runs are"
    sentence = f"{runs} influential (Cook's distance up to {largest:.2f}, run {run})."
    return AssumptionCheck(
        name, test, largest, None, CheckResult.VIOLATED, sentence, "inspect these runs and repeat them"
    )


def lack_of_fit(fit: Fit, groups: Ints, other_scale: str) -> AssumptionCheck:
    """What replicates of one setting scatter, against how far their means miss the model."""
    name, test = "lack of fit", "F against pure error"
    by = pd.Series(fit.response).groupby(groups)
    pure_df = len(fit.response) - by.ngroups
    lack_df = fit.residual_df - pure_df
    if pure_df < 1:
        return _unknown(name, test, "no configuration was run twice, so lack of fit cannot be tested")
    if lack_df < 1:
        sentence = "The model has a term for every difference between configurations, so there can be no lack of fit."
        return AssumptionCheck(name, test, None, None, CheckResult.HOLDS, sentence)
    pure = float(((fit.response - by.transform("mean")) ** 2).sum())
    lack = max(fit.residual_sq - pure, 0.0)
    if pure <= 1e-12 * fit.total_sq:
        return _unknown(name, test, "replicates are identical, so there is no pure error to compare with")
    statistic = lack / lack_df / (pure / pure_df)
    p = float(f_distribution.sf(statistic, lack_df, pure_df))
    found = f"F = {statistic:.2f}, {show_p(p)}"
    if p >= SIGNIFICANCE:
        return AssumptionCheck(name, test, statistic, p, CheckResult.HOLDS, f"No lack of fit ({found}).")
    share = lack / fit.total_sq
    missed = show_percent(share, 3)
    sentence = f"Lack of fit: the model misses {missed} of the variation, more than noise can explain ({found})."
    terms = addable(fit.runs, fit.model.formula)
    more = f"add {' or '.join(terms)} to the model with `formula=`" if terms else ""
    advice = _joined(other_scale, more) or "look at the configurations with the largest residuals"
    verdict = CheckResult.VIOLATED if share >= 0.05 else CheckResult.DOUBTFUL
    return AssumptionCheck(name, test, statistic, p, verdict, sentence, advice)


def _joined(*advice: str) -> str:
    return ", and ".join(part for part in advice if part)


def _unknown(name: str, test: str, why: str) -> AssumptionCheck:
    return AssumptionCheck(name, test, None, None, CheckResult.UNKNOWN, f"Not tested: {why}.")


def _evenly(values: Floats, most: int) -> Floats:
    places: Ints = np.linspace(0, len(values) - 1, most).astype(int)
    return values[places]
