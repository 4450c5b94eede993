import json
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from eventlogs_support import CODECS, as_lines, real_lines, task_end
from eventlogs_support import REAL_LOG as LOG
from profile_support import START, T, at, log_of
from sparkcast.eventlogs import Executor, JobRecord, Stage
from sparkcast.facts.joined import join_totals
from sparkcast.facts.totals import totals_of
from sparkcast.observe.eventlog import read_run_logs, stage_spans, task_imbalance
from sparkcast.study import TaskTotals
from sparkcast.study.names import SAMPLER_GROUP


def read_task_totals(path: Path) -> TaskTotals | None:
    return join_totals([totals_of(log) for log in read_run_logs(path)])


def test_a_real_log_is_summed_up() -> None:
    totals = read_task_totals(LOG)
    assert totals is not None
    assert (totals.jobs, totals.stages, totals.tasks, totals.failed_tasks) == (2, 2, 4, 0)
    assert (totals.executors, totals.lost_executors) == (2, 0)
    ends = [json.loads(line) for line in real_lines() if b"SparkListenerTaskEnd" in line]
    assert totals.run_s == pytest.approx(sum(e["Task Metrics"]["Executor Run Time"] for e in ends) / 1e3)
    assert totals.first_task_s == min(e["Task Info"]["Launch Time"] for e in ends) / 1e3


def test_plain_and_rolling_logs_say_the_same_as_the_compressed_one(tmp_path: Path) -> None:
    lines = real_lines()
    (tmp_path / "app-1").write_bytes(b"".join(lines))
    rolling = tmp_path / "dir" / "eventlog_v2_app-1"
    rolling.mkdir(parents=True)
    (rolling / "appstatus_app-1").touch()
    for index in range(12):  # ten comes after nine, not after one
        part = lines[index * len(lines) // 12 : (index + 1) * len(lines) // 12]
        (rolling / f"events_{index + 1}_app-1").write_bytes(b"".join(part))
    assert read_task_totals(tmp_path / "app-1") == read_task_totals(tmp_path / "dir") == read_task_totals(LOG)


@given(st.integers(0, LOG.stat().st_size))
def test_a_log_cut_off_anywhere_still_gives_what_came_before(size: int) -> None:
    import tempfile

    with tempfile.TemporaryDirectory() as folder:
        cut = Path(folder) / "app-1.zstd.inprogress"
        cut.write_bytes(LOG.read_bytes()[:size])
        totals = read_task_totals(cut)
    assert totals is not None
    assert 0 <= totals.tasks <= 4


@given(st.binary(max_size=200))
def test_no_bytes_whatever_break_the_reader(content: bytes) -> None:
    import tempfile

    with tempfile.TemporaryDirectory() as folder:
        for name in ("app-1", "app-1.zstd"):
            (Path(folder) / name).write_bytes(content)
            assert read_task_totals(Path(folder) / name) is not None


def test_an_executor_that_vanished_is_lost_and_one_let_go_is_not(tmp_path: Path) -> None:
    reasons = ("Command exited with code 137", "Executor killed by driver.")
    removed = [
        {"Event": "SparkListenerExecutorRemoved", "Executor ID": str(place), "Timestamp": 1, "Removed Reason": reason}
        for place, reason in enumerate(reasons)
    ]
    (tmp_path / "app-1").write_bytes(b"".join(as_lines([*removed, {"Event": "SparkListenerSomethingNew"}])))
    totals = read_task_totals(tmp_path)
    assert totals is not None
    assert totals.lost_executors == 1


def test_an_executor_that_ends_after_its_application_is_not_lost() -> None:
    gone = Executor("1", "a", 4, 0, at(0), at(6), "Command exited with code 143")
    assert totals_of(log_of([T(1, 2)], end=5, executors=[gone])).lost_executors == 0
    assert totals_of(log_of([T(1, 2)], end=7, executors=[gone])).lost_executors == 1


@pytest.mark.parametrize("codec", CODECS)
def test_every_compression_of_spark_gives_the_same_totals(codec: str, tmp_path: Path) -> None:
    (tmp_path / f"app-1.{codec}").write_bytes(CODECS[codec](b"".join(real_lines())))
    assert read_task_totals(tmp_path) == read_task_totals(LOG)


def test_failed_tasks_and_those_without_metrics_count(tmp_path: Path) -> None:
    lost = task_end(1, reason={"Reason": "ExecutorLostFailure"})
    del lost["Task Metrics"]
    (tmp_path / "app-1").write_bytes(b"".join(as_lines([task_end(0), lost])))
    totals = read_task_totals(tmp_path)
    assert totals is not None
    assert (totals.tasks, totals.failed_tasks, totals.run_s) == (2, 1, 0.1)


def test_a_folder_without_a_log_has_no_totals(tmp_path: Path) -> None:
    assert read_task_totals(tmp_path) is None
    assert read_task_totals(tmp_path / "nowhere") is None


def test_stages_come_in_order_and_one_without_an_end_lasts_to_the_end_of_the_log() -> None:
    stages = [Stage(1, 0, "reduce", submitted_ms=at(5)), Stage(0, 1, "map", submitted_ms=at(1), completed_ms=at(4))]
    spans = stage_spans([log_of([T(1, 4)], end=9, stages=[*stages, Stage(2, 0, "never submitted")])])
    assert [(span.stage_id, span.attempt, span.name) for span in spans] == [(0, 1, "map"), (1, 0, "reduce")]
    assert [(span.started_ms, span.ended_ms) for span in spans] == [(at(1), at(4)), (at(5), at(9))]


def test_imbalance_counts_executors_without_tasks_too() -> None:
    two = [Executor("1", "a", 4, 0, at(0)), Executor("2", "b", 4, 0, at(0))]
    assert task_imbalance([log_of([T(0, 3), T(0, 3, executor="2")], end=5, executors=two)]) == pytest.approx(0)
    assert task_imbalance([log_of([T(0, 3), T(0, 1, executor="2")], end=5, executors=two)]) == pytest.approx(0.5)
    assert task_imbalance([log_of([T(0, 3)], end=5, executors=two)]) == pytest.approx(1)
    assert task_imbalance([log_of([], end=5, executors=two)]) is None


def test_the_job_that_starts_samplers_is_not_the_first_one() -> None:
    jobs = [JobRecord(0, at(1), at(2), True, group=SAMPLER_GROUP), JobRecord(1, at(3), at(4), True)]
    assert totals_of(log_of([T(3, 4)], end=5, jobs=jobs)).first_job_s == START / 1e3 + 3
    assert totals_of(log_of([T(3, 4)], end=5, jobs=jobs[:1])).first_job_s is None
