"""Kill anything at any moment: after --resume every trial is there exactly once, and nothing is left behind."""

import random
import sqlite3
import subprocess
import sys
import time
from pathlib import Path

import psutil
import pytest

from sparkcast.engines import _warden
from tests_support import wait_until

TARGETS = ("driver", "executor", "sparkcast", "worker", "master")
_COMMANDS = {
    "driver": "org.apache.spark.deploy.SparkSubmit",
    "executor": "CoarseGrainedExecutorBackend",
    "worker": "org.apache.spark.deploy.worker.Worker",
    "master": "org.apache.spark.deploy.master.Master",
}
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
    (tmp_path / "crash.yaml").write_text(STUDY)
    chance = random.Random(20260101)
    process = _start(tmp_path)
    kept: dict[str, str] = {}
    for number, target in enumerate(TARGETS):
        process = _wait_for_results(number, process, tmp_path)  # so that there is data to lose
        time.sleep(chance.uniform(0.0, 6.0))
        process = _kill(target, process, tmp_path)
        now = _final_observations(tmp_path)
        assert kept.items() <= now.items(), f"kill {number} of {target} changed what was measured before"
        kept = now
    while process.wait() != 0:
        process = _restart_if_given_up(process, tmp_path)
    final = _final_observations(tmp_path)
    assert kept.items() <= final.items()
    assert _count(tmp_path, "SELECT count(*) FROM trials") == 8
    assert len(final) == 8
    assert _count(tmp_path, "SELECT count(*) FROM observations WHERE is_final") == 8
    assert _count(tmp_path, "SELECT count(*) FROM observations WHERE is_final AND outcome != 'ok'") == 0
    assert _count(tmp_path, "SELECT count(*) FROM runs WHERE state = 'running'") == 0


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


def _kill(target: str, process: "subprocess.Popen[bytes]", folder: Path) -> "subprocess.Popen[bytes]":
    """SIGKILL one process of the running campaign; returns the campaign, started again when it was the victim."""
    family, victims = "", list[int]()
    while not (family and victims):
        time.sleep(0.1)
        process = _restart_if_given_up(process, folder)
        family = _family(process)
        victims = [process.pid] if target == "sparkcast" else _pids(family, _COMMANDS[target])
    psutil.Process(victims[0]).kill()
    if target == "sparkcast":
        process.wait()
        wait_until(lambda: not _warden.members(family))  # nothing outlives the sparkcast that started it
        return _start(folder)
    return process


def _family(process: "subprocess.Popen[bytes]") -> str:
    """The mark that this campaign's engine gave to everything it started."""
    try:
        children = psutil.Process(process.pid).children()
        wardens = [c.cmdline() for c in children if _warden.__file__ in c.cmdline()]
    except psutil.Error:
        return ""
    return wardens[-1][2] if wardens else ""


def _pids(family: str, main_class: str) -> list[int]:
    found = []
    for member in _warden.members(family) if family else ():
        try:
            if any(main_class in word for word in member.cmdline()):
                found.append(member.pid)
        except psutil.Error:
            continue
    return found


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


def _count(folder: Path, query: str) -> int:
    return int(str(_query(folder, query)[0][0]))


def _query(folder: Path, query: str) -> list[tuple[object, ...]]:
    connection = sqlite3.connect(folder / "crash.results" / "store.sqlite", timeout=30)
    try:
        return connection.execute(query).fetchall()
    finally:
        connection.close()


def _log(folder: Path) -> str:
    return (folder / "run.log").read_text()[-3000:]
