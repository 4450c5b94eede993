"""Open networks of stations with Poisson arrivals and exponential service (Jackson 1957): each acts like an M/M/c."""

from collections.abc import Sequence
from dataclasses import dataclass

from sparkcast.arrays import Floats
from sparkcast.errors import InfeasibleError, StudyError
from sparkcast.queues import Measures, require_positive
from sparkcast.queues.markovian import MMc
from sparkcast.units import show_rate


@dataclass(frozen=True, slots=True)
class Stop:
    """A station of an open network."""

    name: str
    service_time_s: float
    servers: int = 1
    arrival_rate: float = 0.0  # from outside


@dataclass(frozen=True, slots=True)
class OpenNetwork:
    """What the whole does, and each station alone."""

    arrival_rate: float
    mean_jobs: float
    mean_response_s: float  # from coming in to leaving
    stations: dict[str, Measures]  # those that are visited
    visits: dict[str, float]  # of one job, on average


def solve(stops: Sequence[Stop], routes: Sequence[Sequence[float]]) -> OpenNetwork:
    """`routes[i][j]` is the probability to go from station i to station j; the rest leaves.

    >>> round(solve([Stop("cpu", 0.5, arrival_rate=1.0)], [[0.0]]).mean_response_s, 9)
    1.0
    """
    import numpy as np

    outside, table = _checked(stops, routes)
    try:
        through = np.linalg.solve(np.eye(len(stops)) - table.T, outside)
    except np.linalg.LinAlgError:
        raise StudyError("some jobs never leave the network", hint="give every cycle an exit") from None
    if (through < -1e-12).any() or not np.isfinite(through).all():
        raise StudyError("some jobs never leave the network", hint="give every cycle an exit")
    total = float(outside.sum())
    _require_stable(stops, through.tolist(), total)
    found = {
        stop.name: MMc(rate, stop.service_time_s, stop.servers).measures()
        for stop, rate in zip(stops, through.tolist(), strict=True)
        if rate > 0
    }
    jobs = sum(one.mean_jobs for one in found.values())
    visits = {stop.name: rate / total for stop, rate in zip(stops, through.tolist(), strict=True)}
    return OpenNetwork(total, jobs, jobs / total, found, visits)


def _checked(stops: Sequence[Stop], routes: Sequence[Sequence[float]]) -> tuple[Floats, Floats]:
    import numpy as np

    table, outside = np.asarray(routes, dtype=float), np.array([stop.arrival_rate for stop in stops])
    if table.shape != (len(stops), len(stops)) or not len(stops):
        raise StudyError(
            f"routes between {len(stops)} stations must be a square table", hint="one row for each station"
        )
    if (table < 0).any() or (table.sum(axis=1) > 1 + 1e-12).any() or not np.isfinite(table).all():
        raise StudyError("a row of the routes is not a set of probabilities", hint="each row must add up to at most 1")
    if (outside < 0).any():
        raise StudyError("an arrival rate is negative", hint="give 0 where no jobs arrive from outside")
    require_positive(float(outside.sum()), "the arrival rate from outside", "jobs per second")
    for stop in stops:
        require_positive(stop.service_time_s, f"the service time of {stop.name}", "s")
    return outside, table


def _require_stable(stops: Sequence[Stop], through: Sequence[float], total: float) -> None:
    loads = [rate * stop.service_time_s / stop.servers for stop, rate in zip(stops, through, strict=True)]
    worst = max(range(len(stops)), key=loads.__getitem__)
    if loads[worst] >= 1:
        raise InfeasibleError(
            f"{stops[worst].name} has {loads[worst]:.3g} times the load it can handle: its queue grows without bound",
            hint=f"the network is stable below {show_rate(total / loads[worst])} from outside",
        )
