import os
import signal
from pathlib import Path

from eventlogs_support import application, as_lines
from sparkcast.eventlogs import LogRead, LogStatus, find_logs, read_logs


def _n_tasks(log: LogRead) -> int:
    return len(log.tasks)


def _fails_for_two(log: LogRead) -> int:
    return 1 // (2 - len(log.tasks))


def _dies_for_two(log: LogRead) -> int:
    if len(log.tasks) == 2:
        os.kill(os.getpid(), signal.SIGKILL)
    return len(log.tasks)


def _folder(tmp_path: Path) -> Path:
    for number in range(1, 5):
        (tmp_path / f"app-{number}").write_bytes(b"".join(as_lines(application(number))))
    (tmp_path / "readme.txt").write_bytes(b"not a log\n")
    return tmp_path


def test_logs_are_read_in_processes_and_come_in_order(tmp_path: Path) -> None:
    logs = find_logs(_folder(tmp_path))
    alone = list(read_logs(logs, _n_tasks, processes=1))
    assert [one.made for one in alone] == [1, 2, 3, 4, None]
    assert [one.summary.status for one in alone] == [LogStatus.OK] * 4 + [LogStatus.SKIPPED]
    assert list(read_logs(logs, _n_tasks, processes=2)) == alone


def test_an_error_over_one_log_fails_that_log_alone(tmp_path: Path) -> None:
    taken = list(read_logs(find_logs(_folder(tmp_path)), _fails_for_two, processes=1))
    assert [one.made for one in taken] == [1, None, -1, -1, None]
    assert taken[1].summary.status is LogStatus.FAILED
    assert "ZeroDivisionError" in taken[1].summary.reason


def test_a_process_that_is_killed_over_one_log_costs_that_log_alone(tmp_path: Path) -> None:
    taken = list(read_logs(find_logs(_folder(tmp_path)), _dies_for_two, processes=2))
    assert [one.made for one in taken] == [1, None, 3, 4, None]
    assert "killed" in taken[1].summary.reason
