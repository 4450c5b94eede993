import random
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from sparkcast.errors import NotEnoughDataError
from sparkcast.fitting.problem import Problem, pose, scale_of
from sparkcast.fitting.uncertainty import LearnedPoints, errors_of, fit, left_out_predictions
from sparkcast.models import MODELS
from sparkcast.models.median import Constant
from sparkcast.study import Dataset, Kind, Observation, Response
from sparkcast.study.names import usual_vocabulary


def mean_of_all(problem: Problem) -> LearnedPoints:
    return LearnedPoints(Constant(float(np.mean([value for values in problem.values for value in values]))))


def problem_of(n: int) -> Problem:
    return pose(Dataset(("x",), tuple(Observation({"x": i}, {"time_s": 1.0}) for i in range(n))), "time_s")


@pytest.mark.parametrize("n", [3, 5, 12])
def test_intervals_hold_the_next_run_as_often_as_they_say_even_from_few_runs(n: int) -> None:
    noise, tries, hits = random.Random(n), 500, 0
    for _ in range(tries):
        runs = [Observation({"x": x}, {"gain": noise.gauss(0, 3)}) for x in range(n)]
        problem = pose(Dataset(("x",), tuple(runs), responses=("gain",)), "gain")
        [(low, high)] = fit(problem, mean_of_all).interval([{"x": 1}], level=0.9)
        hits += low <= noise.gauss(0, 3) <= high
    # The standard error of 500 tries is 1.3 %; leaving out costs a little width with few runs, never coverage.
    assert 0.87 <= hits / tries <= 0.97


def noisy_line(seed: int) -> tuple[Dataset, Observation]:
    noise = random.Random(seed)

    def run(x: float) -> Observation:
        return Observation({"x": x}, {"score": 3 * x - 10 + noise.gauss(0, 2)})  # both signs: plain residuals

    return Dataset(("x",), tuple(run(x) for x in range(1, 9)), responses=("score",)), run(noise.randint(2, 7))


def test_intervals_of_a_learned_line_hold_the_next_run() -> None:
    hits = 0
    for seed in range(25):
        data, new = noisy_line(seed)
        [(low, high)] = MODELS.get("ridge")().fit(data, "score").interval([new.configuration], level=0.9)
        hits += low <= new.responses["score"] <= high
    assert hits >= 19  # fewer of 25 at 0.9 would be an accident of 1 in 100


@pytest.mark.parametrize(("n", "fits", "size"), [(30, 30, 29), (40, 10, 36)])
def test_leaving_out_goes_one_by_one_up_to_thirty_configurations_and_in_ten_folds_above(
    n: int, fits: int, size: int
) -> None:
    seen: list[int] = []

    def learn(problem: Problem) -> LearnedPoints:
        seen.append(len(problem))
        known = set(problem.x[:, 0])

        def points(x: Any) -> Any:
            assert known.isdisjoint(x[:, 0])
            return np.ones(len(x))

        return LearnedPoints(points)

    assert left_out_predictions(problem_of(n), learn).tolist() == [1.0] * n
    assert seen == [size] * fits


def refusing(is_refused: Callable[[float], bool]) -> Callable[[Problem], LearnedPoints]:
    def points(x: Any) -> Any:
        if any(map(is_refused, x[:, 0])):
            raise NotEnoughDataError("no")
        return np.ones(len(x))

    return lambda problem: LearnedPoints(points)


def test_configurations_a_model_refuses_are_left_out_of_its_error() -> None:
    assert np.isnan(left_out_predictions(problem_of(3), refusing(lambda x: True))).all()
    left_out = left_out_predictions(problem_of(40), refusing(lambda x: x == 7))
    assert np.flatnonzero(np.isnan(left_out)).tolist() == [7]


@pytest.mark.parametrize(
    ("response", "values", "is_log", "high"),
    [
        ("time_s", (1.0, 2.0), True, float("inf")),
        ("time_s", (0.0, 2.0), False, float("inf")),
        ("accuracy", (0.1, 0.9), False, 1.0),
        ("accuracy", (10.0, 97.5), False, 100.0),
    ],
)
def test_the_scale_follows_the_response(response: str, values: tuple[float, ...], is_log: bool, high: float) -> None:
    scale = scale_of(usual_vocabulary([], [response]).response(response), values)
    assert (scale.is_log, scale.high) == (is_log, high)


def test_exact_data_leave_a_tiny_but_usable_interval() -> None:
    data = Dataset(("x",), tuple(Observation({"x": x}, {"time_s": 5.0}) for x in (1, 2, 3)))
    fitted = MODELS.get("median")().fit(data, "time_s")
    assert fitted.probability_below([{"x": 2}], 5.1) == [pytest.approx(1)]
    assert fitted.probability_below([{"x": 2}], 4.9) == [pytest.approx(0)]


@pytest.mark.parametrize(
    ("unit", "values", "high"),
    [
        ("share", (0.9, 1.0), 1.0),
        ("share", (0.9, 1.0000000002), 1.0),  # computed, with rounding
        ("share", (0.9, 93.0), 100.0),  # some write shares as percent
        ("%", (0.4, 0.9), 100.0),
    ],
)
def test_a_share_ends_at_one_or_at_a_hundred_percent(unit: str, values: tuple[float, ...], high: float) -> None:
    scale = scale_of(Response("auc", kind=Kind.SHARE, unit=unit), values)
    assert (scale.low, scale.high) == (0.0, high)


@pytest.mark.parametrize(("n", "two_sided_t"), [(3, 1.6035674514745464), (4, 1.6377443536962102)])
def test_the_largest_of_a_few_errors_is_as_wide_as_the_prediction_interval_of_so_many_normal_ones(
    n: int, two_sided_t: float
) -> None:
    """t * s * sqrt(1 + 1/n), with t of n - 1 degrees of freedom at n / (n + 1): qt(0.875, 2) and qt(0.9, 3) in R."""
    data = Dataset(("x",), tuple(Observation({"x": x}, {"gain": (-1.0) ** x}) for x in range(n)), responses=("gain",))
    errors = errors_of(pose(data, "gain"), np.zeros(n))
    assert errors.shares[-1] == pytest.approx(n / (n + 1))
    assert errors.quantile(n / (n + 1)) == pytest.approx(two_sided_t * (1 + 1 / n) ** 0.5)
