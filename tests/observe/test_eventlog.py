import io
import json
from pathlib import Path

import pytest
import zstandard
from hypothesis import given
from hypothesis import strategies as st

from sparkcast.errors import StudyError
from sparkcast.observe.eventlog import log_files, read_events, read_task_totals, total

# Written by Spark 3.5.9 for the workload `pi` on two executors; environment and paths taken out.
LOG = Path(__file__).parents[1] / "data" / "eventlog-3.5-pi.zstd"


def _plain_lines() -> list[bytes]:
    with LOG.open("rb") as raw:
        reader = zstandard.ZstdDecompressor().stream_reader(raw, read_across_frames=True)
        return io.BufferedReader(reader).readlines()


def test_a_real_log_is_summed_up() -> None:
    totals = read_task_totals(LOG)
    assert totals is not None
    assert (totals.jobs, totals.stages, totals.tasks, totals.failed_tasks) == (2, 2, 4, 0)
    assert (totals.executors, totals.lost_executors) == (2, 0)
    ends = [json.loads(line) for line in _plain_lines() if b"SparkListenerTaskEnd" in line]
    assert totals.run_s == pytest.approx(sum(e["Task Metrics"]["Executor Run Time"] for e in ends) / 1e3)
    assert totals.first_task_s == min(e["Task Info"]["Launch Time"] for e in ends) / 1e3


def test_plain_and_rolling_logs_say_the_same_as_the_compressed_one(tmp_path: Path) -> None:
    lines = _plain_lines()
    (tmp_path / "app-1").write_bytes(b"".join(lines))
    rolling = tmp_path / "dir" / "eventlog_v2_app-1"
    rolling.mkdir(parents=True)
    (rolling / "appstatus_app-1").touch()
    for index in range(12):  # ten comes after nine, not after one
        part = lines[index * len(lines) // 12 : (index + 1) * len(lines) // 12]
        (rolling / f"events_{index + 1}_app-1").write_bytes(b"".join(part))
    assert [f.name for f in log_files(tmp_path / "dir")][-1] == "events_12_app-1"
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


def test_an_executor_that_vanished_is_lost_and_one_let_go_is_not() -> None:
    removed = [
        {"Event": "SparkListenerExecutorRemoved", "Removed Reason": "Command exited with code 137"},
        {"Event": "SparkListenerExecutorRemoved", "Removed Reason": "Executor killed by driver."},
        {"Event": "SparkListenerSomethingNew"},
    ]
    assert total(removed).lost_executors == 1


def test_a_compression_that_is_not_readable_is_named(tmp_path: Path) -> None:
    (tmp_path / "app-1.lz4").write_bytes(b"x")
    with pytest.raises(StudyError, match=r"app-1\.lz4"):
        list(read_events([tmp_path / "app-1.lz4"]))


def test_a_folder_without_a_log_has_no_totals(tmp_path: Path) -> None:
    assert read_task_totals(tmp_path) is None
