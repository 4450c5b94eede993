"""Choosing columns by what they are worth on configurations that were left out."""

import math

import numpy as np
import pytest

from sparkcast.fitting.selection import forward, left_out_error, select_columns
from sparkcast.models.linear import Linear
from sparkcast.study import Dataset, Observation


def test_the_left_out_error_is_that_of_refitting_without_each_row() -> None:
    random = np.random.RandomState(0)
    x, y, weights = random.randn(12, 3), random.randn(12), np.ones(12)
    table = np.column_stack([np.ones(12), x])
    errors = []
    for i in range(12):
        kept = np.delete(np.arange(12), i)
        errors.append(y[i] - table[i] @ np.linalg.lstsq(table[kept], y[kept], rcond=None)[0])
    assert left_out_error(x, y, weights) == pytest.approx(np.mean(np.square(errors)))


def test_a_row_that_decides_a_coefficient_alone_has_no_left_out_error() -> None:
    x = np.array([[0.0], [0.0], [0.0], [1.0]])
    assert left_out_error(x, np.arange(4, dtype=np.float64), np.ones(4)) == math.inf


def test_a_column_that_repeats_another_has_no_left_out_error() -> None:
    column = np.arange(6.0)[:, None]
    assert left_out_error(np.hstack([column, 2 * column]), np.arange(6, dtype=np.float64) ** 2, np.ones(6)) == math.inf


def test_columns_without_meaning_are_not_taken() -> None:
    random = np.random.RandomState(2)
    x = random.randn(60, 8)
    y = 3 * x[:, 5] - x[:, 1] + 0.01 * random.randn(60)
    assert select_columns(x, y, np.ones(60), most=2) == (5, 1)
    assert select_columns(x, y, np.ones(60), most=1) == (5,)


def test_selection_stops_when_nothing_gets_better() -> None:
    assert forward(5, lambda chosen: 1.0 + len(chosen), most=5) == ()
    assert forward(2, lambda chosen: -len(chosen), most=9) == (0, 1)


def test_linear_selects_among_curves_and_products() -> None:
    data = Dataset(
        ("size", "executors"),
        tuple(
            Observation({"size": s, "executors": e}, {"time_s": math.exp(1 + 0.3 * s / e)})
            for s in (1, 2, 5, 9)
            for e in (1, 2, 4, 8)
        ),
    )
    fitted = Linear(select=3).fit(data, "time_s")
    assert getattr(fitted.points, "terms", ()) == ("size * 1/executors",)
    assert fitted.predict([{"size": 18, "executors": 3}]) == [pytest.approx(math.exp(2.8))]
