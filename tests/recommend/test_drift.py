"""When runs that a model has not seen say that it is out of date: the two tests, against their distributions."""

import math
from collections.abc import Sequence
from statistics import NormalDist
from typing import Any

import numpy as np
import pytest
from scipy.stats import beta, binom

from sparkcast.errors import NotEnoughDataError
from sparkcast.recommend.staleness import _misses, _shift, _shifted, _Tested, drift_within, most_jobs_in, staleness
from sparkcast.study import Configuration, Dataset, Fingerprint, Observation
from sparkcast.study.names import usual_vocabulary

NORMAL = NormalDist()


def a_run(*, inside: bool = True, rank: float = 0.5, value: float = 1.0, predicted: float = 1.0) -> _Tested:
    return _Tested(Configuration(), value, predicted, inside, rank)


def chance_of_so_few(inside: int, n: int, learned: int) -> float:
    """Binomial with a share that is itself Beta(0.9 (n + 1), 0.1 (n + 1)) (Vovk 2012): the mean over its quantiles."""
    shares = beta(0.9 * (learned + 1), 0.1 * (learned + 1)).ppf((np.arange(4000) + 0.5) / 4000)
    return float(binom.cdf(inside, n, shares).mean())


@pytest.mark.parametrize(("n", "learned"), [(5, 10), (8, 30), (20, 100)])
def test_runs_outside_the_interval_are_too_many_where_chance_makes_so_many_once_in_a_hundred(
    n: int, learned: int
) -> None:
    for inside in range(n + 1):
        groups = [[a_run(inside=i < inside)] for i in range(n)]
        assert _misses(groups, learned) == (chance_of_so_few(inside, n, learned) < 0.01)


def test_a_configuration_counts_once_by_most_of_its_runs() -> None:
    half = [a_run(inside=True), a_run(inside=False)]
    assert not _misses([half] * 20, 30)
    assert _misses([[*half, a_run(inside=False)]] * 20, 30)


@pytest.mark.parametrize("groups", [3, 10, 40])
@pytest.mark.parametrize("learned", [5, 50])
def test_ranks_are_shifted_where_the_mean_of_their_normal_scores_is_beyond_one_in_a_hundred(
    groups: int, learned: int
) -> None:
    """The mean of k scores has the variance 1/k, and 1/n more of the model's own level."""
    bound = NORMAL.inv_cdf(0.995) * math.sqrt(1 / groups + 1 / learned)
    for sign in (-1, 1):
        almost, beyond = (NORMAL.cdf(sign * bound * factor) for factor in (0.99, 1.01))
        assert not _shifted([[a_run(rank=almost)]] * groups, learned)
        assert _shifted([[a_run(rank=beyond)]] * groups, learned)
    opposite = [[a_run(rank=0.9999)], [a_run(rank=0.0001)]] * groups
    assert not _shifted(opposite, learned)


def test_a_rank_at_the_very_end_is_as_good_as_certain() -> None:
    assert _shifted([[a_run(rank=1.0)]] * 3, 10)
    assert _shifted([[a_run(rank=0.0)]] * 3, 10)
    once = [[a_run(rank=1.0)], *[[a_run(rank=0.5)]] * 9]
    assert not _shifted(once, 10)  # one alone is no shift of all
    assert not _shifted([[a_run(rank=1.0), a_run(rank=0.5), a_run(rank=0.5)]] * 3, 10)  # the median run counts


def test_the_shift_is_told_as_a_ratio_or_where_there_is_none_as_a_difference() -> None:
    def runs(*pairs: tuple[float, float]) -> list[_Tested]:
        return [a_run(value=value, predicted=predicted) for value, predicted in pairs]

    assert _shift(runs((12, 10), (13, 10), (20, 10)), True) == "30% longer than predicted (median)"
    assert _shift(runs((8, 10), (7, 10), (6, 10)), True) == "30% shorter than predicted (median)"
    assert _shift(runs((13, 10)), False) == "30% higher than predicted (median)"
    assert _shift(runs((7, 10)), False) == "30% lower than predicted (median)"
    assert _shift(runs((1, -1), (3, 0), (5, 1)), False) == "3 higher than predicted (median)"
    assert _shift(runs((-4, 0), (-2, 0), (-3, 0)), False) == "3 lower than predicted (median)"


# ---------------------------------------------------------------- which runs are compared


class Never:
    """A model that has to be right about whatever it is asked."""

    def __init__(self) -> None:
        self.asked: list[Configuration] = []

    def predict(self, at: Sequence[Any]) -> list[float]:
        self.asked = [Configuration(one) for one in at]
        return [10.0] * len(at)

    def interval(self, at: Sequence[Any], *, level: float = 0.9) -> list[tuple[float, float]]:
        return [(9.0, 11.0)] * len(at)

    def probability_below(self, at: Sequence[Any], limit: float) -> list[float]:
        return [0.5] * len(at)

    def beyond(self, at: Sequence[Any]) -> list[NotEnoughDataError | None]:
        return [None] * len(at)


def compared(before: Sequence[Any], last: Sequence[Any]) -> tuple[int, list[Any]]:
    """How many runs are learned from, and the levels of those that are compared."""
    model, learned = Never(), []

    def fit(data: Dataset, response: str) -> Never:
        learned.append(len(data.observations))
        return model

    runs = [Observation({"a": a}, {"time_s": 10.0}, started_at=1e9 + i) for i, a in enumerate([*before, *last])]
    drift_within(Dataset(("a",), tuple(runs), responses=("time_s",)), "time_s", fit)
    return (learned or [0])[0], [one["a"] for one in model.asked]


def test_the_last_fifth_is_compared_with_what_came_before_and_at_least_five_runs() -> None:
    assert compared([1, 2, 4] * 5, [1, 2, 4, 1, 2]) == (15, [1, 2, 4, 1, 2])
    assert compared([1, 2, 4, 1, 2], [1, 2, 4, 1, 2]) == (5, [1, 2, 4, 1, 2])
    assert compared([1, 2] * 20, [1, 2] * 5) == (40, [1, 2] * 5)


def test_a_level_that_is_new_or_more_frequent_than_before_does_not_count_unless_it_lies_between() -> None:
    assert compared([1, 2, 4] * 5, [1, 2, 4, 8, 2])[1] == [1, 2, 4, 2]  # 8 is beyond
    assert compared([1, 2, 4] * 5, [1, 2, 4, 3, 2])[1] == [1, 2, 4, 3, 2]  # 3 is between
    assert compared([1, 2, 4] * 5, [1, 2, 4, 3, 3])[1] == [1, 2, 4]  # twice 3 is what the runs turned to
    assert compared(["x", "y", "z"] * 5, ["x", "y", "z", "w", "x"])[1] == ["x", "y", "z", "x"]
    assert compared([1, 2, 4, 4, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1], [2, 2, 4, 1, 1])[1] == [4, 1, 1]
    assert compared([1, 2] * 8, [1, 1, 1, 1, 1]) == (0, [])  # a factor that stands still


# ---------------------------------------------------------------- the verdict

HERE = Fingerprint("Xeon", 8, 2**34, "Linux", "3.11", "3.5.3", "17", "spark://a:7077")


def test_nothing_found_is_fresh_only_where_something_was_compared() -> None:
    assert staleness([HERE], None, drifted="").verdict == "fresh"
    assert staleness([HERE], None).verdict == "unknown"
    assert staleness([], HERE).verdict == "unknown"
    assert staleness([HERE], HERE).verdict == "fresh"
    assert staleness([HERE], None, drifted="it is slower").reasons[0] == "it is slower."
    assert staleness([HERE], HERE, n_jobs=2).verdict == "retrain"
    assert staleness([HERE], HERE, n_jobs=1).verdict == "fresh"


def test_jobs_at_once_are_counted_by_whatever_setting_says_so() -> None:
    words = usual_vocabulary(["jobs"], [])
    assert most_jobs_in([], words) == 1.0
    assert most_jobs_in([Configuration({"a": 9})], words) == 1.0
    assert most_jobs_in([Configuration({"jobs": 2}), Configuration({"jobs": 5}), Configuration({"a": 9})], words) == 5.0
