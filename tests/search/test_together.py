"""Several runs of a search at once: they differ, and each counts once."""

import threading
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path

import pytest

from sparkcast.errors import RunError, StudyError
from sparkcast.recommend.question import Objective
from sparkcast.runs import site
from sparkcast.runs.cancel import CancelToken
from sparkcast.runs.session import Session
from sparkcast.search.base import Evaluation, Search
from sparkcast.search.chooser import Chooser
from sparkcast.search.lanes import LaneJob, Lanes
from sparkcast.search.loop import Budget, TuneOptions, TuneResult, tune
from sparkcast.search.searchers.cherrypick import CherryPick
from sparkcast.search.searchers.exhaustive import Exhaustive
from sparkcast.search.searchers.guided import Guided
from sparkcast.search.searchers.random_order import RandomOrder
from sparkcast.store import ResultsPlace
from sparkcast.study import Configuration, DesignChoice, Factor, Price, SparkOptions, Study, Trial
from sparkcast.workloads import resolve
from tests_support import PlayedEngine, Settings

STUDY = resolve(
    Study(
        "s",
        "pi",
        (Factor("executors", (1, 2, 4)), Factor("samples", (1000, 2000, 3000, 4000))),
        design=DesignChoice(replicates=1),
        spark=SparkOptions("played"),
    )
)
TIME = Objective("time_s", False)


class Crowd:
    """Counts how many runs are made at the same time; the first waits for company, as a real run would take longer."""

    def __init__(self) -> None:
        self.now, self.most, self._lock, self._has_company = 0, 0, threading.Lock(), threading.Event()

    def play(self, given: Settings) -> Mapping[str, float]:
        with self._lock:
            self.now += 1
            self.most = max(self.most, self.now)
            if self.now > 1:
                self._has_company.set()
        self._has_company.wait(timeout=self.patience_s)
        with self._lock:
            self.now -= 1
        return {"time_s": 10 + float(given["samples"]) / 100 / float(given["executors"])}

    patience_s = 60.0


def search(
    monkeypatch: pytest.MonkeyPatch,
    folder: Path,
    options: TuneOptions,
    budget: Budget,
    play: Crowd | None = None,
    study: Study = STUDY,
) -> TuneResult:
    crowd = play or Crowd()
    crowd.patience_s = crowd.patience_s if budget.runners > 1 else 0.0
    monkeypatch.setattr(site, "engine_for", lambda options: PlayedEngine(crowd.play))
    return tune(study, options, budget, ResultsPlace.local(folder), resume=True)


@pytest.mark.parametrize("searcher", ["guided", "cherrypick", "random", "exhaustive"])
def test_runs_at_once_are_different_ones_and_each_counts_once(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, searcher: str
) -> None:
    crowd = Crowd()
    result = search(monkeypatch, tmp_path, TuneOptions(searcher, TIME), Budget(6, runners=3), crowd)
    assert crowd.most > 1
    asked = [run.configuration for run in result.history]
    assert len(asked) == result.runs <= 6
    if searcher != "guided":  # which may repeat the best
        assert len(set(asked)) == 6
    assert any("3 runs at once" in note for note in result.notes)


def test_the_answer_is_that_of_runs_one_after_the_other(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    results = [
        search(monkeypatch, tmp_path / str(n), TuneOptions("exhaustive", TIME), Budget(12, runners=n)) for n in (1, 3)
    ]
    assert results[0].best == results[1].best
    assert {run.configuration for run in results[0].history} == {run.configuration for run in results[1].history}


def test_replicates_are_made_at_once_too(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    result = search(monkeypatch, tmp_path, TuneOptions("exhaustive", TIME, replicates=2), Budget(8, runners=3))
    assert result.runs == 8
    assert result.best is not None
    assert result.best.replicates == 2


def test_a_search_at_once_goes_on_as_one_after_the_other(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    options = TuneOptions("cherrypick", TIME)
    search(monkeypatch, tmp_path, options, Budget(4, runners=3))
    result = search(monkeypatch, tmp_path, options, Budget(6))
    assert (result.runs, result.new) == (6, 2)
    assert len({run.configuration for run in result.history}) == 6


def test_runs_at_once_keep_within_what_may_be_spent(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    priced = replace(STUDY, price=Price(core_hour=3600.0))
    budget = Budget(12, max_cost=60.0, runners=3)
    result = search(monkeypatch, tmp_path, TuneOptions("exhaustive", TIME), budget, study=priced)
    assert "would exceed the maximum cost" in result.stopped_because or result.runs == 12
    assert result.spent_cost is not None


def test_a_searcher_that_needs_each_answer_makes_one_run_at_a_time(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    with pytest.raises(StudyError, match="makes one run after the other"):
        search(monkeypatch, tmp_path, TuneOptions("doubling", TIME), Budget(6, runners=3))
    with pytest.raises(StudyError, match="not between 1 and"):
        Budget(6, runners=0)


def test_a_cluster_that_cannot_be_had_ends_the_search_with_its_error(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    class Broken(PlayedEngine):
        def warm_up(self, job: object) -> None:
            raise RunError("there is no cluster", hint="start one")

    monkeypatch.setattr(site, "engine_for", lambda options: Broken(Crowd().play))
    with pytest.raises(RunError, match="there is no cluster"):
        tune(STUDY, TuneOptions("random", TIME), Budget(6, runners=3), ResultsPlace.local(tmp_path))


def test_a_lane_without_a_session_says_why() -> None:
    def no_session() -> Session:
        raise RunError("no session", hint="none")

    trial = Trial(Configuration({"executors": 1}), 1)
    with Lanes(no_session, 2, CancelToken()) as lanes:
        with pytest.raises(RunError, match="no session"):
            lanes.measure(LaneJob(trial, tuple, None))
        assert lanes.has_room


# ---------------------------------------------------------------- what is asked beside others


def settings() -> tuple[Configuration, ...]:
    return tuple(Configuration({"machines": m, "cores": c}) for m in (1, 2, 4, 8) for c in (2, 4, 8))


@pytest.mark.parametrize("kind", [Guided, CherryPick])
@pytest.mark.parametrize("n_told", [0, 4])
def test_what_is_asked_beside_running_ones_is_none_of_them_and_leaves_nothing_behind(
    kind: type[Chooser], n_told: int
) -> None:
    candidates = settings()
    search = Search(candidates, per_second=(1.0,) * len(candidates))
    searcher = kind(search)
    for _ in range(n_told):
        asked = searcher.ask()
        assert asked is not None
        took = 100 / (float(asked["machines"]) * float(asked["cores"])) + 5
        searcher.tell(Evaluation(asked, took, took))
    running: list[Configuration] = []
    alone = searcher.ask()
    for _ in range(3):
        asked = searcher.ask_beside(running)
        if asked is None:
            break
        assert asked not in running
        running.append(asked)
    assert running[:1] == ([] if alone is None else [alone])
    assert searcher.ask() == alone


@pytest.mark.parametrize("kind", [RandomOrder, Exhaustive])
def test_searchers_for_comparison_ask_for_others_too(kind: type[RandomOrder] | type[Exhaustive]) -> None:
    searcher = kind(Search(settings()))
    running: list[Configuration] = []
    for _ in range(12):
        asked = searcher.ask_beside(running)
        assert asked is not None
        running.append(asked)
    assert len(set(running)) == 12
    assert searcher.ask_beside(running) is None
