"""Warm-up and intervals, against the rules as their papers state them."""

import math
from statistics import mean, pvariance, stdev

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.stats import t

from sparkcast.errors import NotEnoughDataError
from sparkcast.queues.steady import over_replications, warm_up


def mser5(values: list[float]) -> list[float]:
    """White, Cobb and Spratt (2000), each cut by itself: the variance of what remains over its length."""
    batches = [mean(values[i : i + 5]) for i in range(0, len(values) - 4, 5)]
    return [pvariance(batches[cut:]) / (len(batches) - cut) for cut in range(len(batches) // 2 + 1)]


@settings(max_examples=40)
@given(st.lists(st.integers(-20, 20), min_size=50, max_size=90), st.integers(0, 60), st.integers(0, 200))
def test_the_cut_has_the_smallest_standard_error_of_all_up_to_the_middle(
    drawn: list[int], until: int, more: int
) -> None:
    values = [float(value) + (more if i < until else 0) for i, value in enumerate(drawn)]
    found, errors = warm_up(np.array(values)), mser5(values)
    assert found % 5 == 0
    assert errors[found // 5] == pytest.approx(min(errors), rel=1e-9, abs=1e-9)


def test_the_cut_may_be_just_in_the_middle_and_no_later() -> None:
    """Ten batches: those up to the fifth are high, which a cut after five of them leaves out."""
    assert warm_up(np.repeat([9.0] * 5 + [1.0] * 5, 5)) == 25
    assert warm_up(np.repeat([9.0] * 6 + [1.0] * 4, 5)) <= 25
    assert warm_up(np.repeat([9.0] * 2 + [1.0] * 7, 5)) == 0  # too few to tell
    noisy = np.random.default_rng(0).normal(0, 1, 60) + 9 * (np.arange(60) < 12)
    assert warm_up(np.append(noisy, [50.0] * 4)) == warm_up(noisy) == 15  # four more are no batch


@settings(max_examples=40)
@given(st.lists(st.floats(-100, 100), min_size=3, max_size=12), st.sampled_from([0.8, 0.95]))
def test_without_skewness_the_interval_is_student_s(drawn: list[float], level: float) -> None:
    values = [*drawn, *(-value for value in drawn)]  # symmetric about 0
    found = over_replications(values, level)
    assert found.value == pytest.approx(0.0, abs=1e-9)
    reach = float(t.ppf((1 + level) / 2, len(values) - 1)) * stdev(values) / math.sqrt(len(values))
    assert (found.low, found.high) == pytest.approx((-reach, reach), rel=1e-9, abs=1e-9)
    assert found.level == level


def test_a_skewed_mean_has_the_interval_of_willink() -> None:
    """Three values 0, 0 and 3: mean 1, standard error 1, skewness sqrt(3); at 90 % t(0.95, 2) = 2.919986."""
    found = over_replications([0.0, 0.0, 3.0], 0.9)
    a = math.sqrt(3) / (6 * math.sqrt(3))
    low = 1 - (math.cbrt(1 + 6 * a * (2.919986 - a)) - 1) / (2 * a)
    high = 1 - (math.cbrt(1 + 6 * a * (-2.919986 - a)) - 1) / (2 * a)
    assert (found.value, found.low, found.high) == pytest.approx((1.0, low, high), rel=1e-6)


def test_two_runs_tell_a_spread_but_no_skewness() -> None:
    found = over_replications([1.0, 3.0])
    reach = float(t.ppf(0.975, 1))
    assert (found.low, found.high) == pytest.approx((2 - reach, 2 + reach))
    with pytest.raises(NotEnoughDataError, match="1 replication cannot"):
        over_replications([1.0])
    with pytest.raises(NotEnoughDataError, match="0 replications cannot"):
        over_replications([])
