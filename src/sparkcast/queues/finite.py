"""M/M/1/K and M/M/c/K: at most K jobs in the system, those in service among them; others are rejected.

Gross, Shortle, Thompson and Harris, Fundamentals of Queueing Theory, section 2.5. Any load is stable.
"""

from dataclasses import dataclass

import numpy as np

from sparkcast.arrays import Floats
from sparkcast.errors import StudyError
from sparkcast.queues import Measures, require_positive

_VALIDITY = "exact for exponential service times and Poisson arrivals only; here a rough estimate"


@dataclass(frozen=True, slots=True)
class MMcK:
    """The M/M/c/K queue.

    >>> round(MMcK(1.0, 1.0, 1, places=2).measures().probability_of_loss, 9)
    0.333333333
    """

    arrival_rate: float
    service_time_s: float
    servers: int = 1
    places: int = 1  # K
    is_exact: bool = True  # of other service times or arrivals it is an approximation

    def __post_init__(self) -> None:
        require_positive(self.arrival_rate, "the arrival rate", "jobs per second")
        require_positive(self.service_time_s, "the service time", "s")
        if self.servers < 1 or self.places < self.servers:
            raise StudyError(
                f"{self.servers} servers and a system capacity of {self.places} are not possible",
                hint="the system capacity includes the jobs in service: give at least the number of servers",
            )

    def probabilities(self) -> Floats:
        """Of 0 to K jobs in the system."""
        busy = np.minimum(np.arange(1, self.places + 1), self.servers)
        steps = np.log(self.arrival_rate * self.service_time_s) - np.log(busy)
        logs = np.concatenate([[0.0], np.cumsum(steps)])
        weights = np.exp(logs - logs.max())
        return np.asarray(weights / weights.sum())

    def measures(self) -> Measures:
        p, jobs = self.probabilities(), np.arange(self.places + 1)
        lost = float(p[-1])
        let_in = self.arrival_rate * (1 - lost)
        waiting = float(p @ np.maximum(jobs - self.servers, 0))
        wait_s = waiting / let_in
        return Measures(
            f"M/M/{self.servers}/{self.places}",
            self.arrival_rate,
            self.servers,
            let_in * self.service_time_s / self.servers,
            wait_s,
            wait_s + self.service_time_s,
            waiting,
            float(p @ jobs),
            float(p[self.servers : -1].sum() / (1 - lost)),
            lost,
            self.is_exact,
            "" if self.is_exact else _VALIDITY,
        )
