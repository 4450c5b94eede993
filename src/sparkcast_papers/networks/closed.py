"""Closed networks: a fixed number of jobs that go round stations forever, each job once a round (product form).

A station is a queue with one or several servers (exponential service first come first served, or any service with
processor sharing), or a delay where nobody waits. Exact mean value analysis (Reiser and Lavenberg 1980) where every
queue has one server; with several servers its recursion loses digits, so the normalizing constants are convolved
instead (Buzen 1973), of which every term is positive.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

from sparkcast.arrays import Floats
from sparkcast.errors import StudyError
from sparkcast.queues import require_positive

_MOST_CONVOLVED = 600  # jobs; with more, constants exceed what a floating-point number can hold


@dataclass(frozen=True, slots=True)
class Station:
    name: str
    demand_s: float  # visits in a round times service time
    kind: Literal["queue", "delay"] = "queue"
    servers: int = 1

    def __post_init__(self) -> None:
        require_positive(self.demand_s, f"the time at {self.name}", "s")
        if self.servers < 1:
            raise StudyError(f"{self.name} has {self.servers} servers", hint="give 1 or more, or make it a delay")


@dataclass(frozen=True, slots=True)
class Round:
    """A closed network with so many jobs in it."""

    n_jobs: int
    throughput: float  # rounds per second, of all jobs together
    response_s: float  # of one round
    residence_s: tuple[float, ...]  # by station, waiting included
    jobs: tuple[float, ...]  # mean number at each station
    utilization: tuple[float, ...]  # of each server; of a delay the mean number of jobs there


def solve(stations: Sequence[Station], n_jobs: int) -> tuple[Round, ...]:
    """The network with 1, 2, ... `n_jobs` jobs.

    >>> [round(one.response_s, 6) for one in solve([Station("cpu", 1.0, "delay"), Station("disk", 1.0)], 2)]
    [2.0, 2.5]
    """
    if not stations or n_jobs < 1:
        raise StudyError(
            f"{len(stations)} stations with {n_jobs} jobs do not make a network", hint="give 1 or more of each"
        )
    if all(station.kind == "delay" or station.servers == 1 for station in stations):
        return _mean_values(stations, n_jobs)
    return _by_convolution(stations, n_jobs)


def delay_and_queue(delay_s: Floats, queue_s: Floats, n_jobs: Floats) -> Floats:
    """The time of one round through a delay and a queue with one server, for many networks at once.

    Numbers of jobs need not be whole: straight lines between those that are. Below 1 it is 1.

    >>> import numpy as np
    >>> delay_and_queue(np.array([1.0, 1.0]), np.array([1.0, 1.0]), np.array([2.0, 1.5])).tolist()
    [2.5, 2.25]
    """
    import numpy as np

    found = before = delay_s + queue_s
    queued = queue_s / found  # mean number at the queue
    for n in range(2, math.ceil(float(n_jobs.max(initial=1.0))) + 1):
        response = delay_s + queue_s * (1 + queued)
        queued = n * queue_s * (1 + queued) / response
        is_between = (n_jobs > n - 1) & (n_jobs <= n)
        found = np.where(is_between, before + (n_jobs - (n - 1)) * (response - before), found)
        before = response
    return np.asarray(found)


def bounds(stations: Sequence[Station], n_jobs: int) -> tuple[float, float]:
    """The asymptotes of the throughput (Denning and Buzen 1978): what it cannot exceed with few and with many jobs."""
    total = sum(station.demand_s for station in stations)
    rates = [station.servers / station.demand_s for station in stations if station.kind == "queue"]
    return n_jobs / total, min(rates, default=float("inf"))


def _mean_values(stations: Sequence[Station], n_jobs: int) -> tuple[Round, ...]:
    import numpy as np

    demand = np.array([station.demand_s for station in stations])
    is_queue = np.array([station.kind == "queue" for station in stations])
    jobs, found = np.zeros(len(stations)), []
    for n in range(1, n_jobs + 1):
        residence = demand * (1 + is_queue * jobs)
        rate = n / residence.sum()
        jobs = rate * residence
        found.append(_round(n, float(rate), residence, jobs, rate * demand))
    return tuple(found)


def _by_convolution(stations: Sequence[Station], n_jobs: int) -> tuple[Round, ...]:
    import numpy as np

    if n_jobs > _MOST_CONVOLVED:
        raise StudyError(
            f"{n_jobs} jobs among stations of several servers are too many for an exact solution",
            hint=f"use up to {_MOST_CONVOLVED}",
        )
    # In units of the time between rounds no constant exceeds e to the number of jobs.
    scale = 1 / min(bounds(stations, n_jobs))
    weights = [_weights(station, n_jobs, scale) for station in stations]
    everywhere = _convolved(weights, n_jobs)
    elsewhere = [_convolved(weights[:i] + weights[i + 1 :], n_jobs) for i in range(len(weights))]
    demand = np.array([station.demand_s for station in stations])
    servers = np.array([station.servers if station.kind == "queue" else 1 for station in stations])
    found = []
    for n in range(1, n_jobs + 1):
        rate = float(everywhere[n - 1] / everywhere[n]) / scale
        here = np.arange(n + 1)
        jobs = np.array([here @ (w[: n + 1] * e[n::-1]) for w, e in zip(weights, elsewhere, strict=True)])
        jobs = jobs / everywhere[n]
        found.append(_round(n, rate, jobs / rate, jobs, rate * demand / servers))
    return tuple(found)


def _weights(station: Station, n_jobs: int, scale: float) -> Floats:
    """The station's factor of the product form with 0 to `n_jobs` jobs."""
    import numpy as np

    n = np.arange(1, n_jobs + 1)
    busy = n if station.kind == "delay" else np.minimum(n, station.servers)
    return np.concatenate([[1.0], np.cumprod(station.demand_s / scale / busy)])


def _convolved(weights: Sequence[Floats], n_jobs: int) -> Floats:
    import numpy as np

    total = np.concatenate([[1.0], np.zeros(n_jobs)])
    for each in weights:
        total = np.convolve(total, each)[: n_jobs + 1]
    return total


def _round(n: int, rate: float, residence: Floats, jobs: Floats, busy: Floats) -> Round:
    as_tuples = (tuple(values.tolist()) for values in (residence, jobs, busy))
    return Round(n, rate, float(residence.sum()), *as_tuples)
