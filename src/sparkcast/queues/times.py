"""How long things take: service times and times between arrivals, as distributions to draw from."""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Protocol

import numpy as np
from numpy.random import Generator

from sparkcast.arrays import Floats
from sparkcast.errors import NotEnoughDataError, StudyError
from sparkcast.queues import require_positive
from sparkcast.queues.general import require_scv


class Times(Protocol):
    @property
    def mean_s(self) -> float: ...

    @property
    def scv(self) -> float:
        """The variance over the squared mean."""
        ...

    def draw(self, rng: "Generator", n: int) -> Floats: ...


@dataclass(frozen=True, slots=True)
class Spread:
    """Times with a mean and a squared coefficient of variation: all equal with 0, else a gamma distribution.

    With 1 it is the exponential distribution.
    """

    mean_s: float
    scv: float = 1.0

    def __post_init__(self) -> None:
        require_positive(self.mean_s, "a mean time", "s")
        require_scv(self.scv, "times")

    def draw(self, rng: "Generator", n: int) -> Floats:
        if self.scv == 0:
            return np.full(n, self.mean_s)
        if self.scv == 1:
            return rng.exponential(self.mean_s, n)
        return rng.gamma(1 / self.scv, self.mean_s * self.scv, n)


@dataclass(frozen=True, slots=True)
class TwoPhases:
    """Times that are either short or long, exponential both (hyper-exponential with balanced means): scv above 1."""

    mean_s: float
    scv: float

    def __post_init__(self) -> None:
        require_positive(self.mean_s, "a mean time", "s")
        if not 1 < self.scv < math.inf:
            raise StudyError(
                f"two phases cannot have the scv {self.scv:g}", hint="it must be above 1; otherwise use Spread"
            )

    def draw(self, rng: "Generator", n: int) -> Floats:
        short = (1 + math.sqrt((self.scv - 1) / (self.scv + 1))) / 2  # the share of short ones
        is_short = rng.random(n) < short
        means = np.where(is_short, self.mean_s / (2 * short), self.mean_s / (2 * (1 - short)))
        return rng.exponential(means)


@dataclass(frozen=True, slots=True)
class EmpiricalTimes:
    """Times as they were measured, drawn with replacement."""

    values: tuple[float, ...]

    def __post_init__(self) -> None:
        if not self.values:
            raise NotEnoughDataError("there are no measured times", hint="run the job a few times")
        bad = next((value for value in self.values if not 0 < value < math.inf), None)
        if bad is not None:
            raise StudyError(f"a measured time of {bad:g} s is not possible", hint="correct or drop the run")

    @property
    def mean_s(self) -> float:
        return math.fsum(self.values) / len(self.values)

    @property
    def scv(self) -> float:
        """Of the distribution itself, not of the population behind it; 0 of a single time."""
        mean = self.mean_s
        return math.fsum((value - mean) ** 2 for value in self.values) / len(self.values) / mean**2

    def draw(self, rng: "Generator", n: int) -> Floats:
        return rng.choice(np.array(self.values), n)


@dataclass(frozen=True, slots=True)
class Predicted:
    """Times as a fitted model predicts them: a few quantiles, straight lines between them, cut off at the ends."""

    shares: tuple[float, ...]  # ascending, 0 to 1
    values: tuple[float, ...]

    def __post_init__(self) -> None:
        is_ascending = all(a <= b for values in (self.shares, self.values) for a, b in pairwise(values))
        if len(self.shares) != len(self.values) or len(self.shares) < 2 or not is_ascending:
            raise StudyError("quantiles are not ascending", hint="give two or more, shares and times in order")
        require_positive(self.values[0], "a predicted time", "s")

    @property
    def mean_s(self) -> float:
        return float(self._grid().mean())

    @property
    def scv(self) -> float:
        grid = self._grid()
        return float(grid.var() / grid.mean() ** 2)

    def at(self, shares: Floats) -> Floats:
        """The quantiles."""
        return np.interp(shares, self.shares, self.values)

    def draw(self, rng: "Generator", n: int) -> Floats:
        return self.at(rng.random(n))

    def _grid(self) -> Floats:
        return self.at((np.arange(2000) + 0.5) / 2000)


def mixture(parts: Sequence[tuple[float, Times]]) -> tuple[float, float]:
    """Mean and scv of times drawn from several distributions with shares that add up to 1.

    >>> mixture([(0.5, Spread(1.0, 0.0)), (0.5, Spread(3.0, 0.0))])
    (2.0, 0.25)
    """
    mean = math.fsum(share * times.mean_s for share, times in parts)
    second = math.fsum(share * times.mean_s**2 * (1 + times.scv) for share, times in parts)
    return mean, max(0.0, second / mean**2 - 1)
