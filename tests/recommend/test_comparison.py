"""Differences smaller than the noise are no trade-off."""

import math
import random
from itertools import product

import numpy as np
import pytest

from sparkcast.recommend import Recommendation
from sparkcast.recommend.comparison import Means, apart, likely_better, noise_in
from sparkcast.study import Dataset, Observation
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
