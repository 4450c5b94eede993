"""Tests as the paper ran them, on what it ran them on."""

from typing import Any

from sparkcast.analysis import RESIDUAL, Analysis, AnovaRow, AssumptionCheck
from sparkcast.api import Data, analyze
from sparkcast.study import Dataset
from sparkcast_papers.marinos2020._runs import FORMULA


def check(analysis: Analysis, name: str) -> AssumptionCheck:
    """One assumption that our own analysis tested."""
    return next(check for check in analysis.checks if check.name == name)


def frame(runs: Dataset) -> Any:
    """Settings in their own units, and the cost."""
    import pandas as pd

    return pd.DataFrame([{**run.configuration, **run.responses} for run in runs.observations])


def by_setting(runs: Dataset) -> Any:
    """A table of `group` (equal for replicates) and `value`, which tests of equal variance take."""
    import pandas as pd

    keys = [runs.key(run) for run in runs.observations]
    values = [run.responses["cost"] for run in runs.observations]
    return pd.DataFrame({"group": pd.factorize(pd.Series(keys))[0], "value": values})


def columns_bartlett(runs: Dataset) -> tuple[float, float]:
    """Bartlett's test of the columns of factor levels, as in Table IV; it says nothing about the response."""
    from scipy.stats import bartlett

    table = frame(runs)
    statistic, p = bartlett(*(table[name] for name in runs.factors))
    return float(statistic), float(p)


def vif(runs: Dataset) -> dict[str, float]:
    """Variance inflation of the uncoded model: 1 / (1 - R²) of each column on all others.

    R² is about the mean when the others hold the intercept, and about zero for the intercept itself.
    """
    import numpy as np

    table = frame(runs)
    terms = [row.term for row in sequential(runs, FORMULA) if row.term != RESIDUAL]
    products = [table[term.split(":")].prod(axis=1) for term in terms]
    columns = np.column_stack([np.ones(len(table)), *products])
    found = {}
    for i, term in enumerate(["Intercept", *terms]):
        column, others = columns[:, i], np.delete(columns, i, axis=1)
        rest = column - others @ np.linalg.lstsq(others, column, rcond=None)[0]
        middle = 0.0 if term == "Intercept" else column.mean()
        found[term] = float(((column - middle) ** 2).sum() / (rest**2).sum())
    return found


def sequential(runs: Dataset, formula: str) -> tuple[AnovaRow, ...]:
    """The type I table with its terms in the order of the formula."""
    return analyze(Data(runs), "cost", formula=formula, anova_type=1, transform="none").rows
