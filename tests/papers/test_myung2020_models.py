"""one-level, two-level-sum and two-level-product."""

from collections.abc import Mapping
from itertools import product
from typing import Any

import numpy as np
import pytest

from sparkcast.errors import StudyError
from sparkcast.models.base import Model, Problem, in_own_unit, pose
from sparkcast.study import Configuration, Dataset, Observation
from sparkcast_papers.myung2020._models import OneLevel, TwoLevelProduct, TwoLevelSum
from sparkcast_papers.myung2020._two_level import Line, Trees, best_regression, factor_columns, scaled_times

FACTORS = ("sampling_rate", "executors", "cores")


def dataset(factors: tuple[str, ...], times: Mapping[Any, float]) -> Dataset:
    return Dataset(
        factors,
        tuple(Observation(dict(zip(factors, key, strict=True)), {"time_s": t}) for key, t in times.items()),
    )


def time(rate: float, executors: float, cores: float) -> float:
    """A product of laws, each linear in what level 1 sees."""
    return 500 * (rate + 0.1) * (0.2 + 0.8 / executors) * (0.3 + 0.7 / cores)


def sampled() -> Dataset:
    return dataset(FACTORS, {(s, e, c): time(s, e, c) for s, e, c in product((1, 10), (1, 2, 3), (2, 4, 6, 8))})


def times_of(data: Dataset) -> Problem:
    return in_own_unit(pose(data, "time_s"))


def whole() -> list[Configuration]:
    return [Configuration({"sampling_rate": 100, "executors": e, "cores": c}) for e in (1, 2, 3) for c in (2, 4, 6, 8)]


def error(model: Model) -> float:
    """The mean relative error at the whole data."""
    problem = pose(sampled(), "time_s")
    predicted = model.learn(problem).points(problem.domain.encode(whole()))
    actual = np.array([time(100, float(at["executors"]), float(at["cores"])) for at in whole()])
    return float(np.abs(predicted / actual - 1).mean())


def test_the_product_carries_an_exact_law_to_ten_times_the_sampling_rate() -> None:
    assert error(TwoLevelProduct()) < 1e-3


def test_adding_up_cannot_do_that() -> None:
    # The slope of the rate is one for all configurations; the same finding as in the paper's scenarios 2 and 4-1.
    assert error(OneLevel()) > 0.3
    assert error(TwoLevelSum()) > 0.3


def test_times_are_scaled_among_runs_that_differ_in_one_factor_only() -> None:
    problem = times_of(sampled())
    for factor, groups in ((0, 12), (1, 8), (2, 6)):
        rows, shares = scaled_times(problem, factor)
        assert len(rows) == 24
        assert shares.max() == 1
        assert (shares == 1).sum() == groups


def test_a_group_that_lacks_a_level_is_not_scaled_by_another() -> None:
    problem = times_of(sampled()).without([0])  # rate 1, 1 executor, 2 cores: the longest of its groups by cores
    rows, shares = scaled_times(problem, 2)
    assert len(rows) == 20
    whole_shares = {c: time(1, 1, c) / time(1, 1, 2) for c in (2, 4, 6, 8)}
    assert shares == pytest.approx([whole_shares[int(problem.x[i, 2])] for i in rows])


def test_without_a_factorial_design_the_main_effect_takes_the_place_of_groups() -> None:
    # One run of each pair of a Latin square: no two differ in one factor only.
    square = {(s, e, 2 * (1 + (i + j) % 3)): 0.0 for i, s in enumerate((1, 4, 10)) for j, e in enumerate((1, 2, 3))}
    data = dataset(FACTORS, {key: time(*key) for key in square})
    rows, shares = scaled_times(times_of(data), 1)
    assert rows == list(range(9))
    effect = {e: (0.2 + 0.8 / e) for e in (1, 2, 3)}
    assert shares == pytest.approx([effect[key[1]] for key in square])
    [predicted] = TwoLevelProduct().fit(data, "time_s").predict([{"sampling_rate": 10, "executors": 2, "cores": 2}])
    assert predicted == pytest.approx(time(10, 2, 2), rel=0.05)


def test_scattered_settings_are_scaled_by_slopes() -> None:
    random = np.random.RandomState(0)
    times = {
        (float(s), int(e)): s * e**-0.5 for s, e in zip(random.uniform(1, 9, 12).round(2), range(1, 13), strict=True)
    }
    problem = times_of(dataset(("size", "executors"), times))
    assert scaled_times(problem, 1)[1] == pytest.approx(problem.x[:, 1] ** -0.5)


def test_machines_come_as_inverse_sizes_as_they_are_and_categories_as_levels() -> None:
    keys = [(1, 2, 8, "a"), (2, 4, 16, "b"), (4, 8, 32, "c")]
    domain = pose(dataset(("executors", "size", "batch_size", "net"), dict.fromkeys(keys, 1.0)), "time_s").domain
    executors, size, batch, net = domain.axes
    two = np.array([2.0])
    assert factor_columns(executors, two).tolist() == [[0.5]]
    assert factor_columns(size, two).tolist() == [[2.0]]
    assert factor_columns(batch, two).tolist() == [[2.0, 0.5]]
    assert factor_columns(net, two).tolist() == [[0.0, 0.0, 1.0]]


def test_the_technique_is_chosen_by_rows_left_out() -> None:
    x = np.arange(20, dtype=np.float64)[:, None]
    assert isinstance(best_regression(x, 3 * x[:, 0] + 1, ("forest", "lasso", "ridge"), 0), Line)
    assert isinstance(
        best_regression(np.repeat(x, 3, axis=0), np.repeat(x[:, 0] % 2, 3), ("ridge", "forest"), 0), Trees
    )


@pytest.mark.parametrize("model", [OneLevel, TwoLevelProduct, TwoLevelSum])
def test_answers_do_not_depend_on_the_unit_of_time(
    model: type[OneLevel] | type[TwoLevelProduct] | type[TwoLevelSum],
) -> None:
    data = sampled()
    minutes = Dataset(
        data.factors,
        tuple(Observation(o.configuration, {"time_s": o.responses["time_s"] / 60}) for o in data.observations),
    )
    [in_s], [in_min] = (
        model(("lasso", "ridge")).learn(pose(some, "time_s")).points(np.array([[7.0, 2.0, 4.0]]))
        for some in (data, minutes)
    )
    assert in_s == pytest.approx(60 * in_min)


def test_two_levels_are_about_times_and_one_level_about_anything() -> None:
    data = Dataset(
        ("executors",), tuple(Observation({"executors": e}, {"accuracy": 0.9 - e / 99}) for e in (1, 2, 3, 4))
    )
    with pytest.raises(StudyError, match="accuracy is not a time"):
        TwoLevelSum().fit(data, "accuracy")
    assert 0.8 < OneLevel().fit(data, "accuracy").predict([{"executors": 2}])[0] < 0.9


def test_unknown_techniques_are_refused() -> None:
    with pytest.raises(StudyError, match="lasso, ridge, forest"):
        OneLevel(("boosting",))  # type: ignore[arg-type]
