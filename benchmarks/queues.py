"""Queues: is the simulation right, and is it quick? Beside plain ciw on the same model.

    python benchmarks/queues.py              # speed, a minute or two
    python benchmarks/queues.py --coverage   # 500 seeded runs of each queue, some ten minutes
    python benchmarks/queues.py --approximations   # M/G/c and G/G/c beside simulations, a minute

ciw is not needed by sparkcast; where it is not installed its line is left out (pip install ciw==3.2.7).
"""

import argparse
import itertools
import time
from collections.abc import Callable

from sparkcast.queues import Measures
from sparkcast.queues.approximations import GGc, Method
from sparkcast.queues.arrivals import Renewal, poisson
from sparkcast.queues.general import MG1, MG1Sharing
from sparkcast.queues.markovian import MMc
from sparkcast.queues.simulate import Cluster, simulate
from sparkcast.queues.times import Spread
from sparkcast.queues.workload import JobClass, JobMix
from sparkcast_papers.networks.closed import Station, solve

JOBS, SLOTS, DAY_S, BUSY = 100_000, 1000, 86_400.0, 0.9
RATE = JOBS / DAY_S
SERVICE_S = BUSY * SLOTS / RATE
# Of 100 intervals that hold the truth with probability 0.95, fewer than 93 do so one time in eight: 500 tell more.
RUNS, N_JOBS, REPLICATIONS = 500, 10_000, 20


def seconds(run: Callable[[], object]) -> float:
    begun = time.perf_counter()
    run()
    return time.perf_counter() - begun


def a_day() -> None:
    """100,000 jobs in a day on 1,000 slots, exponential, 90 % busy."""
    jobs = JobMix(poisson(RATE), (JobClass("job", Spread(SERVICE_S)),))
    mixed = JobMix(
        poisson(RATE),
        (JobClass("narrow", Spread(SERVICE_S / 2), 9.0), JobClass("wide", Spread(SERVICE_S / 2), 1.0, 6, priority=1)),
    )
    ways = {
        "first come first served": (jobs, Cluster(SLOTS)),
        "fair sharing": (jobs, Cluster(SLOTS, "fair")),
        "priorities, jobs of 1 and 6 cores": (mixed, Cluster(SLOTS, "priority")),
    }
    print(f"a day of {JOBS:,} jobs on {SLOTS:,} slots, {BUSY:.0%} busy (bar: 60 s on one core)")
    own = {name: seconds(lambda way=way: way[1].serve(way[0], JOBS)) for name, way in ways.items()}  # type: ignore[misc]
    for name, took in own.items():
        print(f"  {name:36s} {took:8.2f} s")
    plain = with_ciw()
    if plain is None:
        print("  ciw is not installed")
        return
    ratio = plain / own["first come first served"]
    print(f"  {'ciw, first come first served':36s} {plain:8.2f} s   {ratio:.0f} times as long")


def with_ciw() -> float | None:
    try:
        import ciw  # type: ignore[import-not-found]
    except ImportError:
        return None
    network = ciw.create_network(
        arrival_distributions=[ciw.dists.Exponential(rate=RATE)],
        service_distributions=[ciw.dists.Exponential(rate=1 / SERVICE_S)],
        number_of_servers=[SLOTS],
    )
    ciw.seed(0)
    simulation = ciw.Simulation(network)
    return seconds(lambda: simulation.simulate_until_max_customers(JOBS, method="Finish"))


def mean_values() -> None:
    stations = [Station(f"s{i}", 0.1 + i / 50) for i in range(19)] + [Station("think", 5.0, "delay")]
    several = [Station(f"s{i}", 0.1 + i / 50, servers=1 + i % 4) for i in range(20)]
    print("exact mean values of 20 stations and 200 jobs (bar: 1 s)")
    print(f"  one server each                      {seconds(lambda: solve(stations, 200)):8.3f} s")
    print(f"  several servers, by convolution      {seconds(lambda: solve(several, 200)):8.3f} s")


def coverage() -> None:
    rho = 0.8

    def job(rate: float, scv: float) -> JobMix:
        return JobMix(poisson(rate), (JobClass("job", Spread(1.0, scv)),))

    cases: dict[str, tuple[JobMix, Cluster, Measures]] = {
        "M/M/1": (job(rho, 1.0), Cluster(1), MMc(rho, 1.0).measures()),
        "M/M/4": (job(4 * rho, 1.0), Cluster(4), MMc(4 * rho, 1.0, 4).measures()),
        "M/G/1, scv 0.5": (job(rho, 0.5), Cluster(1), MG1(rho, 1.0, 0.5).measures()),
        "M/G/1-PS, scv 2": (job(rho, 2.0), Cluster(1, "fair"), MG1Sharing(rho, 1.0).measures()),
    }
    print(
        f"{RUNS} seeded simulations of {REPLICATIONS} x {N_JOBS:,} jobs at rho {rho}: "
        f"how many 95 % intervals hold E[T] and E[N] (bar: {0.93 * RUNS:.0f}; by chance ± {(0.0475 * RUNS) ** 0.5:.0f})"
    )
    for name, (work, cluster, exact) in cases.items():
        found = [
            simulate(work, cluster, n_jobs=N_JOBS, replications=REPLICATIONS, seed=seed, shares=())
            for seed in range(RUNS)
        ]
        response = sum(one.mean_response_s.low <= exact.mean_response_s <= one.mean_response_s.high for one in found)
        jobs = sum(one.mean_jobs.low <= exact.mean_jobs <= one.mean_jobs.high for one in found)
        bias = sum(one.mean_response_s.value for one in found) / RUNS / exact.mean_response_s - 1
        rate = work.arrivals.rate
        little = max(abs(one.mean_jobs.value / (rate * one.mean_response_s.value) - 1) for one in found)
        print(
            f"  {name:16s} {response:4d} {jobs:4d}   mean of all {100 * bias:+.2f} %; E[N] within {100 * little:.1f} % "
            "of rate x E[T] in all",
            flush=True,
        )


def approximations() -> None:
    """Where they may be trusted: the mean wait against a simulated one."""
    print("servers  busy  scv of arrivals, service   simulated E[W]        Allen-Cunneen  Whitt")
    for c, rho, (arrival_scv, scv) in itertools.product((4, 16), (0.5, 0.9), ((1, 0.2), (1, 3), (4, 0.5), (0.3, 1))):
        work = JobMix(Renewal(rho * c, arrival_scv), (JobClass("job", Spread(1.0, scv)),))
        found = simulate(work, Cluster(c), n_jobs=30_000, replications=8, shares=()).mean_wait_s
        methods: tuple[Method, ...] = ("Allen-Cunneen", "Whitt")
        waits = [GGc(rho * c, 1.0, c, scv, arrival_scv, method).measures().mean_wait_s for method in methods]
        off = "  ".join(f"{100 * (wait / found.value - 1):+12.0f} %" for wait in waits)
        reach = found.high - found.value
        print(f"{c:7d} {rho:5.0%}  {arrival_scv:8g} {scv:8g}       {found.value:10.4f} ± {reach:.4f} {off}", flush=True)


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--coverage", action="store_true")
    parser.add_argument("--approximations", action="store_true")
    given = parser.parse_args()
    if given.coverage:
        coverage()
    elif given.approximations:
        approximations()
    else:
        a_day()
        mean_values()
