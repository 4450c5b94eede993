"""Every candidate's standing in a question, against what follows by hand from normal distributions."""

import math
from statistics import NormalDist
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from recommend_support import Normals, asked
from sparkcast.recommend import Limit
from sparkcast.recommend.evaluation import CostTable, Ranks, View, rows_like, runs_at, significant
from sparkcast.recommend.question import Objective, Question
from sparkcast.study import Configuration
from sparkcast.study.space import Candidates

FASTEST, MOST_ACCURATE = Objective("time_s", False), Objective("accuracy", True)
TIMES = Normals.of([10, 20, 30, 40], 2.0)
ACCURACIES = Normals.of([0.7, 0.8, 0.9, 0.95], 0.01)
NORMAL = NormalDist()


# ---------------------------------------------------------------- who may be chosen


def test_what_failed_every_time_or_is_far_from_the_runs_is_not_allowed() -> None:
    found = asked(FASTEST, broke=[0], unsupported=[1], wanted=[True, True, True, False], time_s=TIMES)
    assert found.allowed.tolist() == [False, False, True, False]
    assert found.kept.tolist() == found.meets.tolist() == [False, False, True, False]


def test_what_is_likely_to_fail_is_left_out_unless_it_ran_and_never_failed() -> None:
    found = asked(FASTEST, failure=[0.1, 0.11, 0.5, 0.0], proven=[2], time_s=TIMES)
    assert found.allowed.all()
    assert found.kept.tolist() == [True, False, True, True]


def test_what_is_unlike_any_run_counts_only_where_nothing_else_is_left() -> None:
    found = asked(FASTEST, near=[False, True, True, False], time_s=TIMES)
    assert found.kept.tolist() == [False, True, True, False]
    assert found.far.tolist() == [True, False, False, True]
    alone = asked(FASTEST, near=[False] * 4, time_s=TIMES)
    assert alone.kept.all()
    assert not alone.far.any()


# ---------------------------------------------------------------- limits


@settings(max_examples=30)
@given(
    st.floats(0.02, 0.98),
    st.booleans(),
    st.lists(st.tuples(st.floats(1, 99), st.floats(0.1, 20)), min_size=1, max_size=6),
)
def test_a_candidate_keeps_to_a_limit_when_it_does_so_with_the_wanted_probability(
    confidence: float, is_upper: bool, drawn: list[tuple[float, float]]
) -> None:
    table = Normals.of([center for center, _ in drawn], [spread for _, spread in drawn])
    limit = Limit("time_s", 50.0, is_upper)
    found = asked(FASTEST, [limit], question=Question(confidence=confidence), time_s=table)
    chances = [NORMAL.cdf((50 - center) / spread * (1 if is_upper else -1)) for center, spread in drawn]
    rows = np.arange(len(drawn))
    assert found.chances(limit, rows) == pytest.approx(chances, abs=1e-9)
    assert found.probability(rows) == pytest.approx(chances, abs=1e-9)
    clear = [abs(chance - confidence) > 1e-6 for chance in chances]
    expected = [chance >= confidence for chance in chances]
    assert [is_kept for is_kept, sure in zip(found.keeps[limit].tolist(), clear, strict=True) if sure] == [
        one for one, sure in zip(expected, clear, strict=True) if sure
    ]


@pytest.mark.parametrize("confidence", [0.1, 0.3, 0.5, 0.8, 0.95])
def test_with_the_value_that_is_kept_in_place_of_the_limit_the_probability_is_the_confidence(
    confidence: float,
) -> None:
    for is_upper in (True, False):
        limit = Limit("time_s", 25.0, is_upper)
        found = asked(FASTEST, [limit], question=Question(confidence=confidence), time_s=TIMES)
        kept = found.kept_value(limit)
        below = TIMES.probability_below(kept)
        assert (below if is_upper else 1 - below) == pytest.approx(np.full(4, confidence), abs=1e-9)


def test_the_probability_is_that_of_keeping_all_limits_which_without_runs_are_taken_as_independent() -> None:
    limits = [Limit("time_s", 31.0), Limit("accuracy", 0.795, is_upper=False)]
    found = asked(FASTEST, limits, time_s=TIMES, accuracy=ACCURACIES)
    in_time = [NORMAL.cdf((31 - center) / 2) for center in (10, 20, 30, 40)]
    accurate = [1 - NORMAL.cdf((0.795 - center) / 0.01) for center in (0.7, 0.8, 0.9, 0.95)]
    both = [one * other for one, other in zip(in_time, accurate, strict=True)]
    assert found.probability(np.arange(4)) == pytest.approx(both, abs=1e-9)
    assert found.probability(np.array([2])) == pytest.approx(both[2:3], abs=1e-9)
    assert asked(FASTEST, time_s=TIMES).probability(np.arange(4)).tolist() == [1.0] * 4


def test_those_that_come_nearest_to_a_limit_are_listed_first() -> None:
    """By what they need over what is given, of the limit that they miss by most; those that keep to all are not."""
    limits = [Limit("time_s", 12.0), Limit("accuracy", 0.85, is_upper=False)]
    certain: dict[str, Any] = {
        "time_s": Normals.of([10, 14, 13, 30, 11], 1e-9),
        "accuracy": Normals.of([0.8, 0.9, 0.2, 0.9, 0.9], 1e-9),
    }
    found = asked(FASTEST, limits, **certain)
    # Row 0 misses by 0.05 / 0.85, row 1 by 2 / 12, row 2 by 0.65 / 0.85, row 3 by 18 / 12; row 4 keeps to both.
    assert found.nearest_misses(9).tolist() == [0, 1, 2, 3]
    assert found.nearest_misses(2).tolist() == [0, 1]
    assert asked(FASTEST, limits, broke=[1], **certain).nearest_misses(9).tolist() == [0, 2, 3]
    assert asked(FASTEST, **certain).nearest_misses(9).tolist() == []


def test_predictions_have_the_interval_that_the_confidence_asks_for() -> None:
    question = Question(confidence=0.9)
    found = asked(FASTEST, question=question, time_s=TIMES, accuracy=ACCURACIES)
    [(time, accuracy)] = found.predictions(np.array([2]))
    reach = NORMAL.inv_cdf(0.9)
    assert (time.response, time.value, time.level) == ("time_s", 30.0, 0.8)
    assert (time.low, time.high) == pytest.approx((30 - 2 * reach, 30 + 2 * reach))
    assert (accuracy.low, accuracy.high) == pytest.approx((0.9 - 0.01 * reach, 0.9 + 0.01 * reach))


# ---------------------------------------------------------------- order


def test_equal_in_three_digits_is_a_tie_that_the_shorter_time_wins() -> None:
    values = {"accuracy": np.array([0.9001, 0.9004, 0.95, 0.91]), "time_s": np.array([5.0, 3.0, 9.0, 1.0])}
    assert Ranks.of(MOST_ACCURATE, values, "time_s").order.tolist() == [2, 3, 1, 0]
    assert Ranks.of(MOST_ACCURATE, values, None).order.tolist() == [2, 3, 0, 1]
    assert Ranks.of(FASTEST, values, "time_s").order.tolist() == [3, 1, 0, 2]
    assert Ranks.of(MOST_ACCURATE, values, None).loss.tolist() == pytest.approx([-0.9, -0.9, -0.95, -0.91])


@given(st.floats(1e-9, 1e9), st.integers(1, 6))
def test_rounding_to_some_digits_errs_by_half_of_the_last_one_at_most(value: float, digits: int) -> None:
    [plus, minus] = significant(np.array([value, -value]), digits).tolist()
    assert plus == -minus
    assert plus == pytest.approx(float(f"{value:.{digits - 1}e}"), rel=1.01 * 10.0 ** (1 - digits))
    assert abs(plus - value) <= 0.5000001 * 10.0 ** (math.floor(math.log10(value)) - digits + 1)


def test_zero_stays_zero_when_rounded_and_three_digits_are_the_usual() -> None:
    assert significant(np.array([0.0, 1234.5, 0.00123456, 99.95])).tolist() == pytest.approx([0, 1230, 0.00123, 100])


# ---------------------------------------------------------------- cost


def test_a_cost_is_the_time_at_its_price_with_the_same_probabilities() -> None:
    table = CostTable(TIMES, np.array([0.1, 0.2, 0.5, 0.0]))
    assert table.values.tolist() == pytest.approx([1.0, 4.0, 15.0, 0.0])
    low, high = table.interval(0.9)
    reach = NORMAL.inv_cdf(0.95) * 2
    assert (low[1], high[1]) == pytest.approx((0.2 * (20 - reach), 0.2 * (20 + reach)))
    chances = table.probability_below(4.2)
    assert chances[:3] == pytest.approx(
        [NORMAL.cdf((4.2 / price - center) / 2) for price, center in ((0.1, 10), (0.2, 20), (0.5, 30))]
    )
    assert chances[3] == 1.0  # what is free keeps to any budget
    assert table.take(np.array([2, 1])).values.tolist() == pytest.approx([15.0, 4.0])
    assert table.probability_below(np.array([1.0, 4.0, 15.0, 1.0]))[:3] == pytest.approx([0.5, 0.5, 0.5])


# ---------------------------------------------------------------- which were run

LEVELS = st.sampled_from([1, 2, 4, 8])


@settings(max_examples=30)
@given(st.lists(st.tuples(LEVELS, LEVELS, LEVELS), min_size=1, max_size=20, unique=True), st.data())
def test_runs_are_counted_by_the_settings_that_matter(grid: list[tuple[int, int, int]], data: st.DataObject) -> None:
    names = ["a", "b", "c"]
    candidates = Candidates.of([dict(zip(names, at, strict=True)) for at in grid], names)
    ran = data.draw(
        st.dictionaries(st.tuples(st.sampled_from([1, 2, 4, 16]), LEVELS), st.integers(0, 5), max_size=8), label="ran"
    )
    runs = [({"a": a, "c": c}, n) for (a, c), n in ran.items()]
    counted = runs_at(candidates, [(Configuration(at), n) for at, n in runs], ["a", "c"])
    assert counted.tolist() == [ran.get((a, c), 0) for a, _, c in grid]


def test_settings_are_the_same_however_they_are_written() -> None:
    candidates = Candidates.of([{"memory": m, "cores": c} for m in ("1g", "2g") for c in (1, 2)], ["memory", "cores"])
    assert rows_like(candidates, {"memory": "1024m", "cores": 2.0}, ["memory", "cores"]).tolist() == [0, 1, 0, 0]
    assert rows_like(candidates, {"memory": "2048m"}, ["memory"]).tolist() == [0, 0, 1, 1]
    assert rows_like(candidates, {"memory": "4g"}, ["memory"]).tolist() == [0, 0, 0, 0]
    assert rows_like(candidates, {}, []).tolist() == [1, 1, 1, 1]
    counted = runs_at(candidates, [(Configuration({"memory": "1024m", "cores": 1}), 3)], ["memory", "cores"])
    assert counted.tolist() == [3, 0, 0, 0]


def test_the_first_candidate_that_is_not_known_to_fail_stands_for_all() -> None:
    candidates = Candidates.of([{"a": 1}, {"a": 2}, {"a": 3}], ["a"])
    view = View(candidates, np.array([True, False, False]), np.zeros(3, dtype=bool))
    assert view.first_left() == {"a": 2}
