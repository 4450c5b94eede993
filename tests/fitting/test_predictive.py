"""Answers made of quantiles."""

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import norm

from sparkcast.fitting.predictive import Link, Quantiles, link_of, quantiles_of
from sparkcast.fitting.problem import scale_of
from sparkcast.study import Kind, Response

LOG = Link("log", 5e-324, math.inf)


def log_normal(median: float = 10.0, sd: float = 0.3) -> Quantiles:
    return quantiles_of(math.log(median) + sd * norm.ppf((np.arange(4000) + 0.5) / 4000)[None], LOG)


@pytest.mark.parametrize("level", [0.1, 0.5, 0.9, 0.98])
def test_intervals_are_those_of_the_distribution_that_was_drawn_from(level: float) -> None:
    low, high = log_normal().interval(level)
    score = norm.ppf(0.5 + level / 2)
    assert (low[0], high[0]) == pytest.approx((10 * math.exp(-0.3 * score), 10 * math.exp(0.3 * score)), rel=0.003)


def test_beyond_the_last_quantile_the_tail_is_a_normal_one() -> None:
    low, high = log_normal().interval(1 - 1e-6)
    assert math.log(high[0] / low[0]) == pytest.approx(2 * 0.3 * norm.ppf(1 - 5e-7), rel=0.05)


@given(st.floats(0.001, 0.999), st.lists(st.floats(-3, 3), min_size=2, max_size=60))
def test_probability_is_the_inverse_of_the_interval_whatever_was_drawn(level: float, draws: list[float]) -> None:
    answers = quantiles_of(np.array([draws]), LOG)
    for end, share in zip(answers.interval(level), (0.5 - level / 2, 0.5 + level / 2), strict=True):
        assert answers.probability_below(end)[0] == pytest.approx(share, abs=1e-4)


def test_limits_that_no_run_can_meet_or_miss_are_certain() -> None:
    assert log_normal().probability_below(0.0).tolist() == [0.0]
    assert log_normal().probability_below(math.inf).tolist() == [1.0]


def test_shares_stay_between_their_bounds() -> None:
    accuracy = Response("auc", kind=Kind.SHARE)
    link = link_of(accuracy, scale_of(accuracy, [0.9, 0.99]), np.array([0.9, 0.99]))
    answers = quantiles_of(link.forward(np.array([[0.9, 0.95, 0.99, 1.0]])), link)
    low, high = answers.interval(0.999999)
    assert 0 < low[0] < answers.values[0] < high[0] < 1
    assert answers.probability_below(1.0).tolist() == [1.0]
    assert answers.probability_below(-0.1).tolist() == [0.0]


def test_a_response_of_both_signs_is_learned_in_terms_of_its_spread() -> None:
    gain = Response("gain")
    values = np.array([-3.0, 1.0, 5.0])
    link = link_of(gain, scale_of(gain, values.tolist()), values)
    assert link.back(link.forward(values)) == pytest.approx(values)
    assert np.std(link.forward(values)) == pytest.approx(0.5)


def test_some_rows_answer_as_they_do_among_all() -> None:
    all_rows = quantiles_of(np.array([[1.0, 2.0, 3.0], [2.0, 4.0, 6.0], [0.0, 1.0, 9.0]]), LOG)
    some = all_rows.take(np.array([2, 0]))
    assert some.values.tolist() == all_rows.values[[2, 0]].tolist()
    assert some.interval(0.8)[1].tolist() == all_rows.interval(0.8)[1][[2, 0]].tolist()
