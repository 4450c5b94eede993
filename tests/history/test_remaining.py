"""When an application in progress will be done."""

import math
import random
from pathlib import Path

import pytest

from history_support import a_history, a_run, in_progress, write_store
from sparkcast import api
from sparkcast.errors import NotEnoughDataError, StudyError
from sparkcast.history import JobHistory
from sparkcast.history.remaining import EndedRun, Eta, SoFar, eta_of, etas_of, remaining
from sparkcast.study import Observation


def _history(n: int = 40) -> JobHistory:
    return JobHistory("nightly", "nightly", tuple(a_history(n)))


def _asked(run: Observation, n_stages: int) -> Eta:
    record = in_progress(run, n_stages).record
    assert record is not None
    return eta_of(_history(), record)


def test_the_interval_holds_the_truth_and_shrinks_as_stages_end() -> None:
    run = a_run(41, gib=80.0)
    assert run.record is not None
    widths = []
    for n_stages in (0, 1, 2):
        found = _asked(run, n_stages)
        truth = run.record.wall_s - found.elapsed_s
        low, high = found.remaining.interval(0.9)
        assert low <= truth <= high
        widths.append(high - low)
    assert widths == sorted(widths, reverse=True)
    assert widths[-1] < widths[0] / 2


def test_a_run_that_is_slow_so_far_is_expected_to_stay_slow() -> None:
    usual, slow = _asked(a_run(41), 2), _asked(a_run(41, noise=2.0), 2)
    assert slow.remaining.median > 1.4 * usual.remaining.median


def test_runs_that_vary_at_random_are_answered_with_intervals_that_hold() -> None:
    draw = random.Random(5)
    runs = []
    for _ in range(60):
        pace = math.exp(draw.gauss(0, 0.3))
        steps = [10 * pace * math.exp(draw.gauss(0, 0.2)) for _ in range(10)]
        ends = [sum(steps[: place + 1]) for place in range(10)]
        runs.append(EndedRun(tuple(ends), ends[-1]))
    inside = 0
    for run in runs:
        others = [one for one in runs if one is not run]
        low, high = remaining(others, SoFar(run.ends_s[:4], run.ends_s[3])).distribution().interval(0.9)
        inside += low <= run.total_s - run.ends_s[3] <= high
    assert 50 <= inside <= 59


def test_a_stage_that_goes_on_for_longer_than_usual_takes_its_time_from_what_is_left() -> None:
    run = a_run(41)
    late = in_progress(run, 1, beyond_s=200.0).record
    early = in_progress(run, 1).record
    assert late is not None
    assert early is not None
    history = _history()
    assert eta_of(history, late).remaining.median < eta_of(history, early).remaining.median


def test_a_job_with_two_runs_is_not_known() -> None:
    record = in_progress(a_run(41), 1).record
    assert record is not None
    with pytest.raises(NotEnoughDataError, match="3 are needed"):
        eta_of(_history(2), record)


def test_answers_come_one_by_one_as_the_log_grows() -> None:
    records = [in_progress(a_run(41), n).record for n in range(3)]
    found = etas_of(_history(), [record for record in records if record is not None])
    assert [one.steps for one in found] == [0, 1, 2]


def test_a_store_tells_which_application_is_in_progress(tmp_path: Path) -> None:
    running = in_progress(a_run(40), 2)
    place = write_store(tmp_path / "fleet.results", [*a_history(), running])
    assert api.eta(place).app_id == running.run_id
    assert "more (90%" in str(api.eta(place, app=running.run_id))
    with pytest.raises(StudyError, match="has ended"):
        api.eta(place, app=a_run(39).run_id)
    with pytest.raises(StudyError, match="does not have"):
        api.eta(place, app="application_1")


def test_after_a_change_the_runs_since_it_say_how_long_a_run_takes() -> None:
    runs = [a_run(n, work_s=600.0 * (2 if n >= 30 else 1), noise=1 + 0.02 * math.sin(n)) for n in range(36)]
    now = in_progress(a_run(36, work_s=1200.0), 1)
    assert now.record is not None
    found = eta_of(JobHistory("nightly", "nightly", (*runs, now)), now.record)
    assert found.n_runs == 6
    assert found.total.median == pytest.approx(1220, rel=0.05)
    assert any("since its time changed" in note for note in found.notes)


def test_a_job_that_never_ran_is_answered_from_jobs_that_resemble_it_and_says_so(tmp_path: Path) -> None:
    new = in_progress(a_run(50, job="brand new"), 1)
    others = [a_history(6, job=f"job {letter}", work_s=500.0) for letter in "abcdef"]
    place = write_store(tmp_path / "fleet.results", *others, [new])
    found = api.eta(place, app=new.run_id)
    assert found.n_runs == 0
    low, high = found.total.interval(0.9)
    assert low < 620 < high
    assert "most alike job" in found.notes[0]
    assert "other jobs that resemble" in found.text()
    few = write_store(tmp_path / "few.results", *others[:2], [new])
    with pytest.raises(NotEnoughDataError):
        api.eta(few, app=new.run_id)
