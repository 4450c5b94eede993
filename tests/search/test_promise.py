"""What the answer of a search is worth: in time again, the best in truth, and worth what it cost."""

import json
import math
from collections.abc import Mapping
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sparkcast.designs.feasible import feasible
from sparkcast.engines import Handle, Submission
from sparkcast.errors import InfeasibleError, StudyError
from sparkcast.recommend import Limit
from sparkcast.recommend.question import Objective
from sparkcast.runs import site
from sparkcast.search.base import Evaluation, Search
from sparkcast.search.loop import Budget, TuneOptions, TuneResult, tune
from sparkcast.search.options import limits_for, settings_today
from sparkcast.search.payoff import payoff_of, warning_before
from sparkcast.search.promise import can_be_promised, chance_best, chance_in_time, noise_of
from sparkcast.search.searchers.cherrypick import CherryPick
from sparkcast.search.searchers.guided import Guided
from sparkcast.search.told import best_lines
from sparkcast.store import ResultsPlace
from sparkcast.study import Configuration, DesignChoice, Factor, SparkOptions, Study
from sparkcast.workloads import resolve
from tests_support import Ended, PlayedEngine, Settings

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
FASTEST = Configuration({"executors": 2, "samples": 1000})


def by_samples(given: Settings) -> Mapping[str, float]:
    return {"time_s": 10 + float(given["samples"]) / 100 / float(given["executors"])}


def search(
    monkeypatch: pytest.MonkeyPatch,
    folder: Path,
    options: TuneOptions,
    budget: Budget | None = None,
    engine: PlayedEngine | None = None,
) -> TuneResult:
    monkeypatch.setattr(site, "engine_for", lambda options: engine or PlayedEngine(by_samples))
    return tune(STUDY, options, budget or Budget(), ResultsPlace.local(folder))


# ---------------------------------------------------------------- how sure


def test_a_time_at_the_deadline_is_in_time_again_half_of_the_time() -> None:
    assert chance_in_time([60.0], 60.0, [[60.0]]) == pytest.approx(0.5, abs=0.001)


@given(st.floats(1.0, 1e4), st.floats(1.01, 3.0), st.integers(1, 5))
def test_more_room_and_more_runs_make_a_promise_surer(took: float, room: float, n: int) -> None:
    within = took * 1.05
    few, many = [took] * n, [took] * (n + 1)
    assert chance_in_time(few, within * room, [few]) >= chance_in_time(few, within, [few])
    assert chance_in_time(many, within, [many]) >= chance_in_time(few, within, [few])


def test_runs_that_vary_make_promises_of_all_settings_less_sure() -> None:
    steady, wild = [[50.0, 50.0], [40.0]], [[50.0, 80.0], [40.0]]
    assert noise_of(wild)[0] > 3 * noise_of(steady)[0]
    assert chance_in_time([40.0], 45.0, wild) < chance_in_time([40.0], 45.0, steady)


def test_what_more_runs_could_promise_is_known_before_they_are_made() -> None:
    assert not can_be_promised([59.9], 60.0, [[59.9]], 0.95, 3)
    assert can_be_promised([30.0], 60.0, [[30.0]], 0.95, 3)


def test_a_run_held_up_in_any_settings_makes_a_narrow_promise_less_sure() -> None:
    """Some jobs have many such runs; that shows in repeats, of whatever settings."""
    calm, held_up = [50.0, 50.5, 50.2], [50.0, 50.5, 150.0]
    assert chance_in_time([40.0], 60.0, [calm, [40.0]]) > chance_in_time([40.0], 60.0, [held_up, [40.0]]) + 0.05


def test_little_room_is_promised_only_after_many_calm_runs() -> None:
    """In repeats of public workloads one run in fourteen is 20 % slower than the median of its settings."""
    chances = [chance_in_time([50.0] * n, 60.0, [[50.0] * n]) for n in (1, 2, 4, 12)]
    assert chances == sorted(chances)
    assert chances[1] < 0.9 < 0.95 < chances[3]


def test_earlier_runs_of_the_same_settings_do_not_make_a_promise_slow_to_compute() -> None:
    many = [50.0 + n / 100 for n in range(200)]
    assert chance_in_time(many, 60.0, [many]) == chance_in_time(many[-12:], 60.0, [many[-12:]])


def test_one_run_however_fast_is_no_promise() -> None:
    assert chance_in_time([1.0], 60.0, [[1.0]]) < 0.95
    assert chance_in_time([1.0, 1.1], 60.0, [[1.0, 1.1]]) >= 0.95


def test_the_winner_is_surer_with_a_larger_lead() -> None:
    chances = [chance_best([[1.0], [1.0 * lead], [2.0]]) for lead in (1.01, 1.1, 1.5)]
    assert chances == sorted(chances)
    assert chances[0] < 0.6 < 0.9 < chances[-1]


# ---------------------------------------------------------------- with confidence


def test_with_a_confidence_the_answer_is_one_that_can_be_promised(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    """Fewest resources would take all of the deadline."""
    options = TuneOptions("exhaustive", Objective("time_s", True), within_s=30.5, confidence=0.95)
    result = search(monkeypatch, tmp_path, options, Budget(40))
    assert result.best is not None
    assert result.best.in_time is not None
    assert result.best.in_time >= 0.95
    assert any("met by the next run with" in text for _, text in best_lines(result, result.best))


def test_where_none_can_be_promised_it_says_so(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    options = TuneOptions("exhaustive", TIME, within_s=15.001, confidence=0.95)
    with pytest.raises(
        InfeasibleError, match="no configuration is in time in its next run with 95% probability"
    ) as told:
        search(monkeypatch, tmp_path, options, Budget(40))
    assert told.value.nearest == (FASTEST,)


def test_without_a_deadline_there_is_nothing_to_promise() -> None:
    with pytest.raises(StudyError, match="`confidence=` needs a deadline"):
        TuneOptions("random", TIME, confidence=0.95)
    with pytest.raises(StudyError, match="`stop_late=` needs a deadline"):
        TuneOptions("random", TIME, stop_late=True)
    with pytest.raises(StudyError, match="not between 0 and 1"):
        TuneOptions("random", TIME, within_s=1.0, confidence=95)


class Late(PlayedEngine):
    """One executor never ends by itself."""

    def start(self, submission: Submission, log: Path) -> Handle:
        if json.loads(Path(submission.argv[0]).read_text())["settings"]["executors"] != 1:
            return super().start(submission, log)
        return Ended(None)


def test_a_run_that_has_missed_the_deadline_is_stopped_where_that_was_asked(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setattr("sparkcast.search.loop._LEAST_STARTUP_S", 0.1)
    engine = Late(lambda given: {"time_s": 0.01})
    options = TuneOptions("exhaustive", TIME, within_s=0.2, stop_late=True)
    result = search(monkeypatch, tmp_path, options, engine=engine)
    assert result.best is not None
    outcomes = {run.configuration["executors"]: run.outcome for run in result.history}
    assert outcomes == {1: "timeout", 2: "ok"}


# ---------------------------------------------------------------- limits


def test_limits_are_those_of_recommend() -> None:
    limits, within_s = limits_for(STUDY, ["time_s <= 2min", "throughput >= 3"])
    assert (limits, within_s) == ((Limit("throughput", 3.0, is_upper=False),), 120.0)
    with pytest.raises(StudyError, match="there is no response 'through'"):
        limits_for(STUDY, ["through >= 3"])
    with pytest.raises(StudyError, match="two limits on the same side"):
        limits_for(STUDY, ["time_s <= 2min"], within_s=60.0)


def test_what_breaks_a_limit_is_no_answer(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    engine = PlayedEngine(lambda given: {**by_samples(given), "throughput": float(given["samples"])})
    options = TuneOptions("exhaustive", TIME, limits=(Limit("throughput", 2500.0, is_upper=False),))
    result = search(monkeypatch, tmp_path, options, engine=engine)
    assert result.best is not None
    assert result.best.configuration == Configuration({"executors": 2, "samples": 3000})


def test_where_every_run_breaks_a_limit_the_nearest_is_named(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    engine = PlayedEngine(lambda given: {**by_samples(given), "throughput": float(given["samples"])})
    options = TuneOptions("exhaustive", TIME, limits=(Limit("throughput", 9000.0, is_upper=False),))
    with pytest.raises(InfeasibleError, match=r"no run kept every limit; the nearest, .*samples=4000") as told:
        search(monkeypatch, tmp_path, options, engine=engine)
    assert "limit throughput >= 9000" in told.value.problem


@pytest.mark.parametrize("kind", [Guided, CherryPick])
def test_searchers_look_where_a_limit_is_kept(kind: type[Guided] | type[CherryPick]) -> None:
    """Few machines are cheap and not accurate enough: at least 16 are needed."""
    candidates = tuple(Configuration({"machines": n}) for n in (1, 2, 4, 8, 12, 16, 20, 24, 32))
    searcher = kind(Search(candidates))
    asked = []
    for _ in range(6):
        configuration = searcher.ask()
        if configuration is None:
            break
        asked.append(configuration)
        machines = float(configuration["machines"])
        searcher.tell(Evaluation(configuration, machines, slacks=(math.log(machines / 15),)))
    assert min((float(c["machines"]) for c in asked if float(c["machines"]) > 15), default=99.0) <= 20


# ---------------------------------------------------------------- when it pays


def test_a_search_pays_when_what_it_saves_exceeds_what_it_cost() -> None:
    found = payoff_of(300.0, 30.0, 40.0, FASTEST, 20)
    assert found is not None
    assert (found.in_answers, found.pays_from, found.saved, found.pays) == (10.0, 30, 0.25, False)
    saves_nothing = payoff_of(300.0, 30.0, 30.0, FASTEST, None)
    assert saves_nothing is not None
    assert (saves_nothing.pays_from, saves_nothing.pays) == (None, None)


def test_the_settings_of_today_are_run_first_and_compared_with(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    today = Configuration({"executors": 1, "samples": 4000})
    options = TuneOptions("exhaustive", TIME, instead_of=today, runs_to_come=5)
    result = search(monkeypatch, tmp_path, options)
    assert result.history[0].configuration == today
    assert result.payoff is not None
    assert (result.payoff.against, result.payoff.runs_to_come) == (today, 5)
    assert result.best is not None
    assert result.payoff.saved == pytest.approx(1 - result.best.value / 50)
    assert any("for a job that will run 5 times a search seldom pays" in note for note in result.notes)
    assert any(label == "Pays" and "instead of executors=1" in text for label, text in best_lines(result, result.best))


def test_only_searches_for_few_runs_are_warned_of() -> None:
    assert "once" in warning_before(1)
    assert "fewer than 30 times" in warning_before(None)
    assert not warning_before(100)


def test_todays_settings_must_be_complete_and_known() -> None:
    assert settings_today(STUDY, {"executors": "1", "samples": 4000.0}) == {"executors": 1, "samples": 4000}
    with pytest.raises(StudyError, match="lacks samples"):
        settings_today(STUDY, {"executors": 1})
    with pytest.raises(StudyError, match="no level executors = 7"):
        settings_today(STUDY, {"executors": 7, "samples": 1000})


# ---------------------------------------------------------------- noise


def test_near_ties_are_run_again_before_guided_answers(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """All take about as long: which is best is a matter of luck."""
    seen: dict[str, int] = {}

    def noisy(given: Settings) -> Mapping[str, float]:
        key = f"{given['executors']} {given['samples']}"
        seen[key] = seen.get(key, 0) + 1
        return {"time_s": 100 + (17 * seen[key] + float(given["samples"]) / 100) % 30}

    options = TuneOptions("guided", TIME, runs_to_come=1000)
    result = search(monkeypatch, tmp_path, options, Budget(16), PlayedEngine(noisy))
    assert max(run.replicate for run in result.history) > 1
    assert result.chance_best is not None
    assert 0 < result.chance_best < 0.9


# ---------------------------------------------------------------- many settings


def test_neighbors_of_the_best_are_candidates_where_there_are_too_many_to_list(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    """Of 200 combinations a sample of 12 is drawn, which lacks the best; steps from one to the next lead there."""
    monkeypatch.setattr("sparkcast.designs.feasible.MAX_LISTED", 10)
    monkeypatch.setattr("sparkcast.search.options.feasible", lambda study: feasible(study, 12))
    levels = tuple(range(1000, 101_000, 1000))
    study = resolve(
        Study("s", "pi", (Factor("executors", (1, 2)), Factor("samples", levels)), spark=SparkOptions("played"))
    )
    engine = PlayedEngine(lambda given: {"time_s": 10 + abs(float(given["samples"]) - 42_000) / 1000})
    monkeypatch.setattr(site, "engine_for", lambda options: engine)
    result = tune(study, TuneOptions("guided", TIME), Budget(30), ResultsPlace.local(tmp_path))
    assert result.best is not None
    sampled = {c["samples"] for c in feasible(study, 12).configurations}
    assert any(run.configuration["samples"] not in sampled for run in result.history)
    assert result.is_candidate
    assert result.best.value <= 10 + min(abs(float(samples) - 42_000) for samples in sampled) / 1000
