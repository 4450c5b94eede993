"""Kill anything at any moment: after --resume every trial is there exactly once, and nothing is left behind."""

import random
import sqlite3
import subprocess
import sys
import time
from pathlib import Path

import psutil
import pytest

from chaos_support import TARGETS, Chaos
from postgres_support import PostgresServer
from sparkcast.engines import _warden

STUDY = """\
study: crash
workload: pi
settings:
  executors: [1, 2]
  samples: [20000, 40000]
  pause_s: 0.5
design: {replicates: 2, seed: 3}
limits: {trial: 2m}
"""


@pytest.mark.slow
@pytest.mark.timeout(900)
def test_killing_any_process_at_any_moment_loses_and_doubles_nothing(tmp_path: Path, no_orphans: None) -> None:
    chaos = Chaos(tmp_path, random.Random(20260101))
    chaos.run(list(TARGETS))
    assert chaos.broken == []
    assert sum(chaos.kills.values()) >= len(TARGETS) - 1


@pytest.mark.slow
@pytest.mark.timeout(900)
def test_killing_runners_and_their_database_loses_and_doubles_nothing(
    tmp_path: Path, no_orphans: None, postgres: PostgresServer
) -> None:
    chaos = Chaos(tmp_path, random.Random(7), postgres, runners=2, replicates=1)
    chaos.run(["sparkcast", "postgresql"], wait_for_results=False)
    assert chaos.broken == []


@pytest.mark.slow
@pytest.mark.timeout(300)
def test_a_run_whose_warden_was_killed_ends_and_leaves_no_process(tmp_path: Path, no_orphans: None) -> None:
    """An out-of-memory killer takes what it likes, also the process that would clean up."""
    (tmp_path / "crash.yaml").write_text(STUDY.replace("replicates: 2", "replicates: 1").replace("[1, 2]", "1"))
    process = _start(tmp_path)
    _wait_for_results(1, process, tmp_path)
    family = _family(process)
    (warden,) = [c for c in psutil.Process(process.pid).children() if _warden.__file__ in c.cmdline()]
    warden.kill()
    assert process.wait(timeout=120) == 0, _log(tmp_path)
    assert len(_final_observations(tmp_path)) == 2
    assert not _warden.members(family)


def _start(folder: Path) -> "subprocess.Popen[bytes]":
    with (folder / "run.log").open("ab") as log:
        command = [sys.executable, "-m", "sparkcast", "run", "crash.yaml", "--resume"]
        return subprocess.Popen(command, cwd=folder, stdout=log, stderr=log)


def _wait_for_results(count: int, process: "subprocess.Popen[bytes]", folder: Path) -> "subprocess.Popen[bytes]":
    while len(_final_observations(folder)) < count:
        process = _restart_if_given_up(process, folder)
        time.sleep(0.2)
    return process


def _restart_if_given_up(process: "subprocess.Popen[bytes]", folder: Path) -> "subprocess.Popen[bytes]":
    """A trial lost three times, or a cluster killed while it starts, ends a run: resume it, as its hint says."""
    if process.poll() is None:
        return process
    assert process.returncode == 3, f"the study ended before the last kill: {_log(folder)}"
    return _start(folder)


def _family(process: "subprocess.Popen[bytes]") -> str:
    """The mark that this campaign's engine gave to everything it started."""
    try:
        children = psutil.Process(process.pid).children()
        wardens = [c.cmdline() for c in children if _warden.__file__ in c.cmdline()]
    except psutil.Error:
        return ""
    return wardens[-1][2] if wardens else ""


def _final_observations(folder: Path) -> dict[str, str]:
    """Trial key -> everything stored about its observation, as text."""
    if not (folder / "crash.results" / "store.sqlite").exists():
        return {}
    query = "SELECT key, o.* FROM observations o JOIN trials t ON t.id = o.trial_id WHERE is_final"
    try:
        rows = _query(folder, query)
    except sqlite3.OperationalError:  # killed before the tables were made
        return {}
    assert len({row[0] for row in rows}) == len(rows), "a trial was counted twice"
    return {str(row[0]): repr(row) for row in rows}


def _query(folder: Path, query: str) -> list[tuple[object, ...]]:
    connection = sqlite3.connect(folder / "crash.results" / "store.sqlite", timeout=30)
    try:
        return connection.execute(query).fetchall()
    finally:
        connection.close()


def _log(folder: Path) -> str:
    return (folder / "run.log").read_text()[-3000:]
