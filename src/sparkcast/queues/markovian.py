"""M/M/1 and M/M/c: Poisson arrivals, exponential service times, first come first served.

Erlang C by the recursion of Erlang B, which neither overflows nor loses digits with a thousand servers. Sources: Gross,
Shortle, Thompson and Harris, Fundamentals of Queueing Theory, sections 2.2 and 2.3; Kleinrock, Queueing Systems I, 3.5.
"""

import math
from collections.abc import Callable
from dataclasses import dataclass

from scipy.optimize import brentq

from sparkcast.errors import StudyError
from sparkcast.queues import Measures, require_share, require_stable

_DIGITS = 1e-13  # of a percentile, relative


def erlang_b(servers: int, load: float) -> float:
    """The probability that all of so many servers are busy when nobody waits; `load` in Erlang.

    >>> round(erlang_b(5, 3.0), 6)
    0.110054
    """
    if servers < 0 or load <= 0:
        raise StudyError(f"{servers} servers with a load of {load:g} are not possible", hint="both must be above 0")
    inverse = 1.0
    for k in range(1, servers + 1):
        inverse = 1.0 + inverse * k / load
    return 1 / inverse


def erlang_c(servers: int, load: float) -> float:
    """The probability that a job must wait; `load` in Erlang, less than `servers`.

    >>> round(erlang_c(4, 3.2), 6)
    0.596432
    """
    blocked = erlang_b(servers, load)
    return blocked / (1 - load / servers * (1 - blocked))


@dataclass(frozen=True, slots=True)
class MMc:
    """The M/M/c queue; M/M/1 with one server.

    >>> round(MMc(0.8, 1.0).measures().mean_response_s, 9)
    5.0
    """

    arrival_rate: float
    service_time_s: float
    servers: int = 1

    def __post_init__(self) -> None:
        require_stable(self.arrival_rate, self.service_time_s, self.servers)

    @property
    def load(self) -> float:
        """Offered work in servers, or Erlang."""
        return self.arrival_rate * self.service_time_s

    @property
    def _spare_rate(self) -> float:
        return self.servers / self.service_time_s - self.arrival_rate

    def measures(self) -> Measures:
        waits = erlang_c(self.servers, self.load)
        wait_s = waits / self._spare_rate
        return Measures(
            f"M/M/{self.servers}",
            self.arrival_rate,
            self.servers,
            self.load / self.servers,
            wait_s,
            wait_s + self.service_time_s,
            self.arrival_rate * wait_s,
            self.arrival_rate * wait_s + self.load,
            waits,
        )

    def response_tail(self, seconds: float) -> float:
        """The probability to be in the system longer: a service, after a wait with probability C."""
        t, mu = max(0.0, seconds), 1 / self.service_time_s
        slower, gap = min(mu, self._spare_rate), abs(self._spare_rate - mu)  # 0 where both exponentials are the same
        after = t if gap * t < 1e-12 else -math.expm1(-gap * t) / gap
        return math.exp(-mu * t) + erlang_c(self.servers, self.load) * mu * math.exp(-slower * t) * after

    def response_quantile(self, share: float) -> float:
        require_share(share)
        return quantile(self.response_tail, share, self.service_time_s)


def quantile(tail: Callable[[float], float], share: float, about: float) -> float:
    """Where a falling probability reaches 1 - share; `about` is some time of the right order."""
    high = about
    while tail(high) > 1 - share:
        high *= 2
    return float(brentq(lambda t: tail(t) - (1 - share), 0.0, high, xtol=_DIGITS * about, rtol=_DIGITS))
