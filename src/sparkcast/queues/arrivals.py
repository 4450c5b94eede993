"""When jobs come: Poisson, regular, in bursts, or at given times. Each can be asked for so many arrivals."""

import math
from dataclasses import dataclass, replace
from itertools import pairwise
from typing import Protocol

import numpy as np
from numpy.random import Generator

from sparkcast.arrays import Floats
from sparkcast.errors import NotEnoughDataError, StudyError
from sparkcast.queues import require_positive
from sparkcast.queues.times import Spread, Times, TwoPhases


class Arrivals(Protocol):
    @property
    def rate(self) -> float:
        """Jobs per second in the long run."""
        ...

    @property
    def scv(self) -> float:
        """Squared coefficient of variation of the times between arrivals."""
        ...

    def draw(self, rng: "Generator", n: int) -> Floats:
        """The first `n` arrivals in seconds from now, ascending; fewer where no more come."""
        ...

    def at_rate(self, rate: float) -> "Arrivals":
        """The same pattern, faster or slower."""
        ...


@dataclass(frozen=True, slots=True)
class Renewal:
    """Independent times between arrivals: Poisson with scv 1, regular below, in bursts above."""

    rate: float
    scv: float = 1.0

    def __post_init__(self) -> None:
        require_positive(self.rate, "the arrival rate", "jobs per second")

    def draw(self, rng: "Generator", n: int) -> Floats:
        between: Times = TwoPhases(1 / self.rate, self.scv) if self.scv > 1 else Spread(1 / self.rate, self.scv)
        return np.cumsum(between.draw(rng, n))

    def at_rate(self, rate: float) -> "Renewal":
        return replace(self, rate=rate)


def poisson(rate: float) -> Renewal:
    """Arrivals that know nothing of one another."""
    return Renewal(rate)


@dataclass(frozen=True, slots=True)
class Given:
    """Arrivals that happened, in seconds from some moment. There are no more than these."""

    times_s: tuple[float, ...]

    def __post_init__(self) -> None:
        if len(self.times_s) < 2:
            raise NotEnoughDataError(
                f"{len(self.times_s)} arrival{'' if len(self.times_s) == 1 else 's'} cannot define a rate",
                hint="give two or more arrival times",
            )
        if not all(math.isfinite(time) for time in self.times_s) or max(self.times_s) <= min(self.times_s):
            raise StudyError("these are not arrival times", hint="give finite seconds, not all the same")
        object.__setattr__(self, "times_s", tuple(sorted(self.times_s)))

    @property
    def rate(self) -> float:
        return (len(self.times_s) - 1) / (self.times_s[-1] - self.times_s[0])

    @property
    def scv(self) -> float:
        gaps = [later - earlier for earlier, later in pairwise(self.times_s)]
        mean = math.fsum(gaps) / len(gaps)
        return math.fsum((gap - mean) ** 2 for gap in gaps) / len(gaps) / mean**2

    def draw(self, rng: "Generator", n: int) -> Floats:
        return np.array(self.times_s[:n]) - self.times_s[0]

    def at_rate(self, rate: float) -> "Given":
        require_positive(rate, "the arrival rate", "jobs per second")
        return Given(tuple((time - self.times_s[0]) * self.rate / rate for time in self.times_s))
