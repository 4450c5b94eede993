"""Closed and open networks against the chains that they solve, and against each other."""

import math
from itertools import pairwise, product

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from sparkcast.arrays import Floats
from sparkcast.errors import InfeasibleError, StudyError
from sparkcast.queues import closed, jackson
from sparkcast.queues.closed import Station, bounds
from sparkcast.queues.jackson import Stop
from sparkcast.queues.markovian import MMc

demands = st.floats(0.01, 10)
stations = st.lists(
    st.builds(Station, st.just("s"), demands, st.sampled_from(["queue", "delay"]), st.integers(1, 4)),
    min_size=1,
    max_size=6,
)


def cycle(one: Station, other: Station, n: int) -> list[float]:
    """Mean numbers at two stations in a cycle with `n` jobs, from the balance equations of the chain."""

    def rate(station: Station, k: int) -> float:
        return (k if station.kind == "delay" else min(k, station.servers)) / station.demand_s

    p = [1.0]  # of k jobs at the first
    for k in range(n):
        p.append(p[-1] * rate(other, n - k) / rate(one, k + 1))
    here = sum(k * each for k, each in enumerate(p)) / sum(p)
    return [here, n - here]


@pytest.mark.parametrize("kinds", [*product(["queue", "delay"], repeat=2)])
@pytest.mark.parametrize("servers", [(1, 1), (1, 3), (2, 2)])
def test_two_stations_solve_their_chain(kinds: tuple[str, str], servers: tuple[int, int]) -> None:
    one = Station("cpu", 0.7, kinds[0], servers[0])  # type: ignore[arg-type]
    other = Station("disk", 0.3, kinds[1], servers[1])  # type: ignore[arg-type]
    for found in closed.solve([one, other], 9):
        assert list(found.jobs) == pytest.approx(cycle(one, other, found.n_jobs), rel=1e-9)


def test_equal_queues_share_the_jobs_evenly() -> None:
    """X(N) = N / (D (N + M - 1)) with M equal queues: Lazowska et al., Quantitative System Performance, 1984."""
    found = closed.solve([Station("a", 0.5), Station("b", 0.5), Station("c", 0.5)], 10)[-1]
    assert found.throughput == pytest.approx(10 / (0.5 * 12), rel=1e-12)
    assert found.jobs == pytest.approx([10 / 3] * 3)


@given(stations, st.integers(1, 30))
def test_a_closed_network_keeps_its_jobs_and_its_bounds(network: list[Station], n: int) -> None:
    rounds = closed.solve(network, n)
    last = rounds[-1]
    assert sum(last.jobs) == pytest.approx(n, rel=1e-9)
    assert n == pytest.approx(last.throughput * last.response_s, rel=1e-9)  # Little's law
    few, many = bounds(network, n)
    assert last.throughput <= min(few, many) * (1 + 1e-9)
    assert all(later.throughput >= one.throughput * (1 - 1e-9) for one, later in pairwise(rounds))


@given(st.lists(demands, min_size=1, max_size=5), st.integers(1, 20))
def test_the_two_methods_agree_where_both_can_be_used(times: list[float], n: int) -> None:
    single = [Station("s", time) for time in times] + [Station("d", 1.0, "delay")]
    values = closed.solve(single, n)[-1]
    convolved = closed._by_convolution(single, n)[-1]
    assert convolved.throughput == pytest.approx(values.throughput, rel=1e-9)
    assert convolved.jobs == pytest.approx(values.jobs, rel=1e-8)


@given(demands, demands, st.integers(1, 12))
def test_many_small_networks_are_solved_at_once(think_s: float, demand_s: float, n: int) -> None:
    network = [Station("cpu", think_s, "delay"), Station("disk", demand_s)]
    rounds = [one.response_s for one in closed.solve(network, n)]
    jobs: Floats = np.array([float(i) for i in range(1, n + 1)])
    found = closed.delay_and_queue(np.full(n, think_s), np.full(n, demand_s), jobs)
    assert found == pytest.approx(rounds, rel=1e-12)
    between = closed.delay_and_queue(np.full(n, think_s), np.full(n, demand_s), jobs - 0.5)
    assert between[1:] == pytest.approx([(a + b) / 2 for a, b in pairwise(rounds)])
    assert between[0] == pytest.approx(rounds[0])


def test_many_jobs_reach_the_asymptotes() -> None:
    network = [Station("think", 5.0, "delay"), Station("disk", 0.2), Station("cpu", 0.6, servers=4)]
    assert closed.solve(network, 1)[0].response_s == pytest.approx(5.8)
    assert closed.solve(network, 400)[-1].throughput == pytest.approx(5.0, rel=1e-6)


def test_a_large_network_stays_finite() -> None:
    network = [Station(f"s{i}", 0.1 + i / 20, servers=1 + i % 3) for i in range(20)]
    last = closed.solve(network, 200)[-1]
    assert math.isfinite(last.response_s)
    assert sum(last.jobs) == pytest.approx(200)


def test_more_jobs_than_numbers_can_hold_are_refused() -> None:
    assert closed.solve([Station("cpu", 1.0, servers=2), Station("think", 1e6, "delay")], 600)[-1].n_jobs == 600
    with pytest.raises(StudyError, match="601 jobs among stations of several servers are too many"):
        closed.solve([Station("cpu", 1.0, servers=2)], 601)


def test_a_network_without_stations_or_jobs_is_refused() -> None:
    with pytest.raises(StudyError, match="0 stations with 3 jobs"):
        closed.solve([], 3)
    with pytest.raises(StudyError, match="the time at cpu cannot be 0 s"):
        Station("cpu", 0.0)


# ---------------------------------------------------------------- open


def test_a_line_of_stations_is_a_product_of_queues() -> None:
    stops = [Stop("cpu", 0.5, 2, arrival_rate=1.5), Stop("disk", 0.4)]
    found = jackson.solve(stops, [[0, 1], [0, 0]])
    alone = [MMc(1.5, 0.5, 2).measures(), MMc(1.5, 0.4).measures()]
    assert list(found.stations.values()) == alone
    assert found.mean_jobs == pytest.approx(sum(one.mean_jobs for one in alone), rel=1e-12)
    assert found.mean_response_s == pytest.approx(sum(one.mean_response_s for one in alone), rel=1e-12)


def test_jobs_that_come_back_count_at_every_visit() -> None:
    """Kleinrock, Queueing Systems I, 4.1: with feedback p, a station sees lambda / (1 - p)."""
    found = jackson.solve([Stop("cpu", 0.2, arrival_rate=1.0)], [[0.75]])
    assert found.visits["cpu"] == pytest.approx(4.0)
    assert found.mean_jobs == pytest.approx(0.8 / 0.2)
    assert found.mean_response_s == pytest.approx(4.0)


@given(st.lists(st.floats(0.05, 1), min_size=2, max_size=4), st.floats(0.1, 0.9))
def test_little_s_law_holds_in_open_networks(times: list[float], back: float) -> None:
    n, share = len(times), (1 - 0.3) / len(times)
    routes = np.full((n, n), share * back).tolist()
    busy = 1 / (1 - (1 - 0.3) * back) * max(times)
    stops = [Stop(f"s{i}", time, arrival_rate=0.5 / busy / n) for i, time in enumerate(times)]
    found = jackson.solve(stops, routes)
    assert found.mean_jobs == pytest.approx(found.arrival_rate * found.mean_response_s)


def test_an_open_network_that_cannot_keep_up_names_the_station_and_the_rate() -> None:
    with pytest.raises(InfeasibleError) as refused:
        jackson.solve([Stop("cpu", 0.1, arrival_rate=2.0), Stop("disk", 1.0)], [[0, 1], [0, 0]])
    assert "disk has 2 times the load it can handle" in refused.value.problem
    assert "stable below 1/s from outside" in refused.value.hint


def test_routes_that_never_leave_or_are_no_probabilities_are_refused() -> None:
    with pytest.raises(StudyError, match="never leave"):
        jackson.solve([Stop("cpu", 0.1, arrival_rate=1.0)], [[1.0]])
    with pytest.raises(StudyError, match="not a set of probabilities"):
        jackson.solve([Stop("cpu", 0.1, arrival_rate=1.0)], [[1.5]])
    with pytest.raises(StudyError, match="square table"):
        jackson.solve([Stop("cpu", 0.1, arrival_rate=1.0)], [[0.5, 0.5]])
