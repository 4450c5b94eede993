"""Columns that the model leaves out: does one of them explain what it leaves unexplained?"""

from collections.abc import Mapping, Sequence
from dataclasses import fields

import numpy as np
import pandas as pd
from scipy.stats import f as f_distribution

from sparkcast.analysis.fit import Fit
from sparkcast.arrays import Ints
from sparkcast.study import Fingerprint, Level, Observation
from sparkcast.study.names import names_a_remark, names_runs, numbers_repeats
from sparkcast.units import show_percent

_SURE = 0.01  # corrected for all the columns that are looked at
_WORTH_TELLING = 0.2  # the share of what is left
_MIN_RUNS = 8


def left_unexplained(fit: Fit, runs: Sequence[Observation]) -> str:
    """The column beside the model that explains most of what it leaves, as a sentence; "" where none does."""
    if fit.is_exact or len(runs) < _MIN_RUNS:
        return ""
    columns = {name: _codes(cells) for name, cells in _beside(runs, fit.model.formula.names).items()}
    tests = {name: _explained(fit, codes) for name, codes in columns.items() if codes is not None}
    sure = {name: share for name, (share, p) in tests.items() if p * len(tests) < _SURE and share >= _WORTH_TELLING}
    if not sure:
        return ""
    name = max(sure, key=lambda name: sure[name])
    how_much = "most" if sure[name] > 0.5 else show_percent(sure[name])
    share = f" ({show_percent(sure[name])})" if sure[name] > 0.5 else ""
    return f"{name} is not in the model and explains {how_much} of what is left{share}; add it as a factor"


def _beside(runs: Sequence[Observation], names: Sequence[str]) -> dict[str, list[Level]]:
    """Every column that is not in the model: other settings, labels, and what the machines were."""
    settings = {
        name: [run.configuration.get(name, "") for run in runs]
        for name in dict.fromkeys(name for run in runs for name in run.configuration)
        if name not in names
    }
    # A column that names or counts the runs explains anything.
    labels: dict[str, list[Level]] = {
        name: [run.labels.get(name, "") for run in runs]
        for name in dict.fromkeys(name for run in runs for name in run.labels)
        if not (names_runs(name) or numbers_repeats(name) or names_a_remark(name) or name in (*names, *settings))
    }
    return {**_of_machines(runs), **labels, **settings}


def _of_machines(runs: Sequence[Observation]) -> Mapping[str, list[Level]]:
    prints = [run.fingerprint for run in runs]
    if None in prints:
        return {}
    return {
        f"`{field.name}` of the environment": [str(getattr(p, field.name)) for p in prints]
        for field in fields(Fingerprint)
    }


def _codes(cells: Sequence[Level]) -> Ints | None:
    """The groups of a column; None where it has one only, or too many to say anything."""
    codes, groups = pd.factorize(pd.Series(cells, dtype=object).astype(str))
    return codes if 1 < len(groups) <= len(cells) / 3 else None


def _explained(fit: Fit, codes: Ints) -> tuple[float, float]:
    """The share of the residual variation that a column's groups explain beyond the model, and p."""
    groups = np.eye(int(codes.max()) + 1)[codes][:, 1:]
    new = groups - fit.model.matrix @ (fit.model.inverse @ fit.model.reduce(groups))
    left, sizes, _ = np.linalg.svd(new, full_matrices=False)
    basis = left[:, sizes > 1e-7 * np.sqrt(len(new))]
    df, rest = basis.shape[1], fit.residual_df - basis.shape[1]
    if df == 0 or rest < 1:
        return 0.0, 1.0
    explained = float(((basis.T @ fit.residuals) ** 2).sum())
    share = explained / fit.residual_sq
    f = explained / df / (max(fit.residual_sq - explained, 1e-300) / rest)
    return share, float(f_distribution.sf(f, df, rest))
