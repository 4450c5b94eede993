"""Stepwise regression."""

import math

import numpy as np
import pytest

from sparkcast.errors import StudyError
from sparkcast.fitting.uncertainty import FittedPoints
from sparkcast.study import Dataset, Observation
from sparkcast_papers.models.stepwise import Stepwise

# Heat of cement by its four components (Hald 1952), the worked example of Draper and Smith.
HALD_X = np.array(
    [
        [7, 26, 6, 60],
        [1, 29, 15, 52],
        [11, 56, 8, 20],
        [11, 31, 8, 47],
        [7, 52, 6, 33],
        [11, 55, 9, 22],
        [3, 71, 17, 6],
        [1, 31, 22, 44],
        [2, 54, 18, 22],
        [21, 47, 4, 26],
        [1, 40, 23, 34],
        [11, 66, 9, 12],
        [10, 68, 8, 12],
    ],
    dtype=float,
)
HALD_Y = np.array([78.5, 74.3, 104.3, 87.6, 95.9, 109.2, 102.7, 72.5, 93.1, 115.9, 83.8, 113.3, 109.4])


def test_the_example_of_draper_and_smith_ends_with_their_columns() -> None:
    # X4 comes in first, then X1 and X2, beside which X4 is no longer needed.
    chosen = Stepwise(enter=0.15, remove=0.15).select(HALD_X, HALD_Y, np.ones(13))
    assert sorted(chosen) == [0, 1]


def test_a_stricter_entry_stops_earlier() -> None:
    assert Stepwise(enter=0.001, remove=0.002).select(HALD_X, HALD_Y, np.ones(13)) == (3, 0)


def test_nothing_enters_when_nothing_is_related() -> None:
    random = np.random.RandomState(4)
    assert Stepwise(enter=0.001, remove=0.002).select(random.randn(40, 3), random.randn(40), np.ones(40)) == ()


def test_weights_are_as_good_as_repeated_rows() -> None:
    random = np.random.RandomState(1)
    x, counts = random.randn(30, 4), np.array([1, 3] * 15)
    y = x[:, 2] - 0.5 * x[:, 0] + 0.1 * random.randn(30)
    weighted = Stepwise().select(x, y, counts / counts.mean())
    assert weighted[:2] == Stepwise().select(np.repeat(x, counts, axis=0), np.repeat(y, counts), np.ones(60))[:2]


def test_it_finds_the_law_behind_the_times() -> None:
    data = Dataset(
        ("executors", "batch_size"),
        tuple(
            Observation({"executors": e, "batch_size": b}, {"time_s": math.exp(2 + 3 / e * math.log(b))})
            for e in (1, 2, 3, 4, 8)
            for b in (32, 64, 256)
        ),
    )
    fitted = Stepwise().fit(data, "time_s")
    assert isinstance(fitted, FittedPoints)
    assert getattr(fitted.points, "terms", ()) == ("1/executors * log(batch_size)",)
    [predicted] = fitted.predict([{"executors": 6, "batch_size": 128}])
    assert predicted == pytest.approx(math.exp(2 + 0.5 * math.log(128)))


def test_a_column_that_others_have_made_needless_leaves() -> None:
    random = np.random.RandomState(0)
    a, b = random.randn(2, 50)
    both = a + b + 0.5 * random.randn(50)  # nearest to the answer, until a and b are both there
    y = a + b + 0.05 * random.randn(50)
    assert sorted(Stepwise().select(np.column_stack([both, a, b]), y, np.ones(50))) == [1, 2]


def test_probabilities_that_would_go_round_in_circles_are_refused() -> None:
    with pytest.raises(StudyError, match="forever"):
        Stepwise(enter=0.2, remove=0.1)
