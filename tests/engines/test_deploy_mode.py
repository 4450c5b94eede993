"""Drivers that run on the cluster: a standalone cluster on hosts of its own, and jobs that Spark brings along."""

import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import psutil
import pytest

import hosts_support
from hosts_support import Hosts
from sparkcast import api
from sparkcast.engines._installation import find_spark
from sparkcast.errors import StudyError
from sparkcast.study import Outcome
from tests_support import Call

STUDY = """\
study: remote
workload: command
settings: {{executors: 1, cores: 1, points: [{points}]}}
command:
  application: {jar}
  class: org.apache.spark.mllib.util.KMeansDataGenerator
  deploy_mode: cluster
  arguments: ["{master}", "{{run_folder}}/points", "{{points}}", "2", "2", "1.0", "1"]
limits: {{trial: 8m}}
spark: {{conf: {{spark.executor.memory: 512m, spark.driver.memory: 512m}}}}
"""
JOB = """\
study: s
workload: command
command: {application: job.py, deploy_mode: cluster}
settings: {executors: [1, 2]}
"""
_DRIVER = "org.apache.spark.deploy.worker.DriverWrapper"


@pytest.fixture
def hosts(tmp_path: Path) -> Iterator[Hosts]:
    if problem := hosts_support.why_not():
        pytest.skip(problem)
    with Hosts(tmp_path, "master", "first", "second", "here") as made:
        made.start_spark("master", "first", "second")
        yield made


def _start(hosts: Hosts, folder: Path, points: str) -> "subprocess.Popen[bytes]":
    master = f"spark://{hosts.address['master']}:7077"
    [jar] = (find_spark(honor_spark_home=False).home / "jars").glob("spark-mllib_*.jar")
    (folder / "remote.yaml").write_text(STUDY.format(points=points, jar=jar, master=master))
    return hosts.start("here", sys.executable, "-m", "sparkcast", "run", "remote.yaml", "--master", master)


def _drivers(folder: Path) -> list[psutil.Process]:
    found = []
    for process in psutil.process_iter():
        try:
            line = process.cmdline()
        except psutil.Error:
            continue
        if _DRIVER in line and any(str(folder) in word for word in line):
            found.append(process)
    return found


@pytest.mark.slow
@pytest.mark.timeout(900)
def test_a_driver_that_fails_on_the_cluster_is_told_with_its_own_words(
    hosts: Hosts, tmp_path: Path, no_orphans: None
) -> None:
    """spark-submit exits with 0 all the same. The worker cannot bind to the address of the host that submits."""
    run = _start(hosts, tmp_path, "1000, -5")
    run.wait()
    told = hosts.log("here")
    runs = api.load_data(tmp_path / "remote.yaml").dataset.observations
    assert [one.outcome for one in runs] == [Outcome.ERROR, Outcome.ERROR], told
    log = (tmp_path / "remote.results" / runs[0].artifacts / "driver.log").read_text()
    assert "is FAILED" in log
    assert "Exception in thread" in log  # which the worker has written, and not spark-submit
    assert _drivers(tmp_path) == []


def test_jobs_that_a_standalone_cluster_cannot_run_are_refused_before_anything_starts(
    tmp_path: Path, call: Call
) -> None:
    (tmp_path / "job.py").write_text("")
    (tmp_path / "s.yaml").write_text(JOB)
    answer = call("run", "s.yaml", "--master", "spark://10.0.0.1:7077")
    assert answer.code == 2
    assert "a standalone cluster runs no drivers in Python" in answer.err
    (tmp_path / "p.yaml").write_text("study: p\nworkload: pi\nsettings: {samples: [1000, 2000]}\n")
    answer = call("run", "p.yaml", "--master", "yarn", "--conf", "spark.submit.deployMode=cluster")
    assert answer.code == 2
    assert "is for jobs of your own" in answer.err


def test_a_submission_that_would_not_wait_for_its_driver_is_refused(tmp_path: Path) -> None:
    (tmp_path / "job.py").write_text("")
    (tmp_path / "s.yaml").write_text(
        f"{JOB}spark: {{master: yarn, conf: {{spark.yarn.submit.waitAppCompletion: 'false'}}}}\n"
    )
    with pytest.raises(StudyError, match="nobody knows when a job has ended"):
        api.dry_run(tmp_path / "s.yaml")
