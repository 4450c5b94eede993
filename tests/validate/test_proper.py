"""Proper scores against closed forms (Gneiting and Raftery 2007)."""

import math
from dataclasses import dataclass

import numpy as np
import pytest
from scipy.stats import norm

from sparkcast.arrays import Floats, Ints
from sparkcast.study import Dataset, Observation
from sparkcast.validate.proper import crps, pinball
from sparkcast.validate.score import validate


@dataclass(frozen=True)
class Normal:
    """What a model may say: a normal distribution for each row."""

    values: Floats
    sigma: float

    def interval(self, level: float) -> tuple[Floats, Floats]:
        half = self.sigma * norm.ppf(0.5 + level / 2)
        return self.values - half, self.values + half

    def probability_below(self, limit: Floats | float) -> Floats:
        return np.asarray(norm.cdf(limit, self.values, self.sigma))

    def take(self, rows: Ints) -> "Normal":
        return Normal(self.values[rows], self.sigma)


@dataclass(frozen=True)
class Uniform(Normal):
    """Between `values` - sigma and `values` + sigma."""

    def interval(self, level: float) -> tuple[Floats, Floats]:
        return self.values - level * self.sigma, self.values + level * self.sigma


def test_the_crps_of_a_normal_is_its_closed_form() -> None:
    z = np.array([-3.0, -1.0, 0.0, 0.5, 2.0])
    mean, sigma = 20.0, 4.0
    expected = sigma * (z * (2 * norm.cdf(z) - 1) + 2 * norm.pdf(z) - 1 / math.sqrt(math.pi))
    found = crps(Normal(np.full(5, mean), sigma), mean + sigma * z)
    assert found == pytest.approx(expected, rel=1e-3)


def test_the_crps_of_a_uniform_is_its_closed_form() -> None:
    place = np.array([0.0, 0.25, 0.5, 1.0])  # between its ends at 0 and 1
    expected = place**2 - place + 1 / 3
    assert crps(Uniform(np.full(4, 0.5), 0.5), place) == pytest.approx(expected, rel=1e-3)


def test_the_crps_of_a_point_is_its_absolute_error() -> None:
    assert crps(Normal(np.array([5.0, 5.0]), 0.0), np.array([7.0, 2.0])) == pytest.approx([2.0, 3.0])


@pytest.mark.parametrize("share", [0.05, 0.5, 0.95])
def test_the_pinball_loss_of_the_true_quantile_of_a_normal_is_its_closed_form(share: float) -> None:
    actual = norm.ppf((np.arange(100_000) + 0.5) / 100_000)  # a sample without chance
    z = norm.ppf(share)
    assert pinball(actual, np.full(len(actual), z), share).mean() == pytest.approx(norm.pdf(z), rel=1e-3)


def test_the_pinball_loss_punishes_the_unlikely_side_more() -> None:
    over, under = pinball(np.array([10.0, 8.0]), np.array([8.0, 10.0]), 0.9)
    assert (over, under) == pytest.approx((1.8, 0.2))


@pytest.mark.parametrize("wrong", [{"values": 0.7}, {"sigma": 0.6}, {"sigma": 1.7}])
def test_whoever_says_what_is_true_scores_best(wrong: dict[str, float]) -> None:
    actual = norm.ppf((np.arange(2000) + 0.5) / 2000)
    said = {"values": 0.0, "sigma": 1.0, **wrong}
    true, other = Normal(np.zeros(2000), 1.0), Normal(np.full(2000, said["values"]), said["sigma"])
    assert crps(true, actual).mean() < crps(other, actual).mean()
    ends = [table.interval(0.9)[1] for table in (true, other)]
    assert pinball(actual, ends[0], 0.95).mean() < pinball(actual, ends[1], 0.95).mean()


def test_a_scorecard_has_the_scores_of_its_distributions() -> None:
    noise = np.random.default_rng(3)
    runs = [
        Observation({"x": x}, {"time_s": float(100 / x + 3 + noise.normal(0, 0.5))})
        for x in (1, 2, 3, 4, 6, 8, 12, 16)
        for _ in range(2)
    ]
    [good, poor] = validate(Dataset(("x",), tuple(runs)), "time_s", models=["ridge", "median"]).scorecards
    assert (good.model, poor.model) == ("ridge", "median")
    assert 0 < good.crps < poor.crps
    assert 0 < good.pinball < poor.pinball
    assert good.crps < good.mae  # a point would score its error
    assert good.crps == pytest.approx(np.mean([run.crps for run in good.runs]))
    upper = [pinball(np.array([run.actual]), np.array([run.high]), 0.95)[0] for run in good.runs]
    assert good.pinball == pytest.approx(np.mean(upper))
