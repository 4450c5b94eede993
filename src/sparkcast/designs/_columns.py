"""Runs as columns of numbers, without a formula: what balance, correlation and variance are computed from."""

from collections.abc import Sequence

from sparkcast.arrays import Floats
from sparkcast.study import Configuration, Study
from sparkcast.study.matrix import Coding, sum_contrasts


def coding_of(study: Study, configurations: Sequence[Configuration]) -> Coding:
    """The levels that occur in the runs, as the analysis will see them."""
    values = {}
    for factor in study.factors:
        seen = dict.fromkeys(c[factor.name] for c in configurations)
        values[factor.name] = [*(level for level in factor.levels if level in seen), *seen]
    return Coding.of(values)


def main_columns(coding: Coding, configurations: Sequence[Configuration]) -> dict[str, Floats]:
    """For each factor its columns, one row per run: a number's trend, a category's contrasts."""
    return {name: _coded(coding, name)[coding.codes(name, configurations)] for name in coding.factors}


def bend_column(coding: Coding, name: str, configurations: Sequence[Configuration]) -> Floats:
    """A number's square, without what its trend over the levels explains of it."""
    return coding.bend(name)[coding.codes(name, configurations)][:, None]


def _coded(coding: Coding, name: str) -> Floats:
    return coding.trend(name)[:, None] if coding.is_number(name) else sum_contrasts(len(coding.levels[name]))
