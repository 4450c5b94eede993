"""Sampling rates: little data first, with functions in place of runs."""

from collections.abc import Callable

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from sparkcast.errors import StudyError
from sparkcast.search.base import Evaluation, Search
from sparkcast.study import Configuration
from sparkcast_papers.searchers.sampling_rates import SamplingRates

Cost = Callable[[Configuration], float | None]


def candidates(n: int, rate: float = 1.0) -> tuple[Configuration, ...]:
    return tuple(Configuration({"batch_size": 2**k, "sampling_rate": rate}) for k in range(n))


def search(cost: Cost, given: Search) -> tuple[list[Configuration], SamplingRates]:
    searcher = SamplingRates(given)
    asked: list[Configuration] = []
    while (configuration := searcher.ask()) is not None:
        asked.append(configuration)
        value = cost(configuration)
        searcher.tell(Evaluation(configuration, value, value))
        assert len(asked) < 500
    return asked, searcher


def at(asked: list[Configuration], rate: float) -> list[object]:
    return [c["batch_size"] for c in asked if c["sampling_rate"] == rate]


def test_the_best_third_goes_on_to_ten_times_the_data_and_its_best_third_to_all() -> None:
    asked, searcher = search(lambda c: abs(int(c["batch_size"]) - 16), Search(candidates(9)))
    assert at(asked, 0.01) == [2**k for k in range(9)]
    assert sorted(map(str, at(asked, 0.1))) == ["16", "4", "8"]
    assert at(asked, 1.0) == [16]
    assert len(asked) == 9 + 3 + 1
    assert searcher.stopped_because == "1 of 9 candidates were run on all data"
    assert searcher.warnings == ()


def test_the_full_rate_is_the_candidates_own() -> None:
    asked, _ = search(lambda c: 1.0, Search(candidates(3, rate=0.5)))
    assert [c["sampling_rate"] for c in asked] == [0.005] * 3 + [0.05, 0.5]


def test_a_candidate_that_fails_on_little_data_goes_on_unjudged() -> None:
    def cost(c: Configuration) -> float | None:
        images = 4000 * float(c["sampling_rate"])
        return None if int(c["batch_size"]) > images else 1 / int(c["batch_size"])

    asked, searcher = search(cost, Search(candidates(9)))
    assert at(asked, 0.1) == [32, 16, 64, 128, 256]  # the best two that could run, and all that could not
    assert at(asked, 1.0) == [256, 128]
    assert searcher.warnings == ("3 of 9 candidates failed on less data and advanced without a score",)


def test_of_many_candidates_27_are_looked_at_spread_over_all() -> None:
    many = tuple(
        Configuration({"a": a, "b": b, "sampling_rate": 1.0}) for a in range(1, 11) for b in ("x", "y", "z", "w")
    )
    asked, searcher = search(lambda c: 1.0, Search(many, seed=3))
    first = [c for c in asked if c["sampling_rate"] == 0.01]
    assert len(first) == 27
    assert {c["b"] for c in first} == {"x", "y", "z", "w"}
    assert {1, 10} <= {c["a"] for c in first}
    assert len(asked) == 27 + 9 + 3
    assert "13 candidates were not considered" in searcher.warnings[0]
    assert search(lambda c: 1.0, Search(many, seed=3))[0] == asked
    assert any(search(lambda c: 1.0, Search(many, seed=seed))[0] != asked for seed in range(4, 12))


def test_each_rate_is_run_as_often_as_wanted_and_the_mean_decides() -> None:
    told = {1: iter([1.0, 9.0]), 2: iter([2.0, 2.0]), 4: iter([6.0, 6.0])}
    asked, _ = search(
        lambda c: next(told[int(c["batch_size"])]) if c["sampling_rate"] == 0.01 else 1.0,
        Search(candidates(3), replicates=2),
    )
    assert at(asked, 0.1) == [2, 2]


def test_what_takes_too_long_on_little_data_comes_last() -> None:
    asked, _ = search(lambda c: float(c["batch_size"]), Search(candidates(3), within_s=0.5))
    assert at(asked, 0.1) == [1]  # all too slow: the first of equals
    asked, _ = search(lambda c: 8 - float(c["batch_size"]), Search(candidates(4), within_s=6.5))
    assert 1 not in at(asked, 0.1)


def test_without_a_share_of_the_data_it_is_refused() -> None:
    with pytest.raises(StudyError, match="fraction of the data") as caught:
        SamplingRates(Search(tuple(Configuration({"executors": e}) for e in (1, 2))))
    assert "roles: {NAME: fraction}" in caught.value.hint


def test_other_names_of_a_share_are_understood() -> None:
    asked, _ = search(lambda c: 1.0, Search((Configuration({"executors": 1, "fraction": 1.0}),)))
    assert [c["fraction"] for c in asked] == [0.01, 0.1, 1.0]


@settings(max_examples=30)
@given(n=st.integers(1, 40), replicates=st.integers(1, 2), data=st.data())
def test_it_always_ends_with_runs_on_all_data(n: int, replicates: int, data: st.DataObject) -> None:
    values: dict[str, float | None] = {}

    def cost(c: Configuration) -> float | None:
        if str(c) not in values:
            values[str(c)] = data.draw(st.one_of(st.none(), st.floats(-10, 10)))
        return values[str(c)]

    given_search = Search(candidates(n), replicates=replicates)
    asked, searcher = search(cost, given_search)
    assert asked[-1] in given_search.candidates
    assert searcher.stopped_because
    assert len(asked) <= 3 * 27 * replicates
