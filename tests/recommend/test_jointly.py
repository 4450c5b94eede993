"""Several limits are kept in one and the same run."""

import math
import random

import numpy as np
import pytest
from scipy.stats import multivariate_normal, norm

from sparkcast.errors import InfeasibleError
from sparkcast.recommend.jointly import both, correlation
from sparkcast.recommend.lines import answer_lines
from sparkcast.study import Configuration, Dataset, Observation, Price
from sparkcast.study.space import Space
from tests_support import ask, recommender

EXECUTORS = (1, 2, 3, 4, 6, 8, 12, 16)
SPACE = Space({"executors": EXECUTORS}, Configuration({"cores": 2}))


def measured(together: float) -> Dataset:
    """Runs that are `together` slower and more accurate than others, or the other way round."""
    draw = random.Random(3)
    runs = []
    for executors in EXECUTORS:
        for replicate in (1, 2):
            slow = draw.gauss(0, 1)
            other = together * slow + math.sqrt(1 - together**2) * draw.gauss(0, 1)
            responses = {"time_s": 400 / executors * math.exp(0.1 * slow), "accuracy": 0.8 + 0.01 * other}
            settings = {"executors": executors, "cores": 2}
            runs.append(Observation(settings, responses, replicate=replicate))
    return Dataset(("executors",), tuple(runs), responses=("time_s", "accuracy"))


@pytest.mark.parametrize("correlated", [-0.8, 0.0, 0.5, 0.9])
def test_the_chance_of_two_events_is_that_of_correlated_scores(correlated: float) -> None:
    scores = norm.ppf([0.97, 0.9])
    exact = multivariate_normal([0, 0], [[1, correlated], [correlated, 1]]).cdf(scores)
    found = both(np.array([0.97]), np.array([0.9]), correlated)
    assert found == pytest.approx([exact], abs=2e-3)
    assert found <= 0.9


def test_errors_that_go_together_are_correlated_and_few_of_them_hardly() -> None:
    line = {Configuration({"executors": n}): float(n) for n in range(40)}
    assert correlation(line, line) == pytest.approx(0.8)
    assert correlation(line, {key: -value for key, value in line.items()}) == pytest.approx(-0.8)
    few = dict(list(line.items())[:5])
    assert correlation(line, few) == pytest.approx(1 / 3)
    assert correlation(line, dict.fromkeys(line, 1.0)) == 0.0


def test_a_deadline_and_an_accuracy_are_required_together() -> None:
    answering = recommender(measured(0.0), SPACE, model="ridge")
    time, accuracy = (ask(answering, fix={"executors": 8}).chosen.predicted(name) for name in ("time_s", "accuracy"))
    alone = {"within_s": time.high * 1.001, "min_accuracy": accuracy.low * 0.999}
    for name, value in alone.items():
        assert ask(answering, fix={"executors": 8}, **{name: value}).chosen.probability >= 0.95
    with pytest.raises(InfeasibleError) as caught:
        ask(answering, fix={"executors": 8}, **alone)
    deadline = float(caught.value.hint.split("`within_s=")[1].split("`")[0])
    found = ask(answering, fix={"executors": 8}, **{**alone, "within_s": deadline})
    assert 0.95 <= found.chosen.probability < min(found.chances)
    assert dict(answer_lines(found))["All limits"].startswith("met with 9")


def test_where_slow_runs_are_the_accurate_ones_both_limits_are_kept_together_less_often() -> None:
    limits = {"within_s": 55.0, "min_accuracy": 0.79, "confidence": 0.3, "fix": {"executors": 8}}
    chances = {}
    for together in (-0.95, 0.95):
        found = ask(recommender(measured(together), SPACE, model="ridge"), **limits)
        chances[together] = found.chosen.probability / math.prod(found.chances)
    assert chances[0.95] < 1 < chances[-0.95]


def test_a_deadline_and_a_budget_that_is_paid_for_the_same_time_are_kept_by_the_same_runs() -> None:
    answering = recommender(measured(0.0), SPACE, model="ridge", price=Price(core_hour=1.0))
    found = ask(answering, within_s=60.0, budget=0.4, minimize="time_s")
    assert found.chosen.probability == min(found.chances)
