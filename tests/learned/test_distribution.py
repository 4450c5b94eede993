"""A prediction is a distribution, whose answers agree with each other."""

import json
from pathlib import Path

import numpy as np
import pytest

from sparkcast import api
from sparkcast.errors import StudyError
from sparkcast.learned.predict import PredictionAt
from sparkcast.study import Dataset, Observation
from tests_support import Call


def runs(response: str = "time_s") -> api.Data:
    noise = np.random.default_rng(1)
    observations = []
    for executors in (1, 2, 3, 4, 6, 8):
        for _ in range(3):
            seconds = (5 + 60 / executors) * float(np.exp(noise.normal(0, 0.05)))
            responses = {"time_s": seconds, "accuracy": min(1.0, 0.97 + 0.02 * float(noise.normal()))}
            observations.append(Observation({"executors": executors}, responses))
    return api.Data(Dataset(("executors",), tuple(observations), "made up", ("time_s", "accuracy")))


@pytest.fixture(scope="module", params=["ridge", "auto", "median"])
def found(request: pytest.FixtureRequest) -> PredictionAt:
    return api.predict(runs(), {"executors": 5}, model=request.param)


def test_quantiles_rise_and_have_the_median_in_their_middle(found: PredictionAt) -> None:
    values = [found.quantile(share) for share in (0.001, 0.01, 0.3, 0.5, 0.7, 0.99, 0.999)]
    assert values == sorted(values)
    assert len(set(values)) == 7
    assert found.quantile(0.5) == found.prediction.value


def test_an_interval_lies_between_its_quantiles(found: PredictionAt) -> None:
    assert found.interval(0.9) == (found.prediction.low, found.prediction.high)
    assert found.interval(0.8) == pytest.approx((found.quantile(0.1), found.quantile(0.9)))


@pytest.mark.parametrize("share", [0.01, 0.2, 0.5, 0.9, 0.99, 0.9999])
def test_a_probability_undoes_a_quantile(found: PredictionAt, share: float) -> None:
    value = found.quantile(share)
    assert found.probability(at_most=value) == pytest.approx(share, abs=1e-6)
    assert found.probability(at_least=value) == pytest.approx(1 - share, abs=1e-6)


def test_a_probability_between_two_bounds_is_their_difference(found: PredictionAt) -> None:
    low, high = found.interval(0.6)
    assert found.probability(at_least=low, at_most=high) == pytest.approx(0.6, abs=1e-6)
    assert found.probability(at_least=high, at_most=low) == 0.0


def test_a_sample_is_distributed_like_the_prediction_and_repeats_with_its_seed(found: PredictionAt) -> None:
    draws = found.sample(20_000, seed=4)
    assert draws.shape == (20_000,)
    for share in (0.05, 0.5, 0.95):
        assert (draws <= found.quantile(share)).mean() == pytest.approx(share, abs=0.01)
    assert found.sample(5, seed=4).tolist() == draws[:5].tolist()
    assert found.sample(5, seed=5).tolist() != draws[:5].tolist()


def test_a_share_may_lie_on_its_bound() -> None:
    found = api.predict(runs(), {"executors": 5}, response="accuracy", model="median")
    assert found.quantile(0.999) == 1.0
    assert found.probability(at_most=1.0) == 1.0
    assert 0 < found.probability(at_least=1.0) < 0.5
    assert found.sample(1000).max() <= 1.0


def test_an_extrapolated_prediction_is_a_distribution_too() -> None:
    found = api.predict(runs(), {"executors": 100}, model="ridge", extrapolate=True)
    assert found.quantile(0.05) < found.quantile(0.95)
    assert found.probability(at_most=found.quantile(0.95)) == pytest.approx(0.95, abs=1e-6)


@pytest.mark.parametrize("share", [0.0, 1.0, 95.0])
def test_shares_that_cannot_be_are_refused(found: PredictionAt, share: float) -> None:
    with pytest.raises(StudyError, match="not between 0 and 1"):
        found.quantile(share)
    with pytest.raises(StudyError, match="not between 0 and 1"):
        found.interval(share)


def test_a_probability_needs_a_bound(found: PredictionAt) -> None:
    with pytest.raises(StudyError, match="no bound is given"):
        found.probability()


def test_a_notebook_shows_quantiles_and_what_they_are_of(found: PredictionAt) -> None:
    page = found._repr_html_()
    assert "At executors=5: time " in page
    assert f"<td>{found.quantile(0.99):.4g}</td>" in page


def test_json_has_quantiles_by_their_share(call: Call, tmp_path: Path) -> None:
    api.export(runs(), tmp_path / "runs.csv")
    document = json.loads(call("predict", "runs.csv", "--at", "executors=5", "--model", "ridge", "--json").out)
    told = document["distribution"]
    assert told["0.5"] == document["prediction"]["value"]
    assert told["0.95"] == document["prediction"]["high"]
    assert list(told.values()) == sorted(told.values())
