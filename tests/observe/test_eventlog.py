import json
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from eventlogs_support import CODECS, as_lines, real_lines, task_end
from eventlogs_support import REAL_LOG as LOG
from sparkcast.observe.eventlog import read_task_totals


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
