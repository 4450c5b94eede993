import math
from itertools import product

import pytest

from sparkcast.models import MODELS
from sparkcast.study import Dataset, Observation


def grid() -> Dataset:
    return Dataset(
        ("executors", "memory", "net"),
        tuple(
            Observation({"executors": e, "memory": m, "net": n}, {"time_s": t})
            for e, (m, f), (n, s) in product(
                (1, 2, 4, 8), (("512m", 2.0), ("1g", 1.5), ("2g", 1.0)), (("a", 1.0), ("b", 4.0))
            )
            for t in (math.exp(3 / e) * f * s,)
        ),
    )


def test_the_median_counts_each_configuration_once() -> None:
    runs = [*[({"x": 1}, 10.0)] * 9, ({"x": 2}, 20.0), ({"x": 3}, 30.0)]
    data = Dataset(("x",), tuple(Observation(c, {"time_s": t}) for c, t in runs))
    assert MODELS.get("median")().fit(data, "time_s").predict([{"x": 2}]) == [20.0]


def test_ridge_learns_effects_that_multiply() -> None:
    predicted = MODELS.get("ridge")().fit(grid(), "time_s").predict([{"executors": 3, "memory": "1g", "net": "b"}])
    assert predicted == [pytest.approx(math.exp(1) * 1.5 * 4, rel=0.05)]


def test_ridge_goes_on_as_a_power_of_a_setting_beyond_its_measured_range() -> None:
    data = Dataset(("size",), tuple(Observation({"size": x}, {"time_s": math.exp(x / 4)}) for x in range(1, 9)))
    fitted = MODELS.get("ridge")().fit(data, "time_s")
    at_edge, twice, four_times = fitted.predict([{"size": x} for x in (8, 16, 32)])
    assert twice / at_edge == pytest.approx(four_times / twice)
    assert twice / at_edge == pytest.approx(2 ** (8 / 4), rel=0.1)  # the slope at the edge


def test_ridge_learns_a_line_of_a_response_of_both_signs_and_goes_on_with_it() -> None:
    data = Dataset(("x",), tuple(Observation({"x": x}, {"gain": x - 3.5}) for x in range(1, 9)))
    assert MODELS.get("ridge")().fit(data, "gain").predict([{"x": 20}]) == [pytest.approx(16.5, rel=0.01)]


def test_sizes_are_numbers_however_they_are_written() -> None:
    fitted = MODELS.get("ridge")().fit(grid(), "time_s")
    a, b = fitted.predict([{"executors": 3, "memory": m, "net": "b"} for m in ("1g", "1024m")])
    assert a == pytest.approx(b)


def test_a_forest_never_predicts_beyond_what_was_measured() -> None:
    data = grid()
    times = [o.responses["time_s"] for o in data.observations]
    fitted = MODELS.get("random-forest")().fit(data, "time_s")
    for executors in (1, 8, 1000):
        [point] = fitted.predict([{"executors": executors, "memory": "1g", "net": "a"}])
        assert min(times) <= point <= max(times)


def test_responses_of_both_signs_are_learned_as_they_are() -> None:
    data = Dataset(("x",), tuple(Observation({"x": x}, {"gain": x - 3.5}) for x in range(8)))
    for name in ("ridge", "random-forest", "median"):
        [(low, high)] = MODELS.get(name)().fit(data, "gain").interval([{"x": 0}])
        assert low < 0
        assert low < high
