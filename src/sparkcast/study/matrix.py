"""Settings as the columns of a linear model: what designs are judged by and analyses are fitted with."""

import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from sparkcast.arrays import Floats, Ints
from sparkcast.errors import StudyError
from sparkcast.study.configuration import Configuration, Level, natural_order
from sparkcast.study.formula import Formula, terms_of
from sparkcast.units import as_number

if TYPE_CHECKING:
    import pandas as pd

_SHAPES: dict[str, Callable[[Floats], Floats]] = {"log": np.log, "sqrt": np.sqrt, "inverse": np.reciprocal}
_MAX_CELLS = 10**8  # of a model's columns: 800 MB


@dataclass(frozen=True, slots=True)
class Coding:
    """The levels of each factor, in their natural order, and from these the coded columns.

    A number is centered on the mean of its levels, and from its lowest to its highest level are two units: two levels
    are -1 and +1. So effects of different settings compare, and in balanced runs interactions are not confused with
    main effects. Categories are coded to sum to zero.

    >>> coding = Coding.of({"executors": [4, 1, 2], "network": ["lenet5", "simplenet"]})
    >>> coding.levels["executors"], coding.is_number("executors"), coding.is_number("network")
    ((1, 2, 4), True, False)
    >>> [round(x, 2) for x in coding.frame([{"executors": 2, "network": "lenet5"}])["number_0"]]
    [-0.22]
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

    def half_range(self, name: str, shape: str = "number") -> float:
        """What one coded unit is in the factor's own unit, or in that of its logarithm, square root or inverse."""
        ends = self._shaped(name, shape)
        return float(ends.max() - ends.min()) / 2

    def frame(self, configurations: Sequence[Configuration]) -> "pd.DataFrame":
        """A pandas frame with, for factor i, `levels_i` (a category) and for numbers `number_i` and `curve_i`.

        `curve_i` is the square, made orthogonal to the trend over the levels: 0 for factors of two levels.
        """
        import pandas as pd

        columns: dict[str, Any] = {}
        for i, name in enumerate(self.factors):
            codes = self.codes(name, configurations)
            columns[f"levels_{i}"] = pd.Categorical.from_codes(codes, categories=pd.RangeIndex(len(self.levels[name])))
            if self.is_number(name):
                columns[f"number_{i}"], columns[f"curve_{i}"] = self.trend(name)[codes], self.bend(name)[codes]
                if self.numbers[name][0] > 0:
                    columns |= {f"{shape}_{i}": self.trend(name, shape)[codes] for shape in _SHAPES}
        return pd.DataFrame(columns)

    def codes(self, name: str, configurations: Sequence[Configuration]) -> Ints:
        """The place of each run's level among the levels."""
        place = {level: code for code, level in enumerate(self.levels[name])}
        return np.fromiter((place[c[name]] for c in configurations), dtype=np.intp, count=len(configurations))

    def by_level(self, part: str) -> Floats:
        """The columns of one part of a term (`levels_0`, `number_0`, `curve_0`), a row for each level of its factor."""
        kind, _, index = part.partition("_")
        name = self.factors[int(index)]
        if kind == "levels":
            return sum_contrasts(len(self.levels[name]))
        return (self.bend(name) if kind == "curve" else self.trend(name, kind))[:, None]

    def curvature(self, name: str) -> float:
        """What one unit of `curve_i` is as a coefficient of the square in the factor's own unit."""
        centered = np.array(self.numbers[name]) - np.mean(self.numbers[name])
        return float(np.polynomial.polynomial.polyfit(centered, self.bend(name), 2)[2])

    def trend(self, name: str, shape: str = "number") -> Floats:
        """The coded value of each level of a number, or of its logarithm, square root or inverse."""
        numbers = self._shaped(name, shape)
        centered: Floats = numbers - numbers.mean()
        return centered / (self.half_range(name, shape) or 1.0)

    def _shaped(self, name: str, shape: str) -> Floats:
        numbers: Floats = np.array(self.numbers[name])
        return _SHAPES[shape](numbers) if shape in _SHAPES else numbers

    def bend(self, name: str) -> Floats:
        """The square of each level, without what the trend explains of it, scaled to at most 1."""
        trend = self.trend(name)
        basis = np.stack([np.ones_like(trend), trend], axis=1)
        bend = trend**2 - basis @ np.linalg.lstsq(basis, trend**2, rcond=None)[0]
        largest = np.abs(bend).max()
        return bend / largest if largest > 1e-12 else np.zeros_like(bend)


def sum_contrasts(count: int) -> Floats:
    """The columns of a category, a row for each of its levels: the last is minus all others.

    >>> sum_contrasts(3).tolist()
    [[1.0, 0.0], [0.0, 1.0], [-1.0, -1.0]]
    """
    return np.vstack([np.eye(count - 1), -np.ones(count - 1)])


def interaction(a: Floats, b: Floats) -> Floats:
    """The columns of an interaction: each column of one times each of the other."""
    return (a[:, :, None] * b[:, None, :]).reshape(len(a), -1)


def model_matrix(formula: Formula, frame: "pd.DataFrame") -> Floats:
    """The columns of a model, the intercept first, as a numpy array with one row per row of `Coding.frame`."""
    return model_columns(formula, frame)[1]


def model_columns(formula: Formula, frame: "pd.DataFrame") -> tuple[dict[str, slice], Floats]:
    """The places of each term's columns (the intercept's is 0), and the columns."""
    terms = terms_of(formula)
    if unshaped := sorted({code for term in terms for code in term if code not in frame}):
        raise StudyError(
            f"formula {formula.text!r} has the {unshaped[0].partition('_')[0]} of a setting that is not always above 0",
            hint="write the name of the setting by itself",
        )
    parts = {code: _coded(frame[code]) for code in {code for term in terms for code in term}}
    places, width = {}, 1
    for term in terms:
        columns = math.prod(parts[code].shape[1] for code in term)
        places[":".join(term)] = slice(width, width + columns)
        width += columns
    if len(frame) * width > _MAX_CELLS:
        raise StudyError(
            f"formula {formula.text!r} has {width:,} columns for {len(frame):,} runs, more than fit in memory",
            hint="use fewer terms, and no interactions between categories with many levels",
        )
    matrix = np.ones((len(frame), width))
    for term in terms:
        block = parts[term[0]]
        for code in term[1:]:
            block = interaction(block, parts[code])
        matrix[:, places[":".join(term)]] = block
    return places, matrix


def _coded(column: "pd.Series[Any]") -> Floats:
    """A number as it is, a category as contrasts."""
    if not hasattr(column, "cat"):
        return column.to_numpy()[:, None]
    return sum_contrasts(len(column.cat.categories))[column.cat.codes.to_numpy()]
