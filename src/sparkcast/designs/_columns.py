"""Runs as columns of numbers, without a formula: what balance, correlation and variance are computed from."""

from collections.abc import Mapping, Sequence
from typing import Any

from sparkcast.study import Configuration, Level, Study
from sparkcast.study.matrix import Coding
from sparkcast.units import as_number


def coding_of(study: Study, configurations: Sequence[Configuration]) -> Coding:
    """The levels that occur in the runs, as the analysis will see them."""
    values = {}
    for factor in study.factors:
        seen = dict.fromkeys(c[factor.name] for c in configurations)
        values[factor.name] = [*(level for level in factor.levels if level in seen), *seen]
    return Coding.of(values)


def main_columns(coding: Coding, configurations: Sequence[Configuration]) -> dict[str, Any]:
    """For each factor its columns, one row per run: a number's trend from -1 to 1, a category's sum coding."""
    import numpy as np

    columns = {}
    for name in coding.factors:
        table = _level_rows(coding, name)
        rows = [table[c[name]] for c in configurations]
        columns[name] = np.array(rows, dtype=float).reshape(len(configurations), -1)
    return columns


def bend_column(coding: Coding, name: str, configurations: Sequence[Configuration]) -> Any:
    """A number's square, without what its trend over the levels explains of it."""
    import numpy as np

    table = _level_rows(coding, name)
    trend = np.array([table[level][0] for level in coding.levels[name]])
    basis = np.stack([np.ones_like(trend), trend], axis=1)
    curve = trend**2 - basis @ np.linalg.lstsq(basis, trend**2, rcond=None)[0]
    bend = dict(zip(coding.levels[name], curve, strict=True))
    return np.array([[bend[c[name]]] for c in configurations])


def product_columns(a: Any, b: Any) -> Any:
    """The columns of an interaction: each column of one times each of the other."""
    return (a[:, :, None] * b[:, None, :]).reshape(len(a), -1)


def _level_rows(coding: Coding, name: str) -> Mapping[Level, list[float]]:
    levels = coding.levels[name]
    if coding.is_number(name):
        numbers = [as_number(level) or 0.0 for level in levels]
        middle, half = (max(numbers) + min(numbers)) / 2, (max(numbers) - min(numbers)) / 2 or 1.0
        return {level: [(number - middle) / half] for level, number in zip(levels, numbers, strict=True)}
    last = len(levels) - 1
    return {
        level: [-1.0] * last if i == last else [float(i == j) for j in range(last)] for i, level in enumerate(levels)
    }
