"""How long things take: distributions against their textbook tails and moments."""

import math

import numpy as np
import pytest

from sparkcast.errors import NotEnoughDataError, StudyError
from sparkcast.queues.times import EmpiricalTimes, Predicted, Spread, Times, TwoPhases, mixture


def longer_than(times: Times, seconds: float) -> float:
    return float((times.draw(np.random.default_rng(1), 100_000) > seconds).mean())


def test_a_spread_of_a_half_is_a_sum_of_two_exponential_phases() -> None:
    """Erlang-2 with mean 3: P(T > t) = (1 + 2t/3) exp(-2t/3)."""
    for t in (1.0, 3.0, 9.0):
        assert longer_than(Spread(3.0, 0.5), t) == pytest.approx((1 + 2 * t / 3) * math.exp(-2 * t / 3), abs=0.006)


def test_a_spread_of_one_is_exponential_and_of_none_always_the_same() -> None:
    assert longer_than(Spread(3.0, 1.0), 6.0) == pytest.approx(math.exp(-2), abs=0.006)
    assert Spread(3.0, 0.0).draw(np.random.default_rng(0), 3).tolist() == [3.0, 3.0, 3.0]


def test_two_phases_bring_half_of_the_time_each() -> None:
    """Balanced means: p / mu_1 = (1 - p) / mu_2 = m / 2, with p = (1 + sqrt((c - 1) / (c + 1))) / 2."""
    mean, scv = 3.0, 4.0
    p = (1 + math.sqrt((scv - 1) / (scv + 1))) / 2
    for t in (0.5, 3.0, 20.0):
        tail = p * math.exp(-2 * p * t / mean) + (1 - p) * math.exp(-2 * (1 - p) * t / mean)
        assert longer_than(TwoPhases(mean, scv), t) == pytest.approx(tail, abs=0.006)


def test_measured_times_have_their_own_moments() -> None:
    times = EmpiricalTimes((1.0, 2.0, 6.0))
    assert times.mean_s == 3.0
    assert times.scv == pytest.approx(14 / 27)  # variance (4 + 1 + 9) / 3
    assert EmpiricalTimes((5.0,)).scv == 0
    drawn = times.draw(np.random.default_rng(0), 3000)
    assert [(drawn == value).mean() for value in times.values] == pytest.approx([1 / 3] * 3, abs=0.04)


def test_predicted_quantiles_have_straight_lines_between() -> None:
    times = Predicted((0.0, 0.5, 1.0), (1.0, 2.0, 8.0))
    assert times.at(np.array([0.0, 0.25, 0.5, 0.75, 1.0])).tolist() == [1.0, 1.5, 2.0, 5.0, 8.0]
    # Uniform from 1 to 2 or from 2 to 8, half each: means 1.5 and 5, variances 1/12 and 3, and 1.75 from the mean.
    assert times.mean_s == pytest.approx(3.25, rel=1e-5)
    assert times.scv == pytest.approx((0.5 * (1 / 12 + 3) + 1.75**2) / 3.25**2, rel=1e-4)
    assert longer_than(times, 5.0) == pytest.approx(0.25, abs=0.006)


def test_moments_of_a_mix_are_those_of_its_parts() -> None:
    """Exponential of 1 s three times in four, else 5 s: second moment 0.75 x 2 + 0.25 x 25."""
    assert mixture([(0.75, Spread(1.0)), (0.25, Spread(5.0, 0.0))]) == pytest.approx((2.0, 7.75 / 4 - 1))
    assert mixture([(1.0, Spread(0.1, 0.0))]) == pytest.approx((0.1, 0.0), abs=1e-15)


def test_times_that_cannot_be_are_refused() -> None:
    for mean, scv, words in (
        (0.0, 1.0, "a mean time cannot be 0 s"),
        (1.0, -0.5, r"cannot be -0\.5"),
        (1.0, math.inf, "inf"),
    ):
        with pytest.raises(StudyError, match=words):
            Spread(mean, scv)
    for scv in (1.0, 0.5, math.inf, math.nan):
        with pytest.raises(StudyError, match="two phases cannot have the scv"):
            TwoPhases(1.0, scv)
    with pytest.raises(StudyError, match="a mean time cannot be 0 s"):
        TwoPhases(0.0, 2.0)
    with pytest.raises(NotEnoughDataError, match="no measured times"):
        EmpiricalTimes(())
    for bad in (0.0, -1.0, math.inf, math.nan):
        with pytest.raises(StudyError, match=r"a measured time of .* s is not possible"):
            EmpiricalTimes((1.0, bad))
    for shares, values in (
        ((0.0, 1.0), (2.0, 1.0)),
        ((1.0, 0.0), (1.0, 2.0)),
        ((0.0, 1.0), (1.0, 2.0, 3.0)),
        ((0.5,), (1.0,)),
    ):
        with pytest.raises(StudyError, match="quantiles are not ascending"):
            Predicted(shares, values)
    with pytest.raises(StudyError, match="a predicted time cannot be 0 s"):
        Predicted((0.0, 1.0), (0.0, 1.0))
    assert Predicted((0.0, 0.5, 1.0), (1.0, 1.0, 1.0)).scv == 0  # all alike is ascending
