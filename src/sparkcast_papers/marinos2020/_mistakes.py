"""Mistakes 1 to 5 of the paper, each with the numbers that show it."""

from statistics import fmean

from sparkcast.analysis import Analysis
from sparkcast.analysis.assumptions import bartlett, brown_forsythe
from sparkcast.replications import CorrectedFigure, Mistake
from sparkcast.study import Dataset
from sparkcast_papers.marinos2020 import _printed
from sparkcast_papers.marinos2020._checks import by_setting, check, columns_bartlett, sequential, vif
from sparkcast_papers.marinos2020._runs import DROPPED, FORMULA
from sparkcast_papers.marinos2020._tables import TABLE_II

_OTHER_ORDER = "batch*lr*epochs + cores + executors + nodes"


def normality(analysis: Analysis) -> Mistake:
    found = check(analysis, "normality")
    return Mistake(
        1,
        "The p value of Shapiro-Wilk is not significant, so the residuals are likely normal.",
        f"A p value this small shows that they are not. Our check concludes: {found.verdict}. {found.sentence}",
        (
            CorrectedFigure("W of the residuals", float(_printed.SHAPIRO_W), found.statistic),
            CorrectedFigure("p of W", float(_printed.SHAPIRO_P), found.p),
        ),
    )


def variances(whole: Dataset, kept: Dataset) -> Mistake:
    from scipy.stats import bartlett as plain_bartlett

    table = by_setting(whole)
    groups = [values for _, values in table.groupby("group")["value"]]
    with_constant, _ = plain_bartlett(*groups)
    statistic, p, constant = bartlett(table)
    robust, robust_p = brown_forsythe(table)
    spreads = sorted(float(values.std()) for values in groups)[constant:]
    return Mistake(
        2,
        "Bartlett's p value of 0 is not significant, so it is safe to assume equal variances.",
        "The test was run on the columns of factor levels, whose variances mean nothing, and p = 0 means that "
        "variances differ. The costs differ between configurations too: standard deviations go from "
        f"{spreads[0]:.2g} to {spreads[-1]:.2g}, {spreads[-1] / spreads[0]:.0f} times as much. "
        f"{constant} configuration has ten equal costs; its computed variance of 1e-36 is rounding error, and "
        f"would by itself raise Bartlett's statistic from {statistic:.1f} to {with_constant:.1f}: it is left "
        "out.",
        (
            CorrectedFigure(
                "Bartlett, for columns of levels and for costs by configuration", columns_bartlett(kept)[0], statistic
            ),
            CorrectedFigure("p of Bartlett", float(_printed.BARTLETT_P), p),
            CorrectedFigure(
                "Bartlett of the costs with the constant configuration, an artifact", None, float(with_constant)
            ),
            CorrectedFigure("Brown-Forsythe of the costs by configuration", None, robust),
            CorrectedFigure("p of Brown-Forsythe", None, robust_p),
        ),
    )


def collinearity(kept: Dataset, of_kept: Analysis, of_whole: Analysis) -> Mistake:
    uncoded = max(factor for term, factor in vif(kept).items() if term != "Intercept")
    return Mistake(
        3,
        "High variance inflation shows that epochs and learning rate depend on other factors, which could explain "
        "the poor fit.",
        "The inflation comes from products of uncoded factors: a product of positive numbers is correlated "
        "with its parts. Coded from -1 to +1, the same 30 configurations have almost none, and the whole "
        "design none at all.",
        (
            CorrectedFigure(
                "largest VIF, uncoded and coded, all 32 rows", uncoded, check(of_whole, "collinearity").statistic
            ),
            CorrectedFigure("largest VIF, coded, 30 rows", None, check(of_kept, "collinearity").statistic),
        ),
    )


def dropped_runs(kept: Dataset, whole: Dataset) -> Mistake:
    first, second, full, full_second = (
        next(row for row in sequential(runs, formula) if row.term == "cores")
        for runs in (kept, whole)
        for formula in (FORMULA, _OTHER_ORDER)
    )
    return Mistake(
        4,
        "32 experiments were run and analyzed.",
        "Rows 2 and 3 of Table II, the configurations with the highest costs, are not in the analysis (289 "
        "residual degrees of freedom imply 300 runs), without any mention. Without them the columns are no "
        "longer orthogonal, "
        "so a sequential table depends on the order of its terms: executor cores show no effect when they come "
        f"third (p = {first.p:.2f}) and a significant one when they come after the training settings "
        f"(p = {second.p:.3f}). With all 32 rows the order does not matter, and cores do "
        f"(p = {full.p:.1g}).",
        (
            *(CorrectedFigure(f"mean cost in row {row}", None, fmean(TABLE_II[row - 1][1])) for row in DROPPED),
            CorrectedFigure("highest mean cost of the other rows", None, max(_others())),
            CorrectedFigure("sum of squares of cores, 30 rows, third", None, first.sum_sq),
            CorrectedFigure("sum of squares of cores, 30 rows, after epochs*lr*batch", None, second.sum_sq),
            CorrectedFigure("sum of squares of cores, 32 rows, third", 0.000555, full.sum_sq),
            CorrectedFigure("sum of squares of cores, 32 rows, after epochs*lr*batch", None, full_second.sum_sq),
        ),
    )


def _others() -> list[float]:
    return [fmean(costs) for row, (_, costs) in enumerate(TABLE_II, start=1) if row not in DROPPED]


def missed_logarithm(plain: Analysis, on_log: Analysis) -> Mistake:
    proposal = on_log.proposal
    assert proposal is not None
    shares = {row.term: row.percent for row in on_log.rows}
    system = ("nodes", "executors", "cores")
    of_system = sum(share for term, share in shares.items() if any(name in term.split(":") for name in system))
    normal, equal = check(on_log, "normality"), check(on_log, "equal variance")
    return Mistake(
        5,
        "60 % of the variation cannot be explained, and the system settings do not affect the cost.",
        f"The cost was analyzed on the wrong scale. {proposal.sentence} The logarithm is the nearest "
        f"interpretable power, and analyze chooses it by default: R² rises from {plain.r_squared:.2f} to "
        f"{on_log.r_squared:.2f}, and "
        f"terms with nodes, executors or cores account for {of_system:.0f} % of the variation. The residuals "
        "come much closer to normal, but not everything is fixed: variances still differ (Brown-Forsythe "
        f"{equal.statistic:.2f}).",
        (
            CorrectedFigure("R² in %", float(_printed.R_SQUARED_PERCENT), 100 * on_log.r_squared),
            CorrectedFigure("most likely power (1: no transformation)", 1.0, proposal.power),
            CorrectedFigure("W of the residuals", float(_printed.SHAPIRO_W), normal.statistic),
            *(CorrectedFigure(f"% of the variation of {term}", None, shares[term]) for term in _printed.LOG_SHARES),
        ),
    )
