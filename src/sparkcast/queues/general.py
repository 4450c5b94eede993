"""One server and service times of any distribution: M/G/1 (Pollaczek-Khinchine), M/D/1, M/G/1 with processor sharing.

Only the mean and the squared coefficient of variation of the service times enter. Gross, Shortle, Thompson and Harris,
Fundamentals of Queueing Theory, section 5.1; for processor sharing Kleinrock, Queueing Systems II, section 4.4: the
mean does not depend on the distribution.
"""

from dataclasses import dataclass

from sparkcast.errors import StudyError
from sparkcast.queues import Measures, require_stable


@dataclass(frozen=True, slots=True)
class MG1:
    """The M/G/1 queue, first come first served; M/D/1 with `scv` 0, M/M/1 with 1.

    >>> round(MG1(0.5, 1.0, scv=0.0).measures().mean_wait_s, 9)
    0.5
    """

    arrival_rate: float
    service_time_s: float
    scv: float = 1.0  # variance of the service times over their squared mean

    def __post_init__(self) -> None:
        require_scv(self.scv, "service times")
        require_stable(self.arrival_rate, self.service_time_s, 1)

    def measures(self) -> Measures:
        busy = self.arrival_rate * self.service_time_s
        wait_s = busy * (1 + self.scv) / 2 * self.service_time_s / (1 - busy)
        return Measures(
            "M/D/1" if self.scv == 0 else "M/G/1",
            self.arrival_rate,
            1,
            busy,
            wait_s,
            wait_s + self.service_time_s,
            self.arrival_rate * wait_s,
            self.arrival_rate * wait_s + busy,
            busy,
        )


@dataclass(frozen=True, slots=True)
class MG1Sharing:
    """M/G/1 with processor sharing: all jobs at once, each with its share of the server. Nobody waits, all are slowed.

    >>> round(MG1Sharing(0.8, 1.0).measures().mean_response_s, 9)
    5.0
    """

    arrival_rate: float
    service_time_s: float

    def __post_init__(self) -> None:
        require_stable(self.arrival_rate, self.service_time_s, 1)

    def measures(self) -> Measures:
        busy = self.arrival_rate * self.service_time_s
        response_s = self.service_time_s / (1 - busy)
        jobs = busy / (1 - busy)
        return Measures("M/G/1-PS", self.arrival_rate, 1, busy, 0.0, response_s, 0.0, jobs)


def require_scv(scv: float, what: str) -> None:
    """Raise StudyError for a squared coefficient of variation that cannot be."""
    if not 0 <= scv < float("inf"):
        raise StudyError(
            f"the squared coefficient of variation of {what} cannot be {scv:g}",
            hint="it is the variance over the squared mean: 0 when all are equal, 1 when exponential",
        )
