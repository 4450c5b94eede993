"""Accuracies of trainings of which many never learn."""

import math
import random
from collections.abc import Mapping

import numpy as np
import pytest

from sparkcast.fitting.heaps import heap_in, learn_heap
from sparkcast.fitting.posterior import posterior_of
from sparkcast.fitting.predictive import link_of, mixed_quantiles, quantiles_of
from sparkcast.fitting.problem import Problem, pose
from sparkcast.models.auto import Auto
from sparkcast.study import Dataset, Kind, Level, Observation, Response, Setting, Vocabulary

WORDS = Vocabulary(
    (Setting("learning_rate"), Setting("momentum")),
    (Response("accuracy", kind=Kind.SHARE), Response("error", kind=Kind.SHARE, better="less")),
)


def accuracy(learning_rate: float, momentum: float, draw: random.Random) -> float:
    """Steps that are too long lead nowhere; of the others longer ones lead further."""
    step = learning_rate / (1 - momentum)
    if step > 0.2:
        return 0.1 + 0.01 * draw.random()
    return 1 / (1 + math.exp(-(4.5 + 0.5 * math.log(step) + draw.gauss(0, 0.1))))


def trainings(n: int, seed: int = 0) -> Dataset:
    draw = random.Random(seed)
    found = []
    for _ in range(n):
        at: Mapping[str, Level] = {"learning_rate": 10 ** draw.uniform(-3, 0), "momentum": draw.choice((0.0, 0.5, 0.9))}
        value = accuracy(float(at["learning_rate"]), float(at["momentum"]), draw)
        found.append(Observation(at, {"accuracy": value, "error": 1 - value}))
    return Dataset(("learning_rate", "momentum"), tuple(found), "training", ("accuracy", "error"), WORDS)


def heap_of(problem: Problem) -> list[int]:
    return heap_in(problem, link_of(problem.response, problem.scale, problem.target))


@pytest.mark.parametrize("response", ["accuracy", "error"])
def test_trainings_that_never_learned_are_a_heap(response: str) -> None:
    problem = pose(trainings(20), response)
    never = [i for i, value in enumerate(problem.target) if (value < 0.12 if response == "accuracy" else value > 0.88)]
    assert 6 < len(never) < 14
    assert heap_of(problem) == never


@pytest.mark.parametrize(
    "values",
    [
        [0.10, 0.11, 0.10, 0.11, 0.92, 0.95],  # too few others to learn from
        [0.90, 0.91, 0.92, 0.93, 0.90, 0.91, 0.92, 0.94],  # all alike
        [0.10, 0.20, 0.35, 0.50, 0.62, 0.75, 0.83, 0.90, 0.95, 0.97],  # no heap
        [0.10, 0.30, 0.50, 0.851, 0.852, 0.853, 0.854, 0.855, 0.856, 0.857],  # at the better end
    ],
)
def test_other_accuracies_are_no_heap(values: list[float]) -> None:
    runs = [Observation({"learning_rate": 0.01 * 2**k}, {"accuracy": value}) for k, value in enumerate(values)]
    assert heap_of(pose(Dataset(("learning_rate",), tuple(runs), vocabulary=WORDS), "accuracy")) == []


def test_settings_lead_into_the_heap_or_not_and_seldom_in_between() -> None:
    fitted = Auto().fit(trainings(30), "accuracy")
    never, learns = {"learning_rate": 0.9, "momentum": 0.9}, {"learning_rate": 0.02, "momentum": 0.0}
    assert fitted.probability_below([never, learns], 0.13) == pytest.approx([1, 0], abs=0.15)
    (low, _), (low_of_good, _) = fitted.interval([never, learns], level=0.6)
    assert low > 0.08
    assert low_of_good > 0.8
    between = np.diff([fitted.probability_below([learns, never], limit) for limit in (0.2, 0.7)], axis=0)
    assert between.max() < 0.05


def test_a_training_that_learned_once_is_expected_to_learn_again() -> None:
    data = trainings(30)
    fitted = Auto().fit(data, "accuracy")
    at = [run.configuration for run in data.observations]
    never = np.array([run.responses["accuracy"] < 0.12 for run in data.observations])
    chances = np.array(fitted.probability_below(at, 0.3))
    assert chances[never].min() > 0.96
    assert chances[~never].max() < 0.04


def test_a_heap_makes_better_forecasts_than_a_smooth_law(monkeypatch: pytest.MonkeyPatch) -> None:
    def score() -> float:
        """The continuous ranked probability score: twice the mean pinball loss over quantiles."""
        found = []
        for seed in range(4):
            fitted, asked = Auto().fit(trainings(15, seed), "accuracy"), trainings(100, seed + 50).observations
            table = fitted.answers(fitted.domain.encode([run.configuration for run in asked]))
            actual = np.array([run.responses["accuracy"] for run in asked])
            for share in (0.05, 0.15, 0.25, 0.35, 0.45):
                for end, tau in zip(table.interval(1 - 2 * share), (share, 1 - share), strict=True):
                    found.append(np.maximum(tau * (actual - end), (tau - 1) * (actual - end)).mean())
        return 2 * float(np.mean(found))

    with_heap = score()
    monkeypatch.setattr("sparkcast.fitting.posterior.heap_in", lambda *_: [])
    assert with_heap < 0.95 * score()


def test_what_is_said_without_a_configuration_is_near_to_what_a_new_fit_says() -> None:
    problem = pose(trainings(16), "accuracy")
    link = link_of(problem.response, problem.scale, problem.target)
    rows = heap_of(problem)
    quick = learn_heap(problem, rows, link).left_out
    for i in (0, 5, 9):
        others = problem.without([i])
        again = learn_heap(others, [row - (row > i) for row in rows if row != i], link).chance(problem.x[[i]])[0]
        assert quick[i] == pytest.approx(again, abs=0.15)


def test_of_very_many_trainings_some_are_learned_from() -> None:
    posterior = posterior_of(pose(trainings(260), "accuracy"))
    assert posterior.heap is not None
    assert len(posterior.heap.rows) == 200
    assert posterior(np.array([[0.9, 0.9]]))[0] < 0.13


def test_a_mixture_is_each_part_where_the_other_has_no_share() -> None:
    problem = pose(trainings(20), "accuracy")
    link = link_of(problem.response, problem.scale, problem.target)
    draws = np.tile(1 + np.arange(400, dtype=float) / 200, (3, 1))
    others = -2.3 + np.arange(64, dtype=float) / 320
    alone, never, half = mixed_quantiles(draws, others, np.array([0.0, 1.0, 0.5]), link).table
    assert alone == pytest.approx(quantiles_of(draws[:1], link).table[0], abs=0.02)
    assert never == pytest.approx(quantiles_of(others[None], link).table[0], abs=0.02)
    assert half[10] < -2
    assert half[14] > 1
