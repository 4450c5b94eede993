"""Settings as the columns of a linear model: what designs are judged by and analyses are fitted with."""

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from sparkcast.errors import StudyError
from sparkcast.study.formula import Formula
from sparkcast.study.model import Configuration, Level
from sparkcast.units import as_number


@dataclass(frozen=True, slots=True)
class Coding:
    """The levels of each factor, in their natural order, and from these the coded columns.

    A number runs from -1 at its lowest to +1 at its highest level, so that effects of different settings compare and
    interactions are not confused with main effects. Categories are coded to sum to zero.

    >>> coding = Coding.of({"executors": [4, 1, 2], "network": ["lenet5", "simplenet"]})
    >>> coding.levels["executors"], coding.is_number("executors"), coding.is_number("network")
    ((1, 2, 4), True, False)
    >>> [round(x, 2) for x in coding.frame([{"executors": 2, "network": "lenet5"}])["number_0"]]
    [-0.33]
    """

    factors: tuple[str, ...]
    levels: Mapping[str, tuple[Level, ...]]
    numbers: Mapping[str, tuple[float, ...]]  # the levels as numbers, for the factors whose levels all are

    @classmethod
    def of(cls, values: Mapping[str, Iterable[Level]]) -> "Coding":
        levels = {name: natural_order(seen) for name, seen in values.items()}
        numbers = {name: tuple(as_number(level) for level in own) for name, own in levels.items()}
        known = {name: tuple(x for x in own if x is not None) for name, own in numbers.items() if None not in own}
        return cls(tuple(values), levels, known)

    def is_number(self, name: str) -> bool:
        return name in self.numbers

    @property
    def varied(self) -> tuple[str, ...]:
        return tuple(name for name in self.factors if len(self.levels[name]) > 1)

    @property
    def bendable(self) -> tuple[str, ...]:
        """The numbers with three levels or more: only these can show an optimum between their ends."""
        return tuple(name for name in self.factors if len(self.levels[name]) > 2 and self.is_number(name))

    def half_range(self, name: str) -> float:
        """What one step from the middle to the edge is in the factor's own unit."""
        return (self.numbers[name][-1] - self.numbers[name][0]) / 2

    def frame(self, configurations: Sequence[Configuration]) -> Any:
        """A pandas frame with, for factor i, `levels_i` (a category) and for numbers `number_i` and `curve_i`.

        `curve_i` is the square, made orthogonal to the trend over the levels: 0 for factors of two levels.
        """
        import numpy as np
        import pandas as pd

        columns: dict[str, Any] = {}
        for i, name in enumerate(self.factors):
            place = {level: code for code, level in enumerate(self.levels[name])}
            codes = np.fromiter((place[c[name]] for c in configurations), dtype=np.intp, count=len(configurations))
            columns[f"levels_{i}"] = pd.Categorical.from_codes(codes, categories=pd.RangeIndex(len(place)))
            if self.is_number(name):
                trend, curve = self._polynomial(name)
                columns[f"number_{i}"], columns[f"curve_{i}"] = trend[codes], curve[codes]
        return pd.DataFrame(columns)

    def curvature(self, name: str) -> float:
        """What one unit of `curve_i` is as a coefficient of the square in the factor's own unit."""
        import numpy as np

        numbers, (_, curve) = np.array(self.numbers[name]), self._polynomial(name)
        middle = numbers - numbers.mean()
        return float(np.polynomial.polynomial.polyfit(middle, curve, 2)[2])

    def _polynomial(self, name: str) -> tuple[Any, Any]:
        import numpy as np

        numbers = np.array(self.numbers[name])
        trend = (numbers - (numbers.max() + numbers.min()) / 2) / (self.half_range(name) or 1.0)
        basis = np.stack([np.ones_like(trend), trend], axis=1)
        square = trend**2
        curve = square - basis @ np.linalg.lstsq(basis, square, rcond=None)[0]
        largest = np.abs(curve).max()
        return trend, curve / largest if largest > 1e-12 else np.zeros_like(curve)


def model_matrix(formula: Formula, frame: Any) -> Any:
    """The columns of a model, the intercept first, as a numpy array with one row per row of `Coding.frame`."""
    return model_columns(formula, frame)[1]


def model_columns(formula: Formula, frame: Any) -> tuple[dict[str, slice], Any]:
    """The places of each term's columns (the intercept's is 0), and the columns."""
    import numpy as np

    terms = terms_of(formula)
    parts = {code: _coded(frame[code]) for code in {code for term in terms for code in term}}
    places, width = {}, 1
    for term in terms:
        columns = math.prod(parts[code].shape[1] for code in term)
        places[":".join(term)] = slice(width, width + columns)
        width += columns
    matrix = np.ones((len(frame), width))
    for term in terms:
        block = parts[term[0]]
        for code in term[1:]:
            block = (block[:, :, None] * parts[code][:, None, :]).reshape(len(frame), -1)
        matrix[:, places[":".join(term)]] = block
    return places, matrix


def _coded(column: Any) -> Any:
    """A number as it is, a category as contrasts that sum to zero: the last level is minus all others."""
    import numpy as np

    if not hasattr(column, "cat"):
        return column.to_numpy()[:, None]
    count = len(column.cat.categories)
    contrasts = np.vstack([np.eye(count - 1), -np.ones(count - 1)])
    return contrasts[column.cat.codes.to_numpy()]


def terms_of(formula: Formula) -> tuple[tuple[str, ...], ...]:
    """The terms of a formula, expanded, each as its columns: `a*b` has a, b and a:b.

    The order, which decides a sequential analysis, is that of patsy and so of statsmodels: as written for numbers,
    main effects first among categories.
    """
    from patsy import ModelDesc, PatsyError  # type: ignore[import-untyped]

    try:
        found = ModelDesc.from_formula(formula.internal).rhs_termlist
    except PatsyError as error:
        raise StudyError(
            f"formula {formula.text!r} cannot be read", hint="write it like: executors * C(batch_size)"
        ) from error
    terms = [tuple(factor.name() for factor in term.factors) for term in found if term.factors]
    numeric = [frozenset(code for code in term if not code.startswith("levels")) for term in terms]
    buckets = list(dict.fromkeys([frozenset(), *numeric]))
    place = {term: (buckets.index(bucket), len(term)) for term, bucket in zip(terms, numeric, strict=True)}
    return tuple(sorted(terms, key=lambda term: place[term]))


def natural_order(values: Iterable[Level]) -> tuple[Level, ...]:
    """The different values: numbers and sizes by size, then categories as they came.

    >>> natural_order(["4g", "lenet5", 2, "1g", 2])
    (2, '1g', '4g', 'lenet5')
    """
    seen = dict.fromkeys(values)
    numbers = {value: as_number(value) for value in seen}
    ordered = sorted((v for v in seen if numbers[v] is not None), key=lambda v: numbers[v] or 0.0)
    return (*ordered, *(v for v in seen if numbers[v] is None))
