"""M/G/c and G/G/c: no closed form exists, so these are approximations, each with its name and where it may be trusted.

All scale the mean wait of M/M/c. Allen-Cunneen (Allen, Probability, Statistics and Queueing Theory, 1990; for Poisson
arrivals the same as Lee and Longton 1959): by half the sum of the squared coefficients of variation of interarrival
and service times. Whitt (Approximations for the GI/G/m queue, Production and Operations Management 2, 1993): by a
factor more, which tells constant service times with many servers from constant interarrival times.
"""

import math
from dataclasses import dataclass
from typing import Literal

from sparkcast.queues import Measures, require_stable
from sparkcast.queues.general import require_scv
from sparkcast.queues.markovian import MMc

Method = Literal["Allen-Cunneen", "Whitt"]
_VALIDITY = {
    # As `benchmarks/queues.py --approximations` found it, with 4 and 16 servers, 50 and 90 % busy, scv of 0.2 to 4.
    "Allen-Cunneen": "E[W] within about 25% for Poisson arrivals; for other arrivals only on busy servers (within "
    "30% at 90% busy, several times too long or too short at 50%)",
    "Whitt": "E[W] within about 12% for Poisson arrivals; for other arrivals only on busy servers (within 20% at "
    "90% busy, several times too long or too short at 50%)",
}


@dataclass(frozen=True, slots=True)
class GGc:
    """The G/G/c queue by an approximation; M/G/c with `arrival_scv` 1.

    >>> round(GGc(0.5, 1.0, 1, service_scv=0.0).measures().mean_wait_s, 9)
    0.5
    """

    arrival_rate: float
    service_time_s: float
    servers: int = 1
    service_scv: float = 1.0
    arrival_scv: float = 1.0  # of the times between arrivals
    method: Method = "Allen-Cunneen"

    def __post_init__(self) -> None:
        require_scv(self.service_scv, "service times")
        require_scv(self.arrival_scv, "times between arrivals")
        require_stable(self.arrival_rate, self.service_time_s, self.servers)

    def measures(self) -> Measures:
        exact = MMc(self.arrival_rate, self.service_time_s, self.servers).measures()
        variability = (self.arrival_scv + self.service_scv) / 2
        wait_s = exact.mean_wait_s * variability * self._correction(exact.utilization)
        arrivals = "M" if self.arrival_scv == 1 else "G"
        return Measures(
            f"{arrivals}/G/{self.servers}, {self.method}",
            self.arrival_rate,
            self.servers,
            exact.utilization,
            wait_s,
            wait_s + self.service_time_s,
            self.arrival_rate * wait_s,
            self.arrival_rate * wait_s + exact.utilization * self.servers,
            exact.probability_of_waiting,
            is_exact=self._is_exact,
            validity="" if self._is_exact else _VALIDITY[self.method],
        )

    @property
    def _is_exact(self) -> bool:
        is_poisson = self.arrival_scv == 1
        return is_poisson and (self.service_scv == 1 or (self.servers == 1 and self.method == "Allen-Cunneen"))

    def _correction(self, busy: float) -> float:
        if self.method == "Allen-Cunneen":
            return 1.0
        return whitt_factor(busy, self.arrival_scv, self.service_scv, self.servers)


def whitt_factor(busy: float, arrival_scv: float, service_scv: float, servers: int) -> float:
    """phi of Whitt 1993, equation 2.24.

    >>> whitt_factor(0.8, 1.0, 1.0, 4)
    1.0
    """
    gamma = min(0.24, (1 - busy) * (servers - 1) * (math.sqrt(4 + 5 * servers) - 2) / (16 * servers * busy))
    constant_service = 1 + gamma
    constant_arrivals = (1 - 4 * gamma) * math.exp(-2 * (1 - busy) / (3 * busy))
    mean_scv = (arrival_scv + service_scv) / 2
    both = min(1.0, (constant_service + constant_arrivals) / 2)
    alike = 1.0 if mean_scv >= 1 else both ** (2 * (1 - mean_scv))
    if arrival_scv == service_scv:
        return alike
    if arrival_scv > service_scv:
        below = 4 * arrival_scv - 3 * service_scv
        return (4 * (arrival_scv - service_scv) * constant_service + service_scv * alike) / below
    below = 2 * (arrival_scv + service_scv)
    return ((service_scv - arrival_scv) * constant_arrivals + (service_scv + 3 * arrival_scv) * alike) / below
