"""What every searcher keeps to, whatever it is asked to search and whatever the runs give."""

import math
from collections.abc import Callable, Sequence
from typing import ClassVar

import pytest

from sparkcast.errors import StudyError
from sparkcast.search.base import Evaluation, Search, Searcher
from sparkcast.study import Configuration, Dataset, Observation, Outcome

CANDIDATES = tuple(Configuration({"executors": e}) for e in range(1, 9))
Make = Callable[[Search], Searcher]
Answer = float | None


def asked(searcher: Searcher, answers: Sequence[Answer], at_most: int) -> list[Configuration]:
    """All questions, when the answers are given in turn, over and over."""
    found: list[Configuration] = []
    while (configuration := searcher.ask()) is not None:
        answer = answers[len(found) % len(answers)]
        found.append(configuration)
        searcher.tell(Evaluation(configuration, answer, None if answer is None else abs(answer)))
        assert len(found) <= at_most, "it does not stop"
    assert searcher.stopped_because
    return found


def _made(make: Make, search: Search) -> Searcher:
    try:
        return make(search)
    except StudyError as error:
        pytest.skip(f"it refuses this: {error.problem}")


class SearcherSuite:
    """Set `plug` to the class of a searcher, or override the fixture `make`.

    A searcher that asks for settings that no candidate has (`asks_elsewhere`) only has to stop and say why. One that
    cannot search some kinds of candidates refuses them with a StudyError when it is made.
    """

    plug: ClassVar[Make]

    @pytest.fixture
    def make(self) -> Make:
        return type(self).plug

    @pytest.fixture
    def choose(self, make: Make) -> Callable[[Search, Sequence[Answer]], list[Configuration]]:
        if getattr(make, "asks_elsewhere", False):
            pytest.skip("it asks for settings of its own")

        def check(search: Search, answers: Sequence[Answer]) -> list[Configuration]:
            found = asked(_made(make, search), answers, len(search.candidates))
            assert found
            assert all(configuration in search.candidates for configuration in found)
            assert len({*found}) == len(found)
            return found

        return check

    def test_it_stops_and_says_why_or_refuses_what_it_cannot_search(self, make: Make) -> None:
        try:
            searcher = make(Search(CANDIDATES, seed=1))
        except StudyError:
            return
        assert asked(searcher, [5.0, 7.0, 4.0], at_most=200)

    def test_runs_that_it_did_not_ask_for_are_survived(self, make: Make) -> None:
        """What the store has of candidates is told before the first question."""
        searcher = _made(make, Search(CANDIDATES, seed=1, per_second=(1.0,) * 8))
        for value, candidate in enumerate(CANDIDATES[1:4], start=1):
            searcher.tell(Evaluation(candidate, float(value), float(value), Outcome.OK))
        assert len(asked(searcher, [5.0, 7.0, 4.0], at_most=200)) <= 200

    def test_the_same_seed_and_answers_give_the_same_questions(self, choose: Callable[..., object]) -> None:
        search = Search(CANDIDATES, seed=1, per_second=(1.0,) * 8)
        answers: list[Answer] = [10.0, None, 5.0, 7.0, 4.0]
        assert choose(search, answers) == choose(search, answers)

    @pytest.mark.parametrize(
        "answers", [[None], [3.0], [1.0, 1e300], [-1.0, 2.0], [0.0]], ids=["fail", "equal", "huge", "negative", "zero"]
    )
    def test_runs_that_say_little_are_survived(self, choose: Callable[..., object], answers: list[Answer]) -> None:
        for per_second in (None, (1.0,) * 8):
            choose(Search(CANDIDATES, per_second=per_second, within_s=2.0), answers)

    @pytest.mark.parametrize("outcome", [Outcome.OOM, Outcome.TIMEOUT, Outcome.ERROR, None])
    @pytest.mark.parametrize("limit_s", [None, 60.0])
    def test_however_a_run_fails_it_goes_on_and_stops(
        self, make: Make, outcome: Outcome | None, limit_s: float | None
    ) -> None:
        if getattr(make, "asks_elsewhere", False):
            pytest.skip("it asks for settings of its own")
        for per_second in (None, (1.0,) * 8):
            searcher, n_asked = _made(make, Search(CANDIDATES, per_second=per_second)), 0
            while (configuration := searcher.ask()) is not None and n_asked < len(CANDIDATES):
                failure = Evaluation(configuration, None, None, outcome, limit_s)
                searcher.tell(failure if n_asked % 2 == 0 else Evaluation(configuration, 5.0, 5.0, Outcome.OK))
                n_asked += 1
            assert searcher.ask() is None
            assert searcher.stopped_because

    @pytest.mark.parametrize(
        "candidates",
        [
            [{"executors": 2}],
            [{"codec": codec} for codec in ("lz4", "zstd", "none")],
            [{"executors": 2, "codec": "lz4", "cores": cores} for cores in (1, 2, 4)],
            [{"memory": memory, "cores": cores} for memory in ("1g", "512m", "2g") for cores in (2, 1)],
            [{}],
        ],
        ids=["one", "categories", "constants", "memory", "nothing"],
    )
    def test_any_kind_of_candidates_can_be_searched(
        self, choose: Callable[..., object], candidates: list[dict[str, int | float | str]]
    ) -> None:
        made = tuple(map(Configuration, candidates))
        choose(Search(made, per_second=(1.0,) * len(made)), [5.0, 4.0, math.pi])

    def test_earlier_runs_of_any_kind_are_taken(self, choose: Callable[..., object]) -> None:
        failed = Observation(CANDIDATES[0], {}, Outcome.OOM)
        runs = tuple(Observation(c, {"time_s": 8.0 / (i + 1)}) for i, c in enumerate(CANDIDATES[1:]))
        earlier = (
            Dataset(("executors",), (failed, *runs), "all"),
            Dataset(("executors",), (failed,), "failed"),
            Dataset(("cores",), (Observation({"cores": 1}, {"time_s": 1.0}),), "other settings"),
            Dataset(("executors",), (), "none"),
            Dataset(("executors",), tuple(Observation(c, {"accuracy": 0.5}) for c in CANDIDATES), "no times"),
        )
        choose(Search(CANDIDATES, per_second=(1.0,) * 8, earlier=earlier), [5.0, None, 4.0])
