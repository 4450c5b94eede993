"""Searching with runs, with an engine that plays its part at once: what is asked, told, kept, resumed and refused."""

import dataclasses
import json
import time
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from sparkcast.designs import make_plan
from sparkcast.engines import ClusterCapacity, Handle, Submission
from sparkcast.errors import InfeasibleError, NotEnoughDataError, RunError, StudyChangedError, StudyError
from sparkcast.recommend.question import Objective
from sparkcast.runs import site
from sparkcast.runs.campaign import run_campaign
from sparkcast.runs.session import Progress
from sparkcast.search.base import SEARCHERS, Evaluation, Search
from sparkcast.search.ledger import is_noise
from sparkcast.search.loop import Budget, TuneOptions, TuneResult, tune
from sparkcast.search.options import definition_of, objective_for
from sparkcast.store import ResultsPlace, Store, open_store
from sparkcast.study import (
    Configuration,
    Dataset,
    DesignChoice,
    Expression,
    Factor,
    Limits,
    LogOrigin,
    Observation,
    Outcome,
    Price,
    Response,
    SparkOptions,
    Study,
)
from sparkcast.workloads import resolve
from tests_support import Ended, Play, PlayedEngine, Settings, registered


def by_samples(given: Settings) -> Mapping[str, float]:
    return {"time_s": abs(float(given["samples"]) - 3100) / 1000 + 0.1 * float(given["executors"])}


STUDY = resolve(
    Study(
        "s",
        "pi",
        (Factor("executors", (1, 2)), Factor("samples", (1000, 2000, 3000, 4000))),
        design=DesignChoice(replicates=1),
        spark=SparkOptions("played"),
    )
)
TIME = Objective("time_s", False)
RANDOM = TuneOptions("random", TIME, seed=1)
BUDGET = Budget()


def search(
    monkeypatch: pytest.MonkeyPatch,
    folder: Path,
    options: TuneOptions = RANDOM,
    *,
    engine: PlayedEngine | None = None,
    study: Study = STUDY,
    budget: Budget = BUDGET,
    resume: bool = False,
    allow_changed: bool = False,
    seen: list[Progress] | None = None,
) -> TuneResult:
    monkeypatch.setattr(site, "engine_for", lambda options: engine or PlayedEngine(by_samples))
    on_progress = (seen if seen is not None else []).append
    place = ResultsPlace.local(folder)
    return tune(study, options, budget, place, resume=resume, allow_changed=allow_changed, on_progress=on_progress)


def measured(folder: Path) -> tuple[Observation, ...]:
    store = open_store(folder)
    try:
        return store.observations("s")
    finally:
        store.close()


def asked(result: TuneResult) -> list[tuple[Configuration, int, float | None]]:
    return [(run.configuration, run.replicate, run.value) for run in result.history]


def heard(monkeypatch: pytest.MonkeyPatch, searcher: str, method: str) -> list[Any]:
    """What a method of a searcher is given, from now on."""
    kind, found = SEARCHERS.get(searcher), list[Any]()
    original = getattr(kind, method)

    def listen(self: object, given: object) -> None:
        found.append(given)
        original(self, given)

    monkeypatch.setattr(kind, method, listen)
    return found


@pytest.fixture(autouse=True)
def _no_waiting_for_the_disk(monkeypatch: pytest.MonkeyPatch) -> None:
    """No test here pulls the plug of the machine, and waiting for its disk is most of their time."""
    monkeypatch.setattr("sparkcast.store.databases._configure_sqlite", lambda c, _: c.execute("PRAGMA synchronous=OFF"))


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    return tmp_path / "s.results"


# ---------------------------------------------------------------- finding


def test_the_best_of_what_was_run_is_found_told_and_kept(monkeypatch: pytest.MonkeyPatch, folder: Path) -> None:
    seen: list[Progress] = []
    result = search(monkeypatch, folder, seen=seen)
    assert result.best is not None
    assert result.best.configuration == {"executors": 1, "samples": 3000}
    assert result.best.value == pytest.approx(0.2)
    assert (result.runs, result.new, result.already_measured, result.failed) == (8, 8, 0, 0)
    assert result.stopped_because == "every candidate was run"
    assert result.history[-1].best_so_far == result.best.value
    assert result.spent_s > 0
    assert len(measured(folder)) == 8
    texts = [p.text for p in seen if not p.is_note]
    assert any(text.startswith("best ") and "; run 5 of at most 8: " in text for text in texts)
    assert sum(" -> " in p.text for p in seen if p.is_note) == 8


def test_no_more_runs_are_made_than_allowed_and_more_may_follow(monkeypatch: pytest.MonkeyPatch, folder: Path) -> None:
    result = search(monkeypatch, folder, budget=Budget(3))
    assert (result.runs, result.stopped_because) == (3, "the limit on the number of runs, 3")
    more = search(monkeypatch, folder, budget=Budget(5), resume=True)
    assert (more.runs, more.new, more.already_measured) == (5, 2, 0)
    assert asked(more)[:3] == asked(result)


def test_what_run_measured_is_told_and_not_run_again(monkeypatch: pytest.MonkeyPatch, folder: Path) -> None:
    monkeypatch.setattr(site, "engine_for", lambda options: PlayedEngine(by_samples))
    half = dataclasses.replace(make_plan(STUDY), trials=make_plan(STUDY).trials[:4])
    run_campaign(STUDY, half, ResultsPlace.local(folder))
    engine = PlayedEngine(by_samples)
    result = search(monkeypatch, folder, engine=engine, budget=Budget(4))
    assert len(engine.ran) == 4
    assert (result.runs, result.new, result.already_measured) == (4, 4, 4)
    assert sum(run.was_known for run in result.history) == 4
    assert len(measured(folder)) == 8


@pytest.mark.parametrize("searcher", ["guided", "cherrypick", "random", "exhaustive"])
@pytest.mark.parametrize("replicates", [1, 2])
def test_the_answer_is_never_worse_than_the_best_in_the_store(
    monkeypatch: pytest.MonkeyPatch, folder: Path, searcher: str, replicates: int
) -> None:
    def odd(given: Settings) -> Mapping[str, float]:
        """What no law of scaling foretells: one combination is fast for no reason."""
        is_fast = (given["executors"], given["samples"]) == (2, 4000)
        return {"time_s": 93.0 if is_fast else 165.0 + float(given["samples"]) / 1000}

    study = dataclasses.replace(STUDY, design=DesignChoice(replicates=replicates))
    engine = PlayedEngine(odd)
    monkeypatch.setattr(site, "engine_for", lambda options: engine)
    run_campaign(study, make_plan(study), ResultsPlace.local(folder))
    n_before = len(engine.ran)
    result = search(monkeypatch, folder, TuneOptions(searcher, TIME, seed=1), engine=engine, study=study)
    assert result.best is not None
    assert (result.best.value, result.best.replicates) == (93.0, replicates)
    assert result.best.configuration == Configuration({"executors": 2, "samples": 4000})
    assert (result.runs, result.already_measured, len(engine.ran)) == (0, n_before, n_before)


@pytest.mark.parametrize("searcher", ["guided", "cherrypick", "random", "exhaustive"])
def test_a_search_begins_with_all_that_is_known_of_some_candidates(
    monkeypatch: pytest.MonkeyPatch, folder: Path, searcher: str
) -> None:
    half = dataclasses.replace(STUDY, factors=(STUDY.factors[0], Factor("samples", (1000, 3000))))
    engine = PlayedEngine(by_samples)
    monkeypatch.setattr(site, "engine_for", lambda options: engine)
    run_campaign(half, make_plan(half), ResultsPlace.local(folder))
    told = heard(monkeypatch, searcher, "tell")
    result = search(monkeypatch, folder, TuneOptions(searcher, TIME, seed=1), engine=engine, allow_changed=True)
    assert {one.configuration["samples"] for one in told[:4]} == {1000, 3000}
    assert result.best is not None
    assert result.best.value <= min(run.responses["time_s"] for run in measured(folder))
    assert len(engine.ran) == len({(run["executors"], run["samples"]) for run in engine.ran})  # nothing twice


@pytest.mark.parametrize("replicates", [1, 3])
@pytest.mark.parametrize("searcher", ["guided", "random", "doubling"])
def test_every_run_of_the_store_counts_however_few_there_are_of_it(
    monkeypatch: pytest.MonkeyPatch, folder: Path, searcher: str, replicates: int
) -> None:
    def odd(given: Settings) -> Mapping[str, float]:
        return {"time_s": 1.0 if given["samples"] == 4000 else 50.0 + float(given["samples"])}

    engine = PlayedEngine(odd)
    monkeypatch.setattr(site, "engine_for", lambda options: engine)
    run_campaign(STUDY, make_plan(STUDY), ResultsPlace.local(folder))
    options = TuneOptions(searcher, TIME, seed=1, replicates=replicates, fix=Configuration({"executors": 1}))
    result = search(monkeypatch, folder, options, engine=engine, budget=Budget(2), allow_changed=True)
    assert result.best is not None
    assert (result.best.value, result.best.configuration["samples"]) == (1.0, 4000)
    is_single = result.best.replicates == 1 and replicates > 1
    assert any("the best has only 1 run" in warning for warning in result.warnings) == is_single


def test_ingested_runs_of_candidates_are_told_and_not_run_again(monkeypatch: pytest.MonkeyPatch, folder: Path) -> None:
    settings = STUDY.fixed | {"executors": 2}
    log = LogOrigin("s", "a.log", 1, True)
    ingested = [
        Observation(settings | {"samples": n}, {"time_s": n / 1e6}, run_id=f"app-{n}", origin=log) for n in (1000, 7000)
    ]
    store = open_store(folder, create=True)
    store.keep_ingested("s", STUDY.measured_definition(), ingested)
    store.close()
    told, engine = heard(monkeypatch, "random", "tell"), PlayedEngine(by_samples)
    result = search(monkeypatch, folder, engine=engine)
    assert told[0].configuration == {"executors": 2, "samples": 1000}
    assert result.best is not None
    assert (result.best.value, result.already_measured) == (0.001, 1)
    assert len(engine.ran) == result.runs == 7
    again = search(monkeypatch, folder, engine=engine, resume=True)
    assert (again.best, again.history, len(engine.ran)) == (result.best, result.history, 7)


def test_doubling_hears_of_earlier_runs_and_goes_on_from_the_best_of_them(
    monkeypatch: pytest.MonkeyPatch, folder: Path
) -> None:
    """Its walk ends at 2000, where the time rises, and earlier runs show that it falls again at 16000."""

    def dips(given: Settings) -> Mapping[str, float]:
        samples = int(given["samples"])
        return {"time_s": 5.0 if samples == 1000 else 1.0 if samples >= 16000 else 9.0}

    few = dataclasses.replace(STUDY, factors=(STUDY.factors[0], Factor("samples", (1000, 16000, 40000))))
    engine = PlayedEngine(dips)
    monkeypatch.setattr(site, "engine_for", lambda options: engine)
    run_campaign(few, make_plan(few), ResultsPlace.local(folder))
    result = search(monkeypatch, folder, DOUBLING, engine=engine, study=few, allow_changed=True)
    assert result.best is not None
    assert result.best.configuration["samples"] == 16000
    assert [run["samples"] for run in engine.ran[6:]] == [2000, 1100, 32000, 17600]


def test_a_new_run_may_win_over_settings_with_more_runs(monkeypatch: pytest.MonkeyPatch, folder: Path) -> None:
    known = dataclasses.replace(
        STUDY, factors=(STUDY.factors[0], Factor("samples", (1000, 2000))), design=DesignChoice(replicates=3)
    )
    engine = PlayedEngine(by_samples)
    monkeypatch.setattr(site, "engine_for", lambda options: engine)
    run_campaign(known, make_plan(known), ResultsPlace.local(folder))
    result = search(monkeypatch, folder, TuneOptions("exhaustive", TIME), engine=engine, allow_changed=True)
    assert result.best is not None
    assert (result.best.configuration["samples"], result.best.replicates) == (3000, 1)


def test_what_tune_measured_is_not_run_again_by_run(monkeypatch: pytest.MonkeyPatch, folder: Path) -> None:
    search(monkeypatch, folder, budget=Budget(3))
    engine = PlayedEngine(by_samples)
    monkeypatch.setattr(site, "engine_for", lambda options: engine)
    result = run_campaign(STUDY, make_plan(STUDY), ResultsPlace.local(folder), resume=True)
    assert (result.finished, len(engine.ran)) == (8, 5)


def test_nothing_is_started_when_all_is_known(monkeypatch: pytest.MonkeyPatch, folder: Path) -> None:
    first = search(monkeypatch, folder)
    engine = PlayedEngine(by_samples)
    again = search(monkeypatch, folder, engine=engine, resume=True)
    assert (engine.entered, again.new) == (0, 0)
    assert (again.best, again.history) == (first.best, first.history)


def test_replicates_are_averaged_for_searchers_that_ask_once(monkeypatch: pytest.MonkeyPatch, folder: Path) -> None:
    counts: dict[str, int] = {}

    def noisy(given: Settings) -> Mapping[str, float]:
        counts[str(given)] = counts.get(str(given), 0) + 1
        return {"time_s": by_samples(given)["time_s"] + 0.02 * counts[str(given)]}

    options = dataclasses.replace(RANDOM, replicates=3)
    result = search(monkeypatch, folder, options, engine=PlayedEngine(noisy), budget=Budget(10))
    assert [run.replicate for run in result.history] == [1, 2, 3, 1, 2, 3, 1, 2, 3, 1]
    assert result.best is not None
    assert result.best.replicates == 3
    assert result.best.value == pytest.approx(sum(result.best.values) / 3)
    assert result.best.configuration != result.history[-1].configuration  # its single run is not compared with means


def test_accuracy_is_maximized_and_told_as_its_negative(monkeypatch: pytest.MonkeyPatch, folder: Path) -> None:
    told = heard(monkeypatch, "random", "tell")
    options = TuneOptions("random", objective_for(STUDY, maximize="throughput"))
    engine = PlayedEngine(lambda g: {"time_s": 1.0, "throughput": float(g["samples"])})
    result = search(monkeypatch, folder, options, engine=engine)
    assert result.best is not None
    assert (result.best.value, result.objective) == (4000.0, "maximize throughput")
    assert min(answer.value for answer in told) == -4000.0


def test_a_formula_of_the_study_is_minimized_and_one_that_cannot_be_computed_counts_as_failed(
    monkeypatch: pytest.MonkeyPatch, folder: Path
) -> None:
    study = dataclasses.replace(STUDY, responses=(Response("cost", Expression("time_s / error")),))
    options = TuneOptions("exhaustive", objective_for(study, minimize="cost"))
    engine = PlayedEngine(lambda g: {"time_s": 1.0, "error": float(g["samples"]) - 1000})
    result = search(monkeypatch, folder, options, engine=engine, study=study)
    assert result.best is not None
    assert result.best.value == pytest.approx(1 / 3000)
    assert result.failed == 2
    assert "division" in next(run.cause for run in result.history if run.value is None)


def test_settings_are_fixed_by_the_studys_own_levels(monkeypatch: pytest.MonkeyPatch, folder: Path) -> None:
    engine = PlayedEngine(by_samples)
    search(monkeypatch, folder, dataclasses.replace(RANDOM, fix=Configuration({"executors": 2.0})), engine=engine)
    assert [g["executors"] for g in engine.ran] == [2] * 4
    assert {json.dumps(o.configuration["executors"]) for o in measured(folder)} == {"2"}


@pytest.mark.parametrize(
    ("fix", "error", "problem"),
    [
        ({"executor": 1}, StudyError, "cannot fix 'executor'"),
        ({"executors": 7}, InfeasibleError, "no level executors = 7"),
        ({"partitions": 9}, InfeasibleError, "no level partitions = 9"),
    ],
)
def test_fixing_what_is_not_there_is_refused(
    monkeypatch: pytest.MonkeyPatch, folder: Path, fix: Configuration, error: type[Exception], problem: str
) -> None:
    with pytest.raises(error, match=problem):
        search(monkeypatch, folder, dataclasses.replace(RANDOM, fix=fix))
    assert not folder.exists()


def test_rules_that_leave_nothing_are_infeasible(monkeypatch: pytest.MonkeyPatch, folder: Path) -> None:
    study = dataclasses.replace(STUDY, rules=(Expression("executors == 1"),))
    with pytest.raises(InfeasibleError, match="exclude all"):
        search(monkeypatch, folder, dataclasses.replace(RANDOM, fix=Configuration({"executors": 2})), study=study)


def test_candidates_that_the_cluster_cannot_hold_are_left_out(monkeypatch: pytest.MonkeyPatch, folder: Path) -> None:
    engine = PlayedEngine(by_samples, capacity=ClusterCapacity.alike(1, 1, 2**30))
    result = search(monkeypatch, folder, engine=engine)
    assert (result.runs, {g["executors"] for g in engine.ran}) == (4, {1})
    assert "4 of 8 combinations cannot be run and are left out: a trial needs 2 executors" in result.notes[0]


def test_earlier_runs_reach_the_searcher(monkeypatch: pytest.MonkeyPatch, folder: Path) -> None:
    given = heard(monkeypatch, "random", "__init__")
    earlier = Dataset(("executors",), (Observation({"executors": 1}, {"time_s": 2.0}),), "other")
    priced = dataclasses.replace(STUDY, price=Price(core_hour=3600.0))
    options = TuneOptions("random", objective_for(priced, minimize="cost"), within_s=9.0, earlier=(earlier,))
    search(monkeypatch, folder, options, study=priced)
    assert given[0].earlier == (earlier,)
    assert given[0].within_s == 9.0
    assert given[0].candidates[0] == {"executors": 1, "samples": 1000}  # what varies, and nothing else
    assert given[0].per_second == (1.0,) * 4 + (2.0,) * 4
    with pytest.raises(StudyChangedError, match=r"earlier: .*other: 1 runs"):
        search(monkeypatch, folder, dataclasses.replace(options, earlier=()), study=priced, resume=True)


# ---------------------------------------------------------------- failing


def test_failed_runs_are_told_and_counted(monkeypatch: pytest.MonkeyPatch, folder: Path) -> None:
    engine = PlayedEngine(lambda g: "no" if g["samples"] == 3000 else by_samples(g))
    result = search(monkeypatch, folder, engine=engine)
    assert result.best is not None
    assert result.best.configuration["samples"] == 4000
    assert (result.runs, result.failed) == (8, 2)
    assert {run.outcome for run in result.history} == {"ok", "error"}


class Endless(PlayedEngine):
    """Runs of 3000 samples do not end by themselves."""

    def start(self, submission: Submission, log: Path) -> Handle:
        if json.loads(Path(submission.argv[0]).read_text())["settings"]["samples"] != 3000:
            return super().start(submission, log)
        return Ended(None)


def test_a_searcher_is_told_how_a_run_failed_and_the_limit_that_stopped_it_again_on_resume(
    monkeypatch: pytest.MonkeyPatch, folder: Path
) -> None:
    study = dataclasses.replace(STUDY, limits=Limits(trial_s=0.2))
    told = heard(monkeypatch, "exhaustive", "tell")
    options = TuneOptions("exhaustive", TIME, fix=Configuration({"executors": 1}))
    broken = {2000: "java.lang.OutOfMemoryError: Java heap space", 4000: "no"}
    engine = Endless(lambda g: broken.get(g["samples"]) or by_samples(g))
    search(monkeypatch, folder, options, engine=engine, study=study)
    assert [one.outcome for one in told] == [Outcome.OK, Outcome.OOM, Outcome.TIMEOUT, Outcome.ERROR]
    assert [one.limit_s is not None for one in told] == [False, False, True, False]
    assert 0.2 <= told[2].limit_s < 5
    longer = dataclasses.replace(study, limits=Limits(trial_s=500))  # which did not stop that run
    search(monkeypatch, folder, options, study=longer, resume=True)
    assert told[4:] == told[:4]


def test_start_up_is_no_part_of_the_time_that_a_limit_speaks_of(monkeypatch: pytest.MonkeyPatch, folder: Path) -> None:
    study = dataclasses.replace(STUDY, limits=Limits(trial_s=0.5))
    told = heard(monkeypatch, "exhaustive", "tell")
    monkeypatch.setattr("sparkcast.search.ledger.SearchLedger.startup_s", 0.4)
    options = TuneOptions("exhaustive", TIME, fix=Configuration({"executors": 1}))
    search(monkeypatch, folder, options, engine=Endless(by_samples), study=study)
    assert 0.1 <= told[2].limit_s < 0.5


def test_two_errors_at_the_start_end_the_search_and_resume_goes_on(
    monkeypatch: pytest.MonkeyPatch, folder: Path
) -> None:
    with pytest.raises(RunError, match="the first 2 trials failed, the last with: E: no"):
        search(monkeypatch, folder, engine=PlayedEngine(lambda g: "no"))
    result = search(monkeypatch, folder, resume=True)
    assert (result.runs, result.failed, result.new) == (8, 2, 6)


def test_a_search_in_which_every_run_failed_is_an_error(monkeypatch: pytest.MonkeyPatch, folder: Path) -> None:
    engine = PlayedEngine(lambda g: {"throughput": 1.0})  # ends well, without a time
    with pytest.raises(RunError, match="all 8 runs failed, the last with: it has no time_s"):
        search(monkeypatch, folder, engine=engine)


def test_a_deadline_that_no_run_met_names_the_fastest(monkeypatch: pytest.MonkeyPatch, folder: Path) -> None:
    with pytest.raises(InfeasibleError, match=r"the fastest took 0.20 s, at executors=1, samples=3000"):
        search(monkeypatch, folder, dataclasses.replace(RANDOM, within_s=0.1))


@pytest.mark.parametrize("searcher", ["exhaustive", "guided"])
def test_under_a_deadline_alone_the_fewest_resources_are_searched(
    monkeypatch: pytest.MonkeyPatch, folder: Path, searcher: str
) -> None:
    options = TuneOptions(searcher, objective_for(STUDY, within_s=1.5), within_s=1.5)
    result = search(monkeypatch, folder, options)
    assert result.objective == "minimize core_seconds"
    assert result.best is not None
    assert result.best.configuration["executors"] == 1
    cores = int(STUDY.fixed["cores"])
    assert result.best.value == pytest.approx(cores * by_samples(result.best.configuration)["time_s"])


def test_only_runs_within_the_deadline_are_an_answer(monkeypatch: pytest.MonkeyPatch, folder: Path) -> None:
    options = TuneOptions("exhaustive", objective_for(STUDY, maximize="error"), within_s=1.5)
    engine = PlayedEngine(lambda g: {**by_samples(g), "error": abs(float(g["samples"]) - 3100)})
    result = search(monkeypatch, folder, options, engine=engine)
    assert result.best is not None
    assert result.best.configuration["samples"] == 2000  # 1000 has a larger error, and takes too long
    assert result.best.time_s is not None
    assert result.best.time_s <= 1.5


# ---------------------------------------------------------------- limits


def test_a_search_for_the_least_cost_is_another_one_at_another_price_however_it_is_given() -> None:
    prices = [Price(core_hour=1.0), Price(hour=Expression("2 * executors")), Price(hour=Expression("3 * executors"))]
    studies = [dataclasses.replace(STUDY, price=price) for price in prices]
    found = [definition_of(study, TuneOptions("random", objective_for(study, minimize="cost")), 4) for study in studies]
    assert len({str(definition) for definition in found}) == 3


PRICED = dataclasses.replace(STUDY, price=Price(core_hour=3600.0))  # 1 a second and core


@pytest.fixture
def slowly(monkeypatch: pytest.MonkeyPatch) -> Play:
    """Each run takes 20 s of a clock that only runs move."""
    now = [1e9]
    monkeypatch.setattr(time, "time", lambda: now[0])
    monkeypatch.setattr("sparkcast.store.clock.monotonic", lambda: now[0])

    def play(given: Settings) -> Mapping[str, float]:
        now[0] += 20
        return by_samples(given)

    return play


def test_runs_stop_before_they_cost_more_than_allowed(
    monkeypatch: pytest.MonkeyPatch, folder: Path, slowly: Play
) -> None:
    options = dataclasses.replace(RANDOM, fix=Configuration({"executors": 1}))
    budget = Budget(max_cost=70)
    result = search(monkeypatch, folder, options, engine=PlayedEngine(slowly), study=PRICED, budget=budget)
    assert (result.runs, result.spent_cost) == (3, 60)
    assert "the next run would exceed the maximum cost of 70 USD: 60 USD spent" in result.stopped_because


def test_money_is_counted_as_answers_count_it_by_what_executors_held(
    monkeypatch: pytest.MonkeyPatch, folder: Path, slowly: Play
) -> None:
    def held(given: Settings) -> Mapping[str, float]:
        played = slowly(given)
        assert not isinstance(played, str)
        return {**played, "total_s": 20.0, "core_hours": 15 / 3600}  # for 15 s of its 20 s

    options = dataclasses.replace(RANDOM, fix=Configuration({"executors": 1}))
    budget = Budget(max_cost=70)
    result = search(monkeypatch, folder, options, engine=PlayedEngine(held), study=PRICED, budget=budget)
    assert (result.runs, result.spent_cost) == (4, 60)
    assert result.history[0].cost == 15


def test_a_run_that_uses_up_the_money_is_stopped_and_says_nothing(
    monkeypatch: pytest.MonkeyPatch, folder: Path
) -> None:
    class Endless(PlayedEngine):
        def start(self, submission: Submission, log: Path) -> Handle:
            return Ended(None)

    with pytest.raises(NotEnoughDataError, match=r"nothing was run: the maximum cost of 0\.30 USD is used up"):
        search(monkeypatch, folder, engine=Endless(by_samples), study=PRICED, budget=Budget(max_cost=0.3))
    assert measured(folder) == ()


def test_the_total_limit_of_the_study_ends_the_search(
    monkeypatch: pytest.MonkeyPatch, folder: Path, slowly: Play
) -> None:
    study = dataclasses.replace(STUDY, limits=Limits(total_s=70))
    result = search(monkeypatch, folder, engine=PlayedEngine(slowly), study=study)
    assert (result.runs, result.spent_s) == (3, 60)
    assert "the limit of 1 min 10 s in total" in result.stopped_because


@pytest.mark.parametrize(
    ("make", "problem"),
    [
        (lambda: Budget(0), "`max_runs=0` is not positive"),
        (lambda: Budget(max_cost=0.0), "0 is not a positive amount"),
        (lambda: TuneOptions("random", TIME, within_s=0.0), "a limit of 0 s is not positive"),
        (lambda: TuneOptions("random", TIME, replicates=0), "0 replicates"),
        (lambda: objective_for(STUDY, minimize="cost"), "without a price"),
        (lambda: objective_for(STUDY, minimize="tim_s"), "no response 'tim_s'"),
        (lambda: objective_for(STUDY, minimize="time_s", maximize="accuracy"), "cannot both"),
    ],
)
def test_a_question_that_makes_no_sense_is_refused(make: Callable[[], object], problem: str) -> None:
    with pytest.raises(StudyError, match=problem) as caught:
        make()
    assert caught.value.hint


def test_a_bound_on_money_needs_a_price(monkeypatch: pytest.MonkeyPatch, folder: Path) -> None:
    with pytest.raises(StudyError, match="needs a price"):
        search(monkeypatch, folder, budget=Budget(max_cost=1.0))
    assert not folder.exists()


# ---------------------------------------------------------------- asking elsewhere


DOUBLING = TuneOptions("doubling", TIME, replicates=1, fix=Configuration({"executors": 1}))


def test_a_searcher_may_ask_for_what_is_no_candidate(monkeypatch: pytest.MonkeyPatch, folder: Path) -> None:
    study = dataclasses.replace(STUDY, factors=(STUDY.factors[0], Factor("samples", (1000, 10000))))
    result = search(monkeypatch, folder, DOUBLING, study=study)
    assert [run.configuration["samples"] for run in result.history] == [1000, 2000, 4000, 8000, 4400]
    assert result.best is not None
    assert result.best.configuration == {"executors": 1, "samples": 4000}
    assert result.stopped_because == "samples = 4400 was no better than 4000"
    assert not result.is_candidate


def test_what_rules_or_the_workload_refuse_is_told_as_failed_without_running(
    monkeypatch: pytest.MonkeyPatch, folder: Path
) -> None:
    study = dataclasses.replace(
        STUDY, factors=(STUDY.factors[0], Factor("samples", (1000, 10000))), rules=(Expression("samples != 4000"),)
    )
    engine = PlayedEngine(by_samples)
    result = search(monkeypatch, folder, DOUBLING, study=study, engine=engine)
    assert [g["samples"] for g in engine.ran] == [1000, 2000, 2200, 2420, 2662, 2928, 3221, 3543]
    assert (result.impossible, result.failed, result.runs) == (1, 0, 8)
    assert next(run for run in result.history if run.outcome == "impossible").cause == (
        "the rule 'samples != 4000' excludes it"
    )


class Downwards:
    """Asks for the candidates on a hundredth of their samples, then for one as it is."""

    asks_elsewhere = True
    warnings: tuple[str, ...] = ("it is a toy",)
    stopped_because = "enough"

    def __init__(self, search: Search) -> None:
        small = [c | {"samples": int(c["samples"]) // 100} for c in search.candidates]
        self._left = [search.candidates[0], *reversed(small)]

    def ask(self) -> Configuration | None:
        return self._left.pop() if self._left else None

    def tell(self, evaluation: Evaluation) -> None: ...


def test_a_run_on_less_data_is_never_the_answer(monkeypatch: pytest.MonkeyPatch, folder: Path) -> None:
    engine = PlayedEngine(lambda g: {"time_s": float(g["samples"])})
    with registered(SEARCHERS, "downwards", Downwards):
        result = search(monkeypatch, folder, TuneOptions("downwards", TIME), engine=engine)
        assert result.best is not None
        assert result.best.configuration == {"executors": 1, "samples": 1000}
        assert result.first == result.best  # and what the best is compared with is no such run either
        assert result.warnings == ("it is a toy",)
        with pytest.raises(
            NotEnoughDataError, match="none of 8 runs qualifies yet: the limit on the number of runs, 8"
        ) as caught:
            search(monkeypatch, folder.with_name("r"), TuneOptions("downwards", TIME), engine=engine, budget=Budget(8))
    assert "resume=True" in caught.value.hint


MNIST = resolve(
    Study(
        "s",
        "mnist-training",
        (Factor("learning_rate", (0.002, 10.0)),),
        Configuration({"dataset": "digits", "batch_size": 64}),
        responses=(Response("cost", Expression("time_s / (100 * accuracy) ** 2")),),
        spark=SparkOptions("local[1]"),
    )
)


def test_an_accuracy_that_guessing_reaches_and_a_difference_within_the_noise_are_warned_of(
    monkeypatch: pytest.MonkeyPatch, folder: Path
) -> None:
    monkeypatch.setattr("sparkcast_papers.workloads.mnist_training.prepare", lambda settings, data_dir: _Prepared())
    times = iter([10.0, 10.4, 10.1, 10.3, 10.2, 10.5, 10.3, 10.4])
    engine = PlayedEngine(lambda g: {"time_s": next(times), "accuracy": 0.12})
    options = TuneOptions("doubling", objective_for(MNIST, minimize="cost"), replicates=2)
    result = search(monkeypatch, folder, options, engine=engine, study=MNIST)
    edge, chance, noise = result.warnings
    assert edge == "the best learning_rate, 0.002, is the lowest value tried: a lower one may be better"
    assert chance == "the accuracy of the best, 0.12, is about what guessing would give, 0.1"
    assert noise.startswith("the best differs from the runner-up (cost ")


class _Prepared:
    fingerprint = "digits"


def test_replicates_that_agree_show_a_small_difference() -> None:
    assert not is_noise([1.0, 1.001, 0.999], [1.1, 1.101, 1.099])
    assert is_noise([1.0, 1.2, 0.9], [1.1, 1.0, 1.15])
    assert is_noise([1.0, 1.0], [1.0, 1.0])
    assert not is_noise([1.0, 1.0], [2.0, 2.0])
    assert not is_noise([1.0], [1.0])


# ---------------------------------------------------------------- resuming


class Killed(BaseException):
    """Stands for SIGKILL: nothing in the program handles it."""


class Executioner:
    """Kills before or after the n-th step that touches the store or the cluster."""

    def __init__(self, at: int) -> None:
        self.at, self.steps = at, 0

    def watch(self, function: Callable[..., Any]) -> Callable[..., Any]:
        def watched(*arguments: Any, **options: Any) -> Any:
            self._step()
            result = function(*arguments, **options)
            self._step()
            return result

        return watched

    def _step(self) -> None:
        self.steps += 1
        if self.steps == self.at:
            raise Killed


_STEPS = ("register", "begin_search", "add_trial", "begin_run", "finish_run")


def killed_at(patch: pytest.MonkeyPatch, folder: Path, options: TuneOptions, at: int, engine: PlayedEngine) -> bool:
    """Search until step `at`; whether there was such a step."""
    executioner = Executioner(at)
    with patch.context() as inner:
        for name in _STEPS:
            inner.setattr(Store, name, executioner.watch(getattr(Store, name)))
        inner.setattr(engine, "start", executioner.watch(engine.start))
        try:
            search(inner, folder, options, engine=engine, resume=True)
        except Killed:
            return True
    return False


SEARCHES = (RANDOM, dataclasses.replace(RANDOM, replicates=2, fix=Configuration({"executors": 1})), DOUBLING)


@settings(max_examples=10, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(options=st.sampled_from(SEARCHES), kills=st.lists(st.integers(1, 60), min_size=1, max_size=3))
def test_a_search_killed_anywhere_goes_on_where_it_was(
    tmp_path_factory: pytest.TempPathFactory, monkeypatch: pytest.MonkeyPatch, options: TuneOptions, kills: list[int]
) -> None:
    whole = search(monkeypatch, tmp_path_factory.mktemp("whole"), options)
    folder, engine = tmp_path_factory.mktemp("killed"), PlayedEngine(by_samples)
    n_killed = sum(killed_at(monkeypatch, folder, options, at, engine) for at in kills)
    result = search(monkeypatch, folder, options, engine=engine, resume=True)
    assert asked(result) == asked(whole)
    assert (result.best, result.runs, result.stopped_because) == (whole.best, whole.runs, whole.stopped_because)
    assert result.already_measured == 0
    stored = measured(folder)
    assert len({(str(sorted(o.configuration.items())), o.replicate) for o in stored}) == len(stored) == whole.runs
    assert len(engine.ran) <= whole.runs + n_killed, "more than the run that was under way was made again"


def test_a_search_begun_by_another_version_of_its_searcher_goes_on_with_all_it_has_run(
    monkeypatch: pytest.MonkeyPatch, folder: Path
) -> None:
    options = TuneOptions("cherrypick", TIME)
    first = search(monkeypatch, folder, options, budget=Budget(3))
    told = heard(monkeypatch, "cherrypick", "tell")
    monkeypatch.setattr(
        "sparkcast.search.searchers.cherrypick.spread",
        lambda points, seed: list(reversed(range(len(points.candidates)))),
    )
    engine = PlayedEngine(by_samples)
    more = search(monkeypatch, folder, options, engine=engine, budget=Budget(5), resume=True)
    assert (more.runs, more.new, len(engine.ran)) == (5, 2, 2)
    assert {run.configuration for run in first.history} <= {run.configuration for run in more.history}
    assert len({one.configuration.only(["executors", "samples"]) for one in told}) == len(told) == 5


def test_a_search_that_has_begun_asks_for_resume(monkeypatch: pytest.MonkeyPatch, folder: Path) -> None:
    search(monkeypatch, folder, budget=Budget(2))
    with pytest.raises(StudyError, match="has already started") as caught:
        search(monkeypatch, folder, budget=Budget(4))
    assert "resume=True" in caught.value.hint


@pytest.mark.parametrize("n_runs", [2, 20], ids=["the limit", "the searcher"])
def test_a_search_that_has_ended_says_so_and_why(monkeypatch: pytest.MonkeyPatch, folder: Path, n_runs: int) -> None:
    ended = search(monkeypatch, folder, budget=Budget(n_runs))
    engine = PlayedEngine(by_samples)
    with pytest.raises(StudyError, match=f"has finished: {ended.stopped_because}") as caught:
        search(monkeypatch, folder, budget=Budget(n_runs), engine=engine)
    assert "resume=True" in caught.value.hint
    assert engine.ran == []


def test_ctrl_c_in_the_last_run_changes_nothing(monkeypatch: pytest.MonkeyPatch, folder: Path) -> None:
    import os
    import signal

    engine = PlayedEngine(by_samples)
    launch = engine.start

    def interrupted(submission: Submission, log: Path) -> Handle:
        if len(engine.ran) == 2:
            os.kill(os.getpid(), signal.SIGINT)
        return launch(submission, log)

    monkeypatch.setattr(engine, "start", interrupted)
    result = search(monkeypatch, folder, engine=engine, budget=Budget(3))
    assert (result.interrupted, result.runs) == (False, 3)
    assert result.stopped_because == "the limit on the number of runs, 3"


def test_single_runs_are_a_tie_when_they_differ_by_less_than_noise(
    monkeypatch: pytest.MonkeyPatch, folder: Path
) -> None:
    near = search(monkeypatch, folder, engine=PlayedEngine(lambda g: {"time_s": 10 + float(g["samples"]) / 1e4}))
    assert near.is_tie
    far = search(monkeypatch, folder.with_name("far"), engine=PlayedEngine(lambda g: {"time_s": float(g["samples"])}))
    assert far.is_tie  # one and two executors take the same
    options = dataclasses.replace(RANDOM, fix=Configuration({"executors": 1}))
    alone = search(
        monkeypatch, folder.with_name("a"), options, engine=PlayedEngine(lambda g: {"time_s": float(g["samples"])})
    )
    assert not alone.is_tie


@pytest.mark.parametrize(
    ("changed", "difference"),
    [
        ({"seed": 2}, "seed: 1 -> 2"),
        ({"searcher": "exhaustive"}, "searcher: random -> exhaustive"),
        ({"within_s": 9.0}, r"within_s: \(absent\) -> 9.0"),
        ({"replicates": 2}, r"replicates: \(absent\) -> 2"),
        ({"fix": {"executors": 2}}, r"candidates: 8 -> 4; fix.executors: \(absent\) -> 2"),
        ({"objective": Objective("throughput", True)}, "objective: minimize time_s -> maximize throughput"),
    ],
)
def test_another_search_is_refused_with_the_difference_and_may_begin_anew(
    monkeypatch: pytest.MonkeyPatch, folder: Path, changed: dict[str, Any], difference: str
) -> None:
    engine = PlayedEngine(lambda g: {**by_samples(g), "throughput": 1.0})
    search(monkeypatch, folder, engine=engine, budget=Budget(2))
    other = dataclasses.replace(RANDOM, **changed)
    for resume in (True, False):
        with pytest.raises(StudyChangedError, match=difference):
            search(monkeypatch, folder, other, engine=engine, resume=resume)
    result = search(monkeypatch, folder, other, engine=engine, budget=Budget(1), allow_changed=True)
    assert result.runs == result.new == 1


def test_another_search_knows_what_the_first_one_measured(monkeypatch: pytest.MonkeyPatch, folder: Path) -> None:
    search(monkeypatch, folder)
    engine = PlayedEngine(by_samples)
    result = search(monkeypatch, folder, TuneOptions("exhaustive", TIME), engine=engine, allow_changed=True)
    assert (result.runs, result.already_measured, engine.ran) == (0, 8, [])
    assert (result.spent_s, result.best is not None) == (0.0, True)


def test_a_changed_study_is_refused_with_the_difference(monkeypatch: pytest.MonkeyPatch, folder: Path) -> None:
    search(monkeypatch, folder, budget=Budget(2))
    changed = dataclasses.replace(STUDY, factors=(STUDY.factors[0], Factor("samples", (1000, 3000))))
    with pytest.raises(StudyChangedError, match=r"settings.samples: \[1000, 2000, 3000, 4000\] -> \[1000, 3000\]"):
        search(monkeypatch, folder, study=changed, resume=True)
    result = search(monkeypatch, folder, study=changed, allow_changed=True)
    assert result.runs + result.already_measured == 4


def test_a_changed_formula_is_another_search(monkeypatch: pytest.MonkeyPatch, folder: Path) -> None:
    first = dataclasses.replace(STUDY, responses=(Response("twice", Expression("2 * time_s")),))
    second = dataclasses.replace(STUDY, responses=(Response("twice", Expression("time_s + time_s")),))
    options = TuneOptions("random", objective_for(first, minimize="twice"))
    search(monkeypatch, folder, options, study=first, budget=Budget(2))
    with pytest.raises(StudyChangedError, match=r"formula: 2 \* time_s -> time_s \+ time_s"):
        search(monkeypatch, folder, options, study=second, resume=True)


def test_an_interrupted_search_says_so_and_goes_on(monkeypatch: pytest.MonkeyPatch, folder: Path) -> None:
    import os
    import signal

    engine = PlayedEngine(by_samples)
    launch = engine.start

    def interrupted(submission: Submission, log: Path) -> Handle:
        if len(engine.ran) == 2:
            os.kill(os.getpid(), signal.SIGINT)
        return launch(submission, log)

    monkeypatch.setattr(engine, "start", interrupted)
    result = search(monkeypatch, folder, engine=engine)
    assert (result.interrupted, result.runs, result.stopped_because) == (True, 3, "interrupted")
    assert search(monkeypatch, folder, resume=True).runs == 8


def test_a_failed_outcome_is_kept_as_it_was(monkeypatch: pytest.MonkeyPatch, folder: Path) -> None:
    engine = PlayedEngine(lambda g: "no" if g["samples"] == 3000 else by_samples(g))
    search(monkeypatch, folder, engine=engine)
    assert sorted(o.outcome for o in measured(folder)) == [Outcome.ERROR] * 2 + [Outcome.OK] * 6
