"""Processor sharing with any slowdown: the mean depends on the service times only through their mean.

With n jobs the cluster does n / slowdown(n) seconds of work alone in each second, in equal parts. Such a queue is
symmetric in the sense of Kelly (Reversibility and Stochastic Networks, 1979, section 3.3), so that the number of jobs
is distributed as if service times were exponential: a birth-death process.
"""

from dataclasses import dataclass

import numpy as np

from sparkcast.arrays import Floats
from sparkcast.queues import Measures, require_positive, too_busy
from sparkcast.queues.slowdown import Slowdown

_REST = 1e-15  # of the probability, which may be left out
_FIRST, _MOST = 256, 2**22


@dataclass(frozen=True, slots=True)
class ProcessorSharing:
    """Poisson arrivals to a cluster that all jobs share. The queue's name is that of M/G/c-PS with equal shares."""

    arrival_rate: float
    service_time_s: float  # alone
    slowdown: Slowdown
    servers: int = 1  # only to tell how busy they are

    def __post_init__(self) -> None:
        require_positive(self.arrival_rate, "the arrival rate", "jobs per second")
        require_positive(self.service_time_s, "the service time", "s")
        most = self.slowdown.capacity / self.service_time_s
        if self.arrival_rate >= most:
            raise too_busy(self.arrival_rate, most, self.servers)

    def probabilities(self) -> Floats:
        """Of 0, 1, ... jobs at once, as far as they count."""
        size = _FIRST
        while True:
            n = np.arange(1, size)
            factors = np.array([self.slowdown(k) for k in n.tolist()])
            logs = np.concatenate([[0.0], np.cumsum(np.log(self.arrival_rate * self.service_time_s * factors / n))])
            weights = np.exp(logs - logs.max())
            if weights[-1] * size <= _REST * weights.sum() or size >= _MOST:
                return np.asarray(weights / weights.sum())
            size *= 4

    def measures(self) -> Measures:
        p = self.probabilities()
        jobs = float(p @ np.arange(len(p)))
        busy = float(p @ np.minimum(np.arange(len(p)) / self.servers, 1.0))
        name = f"M/G/{self.servers}-PS"
        return Measures(name, self.arrival_rate, self.servers, busy, 0.0, jobs / self.arrival_rate, 0.0, jobs)
