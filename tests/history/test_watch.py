"""Every log becomes a run of its job once, whatever happens to the log, the folder and the watcher."""

import os
import random
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from sparkcast import api
from sparkcast.errors import StudyError
from sparkcast.history import histories_of
from sparkcast.history.watch import Watched
from sparkcast.runs.cancel import CancelToken
from sparkcast.store import open_store
from sparkcast.study import Observation
from watch_support import DAY_MS, log_lines, write_log


def _look(path: Path | str, store: Path) -> Watched:
    return api.watch(path, store, readers=1)


def _runs(store: Path) -> dict[str, Observation]:
    opened = open_store(store)
    found = [run for job in histories_of(opened) for run in job.runs]
    opened.close()
    assert len({run.run_id for run in found}) == len(found)
    return {run.run_id: run for run in found}


@pytest.fixture
def logs(tmp_path: Path) -> Path:
    (tmp_path / "logs").mkdir()
    return tmp_path / "logs"


@pytest.fixture
def store(tmp_path: Path) -> Path:
    return tmp_path / "fleet.results"


def test_a_log_is_read_once_and_again_only_when_it_was_written_to(logs: Path, store: Path) -> None:
    write_log(logs, "app-1")
    assert _look(logs, store).counts == {"new": 1}
    assert _look(logs, store).counts == {"unchanged": 1}
    write_log(logs, "app-2")
    assert _look(logs, store).counts == {"new": 1, "unchanged": 1}
    assert set(_runs(store)) == {"app-1", "app-2"}


def test_the_run_has_what_it_read_as_settings(logs: Path, store: Path) -> None:
    for day, read in enumerate((1.0, 2.0)):
        write_log(logs, f"app-{day}", lines=log_lines(f"app-{day}", later_ms=day * DAY_MS, read=read))
    _look(logs, store)
    data = api.load_job(store, "nightly").dataset
    assert data.factors == ("input_bytes",)
    first, second = data.observations
    assert second.configuration["input_bytes"] == 2 * int(first.configuration["input_bytes"])
    assert "input_records" in first.configuration
    assert "input_bytes" not in data.measured
    assert data.vocabulary.role("input_bytes").value == data.vocabulary.role("input_records").value == "data-size"


def test_a_log_that_grows_is_running_and_then_finished_under_another_name(logs: Path, store: Path) -> None:
    lines = log_lines("app-1")
    path = write_log(logs, "app-1.inprogress", lines=lines[: len(lines) // 2])
    assert _look(logs, store).counts == {"running": 1}
    assert not _runs(store)["app-1"].responses
    path.unlink()
    write_log(logs, "app-1", lines=lines)
    assert _look(logs, store).counts == {"finished": 1}
    assert _runs(store)["app-1"].responses


def test_a_rolled_log_is_read_again_when_a_part_is_added(logs: Path, store: Path) -> None:
    lines = log_lines("app-1")
    folder = logs / "eventlog_v2_app-1"
    write_log(folder, "events_1_app-1", lines=lines[:20])
    (folder / "appstatus_app-1.inprogress").touch()
    assert _look(logs, store).counts == {"running": 1}
    write_log(folder, "events_2_app-1", lines=lines[20:])
    (folder / "appstatus_app-1.inprogress").rename(folder / "appstatus_app-1")
    assert _look(logs, store).counts == {"finished": 1}


def test_attempts_of_an_application_are_runs_of_their_own(logs: Path, store: Path) -> None:
    first = log_lines("app-1", attempt="1")
    write_log(logs, "app-1_1", lines=first[: len(first) // 2])
    write_log(logs, "app-1_2", lines=log_lines("app-1", attempt="2", later_ms=600_000))
    _look(logs, store)
    found = _runs(store)
    assert set(found) == {"app-1/1", "app-1/2"}
    assert not found["app-1/1"].responses


def test_a_bad_log_is_told_with_its_reason_and_stops_no_other(logs: Path, store: Path) -> None:
    write_log(logs, "app-1")
    (logs / "notes.txt").write_text("no log\n")
    (logs / "empty").touch()
    found = _look(logs, store)
    assert found.counts == {"new": 1, "skipped": 2}
    assert {one.reason for one in found.logs if one.event.value == "skipped"} == {"empty", "not an event log"}
    assert _look(logs, store).counts == {"unchanged": 3}
    assert api.watch(logs, store, readers=1, retry=True).counts == {"skipped": 2, "unchanged": 1}


def test_a_log_that_shrinks_leaves_its_run_as_it_was(logs: Path, store: Path) -> None:
    path = write_log(logs, "app-1")
    _look(logs, store)
    before = _runs(store)["app-1"]
    path.write_text("".join(f"{line}\n" for line in log_lines("app-1")[:10]))
    (told,) = _look(logs, store).logs
    assert (told.event.value, "shrank" in told.reason) == ("unchanged", True)
    path.write_text("")
    (told,) = _look(logs, store).logs
    assert "its run stays" in told.reason
    assert _runs(store)["app-1"] == before


def test_two_applications_with_one_id_are_two_runs_and_copies_of_one_are_one(logs: Path, store: Path) -> None:
    write_log(logs / "a", "app-1")
    write_log(logs / "b", "app-1", lines=log_lines("app-1", later_ms=DAY_MS))
    write_log(logs / "copy", "app-1")
    found = _look(logs, store)
    assert found.counts == {"new": 2, "unchanged": 1}
    ids = set(_runs(store))
    assert len(ids) == 2
    assert "app-1" in ids
    assert any("another application has the id app-1 too" in one.reason for one in found.logs)
    (logs / "b" / "app-1").touch()  # read again, it is the same run again
    os.utime(logs / "b" / "app-1", (1, 1))
    _look(logs, store)
    assert set(_runs(store)) == ids


def test_a_machine_whose_clock_is_ahead_is_told(logs: Path, store: Path) -> None:
    ahead = int(time.time() * 1000) - 1_700_000_000_000 + 10 * DAY_MS
    write_log(logs, "app-1", lines=log_lines("app-1", later_ms=ahead))
    (told,) = _look(logs, store).logs
    assert "clocks" in told.reason


def test_a_folder_that_vanishes_is_told_and_the_others_are_read(logs: Path, store: Path) -> None:
    write_log(logs, "app-1")
    found = api.watch([logs, logs.parent / "gone"], store, readers=1)
    assert [one.path for one in found.unseen] == [str(logs.parent / "gone")]
    assert found.counts == {"new": 1}


@pytest.mark.skipif(os.geteuid() == 0, reason="root may list any folder")
def test_a_folder_that_cannot_be_listed_is_told(logs: Path, store: Path) -> None:
    write_log(logs, "app-1")
    closed = logs / "closed"
    closed.mkdir(0o000)
    found = _look(logs, store)
    closed.chmod(0o700)
    assert [one.path for one in found.unseen] == [str(closed)]
    assert found.counts == {"new": 1}


def test_paths_that_are_all_misspelled_make_no_store(logs: Path, store: Path) -> None:
    with pytest.raises(StudyError, match="no such file"):
        _look(logs / "typo", store)
    assert not store.exists()
    assert _look(str(logs / "*.zstd"), store).counts == {}  # what a pattern matches may come yet


def test_urls_are_looked_at_anew_each_time(store: Path) -> None:
    fsspec = pytest.importorskip("fsspec")
    files = fsspec.filesystem("memory")
    text = "".join(f"{line}\n" for line in log_lines("app-1"))
    files.pipe("/watched/app-1", text.encode())
    assert _look("memory://watched", store).counts == {"new": 1}
    files.pipe("/watched/app-2", text.replace("app-1", "app-2").encode())
    assert _look("memory://watched", store).counts == {"new": 1, "unchanged": 1}
    files.rm("/watched", recursive=True)


def test_an_application_that_was_ingested_before_is_not_a_second_run(logs: Path, store: Path) -> None:
    path = write_log(logs, "app-1", "nightly_2026-11-03")
    api.ingest(path, store, processes=1)
    _look(logs, store)
    assert set(_runs(store)) == {"app-1"}


def test_what_was_stopped_comes_the_next_time(logs: Path, store: Path) -> None:
    for number in range(4):
        write_log(logs, f"app-{number}")
    token = CancelToken()
    with token:
        found = api.watch(logs, store, readers=1, on_log=lambda log: token.cancel())
    with CancelToken() as stopped:
        stopped.cancel()
        assert api.watch(logs, store, readers=1).is_cut_short or not found.is_cut_short
    _look(logs, store)
    assert len(_runs(store)) == 4


def test_two_watchers_of_one_folder_make_each_run_once(logs: Path, store: Path) -> None:
    for number in range(6):
        write_log(logs, f"app-{number}")
    command = [sys.executable, "-m", "sparkcast", "watch", str(logs), "--into", str(store), "--readers", "1"]
    both = [subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE) for _ in range(2)]
    for one in both:
        _, errors = one.communicate()
        assert one.returncode == 0, errors.decode()
    assert len(_runs(store)) == 6


def test_a_watcher_that_is_killed_at_any_moment_loses_nothing_and_counts_nothing_twice(logs: Path, store: Path) -> None:
    draw = random.Random(7)
    command = [sys.executable, "-m", "sparkcast", "watch", str(logs), "--into", str(store), "--every", "0.05s"]
    growing: dict[str, list[str]] = {}
    for round_ in range(4):
        for number in range(5):
            growing[f"app-{round_}-{number}"] = log_lines(f"app-{round_}-{number}", later_ms=DAY_MS * round_)
        watcher = subprocess.Popen([*command, "--readers", "1"], stdout=subprocess.PIPE, start_new_session=True)
        assert watcher.stdout is not None
        for _ in range(draw.randrange(1, 6)):  # it is killed after it has told of so many logs, in the midst of others
            for app_id in list(growing):
                _grow(logs, app_id, growing, draw)
            watcher.stdout.readline()
        os.killpg(watcher.pid, signal.SIGKILL)
        watcher.wait()
        watcher.stdout.close()
    while growing:
        for app_id in list(growing):
            _grow(logs, app_id, growing, draw)
    _look(logs, store)
    found = _runs(store)
    assert len(found) == 20
    assert all(run.responses for run in found.values())
    assert _look(logs, store).counts == {"unchanged": 20}


def _grow(logs: Path, app_id: str, growing: dict[str, list[str]], draw: random.Random) -> None:
    n_lines = draw.randrange(5, 40)
    some, growing[app_id] = growing[app_id][:n_lines], growing[app_id][n_lines:]
    path = logs / f"{app_id}.inprogress"
    with path.open("a") as file:
        file.write("".join(f"{line}\n" for line in some))
    if not growing[app_id]:
        path.rename(logs / app_id)
        del growing[app_id]


def test_sigterm_stops_cleanly_and_each_log_has_a_line(logs: Path, store: Path) -> None:
    write_log(logs, "app-1", "nightly load 2026-11-03")
    command = [sys.executable, "-m", "sparkcast", "watch", str(logs), "--into", str(store), "--every", "1h"]
    watcher = subprocess.Popen(command, stdout=subprocess.PIPE, text=True)
    assert watcher.stdout is not None
    first = watcher.stdout.readline()
    watcher.terminate()
    rest, _ = watcher.communicate()
    assert watcher.returncode == 0
    assert " event=new log=" in first
    assert 'job="nightly load"' in first
    assert "event=stopped" in rest
