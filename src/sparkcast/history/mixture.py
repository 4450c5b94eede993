"""A mixture of Student's distributions: where the logarithm of the next run's time falls."""

from dataclasses import dataclass
from functools import cached_property
from math import exp, inf, log, pi, sqrt

import numpy as np

from sparkcast.arrays import Floats
from sparkcast.fitting.distribution import Distribution
from sparkcast.fitting.normal import probabilities
from sparkcast.fitting.predictive import Link, Quantiles

_SCORES = np.arange(-12, 13) / 4  # as Quantiles has them
_POINTS = 401
_REACH = 9.0  # standard deviations of the grid on which quantiles are looked up
_NEGLIGIBLE = 1e-4  # of the weights


def log_sum(values: Floats) -> float:
    """The logarithm of the sum of what these are the logarithms of."""
    top = float(values.max())
    return top + log(float(np.exp(values - top).sum()))


@dataclass(frozen=True)
class StudentMixture:
    loc: Floats
    scale: Floats
    weight: Floats
    df: float

    @cached_property
    def mean(self) -> float:
        return float(self.weight @ self.loc)

    @cached_property
    def sd(self) -> float:
        """Of the scales and between the middles; tails do not count."""
        return sqrt(float(self.weight @ (self.scale**2 + (self.loc - self.mean) ** 2)))

    def below(self, value: float) -> float:
        """The probability of less."""
        return float(self.weight @ _student_below((value - self.loc) / self.scale, self.df))

    def with_other(self, other: "StudentMixture", chance: float) -> "StudentMixture":
        weight = np.concatenate(((1 - chance) * self.weight, chance * other.weight))
        return StudentMixture(
            np.concatenate((self.loc, other.loc)), np.concatenate((self.scale, other.scale)), weight, self.df
        )

    def wider(self, sd: float) -> "StudentMixture":
        """With an independent error more."""
        return StudentMixture(self.loc, np.sqrt(self.scale**2 + sd * sd), self.weight, self.df)

    def moved(self, by: float) -> "StudentMixture":
        return StudentMixture(self.loc + by, self.scale, self.weight, self.df)

    def distribution(self, *, least: float = 0.0) -> Distribution:
        """Of the exponential of it; no value is below `least`."""
        kept = self.weight > _NEGLIGIBLE * self.weight.max()
        loc, scale = self.loc[kept], self.scale[kept]
        weight = self.weight[kept] / self.weight[kept].sum()
        reach = _REACH * self.sd
        grid = np.linspace(self.mean - reach, self.mean + reach, _POINTS)
        cumulated = weight @ _student_below((grid[None, :] - loc[:, None]) / scale[:, None], self.df)
        apart = np.maximum.accumulate(cumulated) + 1e-12 * np.arange(_POINTS)
        row = np.interp(probabilities(_SCORES), apart, grid)
        row = np.maximum(row, log(least)) if least > 0 else row
        row = row + 1e-9 * np.arange(len(row))
        return Distribution(Quantiles(row[None, :], Link("log", max(least, 1e-9), exp(700))))


def blended(mixtures: list[StudentMixture], weights: list[float]) -> StudentMixture:
    """One of several, each with its probability."""
    parts = [weight * one.weight for weight, one in zip(weights, mixtures, strict=True)]
    return StudentMixture(
        np.concatenate([one.loc for one in mixtures]),
        np.concatenate([one.scale for one in mixtures]),
        np.concatenate(parts),
        min(one.df for one in mixtures),
    )


def _student_below(scores: Floats, df: float) -> Floats:
    """By Wallace's approximation, good to a thousandth: importing scipy takes longer than an answer."""
    if df == inf:
        return normal_below(scores)
    reach = (8 * df + 1) / (8 * df + 3) * np.sqrt(df * np.log1p(scores**2 / df))
    return normal_below(np.sign(scores) * reach)


def normal_below(scores: Floats) -> Floats:
    """The probability of less than each score, for arrays of any shape: good to a millionth (Abramowitz and Stegun)."""
    far = np.abs(scores)
    t = 1 / (1 + 0.2316419 * far)
    terms = t * (0.319381530 + t * (-0.356563782 + t * (1.781477937 + t * (-1.821255978 + t * 1.330274429))))
    above = np.exp(-0.5 * far**2) / sqrt(2 * pi) * terms
    found: Floats = np.where(scores > 0, 1 - above, above)
    return found
