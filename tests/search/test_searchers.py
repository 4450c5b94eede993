"""What every searcher keeps to, whatever it is asked to search and whatever the runs give."""

from contextlib import suppress
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from sparkcast.errors import StudyError
from sparkcast.search.base import SEARCHERS, Evaluation, Search, Searcher
from sparkcast.study import Configuration

CANDIDATES: tuple[Configuration, ...] = tuple(Configuration({"executors": e}) for e in range(1, 9))
CHOOSERS = [name for name in SEARCHERS.names() if not getattr(SEARCHERS.get(name), "asks_elsewhere", False)]

Answer = float | None


def asked(searcher: Searcher, answers: list[Answer], at_most: int) -> list[Configuration]:
    """All questions, when the answers are given in turn, over and over."""
    found: list[Configuration] = []
    while (configuration := searcher.ask()) is not None:
        answer = answers[len(found) % len(answers)]
        found.append(configuration)
        searcher.tell(Evaluation(configuration, answer, None if answer is None else abs(answer)))
        assert len(found) <= at_most, "it does not stop"
    assert searcher.stopped_because
    return found


def check_choice(name: str, search: Search, answers: list[Answer]) -> list[Configuration]:
    found = asked(SEARCHERS.get(name)(search), answers, len(search.candidates))
    assert found
    assert all(c in search.candidates for c in found)
    assert len({str(c) for c in found}) == len(found)
    return found


@pytest.mark.parametrize("name", ["cherrypick", "exhaustive", "guided"])
def test_what_was_told_is_all_the_state_there_is(name: str) -> None:
    search = Search(CANDIDATES, seed=3)
    first, second = (SEARCHERS.get(name)(search) for _ in range(2))
    for value in (9.0, None, 3.0):
        configuration = first.ask()
        assert configuration is not None
        assert configuration == first.ask()
        first.tell(Evaluation(configuration, value))
        second.tell(Evaluation(configuration, value))
    assert second.ask() == first.ask()


def test_another_seed_gives_another_order() -> None:
    orders = [asked(SEARCHERS.get("random")(Search(CANDIDATES, seed=seed)), [1.0], 8) for seed in (1, 2)]
    assert orders[0] != orders[1]


SETTINGS: st.SearchStrategy[dict[str, Any]] = st.fixed_dictionaries(
    {},
    optional={
        "executors": st.integers(1, 64),
        "memory": st.sampled_from(["512m", "1g", "4g"]),
        "partitions": st.integers(0, 5),
        "codec": st.sampled_from(["lz4", "zstd"]),
        "rate": st.floats(-1, 1, allow_nan=False),
    },
)


@st.composite
def searches(draw: st.DrawFn) -> Search:
    """Up to five candidates with the same settings, of which some may never vary."""
    first = draw(SETTINGS)
    others = draw(st.lists(SETTINGS, max_size=4))
    candidates = [first, *({name: other.get(name, first[name]) for name in first} for other in others)]
    different = tuple(dict.fromkeys(map(Configuration, candidates)))
    prices = st.sampled_from([None, (1.0,) * len(different), tuple(0.1 + i for i in range(len(different)))])
    return Search(different, draw(st.integers(0, 3)), draw(prices), draw(st.sampled_from([None, 10.0])))


ANSWERS = st.lists(
    st.none() | st.floats(1e-3, 1e3) | st.sampled_from([1.0, 0.0, -5.0, 1e300, 1e-300]), min_size=1, max_size=5
)


@pytest.mark.parametrize("name", CHOOSERS)
@settings(max_examples=15)
@given(search=searches(), answers=ANSWERS)
def test_any_search_with_any_answers_asks_for_candidates_each_at_most_once(
    name: str, search: Search, answers: list[Answer]
) -> None:
    with suppress(StudyError):  # what it cannot search, it says when it is made
        check_choice(name, search, answers)
