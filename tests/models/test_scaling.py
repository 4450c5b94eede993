import itertools
import math
import random
from collections.abc import Callable, Sequence

import numpy as np
import pytest

from sparkcast.errors import StudyError
from sparkcast.fitting.uncertainty import FittedPoints
from sparkcast.models.scaling import Scaling
from sparkcast.study import Configuration, Dataset, Level, Observation

Law = Callable[..., float]


def grid(law: Law, *, noise: float = 0.0, **levels: Sequence[Level]) -> Dataset:
    draw = random.Random(3)
    rows = [dict(zip(levels, row, strict=True)) for row in itertools.product(*levels.values())]
    return Dataset(
        tuple(levels),
        tuple(Observation(row, {"time_s": law(**row) * math.exp(draw.gauss(0, noise))}) for row in rows),
    )


def fitted(data: Dataset) -> FittedPoints:
    found = Scaling().fit(data, "time_s")
    assert isinstance(found, FittedPoints)
    return found


def sampled(sampling_rate: float, executors: float, cores: float) -> float:
    """Start-up and work, times what cores and executors cost at each level: hyper-threads help less."""
    per_cores = {2: 1.0, 4: 0.55, 6: 0.45, 8: 0.41}
    return (2 + 7 * sampling_rate) * per_cores[int(cores)] / math.pow(executors, 0.9)


RATES, EXECUTORS, CORES = (1, 10), (1, 2, 3), (2, 4, 6, 8)
AT_100 = [Configuration({"sampling_rate": 100, "executors": e, "cores": c}) for e in EXECUTORS for c in CORES]


def samples(noise: float = 0.0) -> Dataset:
    return grid(sampled, noise=noise, sampling_rate=RATES, executors=EXECUTORS, cores=CORES)


def test_a_product_of_start_up_and_work_with_levels_goes_on_at_ten_times_the_size() -> None:
    expected = [sampled(100, e, c) for e in EXECUTORS for c in CORES]
    assert fitted(samples()).predict(AT_100) == pytest.approx(expected, rel=0.03)


def test_a_sum_of_physical_terms_is_recovered_far_outside_the_measured_range() -> None:
    def law(size: float, executors: float) -> float:
        return 5 + 100 * size / executors + 2 * math.log(executors) + 0.1 * executors

    data = grid(law, size=(0.125, 0.25, 0.5), executors=(1, 2, 4, 8))
    assert fitted(data).predict([{"size": 5.0, "executors": 32}]) == [pytest.approx(law(5, 32), rel=1e-3)]


def test_effects_that_no_term_has_are_learned_inside_the_range() -> None:
    def law(size: float, memory: float) -> float:
        return (5 + 3 * size) * (1 + 0.5 * math.sin(memory))

    data = grid(law, size=(1, 2, 4), memory=(1, 1.5, 2, 2.5, 3, 3.5, 4))
    assert fitted(data).predict([{"size": 3, "memory": 2.25}]) == [pytest.approx(law(3, 2.25), rel=0.03)]


def test_effects_outside_the_range_stay_what_they_are_at_its_edge() -> None:
    points = fitted(samples()).points
    assert points(np.array([[100.0, 1.0, 8.0]])) / points(np.array([[100.0, 1.0, 4.0]])) == pytest.approx(
        points(np.array([[10.0, 1.0, 8.0]])) / points(np.array([[10.0, 1.0, 4.0]])), rel=0.02
    )


@pytest.mark.parametrize("unit", [1e-6, 1024.0**2])
def test_the_unit_of_a_size_changes_nothing(unit: float) -> None:
    def in_units(scale: float) -> FittedPoints:
        data = grid(
            lambda size, executors: 5 + 3 * size / scale / executors,
            noise=0.05,
            size=tuple(s * scale for s in (1, 2, 4, 8)),
            executors=(1, 2, 4),
        )
        return fitted(data)

    one, other = in_units(1.0), in_units(unit)
    for size, executors in itertools.product((0.5, 3, 80), (1, 6)):
        [expected] = one.interval([{"size": size, "executors": executors}])
        [found] = other.interval([{"size": size * unit, "executors": executors}])
        assert found == pytest.approx(expected, rel=1e-4)


def test_more_data_never_take_less_time_outside_the_measured_range() -> None:
    data = grid(lambda size, executors: 9 + size / executors, noise=0.1, size=(1, 2, 4, 8), executors=(1, 2, 4))
    for executors in (1, 3, 16):
        times = fitted(data).predict([{"size": size, "executors": executors} for size in (8, 9, 16, 100, 1000)])
        assert times == sorted(times)


def test_the_levels_of_a_category_may_scale_differently() -> None:
    def law(executors: float, net: str) -> float:
        return 5 + 60 / executors if net == "vgg" else 20 + 5 / executors

    data = grid(law, executors=(1, 2, 4, 8, 16), net=("vgg", "lenet5"))
    at = [Configuration({"executors": 6, "net": net}) for net in ("vgg", "lenet5")]
    assert fitted(data).predict(at) == pytest.approx([law(6, "vgg"), law(6, "lenet5")], rel=0.1)


def test_the_interval_reaches_every_law_of_growth_that_two_sizes_leave_open() -> None:
    model = fitted(samples(noise=0.002))
    for at, (low, high) in zip(AT_100, model.interval(AT_100), strict=True):
        edge = {**at, "sampling_rate": 10}
        [at_edge], [below] = model.predict([edge]), model.predict([{**at, "sampling_rate": 1}])
        proportional = at_edge * 10
        same_power = at_edge * at_edge / below
        for law in (proportional, same_power):
            assert low * 0.97 <= law <= high * 1.03


def test_the_interval_of_a_size_inside_the_range_knows_nothing_of_those_laws() -> None:
    model = fitted(samples(noise=0.002))
    [(low, high)] = model.interval([{"sampling_rate": 5, "executors": 2, "cores": 4}])
    [(far_low, far_high)] = model.interval([{"sampling_rate": 100, "executors": 2, "cores": 4}])
    assert far_high / far_low > (high / low) ** 2


@pytest.mark.parametrize("level", [0.5, 0.9, 0.99])
def test_probability_and_interval_agree_where_other_laws_widen_it(level: float) -> None:
    model = fitted(samples(noise=0.002))
    [(low, high)] = model.interval(AT_100[:1], level=level)
    assert model.probability_below(AT_100[:1], high) == [pytest.approx(0.5 + level / 2)]
    assert model.probability_below(AT_100[:1], low) == [pytest.approx(0.5 - level / 2)]


def test_settings_that_always_changed_together_give_no_wild_intervals() -> None:
    rows = [(8, 1600, 2), (16, 800, 2), (32, 400, 2), (8, 1600, 4), (16, 800, 4), (32, 400, 4)]
    data = Dataset(
        ("batch_size", "iterations", "threads"),
        tuple(
            Observation({"batch_size": b, "iterations": i, "threads": t}, {"time_s": i * (0.1 + 0.02 * b / t)})
            for b, i, t in rows
        ),
    )
    [(low, high)] = fitted(data).interval([{"batch_size": 64, "iterations": 200, "threads": 2}])
    assert 0 < low < high < 20 * low


def test_accuracy_is_refused() -> None:
    data = Dataset(("executors",), tuple(Observation({"executors": e}, {"accuracy": 0.9}) for e in (1, 2, 4)))
    with pytest.raises(StudyError, match="scaling predicts times"):
        Scaling().fit(data, "accuracy")
