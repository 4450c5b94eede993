"""A standalone cluster of several hosts, one of which is cut off: network namespaces of this machine."""

import re
import signal
import sqlite3
import subprocess
import sys
from pathlib import Path

import pytest

import hosts_support
from hosts_support import Hosts
from sparkcast.eventlogs import find_logs, read_log
from tests_support import wait_until

STUDY = """\
study: hosts
workload: pi
settings: {executors: 2, cores: 1, samples: 20000, partitions: 2, pause_s: 12}
design: {replicates: 2}
limits: {trial: 8m}
"""
CONF = (
    "spark.executor.memory=512m",
    "spark.network.timeout=20s",
    "spark.network.timeoutInterval=5s",
    "spark.executor.heartbeatInterval=2s",
    "spark.driver.memory=512m",
)


@pytest.mark.slow
@pytest.mark.timeout(900)
def test_a_host_that_is_cut_off_costs_an_attempt_and_one_that_stays_away_is_said(
    tmp_path: Path, no_orphans: None
) -> None:
    if problem := hosts_support.why_not():
        pytest.skip(problem)
    (tmp_path / "s.yaml").write_text(STUDY)
    with Hosts(tmp_path, "master", "first", "second", "driver") as hosts:
        hosts.start_spark("master", "first", "second")
        master = f"spark://{hosts.address['master']}:7077,{hosts.address['master']}:7078"  # the standby is not there
        run = _start(hosts, master)

        wait_until(lambda: _works(tmp_path) or run.poll() is not None)
        hosts.cut_off("second")
        wait_until(lambda: "was lost (attempt 1 of 3)" in hosts.log("driver") or run.poll() is not None)
        hosts.reconnect("second")
        wait_until(lambda: _results(tmp_path) == 1 or run.poll() is not None)
        assert run.poll() is None, hosts.log("driver")

        hosts.cut_off("second")  # and it stays away
        said = re.compile(
            r"waiting: asked for 2 executors .*, (?:1|none) came within ([\d.]+) s, and the cluster has no room"
        )
        wait_until(lambda: said.search(hosts.log("driver")) is not None or run.poll() is not None)
        run.send_signal(signal.SIGTERM)
        run.wait()
        told = hosts.log("driver")
    assert run.returncode == 130, told
    waited = said.search(told)
    assert waited is not None, told
    assert float(waited[1]) < 60
    assert _results(tmp_path) == 1


@pytest.mark.slow
@pytest.mark.timeout(900)
def test_a_master_that_is_cut_off_ends_the_run_in_a_minute_and_resume_goes_on(tmp_path: Path, no_orphans: None) -> None:
    if problem := hosts_support.why_not():
        pytest.skip(problem)
    (tmp_path / "s.yaml").write_text(STUDY.replace("executors: 2", "executors: 1"))
    with Hosts(tmp_path, "master", "first", "driver") as hosts:
        hosts.start_spark("master", "first")
        run = _start(hosts, hosts.master_url("master"))
        wait_until(lambda: _works(tmp_path, 1) or run.poll() is not None)
        hosts.cut_off("master")
        run.wait()
        told = hosts.log("driver")
        assert run.returncode == 3, told
        assert "cannot be reached" in told
        hosts.reconnect("master")
        hosts.restart_worker("first", "master")
        run = _start(hosts, hosts.master_url("master"), "--resume")
        assert run.wait() == 0, hosts.log("driver")
    assert _results(tmp_path) == 2


def _start(hosts: Hosts, master: str, *options: str) -> "subprocess.Popen[bytes]":
    conf = [word for one in (*CONF, f"spark.driver.host={hosts.address['driver']}") for word in ("--conf", one)]
    return hosts.start(
        "driver", sys.executable, "-m", "sparkcast", "run", "s.yaml", "--master", master, *conf, *options
    )


def _works(folder: Path, executors: int = 2) -> bool:
    """Whether its executors are there, and have got to the job that pauses."""
    logs = [log for eventlog in folder.glob("s.results/runs/*-1/eventlog") for log in find_logs(eventlog)]
    events = [read_log(log).events for log in logs]
    return any(
        e.get("SparkListenerExecutorAdded", 0) >= executors and e.get("SparkListenerJobStart", 0) >= 2 for e in events
    )


def _results(folder: Path) -> int:
    with sqlite3.connect(folder / "s.results" / "store.sqlite", timeout=60) as connection:
        return int(connection.execute("SELECT count(*) FROM observations WHERE is_final").fetchone()[0])
