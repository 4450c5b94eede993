import os
from pathlib import Path

import pytest

from eventlogs_support import CODECS, application, as_lines, real_lines
from sparkcast.errors import StudyError
from sparkcast.eventlogs import LogStatus, find_logs, read_log

LINES = as_lines(application())


def _names(path: Path) -> list[str]:
    (log,) = find_logs(path)
    return [Path(file).name for file in log.files]


def _rolling(folder: Path, *names: str) -> Path:
    folder.mkdir(parents=True)
    for name in names:
        (folder / name).write_bytes(b"")
    return folder


def test_rolled_parts_are_read_by_number(tmp_path: Path) -> None:
    names = [f"events_{number}_app-1" for number in range(1, 13)]
    folder = _rolling(tmp_path / "eventlog_v2_app-1", "appstatus_app-1", *names)
    assert _names(folder) == names
    assert _names(tmp_path) == names


def test_a_compacted_part_stands_for_all_before_it(tmp_path: Path) -> None:
    names = ["events_1_a.zstd", "events_2_a.zstd", "events_2_a.zstd.compact", "events_3_a.zstd", "events_10_a.zstd"]
    folder = _rolling(tmp_path / "eventlog_v2_a", "appstatus_a.inprogress", *names)
    (log,) = find_logs(folder)
    assert [Path(file).name for file in log.files] == names[2:]
    assert log.is_in_progress
    assert log.missing.startswith("parts 4, 5, 6, 7, 8, ... are missing")


def test_attempts_are_logs_of_their_own(tmp_path: Path) -> None:
    for attempt in "12":
        (tmp_path / f"application_1_0001_{attempt}").write_bytes(b"".join(LINES))
    assert len(find_logs(tmp_path)) == 2


def test_a_folder_of_databricks_is_one_log(tmp_path: Path) -> None:
    folder = tmp_path / "cluster" / "eventlog" / "123"
    folder.mkdir(parents=True)
    third = len(LINES) // 3
    (folder / "eventlog-2024-01-01--10-00.gz").write_bytes(CODECS["gz"](b"".join(LINES[:third])))
    (folder / "eventlog-2024-01-01--11-00.gz").write_bytes(CODECS["gz"](b"".join(LINES[third : 2 * third])))
    (folder / "eventlog").write_bytes(b"".join(LINES[2 * third :]))
    (log,) = find_logs(tmp_path)
    read = read_log(log)
    assert (read.status, len(read.tasks)) == (LogStatus.OK, 3)


def test_folders_are_searched_through_and_patterns_matched(tmp_path: Path) -> None:
    (tmp_path / "deep" / "er").mkdir(parents=True)
    for name in ("deep/er/app-1", "app-2.zstd", ".app-2.zstd.crc", "_SUCCESS"):
        (tmp_path / name).write_bytes(b"x")
    assert [Path(log.name).name for log in find_logs(tmp_path)] == ["app-2.zstd", "app-1"]
    assert [Path(log.name).name for log in find_logs(str(tmp_path / "**" / "app-*"))] == ["app-2.zstd", "app-1"]
    both = find_logs([tmp_path, tmp_path / "app-2.zstd"])
    assert len(both) == 2


def test_links_that_go_round_in_a_circle_end(tmp_path: Path) -> None:
    (tmp_path / "logs" / "more").mkdir(parents=True)
    (tmp_path / "logs" / "app-1").write_bytes(b"".join(LINES))
    for name in ("one", "other"):  # with two of them, every level has twice as many paths
        (tmp_path / "logs" / name).symlink_to(tmp_path / "logs")
        (tmp_path / "logs" / "more" / name).symlink_to(tmp_path)
    (tmp_path / "logs" / "itself").symlink_to(tmp_path / "logs" / "itself")
    found = {Path(log.name).name: log for log in find_logs(tmp_path)}
    assert set(found) == {"app-1", "itself"}
    assert read_log(found["itself"]).status is LogStatus.FAILED


def test_a_pipe_is_skipped_and_nobody_waits_for_it(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "app-1")
    log = read_log(tmp_path)
    assert (log.status, log.reason) == (LogStatus.SKIPPED, "a pipe or a device, not a file")


def test_a_path_that_does_not_exist_is_named(tmp_path: Path) -> None:
    with pytest.raises(StudyError, match="nothing-here"):
        find_logs(tmp_path / "nothing-here")
    with pytest.raises(StudyError, match="no such file"):
        find_logs(str(tmp_path / "*.zstd"))


def test_file_urls_and_other_places_are_read(tmp_path: Path) -> None:
    path = tmp_path / "an app"
    path.write_bytes(b"".join(real_lines()))
    assert len(read_log(path.as_uri()).tasks) == 4


def test_a_log_behind_a_url_reads_like_a_file() -> None:
    fsspec = pytest.importorskip("fsspec")
    files = fsspec.filesystem("memory")
    folder = "/logs/eventlog_v2_app-1"
    for number, part in enumerate((LINES[:8], LINES[8:]), 1):
        files.pipe(f"{folder}/events_{number}_app-1.zstd", CODECS["zstd"](b"".join(part)))
    files.pipe(f"{folder}/appstatus_app-1", b"")
    (log,) = find_logs("memory://logs")
    read = read_log(log)
    assert (read.status, read.counts.files, len(read.tasks)) == (LogStatus.OK, 2, 3)
    assert len(find_logs("memory://logs/*/events_1*")) == 1
