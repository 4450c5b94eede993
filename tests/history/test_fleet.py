"""The morning list."""

from dataclasses import replace

import pytest

from history_support import DAY, GIB, MONDAY, a_history, a_run, write_store
from sparkcast import api
from sparkcast.errors import NotEnoughDataError, StudyError
from sparkcast.history import JobHistory
from sparkcast.history.morning import FleetReport
from sparkcast.history.replayed import dynamic_share, log_ratio
from sparkcast.study import Observation, Outcome, Price

UNTIL = MONDAY + 40 * DAY


def _history(runs: list[Observation], name: str = "nightly") -> JobHistory:
    return JobHistory(name, name, tuple(runs))


def _report(*histories: JobHistory, **given: object) -> FleetReport:
    return api.fleet(histories=histories, **{"since": "14d", "until_s": UNTIL, **given})  # type: ignore[arg-type]


def test_executors_that_have_no_task_to_run_are_saved() -> None:
    few = [_few_tasks(number) for number in range(40)]
    found = _report(_history(few))
    (saving,) = [one for one in found.savings if one.what == "executors"]
    assert saving.properties == {"spark.executor.instances": "2"}
    assert saving.line == "--conf spark.executor.instances=2"
    assert saving.low <= saving.worth <= saving.high
    assert saving.core_hours == pytest.approx(found.total.core_hours * 6 / 8, rel=0.1)
    assert saving.risk is not None
    assert saving.risk < 0.3


def _few_tasks(number: int) -> Observation:
    """Eight executors of four cores, and eight tasks in every stage."""
    run = a_run(number, executors=8, noise=1 + 0.02 * (number % 3))
    assert run.record is not None
    stages = tuple(
        replace(stage, n_tasks=8, task_s=8 * stage.duration_s, median_task_s=took, longest_task_s=took)
        for stage in run.record.stages
        for took in [stage.duration_s]
    )
    return replace(run, record=replace(run.record, stages=stages))


def test_executors_that_are_busy_are_kept() -> None:
    assert [one for one in _report(_history(a_history(40))).savings if one.what == "executors"] == []


def test_memory_is_advised_from_many_runs_with_headroom_and_never_from_a_few() -> None:
    many = _report(_history(a_history(40, peak_gib=2.0)))
    (saving,) = many.savings
    assert saving.properties == {"spark.executor.memory": "3g"}
    assert saving.gib_hours > 0
    few = _report(_history([a_run(n, peak_gib=2.0) for n in range(34, 40)]))
    assert few.savings == ()


def test_tasks_that_spill_get_more_partitions_and_no_promise() -> None:
    found = _report(_history([_spilling(number) for number in range(40)]))
    (saving,) = found.savings
    assert saving.properties == {"spark.sql.shuffle.partitions": "400"}
    assert saving.worth == 0
    assert "not known" in saving.evidence


def _spilling(number: int) -> Observation:
    run = a_run(number, noise=1 + 0.02 * (number % 3))
    assert run.record is not None
    scan, join, write = run.record.stages
    join = replace(join, spilled_bytes=join.shuffle_read_bytes // 2, n_tasks=200)
    return replace(run, record=replace(run.record, stages=(scan, join, write)))


def test_failures_are_grouped_by_cause_with_what_they_cost() -> None:
    runs = a_history(36)
    cause = "java.lang.OutOfMemoryError: Java heap space in task {} of stage 3"
    failed = [a_run(36 + n, outcome=Outcome.OOM, cause=cause.format(n)) for n in range(3)]
    found = _report(_history([*runs, *failed]), price=Price(core_hour=0.1, currency="EUR"))
    (group,) = found.failures
    assert group.n_runs == 3
    assert group.worth == pytest.approx(group.core_hours * 0.1)
    assert found.currency == "EUR"
    assert found.total.n_failed == 3
    assert "3 runs of nightly" in str(found)


def test_totals_by_job_user_queue_and_day_all_add_up() -> None:
    found = _report(_history(a_history(40)), _history(a_history(40, job="score"), "score"))
    for totals in (found.by_job, found.by_user, found.by_queue, found.by_day):
        assert sum(one.core_hours for one in totals) == pytest.approx(found.total.core_hours)
        assert sum(one.n_runs for one in totals) == found.n_runs
    assert [one.name for one in found.by_user] == ["etl"]
    assert len(found.by_day) == 14


def test_a_change_in_the_period_is_told_and_an_old_one_is_not() -> None:
    slow = [a_run(n, noise=(1.0 if n < 30 else 1.3) * (1 + 0.01 * (n % 3))) for n in range(40)]
    assert len(_report(_history(slow)).changes) == 1
    assert _report(_history(slow), since="2d").changes == ()


def test_a_period_without_runs_names_the_last_one() -> None:
    with pytest.raises(NotEnoughDataError, match="no run began since") as raised:
        _report(_history(a_history(10)), since="2d")
    assert "2026-10-07" in raised.value.hint
    with pytest.raises(StudyError, match="no period"):
        _report(_history(a_history(10)), since=0.0)


def test_a_store_is_read_and_the_answer_is_told_in_words(tmp_path_factory: pytest.TempPathFactory) -> None:
    place = tmp_path_factory.mktemp("fleet") / "fleet.results"
    write_store(place, [_few_tasks(number) for number in range(40)], a_history(40, job="score"))
    found = api.fleet(place, until_s=UNTIL)
    assert found.n_jobs == 2
    text = str(found)
    assert "could have saved" in text
    assert "--conf spark.executor.instances=2" in text
    assert "by queue" in found.text(details=True)


# ---------------------------------------------------------------- replays from what is kept


def test_a_stage_with_many_even_tasks_takes_twice_as_long_on_half_the_slots() -> None:
    record = a_run(1).record
    assert record is not None
    ratio = log_ratio(record, 16, 8)
    assert ratio == pytest.approx(0.66, abs=0.04)
    assert log_ratio(record, 16, 16) == pytest.approx(0)


def test_dynamic_allocation_holds_nothing_for_long_where_no_task_runs() -> None:
    record = a_run(1).record
    assert record is not None
    assert dynamic_share(record, 4, 4) == pytest.approx(1.0, abs=0.05)
    idle = replace(record, ended_s=record.ended_s + 7200)
    assert dynamic_share(idle, 4, 4) < 0.5


def test_peaks_are_bytes() -> None:
    record = a_run(1, peak_gib=2.0).record
    assert record is not None
    assert record.memory.peak_heap == 2 * GIB
