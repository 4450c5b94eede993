"""Approximations of G/G/c against exact chains, numbers worked out by hand, and the laws that every queue keeps."""

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.linalg import expm

from sparkcast.errors import InfeasibleError, StudyError
from sparkcast.queues.approximations import GGc, Method, whitt_factor
from sparkcast.queues.markovian import MMc

METHODS: tuple[Method, ...] = ("Allen-Cunneen", "Whitt")


@pytest.mark.parametrize(
    ("busy", "arrival_scv", "service_scv", "servers", "factor"),
    [
        # gamma = 0.2 x 3 x (sqrt(24) - 2) / (16 x 4 x 0.8) = 0.0339724, so that phi_1 = 1.0339724,
        # phi_3 = (1 - 4 gamma) exp(-1/6) = 0.7314536 and phi_4 = 0.8827130: then by the cases of equation 2.24.
        (0.8, 1.0, 0.0, 4, 1.0339724),
        (0.8, 0.0, 1.0, 4, 0.8070833),
        (0.8, 0.5, 0.5, 4, 0.8827130),
        (0.8, 1.0, 0.5, 4, 1.0150835),
        (0.8, 0.5, 1.0, 4, 0.9048490),
        (0.8, 4.0, 0.5, 4, 1.0328010),
        (0.8, 0.5, 4.0, 4, 0.8955653),
        (0.2, 1.0, 0.0, 100, 1.24),  # gamma would be 5.06, and is never above 0.24
        (0.5, 0.0, 1.0, 2, 0.5648386),
        (0.9, 0.25, 0.0, 16, 1.0466481),
        (0.9, 0.0, 0.25, 16, 0.7942768),
    ],
)
def test_whitt_s_phi_has_the_numbers_of_his_equations_worked_out_by_hand(
    busy: float, arrival_scv: float, service_scv: float, servers: int, factor: float
) -> None:
    assert whitt_factor(busy, arrival_scv, service_scv, servers) == pytest.approx(factor, rel=1e-6)


def waiting_of_regular_arrivals(load: float, servers: int, most: int = 80) -> float:
    """The mean wait in D/M/c with jobs of 1 s: the jobs that an arrival finds are a Markov chain.

    Between two arrivals jobs only leave, each busy server at rate 1.
    """
    leaving = np.zeros((most + 1, most + 1))
    for n in range(1, most + 1):
        leaving[n, n - 1] = min(n, servers)
    leaving -= np.diag(leaving.sum(axis=1))
    between = expm(leaving / load)
    steps = np.vstack([between[1:], between[-1]])  # one has come: from n + 1
    equations = np.vstack([steps.T - np.eye(most + 1), np.ones(most + 1)])
    found = np.linalg.lstsq(equations, np.append(np.zeros(most + 1), 1.0), rcond=None)[0]
    return float(found @ np.maximum(np.arange(most + 1) - servers + 1, 0)) / servers


@pytest.mark.parametrize(("busy", "servers"), [(0.9, 1), (0.9, 2), (0.9, 4)])
def test_whitt_is_near_the_exact_wait_of_regular_arrivals_on_busy_servers(busy: float, servers: int) -> None:
    found = GGc(busy * servers, 1.0, servers, arrival_scv=0.0, method="Whitt").measures()
    assert found.mean_wait_s == pytest.approx(waiting_of_regular_arrivals(busy * servers, servers), rel=0.06)
    assert found.queue == f"G/G/{servers}, Whitt"
    assert not found.is_exact


@given(
    st.floats(0.02, 0.97),
    st.integers(1, 40),
    st.floats(0, 6),
    st.floats(0, 6),
    st.floats(0.1, 50),
    st.sampled_from(METHODS),
)
def test_little_s_law_holds_in_every_approximation(
    busy: float, servers: int, arrival_scv: float, service_scv: float, service_s: float, method: Method
) -> None:
    rate = busy * servers / service_s
    found = GGc(rate, service_s, servers, service_scv, arrival_scv, method).measures()
    assert found.mean_response_s == pytest.approx(found.mean_wait_s + service_s)
    assert found.mean_jobs == pytest.approx(rate * found.mean_response_s)
    assert found.mean_waiting == pytest.approx(rate * found.mean_wait_s, abs=1e-12)
    assert found.utilization == pytest.approx(busy)
    assert found.mean_wait_s >= 0


@given(st.floats(0.02, 0.97), st.integers(1, 20), st.floats(0, 6), st.floats(0, 6))
def test_allen_and_cunneen_scale_the_wait_of_exponential_jobs_by_the_mean_variability(
    busy: float, servers: int, arrival_scv: float, service_scv: float
) -> None:
    exact = MMc(busy * servers, 1.0, servers).measures()
    found = GGc(busy * servers, 1.0, servers, service_scv, arrival_scv).measures()
    assert found.mean_wait_s == pytest.approx(exact.mean_wait_s * (arrival_scv + service_scv) / 2)


@given(st.floats(0.05, 0.97), st.integers(1, 40), st.floats(0, 1), st.floats(0, 1))
def test_whitt_lies_between_constant_arrivals_and_constant_jobs(
    busy: float, servers: int, one: float, other: float
) -> None:
    least, most = whitt_factor(busy, 0.0, 1.0, servers), whitt_factor(busy, 1.0, 0.0, servers)
    assert 0 < min(least, 1.0) <= 1 <= most <= 1.24
    assert whitt_factor(busy, one, other, servers) <= most * (1 + 1e-9)


def test_only_what_is_exact_is_called_exact_and_the_rest_says_how_far_it_may_be_trusted() -> None:
    def shown(service_scv: float, servers: int, method: Method, arrival_scv: float = 1.0) -> tuple[str, bool, str]:
        found = GGc(0.5, 1.0, servers, service_scv, arrival_scv, method).measures()
        return found.queue, found.is_exact, found.validity[:18]

    assert shown(0.5, 1, "Allen-Cunneen") == ("M/G/1, Allen-Cunneen", True, "")  # Pollaczek and Khinchine
    assert shown(0.5, 1, "Whitt") == ("M/G/1, Whitt", False, "E[W] within about ")
    assert shown(0.5, 2, "Allen-Cunneen") == ("M/G/2, Allen-Cunneen", False, "E[W] within about ")
    assert shown(1.0, 2, "Whitt") == ("M/G/2, Whitt", True, "")
    assert shown(1.0, 1, "Allen-Cunneen", 0.5) == ("G/G/1, Allen-Cunneen", False, "E[W] within about ")


def test_numbers_that_no_queue_has_are_refused() -> None:
    for service_scv, arrival_scv in ((1.0, -0.1), (math.inf, 1.0), (math.nan, 1.0)):
        with pytest.raises(StudyError, match="squared coefficient of variation"):
            GGc(0.5, 1.0, 1, service_scv, arrival_scv)
    with pytest.raises(InfeasibleError, match="grows without bound"):
        GGc(2.0, 1.0, 2)
