"""Doubling: the search of marinos2020, with functions in place of runs."""

from collections.abc import Callable

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sparkcast.errors import StudyError
from sparkcast.search.base import SEARCHERS, Evaluation, Search
from sparkcast.study import Configuration, Level, Setting, Vocabulary
from sparkcast_papers.searchers.doubling import Doubling

Number = int | float


def candidates(*levels: Level, **others: Level) -> tuple[Configuration, ...]:
    return tuple(Configuration({"rate": level, **others}) for level in levels)


def words(*levels: Level) -> Vocabulary:
    """What a workload says of the rate: it takes fractions when its default is written as one."""
    return Vocabulary((Setting("rate", levels[0]),))


def search(
    cost: Callable[[float], float | None], *levels: Level, replicates: int | None = 1, within_s: float | None = None
) -> tuple[list[Level], Doubling]:
    """The levels it asked for, each replicate on its own, and the searcher at its end."""
    given = Search(candidates(*levels), replicates=replicates, within_s=within_s, vocabulary=words(*levels))
    searcher = Doubling(given)
    asked: list[Level] = []
    while (configuration := searcher.ask()) is not None:
        asked.append(configuration["rate"])
        value = cost(float(configuration["rate"]))
        searcher.tell(Evaluation(configuration, value, value))
        assert len(asked) < 200
    return asked, searcher


def test_it_doubles_while_the_cost_falls_then_adds_tenths_while_it_falls_then_stops() -> None:
    asked, searcher = search(lambda rate: abs(rate - 9.2), 0.002, 100.0)
    doubled = [0.002 * 2**k for k in range(14)]  # 8.192 is the last good one, 16.384 is worse
    assert asked == [*doubled, 9.0112, 9.91232]  # the optimum of the paper, and the step that shows it
    assert searcher.stopped_because == "rate = 9.91232 was no better than 9.0112"
    assert searcher.warnings == ()


def test_five_runs_of_each_level_are_averaged_unless_told_otherwise() -> None:
    asked, _ = search(lambda rate: rate, 1.0, 10.0, replicates=None)
    assert asked == [1.0] * 5 + [2.0] * 5 + [1.1] * 5
    asked, _ = search(lambda rate: rate, 1.0, 10.0, replicates=2)
    assert asked == [1.0] * 2 + [2.0] * 2 + [1.1] * 2


def test_the_mean_decides_and_not_a_single_run() -> None:
    told = {1.0: iter([5.0, 5.0]), 2.0: iter([1.0, 8.0]), 4.0: iter([9.0, 9.0]), 2.2: iter([9.0, 9.0])}
    asked, searcher = search(lambda rate: next(told[rate]), 1.0, 4.0, replicates=2)
    assert asked == [1.0, 1.0, 2.0, 2.0, 4.0, 4.0, 2.2, 2.2]
    assert "no better than 2" in searcher.stopped_because


def test_the_highest_level_of_the_candidates_is_never_passed_and_warned_of() -> None:
    asked, searcher = search(lambda rate: -rate, 1.0, 9.0)
    assert asked == [1.0, 2.0, 4.0, 8.0, 8.8, 9.0]
    assert searcher.stopped_because == "rate = 9 is the highest level allowed"
    assert searcher.warnings == ("the best rate, 9, is the highest that was allowed: a higher one may be better",)


def test_an_optimum_at_the_start_is_warned_of() -> None:
    asked, searcher = search(lambda rate: rate, 1.0, 8.0)
    assert asked == [1.0, 2.0, 1.1]
    assert searcher.warnings == ("the best rate, 1, is the lowest value tried: a lower one may be better",)


def test_a_search_that_others_end_while_the_cost_falls_is_warned_of() -> None:
    searcher = Doubling(Search(candidates(1.0, 100.0), replicates=1))
    for value in (3.0, 2.0, 1.0):
        configuration = searcher.ask()
        assert configuration is not None
        searcher.tell(Evaluation(configuration, value))
    assert searcher.stopped_because == ""
    assert searcher.warnings == ("the best rate, 4, is the highest that was tried: a higher one may be better",)


def test_whole_numbers_stay_whole_and_none_is_asked_for_twice() -> None:
    asked, searcher = search(lambda n: abs(n - 7), 1, 12)
    assert asked == [1, 2, 4, 8, 9]
    assert all(isinstance(level, int) for level in asked)
    assert searcher.warnings == ()
    asked, searcher = search(lambda n: abs(n - 2), 1, 3)
    assert asked == [1, 2, 3]


def test_tenths_end_before_a_level_that_was_no_better() -> None:
    asked, searcher = search(lambda n: 0 if n == 3 else 10 - n, 2, 40)
    assert asked == [2, 4, 8, 16, 32, 35, 38, 40]  # ever lower
    asked, searcher = search(lambda n: {2: 5, 4: 4, 8: 9}.get(int(n), 4 - n / 100), 2, 40)
    assert asked == [2, 4, 8, 5, 6, 7]
    assert searcher.stopped_because == "rate = 8 was no better than 7, and nothing is left between them"


def test_a_level_with_a_failed_run_is_no_better_and_its_other_replicates_are_spared() -> None:
    asked, searcher = search(lambda rate: None if rate > 3 else -rate, 1.0, 100.0, replicates=2)
    assert asked[:5] == [1.0, 1.0, 2.0, 2.0, 4.0]
    assert asked[5:] == [2.2, 2.2, 2.42, 2.42, 2.662, 2.662, 2.9282, 2.9282, 3.22102]
    assert "no better than 2.9282" in searcher.stopped_because


def test_a_start_that_fails_is_followed_by_one_more_try() -> None:
    asked, _ = search(lambda rate: None if rate < 2 else rate, 1.0, 8.0)
    assert asked == [1.0, 2.0, 4.0, 2.2]
    asked, searcher = search(lambda rate: None, 1.0, 8.0)
    assert asked == [1.0, 2.0]
    assert searcher.stopped_because == "neither rate = 1 nor 2 could be used"
    assert searcher.warnings == ()


def test_a_run_that_takes_too_long_is_no_answer() -> None:
    asked, _ = search(lambda rate: 10 / rate, 1.0, 4.0, within_s=6.0)
    assert asked[0] == 1.0  # takes 10 s: as bad as a failure
    assert asked[-1] == 4.0


def test_more_than_one_varied_setting_is_refused_with_the_way_out() -> None:
    several = tuple(Configuration({"rate": float(n), "executors": n}) for n in (1, 2))
    with pytest.raises(StudyError, match="2 settings vary: rate, executors") as caught:
        Doubling(Search(several))
    assert "`fix={'executors': 1}`" in caught.value.hint


@pytest.mark.parametrize(
    ("levels", "problem"),
    [((1.0, 1.0), "no setting varies"), (("adam", "sgd"), "'adam' is not a number"), ((0.0, 1.0), "has no effect")],
)
def test_what_cannot_be_doubled_is_refused(levels: tuple[Level, ...], problem: str) -> None:
    with pytest.raises(StudyError, match=problem):
        Doubling(Search(candidates(*levels)))


def test_other_settings_stay_as_they_are() -> None:
    searcher = SEARCHERS.get("doubling")(Search(candidates(1, 4, executors=2, network="lenet5")))
    assert searcher.ask() == {"rate": 1, "executors": 2, "network": "lenet5"}


@given(
    low=st.one_of(st.integers(1, 20), st.floats(1e-3, 10)),
    factor=st.integers(2, 500),
    replicates=st.integers(1, 3),
    data=st.data(),
)
def test_whatever_the_runs_give_it_ends_within_its_bounds_with_no_level_twice(
    low: Number, factor: int, replicates: int, data: st.DataObject
) -> None:
    values: dict[float, float | None] = {}

    def cost(rate: float) -> float | None:
        if rate not in values:
            values[rate] = data.draw(st.one_of(st.none(), st.floats(-100, 100)))
        return values[rate]

    asked, searcher = search(cost, low, low * factor, replicates=replicates)
    assert all(low <= float(level) <= low * factor for level in asked)
    assert asked == [level for level in dict.fromkeys(asked) for _ in range(asked.count(level))], "a level came back"
    assert all(asked.count(level) == (1 if values[float(level)] is None else replicates) for level in asked)
    assert searcher.stopped_because
