import pytest

from sparkcast.recommend.searchers import SEARCHERS, Search, Told
from sparkcast.study import Configuration

CANDIDATES: tuple[Configuration, ...] = tuple({"executors": e} for e in range(1, 9))


def asked(name: str, seed: int) -> list[Configuration]:
    searcher = SEARCHERS.get(name)(Search(CANDIDATES, seed=seed))
    found = []
    while (configuration := searcher.ask()) is not None:
        found.append(configuration)
        searcher.tell(Told(configuration, None if len(found) == 2 else 10.0 / len(found)))
        assert len(found) <= len(CANDIDATES)
    return found


@pytest.mark.parametrize("name", SEARCHERS.names())
def test_a_searcher_asks_for_candidates_each_at_most_once_and_stops(name: str) -> None:
    found = asked(name, seed=1)
    assert found
    assert all(c in CANDIDATES for c in found)
    assert len({str(c) for c in found}) == len(found)


@pytest.mark.parametrize("name", SEARCHERS.names())
def test_the_same_seed_asks_the_same_questions(name: str) -> None:
    assert asked(name, seed=1) == asked(name, seed=1)


def test_another_seed_gives_another_order() -> None:
    assert asked("random", seed=1) != asked("random", seed=2)
