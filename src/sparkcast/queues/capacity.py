"""How many jobs a cluster can take: the highest arrival rate that meets the SLO, and the servers that a rate needs.

The deadline counts for all jobs together and for each class of them.
"""

from collections.abc import Sequence
from dataclasses import dataclass

from sparkcast.errors import InfeasibleError
from sparkcast.queues import require_positive, require_share
from sparkcast.queues.arrivals import Renewal
from sparkcast.queues.markovian import MMc
from sparkcast.queues.simulate import Cluster, OnProgress, Simulation, simulate, stable_cores
from sparkcast.queues.steady import Estimate
from sparkcast.queues.times import Spread
from sparkcast.queues.workload import JobMix
from sparkcast.units import show_level, show_seconds

_STEPS = 20  # halvings: the rate is found to a millionth of what is stable
_SIMULATED_STEPS = 10  # to a thousandth; simulation is not more exact
_NEARLY_FULL = 0.995  # of the stable rate: nearer, no simulation is long enough
_NEARLY_EMPTY = 1e-6  # of the stable rate
_MOST_SERVERS = 100_000


@dataclass(frozen=True, slots=True)
class ServerCapacity:
    """What so many servers can do."""

    servers: int
    stable_rate: float  # jobs per second below which queues do not grow without end
    most_rate: float | None  # the highest that meets the SLO; None where even a lone job is too slow
    utilization: float | None  # at that rate
    response_s: Estimate | None = None  # the percentile at the rate that was asked for; None where it is not stable
    cost_per_hour: float | None = None
    cost_per_job: float | None = None  # at the rate that was asked for, else at the largest


@dataclass(frozen=True, slots=True)
class Point:
    """The response time at one arrival rate."""

    rate: float
    utilization: float
    mean_s: Estimate
    percentiles: dict[float, Estimate]


@dataclass(frozen=True, slots=True)
class Simulator:
    """A workload on a cluster whose number of servers may change; the same draws at every rate.

    With the same random numbers every job waits longer at a higher rate (first come first served), so that the search
    for the largest one is not led astray by chance.
    """

    workload: JobMix
    cluster: Cluster
    n_jobs: int = 20_000
    replications: int = 10
    seed: int = 0

    def point(self, rate: float, shares: Sequence[float], servers: int | None = None) -> Point:
        found = self.simulated(rate, shares, servers)
        return Point(rate, found.utilization.value, found.mean_response_s, found.response_percentiles)

    def simulated(self, rate: float, shares: Sequence[float], servers: int | None) -> Simulation:
        return simulate(
            self.workload.at_rate(rate),
            self.cluster if servers is None else self.cluster.resized(servers),
            n_jobs=self.n_jobs,
            replications=self.replications,
            seed=self.seed,
            shares=tuple(shares),
        )

    def percentile(self, rate: float, share: float, servers: int | None = None) -> Estimate:
        """Exact where there is a closed form, else simulated."""
        cluster = self.cluster if servers is None else self.cluster.resized(servers)
        if (exact := closed_form(self.workload.at_rate(rate), cluster)) is not None:
            value = exact.response_quantile(share)
            return Estimate(value, value, value)
        return self.point(rate, (share,), servers).percentiles[share]

    def is_within(self, rate: float, within_s: float, share: float, servers: int | None = None) -> bool:
        """Whether the percentile is within the deadline, for all jobs together and for each class."""
        if len(self.workload.classes) == 1:
            return self.percentile(rate, share, servers).value <= within_s
        found = self.simulated(rate, (share,), servers)
        every = [found.response_percentiles, *(one.response_percentiles for one in found.classes)]
        return all(percentiles[share].value <= within_s for percentiles in every)

    def stable_rate(self, servers: int | None = None) -> float:
        return (self.cluster if servers is None else self.cluster.resized(servers)).most_rate(self.workload)


def closed_form(workload: JobMix, cluster: Cluster) -> MMc | None:
    """The queue that has its percentiles in closed form, when this is one: exponential, Poisson, first come."""
    times, arrivals = workload.classes[0].times, workload.arrivals
    is_exponential = len(workload.classes) == 1 and isinstance(times, Spread) and times.scv == 1
    is_poisson = isinstance(arrivals, Renewal) and arrivals.scv == 1
    if not (is_exponential and is_poisson and cluster.discipline == "fifo"):
        return None
    return MMc(arrivals.rate, times.mean_s, cluster.cores // workload.widest)


def largest_rate(simulator: Simulator, within_s: float, share: float, servers: int | None = None) -> float | None:
    """The highest arrival rate that meets the SLO; None where a lone job takes longer."""
    require_positive(within_s, "the deadline", "s")
    require_share(share, "the percentile")
    stable = simulator.stable_rate(servers)
    cluster = simulator.cluster if servers is None else simulator.cluster.resized(servers)
    is_exact = closed_form(simulator.workload.at_rate(stable / 2), cluster) is not None
    low, high = 0.0, stable * (1 - 1e-9 if is_exact else _NEARLY_FULL)

    def is_within(rate: float) -> bool:
        return simulator.is_within(rate, within_s, share, servers)

    if is_within(high):
        return high
    if not is_within(stable * _NEARLY_EMPTY):
        return None
    for _ in range(_STEPS if is_exact else _SIMULATED_STEPS):
        middle = (low + high) / 2
        low, high = (middle, high) if is_within(middle) else (low, middle)
    return low


def servers_needed(simulator: Simulator, within_s: float, share: float) -> int | None:
    """The fewest servers that meet the SLO at the workload's own rate; None where some class misses it even alone."""
    require_positive(within_s, "the deadline", "s")
    require_share(share, "the percentile")
    rate = simulator.workload.arrivals.rate

    def is_enough(servers: int) -> bool:
        return rate < simulator.stable_rate(servers) and simulator.is_within(rate, within_s, share, servers)

    high = stable_cores(simulator.workload, simulator.cluster)
    low = high - 1
    while not is_enough(high):
        if high > _MOST_SERVERS or _alone(simulator, share, high) > within_s:
            alone = show_seconds(_alone(simulator, share, high))
            raise InfeasibleError(
                f"no number of servers finishes {show_level(share)} of the jobs within {show_seconds(within_s)}: "
                f"alone on the cluster they take {alone}",
                hint=f"allow at least {alone}, or make the jobs shorter",
            )
        if not simulator.is_within(simulator.stable_rate(high) * _NEARLY_EMPTY, within_s, share, high):
            return None
        low, high = high, 2 * high
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (low, middle) if is_enough(middle) else (middle, high)
    return high


def capacities(
    simulator: Simulator,
    servers: Sequence[int],
    *,
    within_s: float | None,
    share: float,
    rate: float | None = None,
    price_per_server_hour: float | None = None,
    on_progress: OnProgress = lambda done, total: None,
) -> tuple[ServerCapacity, ...]:
    """What each number of servers can do, beside what it costs."""
    found = []
    for done, n in enumerate(servers):
        on_progress(done, len(servers))
        found.append(_capacity(simulator, n, within_s, share, rate, price_per_server_hour))
    on_progress(len(servers), len(servers))
    return tuple(found)


def _capacity(
    simulator: Simulator, n: int, within_s: float | None, share: float, rate: float | None, price: float | None
) -> ServerCapacity:
    stable = simulator.stable_rate(n)
    most = None if within_s is None else largest_rate(simulator, within_s, share, n)
    response = None if rate is None or rate >= stable else simulator.percentile(rate, share, n)
    cost = None if price is None else price * n
    per = most if rate is None else None if response is None else rate
    return ServerCapacity(
        n,
        stable,
        most,
        None if most is None else most / stable,
        response,
        cost,
        None if cost is None or per is None else cost / (per * 3600),
    )


def _alone(simulator: Simulator, share: float, servers: int) -> float:
    """The percentile of jobs that run alone."""
    return simulator.percentile(simulator.stable_rate(servers) * _NEARLY_EMPTY, share, servers).value


def curve(
    simulator: Simulator,
    shares: Sequence[float],
    *,
    up_to: float = 0.95,
    points: int = 12,
    on_progress: OnProgress = lambda done, total: None,
) -> tuple[Point, ...]:
    """Response times from a nearly empty cluster up to a share of the rate that is stable."""
    stable, found = simulator.stable_rate(), []
    for step in range(1, points + 1):
        on_progress(step - 1, points)
        point = simulator.point(stable * up_to * step / points, shares)
        found.append(point)
    on_progress(points, points)
    return tuple(found)
