"""Jobs that share a cluster: closed forms, simulation, capacity, admission.

Everything here computes with plain numbers in seconds and jobs per second; where they come from (measured runs, a
fitted model, somebody's head) is the caller's business. One file each; `Queue` is what the closed forms have in common.
"""

from dataclasses import dataclass
from typing import Protocol

from sparkcast.errors import InfeasibleError, StudyError
from sparkcast.units import show_rate

__all__ = ["Measures", "Queue", "require_positive", "require_share", "require_stable", "share_of_percentile"]


@dataclass(frozen=True, slots=True)
class Measures:
    """What a queue does in the long run."""

    queue: str  # in Kendall's notation: "M/M/4"
    arrival_rate: float  # jobs per second that come, those that are turned away among them
    servers: int
    utilization: float  # of each server
    mean_wait_s: float  # E[W], of jobs that are let in
    mean_response_s: float  # E[T]
    mean_waiting: float  # E[N_Q], jobs
    mean_jobs: float  # E[N], those in service among them
    probability_of_waiting: float | None = None  # None where nobody waits or nobody knows
    probability_of_loss: float = 0.0  # of a job that finds no place
    is_exact: bool = True
    validity: str = ""  # of an approximation: where it may be trusted

    @property
    def throughput(self) -> float:
        return self.arrival_rate * (1 - self.probability_of_loss)


class Queue(Protocol):
    """One way to describe a queue. Percentiles have a closed form for M/M/c only; others are simulated."""

    def measures(self) -> Measures: ...


def require_positive(value: float, what: str, unit: str = "") -> None:
    """Raise StudyError for what is zero, negative, infinite or no number."""
    if not 0 < value < float("inf"):
        given = f"{value:g} {unit}".strip()
        raise StudyError(f"{what} cannot be {given}", hint=f"{what} must be above 0")


def require_share(value: float, what: str = "the share of jobs") -> None:
    if not 0 < value < 1:
        raise StudyError(f"{what} is {value:g}, not between 0 and 1", hint="write 0.95 for 95%")


def share_of_percentile(percentile: float) -> float:
    """The share of jobs behind a percentile, written in percent or as a share.

    1 is refused: the first percentile and all jobs are written alike.

    >>> share_of_percentile(95), share_of_percentile(0.95)
    (0.95, 0.95)
    """
    if 0 < percentile < 1:
        return percentile
    if 1 < percentile < 100:
        return percentile / 100
    raise StudyError(
        f"there is no percentile {percentile:g}", hint="write 95 or 0.95 for the time within which 95% of jobs finish"
    )


def require_stable(arrival_rate: float, service_time_s: float, servers: int) -> float:
    """The utilization; raises StudyError for impossible numbers and InfeasibleError where the queue grows forever."""
    require_positive(arrival_rate, "the arrival rate", "jobs per second")
    require_positive(service_time_s, "the service time", "s")
    if not (isinstance(servers, int) and servers >= 1):
        raise StudyError(f"{servers} servers are not possible", hint="give an integer, 1 or more")
    load = arrival_rate * service_time_s
    if load >= servers:
        raise too_busy(arrival_rate, servers / service_time_s, servers, int(load) + 1)
    return load / servers


def too_busy(arrival_rate: float, most: float, servers: int, needed: int | None = None) -> InfeasibleError:
    """The error of a queue that is given more work than it can do."""
    more = "" if needed is None else f", or with at least {needed} server{'' if needed == 1 else 's'}"
    return InfeasibleError(
        f"{servers} server{'' if servers == 1 else 's'} can do at most {show_rate(most)}, and "
        f"{show_rate(arrival_rate)} arrive: the queue grows without bound",
        hint=f"it is stable below {show_rate(most)}{more}",
    )
