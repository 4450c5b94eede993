"""Differences smaller than the noise are no trade-off."""

import math
import random
from collections.abc import Sequence
from itertools import product

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from recommend_support import Normals
from sparkcast.recommend import Recommendation
from sparkcast.recommend.comparison import Means, apart, exact, is_likely, likely_better, means_of, noise_in
from sparkcast.study import Dataset, Kind, Observation, Response
from tests_support import recommend

SPACE = [{"executors": e, "batch_size": b} for e, b in product((1, 2, 4, 8), (64, 128, 256, 512))]


def measured(noise: float, slope: float = 0.01, seed: int = 5) -> Dataset:
    """Smaller batches take longer and are more accurate by `slope` each time they halve; `noise` of one accuracy."""
    draw = random.Random(seed)
    runs = [
        Observation(
            settings,
            {
                "time_s": (5 + 100 / settings["executors"] * (64 / settings["batch_size"]) ** 0.3)
                * math.exp(draw.gauss(0, 0.02)),
                "accuracy": 0.9 - slope * math.log2(settings["batch_size"] / 64) + draw.gauss(0, noise),
            },
            replicate=r,
        )
        for settings in SPACE
        for r in (1, 2, 3)
    ]
    return Dataset(("executors", "batch_size"), tuple(runs), responses=("time_s", "accuracy"))


def ask(noise: float, slope: float, seed: int) -> Recommendation:
    return recommend(measured(noise, slope, seed), SPACE, model="ridge", within_s=16.0)


@pytest.mark.parametrize("seed", [0, 1, 2, 3])
def test_a_real_gain_is_told_with_its_probability(seed: int) -> None:
    found = ask(0.002, 0.01, seed)
    [alternative] = found.alternatives
    assert alternative.gain == pytest.approx(0.01, abs=0.005)
    assert alternative.probability > 0.8
    assert len(found.tradeoffs) >= 3
    assert found.chosen.configuration in [candidate.configuration for candidate in found.tradeoffs]


@pytest.mark.parametrize("seed", [0, 1, 8])  # of which the smallest batches were luckiest: all are equally accurate
def test_a_gain_within_the_noise_is_no_trade_off(seed: int) -> None:
    found = ask(0.02, 0.0, seed)
    assert len(found.pareto) > 1  # by the points alone
    assert [candidate.is_tradeoff for candidate in found.pareto].count(True) == 1
    assert not found.alternatives


def test_repeated_runs_tell_the_noise_on_the_scale_of_comparison() -> None:
    runs = tuple(
        Observation({"executors": e}, {"time_s": 10.0 * e * f, "accuracy": 0.5 + d})
        for e in (1, 2)
        for f, d in ((math.exp(0.1), 0.01), (math.exp(-0.1), -0.01))
    )
    data = Dataset(("executors",), runs, responses=("time_s", "accuracy"))
    assert noise_in(data, "time_s") == pytest.approx(0.1 * math.sqrt(2))
    assert noise_in(data, "accuracy") == pytest.approx(0.01 * math.sqrt(2))
    once = Dataset(("executors",), runs[::2], responses=("time_s",))
    assert noise_in(once, "time_s") is None


def test_the_probability_is_that_of_a_normal_difference_of_means() -> None:
    means = Means(np.array([1.0, 1.3]), np.array([0.3, 0.4]))
    draws = np.random.default_rng(0).normal([1.0, 1.3], [0.3, 0.4], (200_000, 2))
    simulated = float((draws[:, 1] > draws[:, 0]).mean())
    assert means.probability(1, 0, is_more=True) == pytest.approx(simulated, abs=0.005)
    assert means.probability(1, 0, is_more=False) == pytest.approx(1 - simulated, abs=0.005)
    certain = Means(np.array([1.0, 2.0, 2.0]), np.zeros(3))
    assert [certain.probability(1, 0, is_more=True), certain.probability(0, 1, is_more=True)] == [1.0, 0.0]
    assert certain.probability(1, 2, is_more=True) == 0.5


def test_of_those_that_are_alike_the_chosen_one_is_kept() -> None:
    time = Means(np.array([10.0, 10.1, 20.0]), np.full(3, 0.5))
    accuracy = Means(np.array([0.8, 0.801, 0.9]), np.full(3, 0.01))

    def kept(rows: list[int], first: int) -> list[bool]:
        at, means = np.array(rows), [(time, False), (accuracy, True)]
        than_first = likely_better(at, np.array([first]), means)[:, 0]
        return apart(likely_better(at, at, means), than_first, rows.index(first) if first in rows else None)

    assert kept([0, 1, 2], 1) == [False, True, True]
    assert kept([0, 1, 2], 0) == [True, False, True]
    assert kept([0, 2], 1) == [False, True]  # the chosen one need not be on the front


# ---------------------------------------------------------------- how sure a mean is

RATIO, SHARE, PLAIN = Response("time_s", kind=Kind.TIME), Response("accuracy", kind=Kind.SHARE), Response("error_count")


def logarithmic(centers: Sequence[float], spread: float) -> Normals:
    """Normal tables whose ends are those of a log-normal distribution at one standard deviation, nearly."""
    return Normals.of(centers, [spread * center for center in centers])


def test_the_mean_of_repeated_runs_is_as_uncertain_as_their_scatter_over_the_root_of_their_number() -> None:
    table = Normals.of([0.8, 0.8, 0.8], 0.05)
    found = means_of(table, SHARE, 0.03, np.array([1, 4, 0]))
    assert found.center.tolist() == [0.8] * 3
    # Not run: what is left of 0.05 without the scatter of single runs, sqrt(0.05^2 - 0.03^2).
    assert found.spread.tolist() == pytest.approx([0.03, 0.015, 0.04])


def test_a_predicted_mean_is_not_taken_for_more_certain_than_half_of_the_next_run() -> None:
    table = Normals.of([0.8, 0.8], 0.05)
    assert means_of(table, SHARE, 0.049, np.array([0, 0])).spread.tolist() == pytest.approx([0.025] * 2)
    # Many runs are more certain still; few that scatter more than the prediction are not trusted over it.
    assert means_of(table, SHARE, 0.049, np.array([49, 1])).spread.tolist() == pytest.approx([0.007, 0.025])
    assert means_of(table, SHARE, None, np.array([9, 0])).spread.tolist() == pytest.approx([0.025] * 2)


def test_times_are_compared_by_their_ratio_and_shares_by_their_difference() -> None:
    times = means_of(logarithmic([10, 20], 0.01), RATIO, None, np.array([1, 1]))
    assert times.center.tolist() == pytest.approx([math.log(10), math.log(20)])
    assert times.spread.tolist() == pytest.approx([0.005] * 2, rel=1e-3)
    assert (times.nothing, times.much) == pytest.approx((math.log(1.01), math.log(1.1)))
    shares = means_of(Normals.of([0.5, 0.6], 0.01), SHARE, None, np.array([1, 1]))
    assert (shares.nothing, shares.much) == pytest.approx((0.001, 0.02))
    percents = means_of(Normals.of([50, 60], 1.0), SHARE, None, np.array([1, 1]))
    assert (percents.nothing, percents.much) == pytest.approx((0.1, 2.0))
    # What may be negative has no ratio: a hundredth, and a tenth, of the largest.
    plain = means_of(Normals.of([1.0, -4.0], 1.0), PLAIN, None, np.array([1, 1]))
    assert plain.center.tolist() == [1.0, -4.0]
    assert (plain.nothing, plain.much) == pytest.approx((0.04, 0.4))


@given(st.floats(-3, 3), st.floats(0.01, 2), st.floats(0, 2))
def test_a_score_is_the_gain_in_standard_deviations_and_the_other_way_round_its_opposite(
    gain: float, one: float, other: float
) -> None:
    means = Means(np.array([0.0, gain]), np.array([one, other]))
    first, second = np.array([0]), np.array([1])
    [score] = means.score(second, first, is_more=True)
    assert score == pytest.approx(gain / math.hypot(one, other))
    assert means.score(first, second, is_more=True) == pytest.approx([-score])
    assert means.score(second, first, is_more=False) == pytest.approx([-score])
    assert is_likely(np.array([score]))[0] == (means.probability(1, 0, is_more=True) >= 0.8)


def test_of_what_is_certain_any_difference_is_infinitely_many_standard_deviations() -> None:
    means = exact(np.array([1.0, 3.0, 1.0]))
    assert means.score(np.array([0, 1, 2]), np.array([1, 0, 0]), is_more=True).tolist() == [-math.inf, math.inf, 0.0]
    assert means.score(np.array([0, 1, 2]), np.array([1, 0, 0]), is_more=False).tolist() == [math.inf, -math.inf, 0.0]


def test_a_tie_is_what_may_be_chance_and_is_not_large() -> None:
    """Behind by 0.3, 0.8 and 1.2 with standard deviations of 0.5: at 95 % only more than 0.82 is no chance."""
    spread = 0.5 / math.sqrt(2)
    means = Means(np.array([5.0, 4.7, 4.2, 3.8]), np.full(4, spread), nothing=0.1, much=2.0)
    assert means.ties(0, np.arange(4), is_more=True).tolist() == [True, True, True, False]
    costs = Means(-means.center, means.spread, nothing=0.1, much=2.0)
    assert costs.ties(0, np.arange(4), is_more=False).tolist() == [True, True, True, False]
    narrow = Means(means.center, means.spread, nothing=0.1, much=0.5)
    assert narrow.ties(0, np.arange(4), is_more=True).tolist() == [True, True, False, False]
    assert narrow.ties(0, np.arange(4), is_more=True, doubt=2.0).tolist() == [True, True, True, False]
    sure = Means(means.center, np.zeros(4), nothing=0.31, much=2.0)
    assert sure.ties(0, np.arange(4), is_more=True).tolist() == [True, True, False, False]


def test_the_noise_is_pooled_over_configurations_by_their_degrees_of_freedom() -> None:
    """Squares 2 of two runs, 2 of three and none of one: 4 over 1 + 2."""
    groups = {1: (-1.0, 1.0), 2: (5.0, 6.0, 4.0), 3: (9.0,)}
    runs = [Observation({"e": e}, {"score": value}) for e, values in groups.items() for value in values]
    found = noise_in(Dataset(("e",), tuple(runs), responses=("score",)), "score")
    assert found == pytest.approx(math.sqrt(4 / 3))  # one is negative, so not of logarithms
    positive = [Observation({"e": 1}, {"score": value}) for value in (1.0, math.e**2)]
    assert noise_in(Dataset(("e",), tuple(positive), responses=("score",)), "score") == pytest.approx(math.sqrt(2))


def test_who_is_better_in_one_thing_is_told_of_each_pair() -> None:
    fast_and_bad, slow_and_good, alike = 0, 1, 2
    means = [
        (Means(np.array([1.0, 2.0, 2.0]), np.full(3, 0.1)), False),
        (Means(np.array([0.5, 0.9, 0.9]), np.full(3, 0.01)), True),
    ]
    rows = np.arange(3)
    better = likely_better(rows, rows, means)
    expected = {
        (fast_and_bad, slow_and_good),
        (fast_and_bad, alike),
        (slow_and_good, fast_and_bad),
        (alike, fast_and_bad),
    }
    assert {(int(i), int(j)) for i, j in np.argwhere(better)} == expected
    assert apart(better, np.ones(3, dtype=bool), None) == [True, True, False]
    assert apart(better, np.array([True, False, True]), None) == [True, False, True]
