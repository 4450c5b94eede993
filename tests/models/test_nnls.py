import itertools
import math
from collections.abc import Callable, Mapping, Sequence

import numpy as np
import pytest

from sparkcast.errors import StudyError
from sparkcast.fitting.problem import pose
from sparkcast.fitting.terms import physical_terms, roles_of, sums_of
from sparkcast.models.nnls import NonNegativeLeastSquares
from sparkcast.study import Configuration, Dataset, Level, Observation

Law = Callable[..., float]


def grid(law: Law, **levels: Sequence[Level]) -> Dataset:
    rows = [dict(zip(levels, row, strict=True)) for row in itertools.product(*levels.values())]
    return Dataset(tuple(levels), tuple(Observation(row, {"time_s": law(**row)}) for row in rows))


def predict(data: Dataset, *at: Configuration) -> list[float]:
    return NonNegativeLeastSquares().fit(data, "time_s").predict(at)


def ernest(size: float, executors: float) -> float:
    return 5 + 100 * size / executors + 2 * math.log(executors) + 0.1 * executors


def training(batch_size: float, iterations: float, n_gpus: float) -> float:
    return 20 + iterations * (0.01 + 0.002 * batch_size / n_gpus + 0.005 * (n_gpus - 1) / n_gpus)


def cores_share(size: float, executors: float, cores: float) -> float:
    return 3 + 40 * size / (executors * cores) + 6 * size / executors


def epochs_of_batches(epochs: float, batch_size: float, size: float) -> float:
    return 8 + epochs * size * (0.5 / batch_size + 0.02)


@pytest.mark.parametrize(
    ("law", "levels", "at"),
    [
        (ernest, {"size": (0.125, 0.25, 0.5), "executors": (1, 2, 4, 8)}, {"size": 5.0, "executors": 32}),
        (
            training,
            {"batch_size": (16, 32, 64), "iterations": (100, 200, 400), "n_gpus": (1, 2, 4)},
            {"batch_size": 512, "iterations": 4000, "n_gpus": 8},
        ),
        (
            cores_share,
            {"size": (1, 2, 4), "executors": (1, 2, 3), "cores": (2, 4, 8)},
            {"size": 40, "executors": 6, "cores": 16},
        ),
        (
            epochs_of_batches,
            {"epochs": (1, 2, 4), "batch_size": (32, 64, 128), "size": (100, 200, 400)},
            {"epochs": 10, "batch_size": 256, "size": 4000},
        ),
    ],
)
def test_a_law_made_of_physical_terms_is_recovered_far_outside_the_measured_range(
    law: Law, levels: Mapping[str, Sequence[Level]], at: dict[str, float]
) -> None:
    assert predict(grid(law, **levels), Configuration(at)) == [pytest.approx(law(**at), rel=1e-3)]


@pytest.mark.parametrize("power", [1, -1])
def test_a_number_of_unknown_meaning_may_slow_down_or_speed_up(power: int) -> None:
    def law(size: float, widgets: float) -> float:
        return 5 + 3 * size * widgets**power

    data = grid(law, size=(1, 2, 4), widgets=(1, 2, 4))
    assert predict(data, Configuration({"size": 8, "widgets": 8})) == [pytest.approx(law(8, 8), rel=1e-3)]


def test_a_number_that_may_be_zero_has_a_slope() -> None:
    def law(size: float, share: float) -> float:
        return 5 + size * (3 + 4 * share)

    data = grid(law, size=(1, 2, 4), share=(0.0, 0.5, 1.0))
    assert predict(data, Configuration({"size": 8, "share": 0.25})) == [pytest.approx(law(8, 0.25), rel=1e-3)]


def test_levels_of_a_category_are_ratios() -> None:
    slow = {"lenet5": 1.0, "vgg": 3.0}

    def law(size: float, executors: float, net: str) -> float:
        return slow[net] * ernest(size, executors)

    data = grid(law, size=(1, 2, 4), executors=(1, 2, 4, 8), net=tuple(slow))
    at = [Configuration({"size": 40, "executors": 16, "net": net}) for net in slow]
    small, large = predict(data, *at)
    assert large / small == pytest.approx(3, rel=0.06)  # a level with few runs is kept near the others
    assert small == pytest.approx(ernest(40, 16), rel=0.06)


def test_no_coefficient_is_negative_even_where_time_falls_faster_than_any_term() -> None:
    problem = pose(grid(lambda size, executors: size * executors**-3.0, size=(1, 2, 4), executors=(1, 2, 4)), "time_s")
    sums = sums_of(problem, physical_terms(problem.domain))
    assert min(sums.coefficients) >= 0
    assert (sums(np.array([[100.0, 64.0], [1e-3, 64.0]])) > 0).all()


def test_terms_that_overlap_take_as_long_as_the_longest() -> None:
    def law(size: float, threads: float) -> float:
        return math.hypot(30, 20 * size / threads)

    problem = pose(grid(law, size=(1, 2, 4, 8), threads=(1, 2, 4)), "time_s")
    terms = physical_terms(problem.domain)
    [following], [overlapping] = (sums_of(problem, terms, overlap=p)(np.array([[80.0, 4.0]])) for p in (1.0, 2.0))
    assert overlapping == pytest.approx(law(80, 4), rel=1e-3)
    assert abs(following / law(80, 4) - 1) > 1e-3


def test_iterations_are_steps_of_a_batch_where_there_is_one_and_passes_where_there_is_none() -> None:
    with_batch = pose(grid(lambda **_: 1.0, iterations=(1, 2), batch_size=(8, 16)), "time_s").domain
    without = pose(grid(lambda **_: 1.0, iterations=(1, 2), rows=(8, 16)), "time_s").domain
    assert roles_of(with_batch) == {"steps": 0, "batch": 1}
    assert roles_of(without) == {"passes": 0, "size": 1}


def test_accuracy_is_refused() -> None:
    data = Dataset(("executors",), tuple(Observation({"executors": e}, {"accuracy": 0.9}) for e in (1, 2, 4)))
    with pytest.raises(StudyError, match="nnls predicts times"):
        NonNegativeLeastSquares().fit(data, "accuracy")
