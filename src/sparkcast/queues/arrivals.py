"""When jobs come: Poisson, bursty in two ways, or at given times. Each can be asked for so many arrivals."""

import math
from dataclasses import dataclass, replace
from itertools import pairwise
from typing import TYPE_CHECKING, Protocol

from sparkcast.arrays import Floats
from sparkcast.errors import NotEnoughDataError, StudyError
from sparkcast.queues import require_positive
from sparkcast.queues.times import Spread, Times, TwoPhases
from sparkcast.units import show_percent

if TYPE_CHECKING:
    from numpy.random import Generator


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
        import numpy as np

        between: Times = TwoPhases(1 / self.rate, self.scv) if self.scv > 1 else Spread(1 / self.rate, self.scv)
        return np.cumsum(between.draw(rng, n))

    def at_rate(self, rate: float) -> "Renewal":
        return replace(self, rate=rate)


def poisson(rate: float) -> Renewal:
    """Arrivals that know nothing of one another."""
    return Renewal(rate)


@dataclass(frozen=True, slots=True)
class Modulated:
    """Quiet and busy spells in turn (a Markov-modulated Poisson process): bursts that last, as mornings do."""

    rate: float
    peak: float = 3.0  # rate of busy spells over the mean rate
    busy_share: float = 0.2  # of the time
    spell_s: float = 3600.0  # a quiet and a busy spell together, on average

    def __post_init__(self) -> None:
        require_positive(self.rate, "the arrival rate", "jobs per second")
        require_positive(self.spell_s, "the length of a spell", "s")
        if not 0 < self.busy_share < 1 or not 1 < self.peak <= 1 / self.busy_share:
            raise StudyError(
                f"busy spells of {self.peak:g} times the mean rate in {show_percent(self.busy_share)} of the time "
                "are not possible",
                hint=f"the peak must be between 1 and {1 / self.busy_share if self.busy_share else math.inf:g}",
            )

    @property
    def scv(self) -> float:
        """Of a time between arrivals, as for any MMPP of two states (Fischer and Meier-Hellstern 1993)."""
        high, low = self._rates()
        to_low, to_high = 1 / (self.busy_share * self.spell_s), 1 / ((1 - self.busy_share) * self.spell_s)
        both = to_low + to_high
        below = both**2 * (low * high + low * to_low + high * to_high)
        return 1 + 2 * to_low * to_high * (high - low) ** 2 / below

    def _rates(self) -> tuple[float, float]:
        high = self.peak * self.rate
        return high, max(0.0, (self.rate - self.busy_share * high) / (1 - self.busy_share))

    def draw(self, rng: "Generator", n: int) -> Floats:
        import numpy as np

        high, low = self._rates()
        lengths = {True: self.busy_share * self.spell_s, False: (1 - self.busy_share) * self.spell_s}
        is_busy, now, found, count = bool(rng.random() < self.busy_share), 0.0, [], 0
        while count < n:
            length = rng.exponential(lengths[is_busy])
            arrived = rng.poisson((high if is_busy else low) * length)
            found.append(now + np.sort(rng.random(arrived)) * length)
            now, count, is_busy = now + length, count + arrived, not is_busy
        return np.concatenate(found)[:n]

    def at_rate(self, rate: float) -> "Modulated":
        return replace(self, rate=rate)


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
        import numpy as np

        return np.array(self.times_s[:n]) - self.times_s[0]

    def at_rate(self, rate: float) -> "Given":
        require_positive(rate, "the arrival rate", "jobs per second")
        return Given(tuple((time - self.times_s[0]) * self.rate / rate for time in self.times_s))
