"""How far settings are from those that were measured, against distances worked out by hand."""

import math
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from sparkcast.learned.about import ConfigurationRuns
from sparkcast.recommend.evaluation import RunRecord
from sparkcast.recommend.neighbors import MeasuredPoints
from sparkcast.study import Configuration
from sparkcast.study.names import usual_vocabulary
from sparkcast.study.space import Candidates


def points(
    *ran: dict[str, Any], failed: tuple[dict[str, Any], ...] = (), constants: dict[str, Any] | None = None
) -> MeasuredPoints:
    factors = tuple((ran or failed)[0])
    seen = [
        *(ConfigurationRuns(Configuration(settings), 1, 0) for settings in ran),
        *(ConfigurationRuns(Configuration(settings), 0, 1) for settings in failed),
    ]
    fixed = Configuration(constants or {})
    return MeasuredPoints(
        RunRecord(factors, fixed, tuple(seen), ("time_s",), usual_vocabulary([*factors, *fixed], ["time_s"]))
    )


def distance(measured: MeasuredPoints, **at: Any) -> float:
    found = measured.nearest(Configuration(at))
    assert found is not None
    return found.distance


def test_what_is_positive_is_as_far_as_its_ratio_in_shares_of_the_measured_range() -> None:
    measured = points({"executors": 1}, {"executors": 8})
    assert distance(measured, executors=8) == 0
    assert distance(measured, executors=2) == pytest.approx(1 / 3)
    assert distance(measured, executors=16) == pytest.approx(1 / 3)
    assert distance(measured, executors=0.5) == pytest.approx(1 / 3)


def test_where_zero_was_measured_the_difference_counts() -> None:
    measured = points({"delay": 0}, {"delay": 10})
    assert distance(measured, delay=4) == pytest.approx(0.4)
    assert distance(measured, delay=15) == pytest.approx(0.5)
    assert distance(points({"delay": 5}, {"delay": 10}), delay=0) == pytest.approx(1.0)  # zero has no ratio


def test_a_category_is_the_same_or_one_away_and_settings_add_up() -> None:
    measured = points(
        {"codec": "zstd", "executors": 1}, {"codec": "lz4", "executors": 4}, {"codec": "snappy", "executors": 1}
    )
    assert distance(measured, codec="zstd", executors=1) == 0
    assert distance(measured, codec="lz4", executors=2) == pytest.approx(0.5)
    assert distance(measured, codec="gzip", executors=4) == pytest.approx(1.0)
    assert distance(measured, codec="gzip", executors=2) == pytest.approx(1.5)
    found = measured.nearest(Configuration({"codec": "zstd", "executors": 4}))
    assert found is not None
    assert found.distance == pytest.approx(1.0)


def test_a_setting_that_stood_still_is_the_same_or_one_away() -> None:
    measured = points({"executors": 2, "cores": 1}, {"executors": 2, "cores": 4})
    assert distance(measured, executors=2, cores=4) == 0
    assert distance(measured, executors=3, cores=4) == pytest.approx(1.0)


def test_what_never_ended_well_is_not_near_anything() -> None:
    measured = points({"executors": 1}, {"executors": 8}, failed=({"executors": 4},))
    found = measured.nearest(Configuration({"executors": 4}))
    assert found is not None
    assert found.configuration == {"executors": 8}
    assert found.distance == pytest.approx(1 / 3)
    assert points(failed=({"executors": 1},)).nearest(Configuration({"executors": 1})) is None


def test_more_epochs_than_were_run_are_further_by_their_ratio() -> None:
    measured = points({"executors": 1}, {"executors": 4}, constants={"epochs": 10})
    assert distance(measured, executors=4, epochs=10) == 0
    assert distance(measured, executors=4, epochs=15) == pytest.approx(0.5)
    assert distance(measured, executors=2, epochs=5) == pytest.approx(0.5 + 0.5)
    varied = points({"executors": 1, "epochs": 1}, {"executors": 1, "epochs": 4})
    assert distance(varied, executors=1, epochs=2) == pytest.approx(0.5)


def is_near(measured: MeasuredPoints, *candidates: dict[str, Any]) -> list[bool]:
    return [bool(near) for near in measured.is_near(Candidates.of(list(candidates), list(candidates[0])))]


def test_a_candidate_is_near_within_one_range_of_a_setting_or_as_near_as_runs_have_each_other() -> None:
    dense = points({"a": 1, "b": 1}, {"a": 1, "b": 4}, {"a": 2, "b": 1}, {"a": 4, "b": 1})
    # Two settings of half a range each add up to one; two of a whole one are too far.
    assert is_near(dense, {"a": 4, "b": 4}, {"a": 2, "b": 2}, {"a": 16, "b": 4}, {"a": 16, "b": 1}) == [
        True,
        True,
        False,
        True,
    ]
    apart = points(
        {"a": 1, "b": 1, "c": 1}, {"a": 4, "b": 4, "c": 1}, {"a": 4, "b": 1, "c": 4}
    )  # each two from the next
    assert is_near(apart, {"a": 1, "b": 4, "c": 4}, {"a": 16, "b": 16, "c": 1}, {"a": 16, "b": 16, "c": 16}) == [
        True,
        True,
        False,
    ]


def test_with_fewer_than_two_runs_nothing_can_be_far() -> None:
    assert is_near(points({"a": 1}), {"a": 1}, {"a": 1000}) == [True, True]
    assert is_near(points(failed=({"a": 1},)), {"a": 1000}) == [True]
    two = points({"a": 1, "b": 1}, {"a": 2, "b": 2})
    assert is_near(two, {"a": 2, "b": 1}, {"a": 8, "b": 8}) == [True, False]


@settings(max_examples=25)
@given(
    st.lists(st.tuples(st.floats(1, 100), st.sampled_from("xyz")), min_size=2, max_size=8, unique=True),
    st.lists(st.tuples(st.floats(1, 100), st.sampled_from("xyzw")), min_size=1, max_size=8, unique=True),
)
def test_near_is_what_the_median_distance_between_runs_allows(
    ran: list[tuple[float, str]], asked: list[tuple[float, str]]
) -> None:
    low, high = min(a for a, _ in ran), max(a for a, _ in ran)

    def between(one: tuple[float, str], other: tuple[float, str]) -> float:
        number = abs(math.log(one[0] / other[0])) / math.log(high / low) if high > low else float(one[0] != other[0])
        return number + (one[1] != other[1])

    nearest = sorted(min(between(a, b) for j, b in enumerate(ran) if i != j) for i, a in enumerate(ran))
    middle = len(nearest) // 2
    usual = nearest[middle] if len(nearest) % 2 else (nearest[middle - 1] + nearest[middle]) / 2
    reach = max(usual, 1.0)
    measured = points(*({"a": a, "b": b} for a, b in ran))
    for place in asked:
        least = min(between(place, one) for one in ran)
        assert distance(measured, a=place[0], b=place[1]) == pytest.approx(least, abs=1e-9)
        if abs(least - reach) > 1e-6:
            assert is_near(measured, {"a": place[0], "b": place[1]}) == [least < reach]
