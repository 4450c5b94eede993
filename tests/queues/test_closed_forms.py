"""Closed forms against the chains that they solve, printed numbers, and one another.

Where a number is not derived here, its source is named: Gross, Shortle, Thompson and Harris, Fundamentals of Queueing
Theory (GSTH); the notebook of Marinos et al. 2020.
"""

import math

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from sparkcast.arrays import Floats
from sparkcast.errors import InfeasibleError, StudyError
from sparkcast.queues import Measures, share_of_percentile
from sparkcast.queues.approximations import GGc, Method
from sparkcast.queues.finite import MMcK
from sparkcast.queues.general import MG1, MG1Sharing
from sparkcast.queues.markovian import MMc, erlang_b, erlang_c
from sparkcast.queues.sharing import ProcessorSharing
from sparkcast.queues.slowdown import MeasuredSlowdown, Shared

times = st.floats(0.01, 1000)
loads = st.floats(0.01, 0.97)
servers = st.integers(1, 60)


def exactly(value: float) -> object:
    return pytest.approx(value, rel=1e-9, abs=1e-12)


def birth_death(births: Floats, deaths: Floats) -> Floats:
    """Stationary probabilities, by solving the balance equations of the generator as linear equations."""
    n = len(births) + 1
    generator = np.zeros((n, n))
    for i, (birth, death) in enumerate(zip(births, deaths, strict=True)):
        generator[i, i + 1] += birth
        generator[i + 1, i] += death
    generator -= np.diag(generator.sum(axis=1))
    equations = np.vstack([generator.T, np.ones(n)])
    return np.asarray(np.linalg.lstsq(equations, np.append(np.zeros(n), 1.0), rcond=None)[0])


def chain(rate: float, service_s: float, c: int, places: int) -> Floats:
    busy = np.minimum(np.arange(1, places + 1), c)
    return birth_death(np.full(places, rate), busy / service_s)


def holds_littles_law(found: Measures) -> bool:
    return math.isclose(found.mean_jobs, found.throughput * found.mean_response_s, rel_tol=1e-9) and math.isclose(
        found.mean_waiting, found.throughput * found.mean_wait_s, rel_tol=1e-9, abs_tol=1e-15
    )


# ---------------------------------------------------------------- M/M/c


def test_one_server_at_80_percent_has_the_textbook_numbers() -> None:
    """GSTH section 2.2: L = rho / (1 - rho), W = 1 / (mu - lambda), and T is exponential with that mean."""
    queue = MMc(0.8, 1.0)
    found = queue.measures()
    assert found.mean_jobs == exactly(4.0)
    assert found.mean_response_s == exactly(5.0)
    assert found.mean_wait_s == exactly(4.0)
    assert found.probability_of_waiting == exactly(0.8)
    assert queue.response_quantile(0.95) == exactly(5 * math.log(20))


def test_the_queue_of_marinos_2020_has_its_notebooks_numbers() -> None:
    """p_Q = .596432, E[T] = .507522, E[N] = 5.58573 with the notebook's mu, the inverse of a sum of ten replicates."""
    mu = 3.4393375535849557
    found = MMc(4 * 0.8 * mu, 1 / mu, 4).measures()
    assert found.probability_of_waiting == pytest.approx(0.596432, abs=5e-7)
    assert found.mean_response_s == pytest.approx(0.507522, abs=5e-7)
    assert found.mean_jobs == pytest.approx(5.58573, abs=5e-6)
    right = MMc(4 * 0.8 * 10 * mu, 1 / (10 * mu), 4).measures()  # the mean in place of the sum
    assert right.mean_response_s == exactly(found.mean_response_s / 10)
    assert right.mean_jobs == exactly(found.mean_jobs)


def test_two_servers_have_the_textbook_formula() -> None:
    """GSTH section 2.3 with c = 2: C = 2 rho^2 / (1 + rho), L = 2 rho / (1 - rho^2)."""
    for rho in (0.1, 0.5, 0.9):
        found = MMc(2 * rho, 1.0, 2).measures()
        assert found.probability_of_waiting == exactly(2 * rho**2 / (1 + rho))
        assert found.mean_jobs == exactly(2 * rho / (1 - rho**2))


@pytest.mark.parametrize(("c", "load"), [(1, 0.5), (3, 2.0), (5, 3.0), (10, 8.0), (30, 27.0)])
def test_erlang_b_and_c_are_sums_of_the_chain(c: int, load: float) -> None:
    terms = [load**k / math.factorial(k) for k in range(c + 1)]
    assert erlang_b(c, load) == exactly(terms[-1] / math.fsum(terms))
    waiting = terms[-1] / (1 - load / c)
    assert erlang_c(c, load) == exactly(waiting / (math.fsum(terms[:-1]) + waiting))


def test_a_thousand_servers_neither_overflow_nor_lose_digits() -> None:
    """Against logarithms of the same sums."""
    from scipy.special import gammaln, logsumexp

    load, k = 980.0, np.arange(1001)
    logs = k * math.log(load) - gammaln(k + 1)
    assert erlang_b(1000, load) == pytest.approx(math.exp(logs[-1] - logsumexp(logs)), rel=1e-9)
    assert erlang_c(1000, 1.0) == 0.0  # smaller than any number


@given(loads, times, servers)
def test_little_s_law_holds_in_every_markovian_queue(rho: float, service_s: float, c: int) -> None:
    found = MMc(rho * c / service_s, service_s, c).measures()
    assert holds_littles_law(found)
    assert found.mean_response_s == exactly(found.mean_wait_s + service_s)


@given(loads, loads, servers)
def test_more_load_waits_longer_and_more_servers_shorter(one: float, other: float, c: int) -> None:
    low, high = sorted((one, other))
    assume(high - low > 1e-6)
    lighter, heavier = MMc(low * c, 1.0, c), MMc(high * c, 1.0, c)
    assert lighter.measures().mean_wait_s <= heavier.measures().mean_wait_s
    assert lighter.response_quantile(0.9) <= heavier.response_quantile(0.9) * (1 + 1e-9)
    assert MMc(high * c, 1.0, c + 1).measures().mean_wait_s <= heavier.measures().mean_wait_s


@given(loads, times, servers, st.floats(0.01, 0.999))
def test_a_quantile_is_where_the_tail_says(rho: float, service_s: float, c: int, share: float) -> None:
    queue = MMc(rho * c / service_s, service_s, c)
    assert queue.response_tail(queue.response_quantile(share)) == pytest.approx(1 - share, rel=1e-6, abs=1e-12)


@given(loads, servers)
def test_the_mean_is_the_area_under_the_tail(rho: float, c: int) -> None:
    from scipy.integrate import quad

    queue = MMc(rho * c, 1.0, c)
    far = queue.response_quantile(1 - 1e-12)
    area = quad(queue.response_tail, 0, far, limit=500, points=[1.0])[0]
    assert area == pytest.approx(queue.measures().mean_response_s, rel=1e-5)


def test_equal_rates_of_service_and_of_leaving_the_line_are_no_division_by_zero() -> None:
    """c mu - lambda = mu: T is a service, or with probability C the sum of two equal exponentials."""
    queue = MMc(1.0, 1.0, 2)
    waits = erlang_c(2, 1.0)
    assert queue.response_tail(1.5) == exactly(math.exp(-1.5) * (1 + waits * 1.5))
    near = MMc(1.0 + 1e-9, 1.0, 2)
    assert near.response_tail(1.5) == pytest.approx(queue.response_tail(1.5), rel=1e-8)


# ---------------------------------------------------------------- M/M/c/K


@pytest.mark.parametrize(
    ("rate", "service_s", "c", "places"), [(2.0, 1.0, 1, 5), (3.0, 0.5, 2, 7), (9.0, 1.0, 4, 12), (0.5, 1.0, 3, 3)]
)
def test_limited_places_solve_the_chain(rate: float, service_s: float, c: int, places: int) -> None:
    queue = MMcK(rate, service_s, c, places)
    p = chain(rate, service_s, c, places)
    found, n = queue.measures(), np.arange(places + 1)
    assert queue.probabilities() == pytest.approx(p, abs=1e-12)
    assert found.probability_of_loss == exactly(p[-1])
    assert found.mean_jobs == exactly(float(p @ n))
    assert found.mean_waiting == exactly(float(p @ np.maximum(n - c, 0)))
    assert holds_littles_law(found)


def test_one_server_with_places_has_the_textbook_formula() -> None:
    """GSTH section 2.5: p_n = (1 - rho) rho^n / (1 - rho^(K+1)), also above 1; all equal at rho = 1."""
    rho, places = 1.5, 4
    whole = (1 - rho ** (places + 1)) / (1 - rho)
    assert MMcK(rho, 1.0, 1, places).probabilities() == pytest.approx([rho**n / whole for n in range(places + 1)])
    assert MMcK(1.0, 1.0, 1, places).probabilities() == pytest.approx([0.2] * 5)


@given(st.floats(0.01, 0.9), servers)
def test_many_places_are_as_good_as_any_number(rho: float, c: int) -> None:
    free, limited = MMc(rho * c, 1.0, c), MMcK(rho * c, 1.0, c, places=c + 300)
    one, other = free.measures(), limited.measures()
    assert other.mean_jobs == pytest.approx(one.mean_jobs, rel=1e-8)
    assert other.probability_of_waiting == pytest.approx(one.probability_of_waiting, rel=1e-8)


@given(st.floats(0.1, 3), times, st.integers(1, 6), st.integers(0, 8))
def test_jobs_that_find_a_place_wait_as_often_as_they_find_all_servers_busy(
    load: float, service_s: float, c: int, more: int
) -> None:
    """Poisson arrivals see the states as they are; those that find the last one are not let in."""
    places = c + more
    p, found = chain(load * c / service_s, service_s, c, places), MMcK(load * c / service_s, service_s, c, places)
    measures = found.measures()
    assert measures.probability_of_waiting == pytest.approx(p[c:places].sum() / p[:places].sum(), abs=1e-9)
    assert measures.utilization == pytest.approx(float(p @ np.minimum(np.arange(places + 1), c)) / c)
    assert measures.mean_response_s == pytest.approx(measures.mean_wait_s + service_s)
    assert measures.throughput == pytest.approx(measures.arrival_rate * p[:places].sum())


def test_a_formula_for_other_times_says_that_it_is_rough() -> None:
    assert MMcK(1.0, 1.0, 2, 4).measures().validity == ""
    rough = MMcK(1.0, 1.0, 2, 4, is_exact=False).measures()
    assert not rough.is_exact
    assert "rough estimate" in rough.validity


@given(st.floats(0.1, 3), st.integers(1, 8), st.integers(0, 20))
def test_more_places_turn_fewer_away(load: float, c: int, more: int) -> None:
    lost = [MMcK(load * c, 1.0, c, c + n).measures().probability_of_loss for n in (more, more + 1)]
    assert lost[1] < lost[0]


# ---------------------------------------------------------------- M/G/1


def test_pollaczek_and_khinchine_halve_the_wait_of_constant_jobs() -> None:
    """GSTH section 5.1: M/D/1 waits half as long as M/M/1."""
    assert MG1(0.8, 1.0, 0.0).measures().mean_wait_s == exactly(2.0)
    assert MG1(0.8, 1.0, 0.0).measures().queue == "M/D/1"
    assert MG1(0.8, 1.0, 1.0).measures().mean_wait_s == exactly(MMc(0.8, 1.0).measures().mean_wait_s)


@given(loads, times, st.floats(0.1, 20))
def test_one_server_is_as_busy_as_the_work_that_comes(rho: float, service_s: float, scv: float) -> None:
    """By the law of Little for the server alone, whoever waits and however they share it."""
    for found in (MG1(rho / service_s, service_s, scv).measures(), MG1Sharing(rho / service_s, service_s).measures()):
        assert found.utilization == exactly(rho)
        assert found.servers == 1
        assert found.is_exact
    general = MG1(rho / service_s, service_s, scv).measures()
    assert general.queue == "M/G/1"
    assert general.probability_of_waiting == exactly(rho)
    assert general.mean_jobs == exactly(general.mean_waiting + rho)
    shared = MG1Sharing(rho / service_s, service_s).measures()
    assert (shared.mean_wait_s, shared.mean_waiting) == (0.0, 0.0)


@given(loads, times, st.floats(0, 20))
def test_the_mean_of_a_general_queue_follows_from_two_moments(rho: float, service_s: float, scv: float) -> None:
    found = MG1(rho / service_s, service_s, scv).measures()
    second = service_s**2 * (1 + scv)
    assert found.mean_wait_s == exactly(rho / service_s * second / (2 * (1 - rho)))
    assert holds_littles_law(found)


@given(loads, times)
def test_processor_sharing_has_the_mean_of_exponential_first_come(rho: float, service_s: float) -> None:
    found, queue = MG1Sharing(rho / service_s, service_s), MMc(rho / service_s, service_s)
    assert found.measures().mean_response_s == exactly(queue.measures().mean_response_s)
    assert holds_littles_law(found.measures())


@given(st.floats(0.05, 0.9), servers)
def test_sharing_several_servers_has_as_many_jobs_as_erlang_c(rho: float, c: int) -> None:
    found = ProcessorSharing(rho * c, 1.0, Shared(c), c).measures()
    assert found.mean_jobs == exactly(MMc(rho * c, 1.0, c).measures().mean_jobs)
    assert found.utilization == pytest.approx(rho, rel=1e-9)


def test_sharing_with_a_measured_slowdown_solves_its_chain() -> None:
    slowdown = MeasuredSlowdown((1, 2, 4), (1.0, 1.4, 2.6))
    queue = ProcessorSharing(0.8, 1.0, slowdown)
    n = np.arange(1, 400)
    p = birth_death(np.full(399, 0.8), np.array([k / slowdown(k) for k in n.tolist()]))
    assert queue.measures().mean_jobs == pytest.approx(float(p[1:] @ n), rel=1e-8)


def test_sharing_so_many_jobs_that_hardly_any_state_counts_loses_none() -> None:
    """At 99.9 % there are 999 jobs on average: far more states than are tried first."""
    found = ProcessorSharing(0.999, 1.0, Shared(1)).measures()
    assert found.mean_jobs == pytest.approx(999.0, rel=1e-6)
    assert found.utilization == pytest.approx(0.999, rel=1e-9)
    assert ProcessorSharing(0.5, 1.0, Shared(1)).probabilities().sum() == exactly(1.0)


def test_sharing_with_a_slowdown_is_stable_below_what_the_cluster_does_with_very_many_jobs() -> None:
    slowdown = MeasuredSlowdown((1, 2), (1.0, 1.25))
    assert ProcessorSharing(1.59, 1.0, slowdown).measures().mean_jobs > 50
    with pytest.raises(InfeasibleError, match=r"1 server can do at most 1\.6/s"):
        ProcessorSharing(1.6, 1.0, slowdown)
    with pytest.raises(InfeasibleError, match="at most 48/min"):
        ProcessorSharing(0.8, 2.0, slowdown)


# ---------------------------------------------------------------- approximations


@given(loads, servers, st.sampled_from(["Allen-Cunneen", "Whitt"]))
def test_approximations_are_exact_for_exponential_jobs(rho: float, c: int, method: Method) -> None:
    found = GGc(rho * c, 1.0, c, 1.0, 1.0, method).measures()
    assert found.mean_wait_s == exactly(MMc(rho * c, 1.0, c).measures().mean_wait_s)
    assert found.is_exact


@given(loads, st.floats(0, 10))
def test_allen_and_cunneen_with_one_server_are_pollaczek_and_khinchine(rho: float, scv: float) -> None:
    assert GGc(rho, 1.0, 1, scv).measures().mean_wait_s == exactly(MG1(rho, 1.0, scv).measures().mean_wait_s)


def test_whitt_meets_constant_jobs_on_several_servers() -> None:
    """Against the exact M/D/2: the number of jobs from one moment to one service time later is a Markov chain."""
    rho, c, most = 0.8, 2, 150
    arrivals = np.array([math.exp(k * math.log(rho * c) - rho * c - math.lgamma(k + 1)) for k in range(most + 1)])
    steps = np.zeros((most + 1, most + 1))  # number in the system, from one moment to one service time later
    for n in range(most + 1):
        left = max(n - c, 0)
        steps[n, left:] = arrivals[: most + 1 - left]
        steps[n, -1] += 1 - steps[n].sum()
    equations = np.vstack([steps.T - np.eye(most + 1), np.ones(most + 1)])
    p = np.linalg.lstsq(equations, np.append(np.zeros(most + 1), 1.0), rcond=None)[0]
    waiting = float(p @ np.maximum(np.arange(most + 1) - c, 0))
    found = GGc(rho * c, 1.0, c, service_scv=0.0, method="Whitt").measures()
    assert found.mean_waiting == pytest.approx(waiting, rel=0.02)
    assert "within about 12%" in found.validity


# ---------------------------------------------------------------- what cannot be


def test_too_much_work_is_refused_with_the_rate_that_is_stable() -> None:
    with pytest.raises(InfeasibleError) as refused:
        MMc(0.2, 30.0, 4)
    assert "4 servers can do at most 8/min, and 12/min arrive" in refused.value.problem
    assert refused.value.hint == "it is stable below 8/min, or with at least 7 servers"
    assert refused.value.exit_code == 5


def test_one_server_takes_no_more_work_than_there_is_time() -> None:
    for rate in (1.0, 1.5):
        for make in (lambda rate=rate: MG1(rate, 1.0, 0.5), lambda rate=rate: MG1Sharing(rate, 1.0)):
            with pytest.raises(InfeasibleError, match="1 server can do at most 1/s"):
                make()


def test_the_servers_that_would_do_are_one_more_than_the_work_that_comes() -> None:
    for rate, servers, needed in ((1.0, 1, 2), (1.99, 1, 2), (2.0, 2, 3), (5.5, 3, 6)):
        with pytest.raises(InfeasibleError) as refused:
            MMc(rate, 1.0, servers)
        assert refused.value.hint is not None
        assert refused.value.hint.endswith(f"or with at least {needed} servers")
        MMc(rate, 1.0, needed)


@pytest.mark.parametrize("rate", [0.0, -1.0, math.nan, math.inf])
def test_rates_that_cannot_be_are_refused(rate: float) -> None:
    for make in (lambda: MMc(rate, 1.0), lambda: MG1(rate, 1.0), lambda: MMcK(rate, 1.0), lambda: GGc(rate, 1.0)):
        with pytest.raises(StudyError, match="the arrival rate cannot be"):
            make()


def test_other_numbers_that_cannot_be_are_refused() -> None:
    with pytest.raises(StudyError, match="service time cannot be 0 s"):
        MMc(1.0, 0.0)
    with pytest.raises(StudyError, match="0 servers are not possible"):
        MMc(1.0, 0.1, 0)
    with pytest.raises(StudyError, match="2 servers and a system capacity of 1 are not possible"):
        MMcK(1.0, 1.0, 2, 1)
    with pytest.raises(StudyError, match="squared coefficient of variation of service times cannot be -1"):
        MG1(0.5, 1.0, -1.0)
    with pytest.raises(StudyError, match="not between 0 and 1"):
        MMc(0.5, 1.0).response_quantile(95)
    with pytest.raises(StudyError, match="3 servers with a load of 0 are not possible"):
        erlang_b(3, 0.0)
    with pytest.raises(StudyError, match="-1 servers with a load of 1"):
        erlang_b(-1, 1.0)
    assert erlang_b(0, 2.0) == 1.0  # nobody finds a server where there is none
    with pytest.raises(StudyError, match=r"1\.5 servers are not possible"):
        MMc(1.0, 0.1, 1.5)  # type: ignore[arg-type]


@pytest.mark.parametrize("percentile", [0.0, 1.0, 100.0, -0.5, -95.0, 101.0, math.nan, math.inf])
def test_a_percentile_that_is_impossible_or_ambiguous_is_refused_with_both_ways_to_write_one(percentile: float) -> None:
    with pytest.raises(StudyError, match="no percentile") as caught:
        share_of_percentile(percentile)
    assert "95 or 0.95" in caught.value.hint


@pytest.mark.parametrize(("percentile", "share"), [(50.0, 0.5), (0.5, 0.5), (99.9, 0.999), (0.999, 0.999), (2.0, 0.02)])
def test_a_percentile_may_be_a_percentage_or_a_share(percentile: float, share: float) -> None:
    assert share_of_percentile(percentile) == pytest.approx(share)
