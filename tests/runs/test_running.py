"""Real runs on real Spark, through the command line."""

import json
import os
import shutil
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from postgres_support import PostgresServer
from sparkcast import api
from sparkcast.engines import _warden
from sparkcast.engines.conf import read_properties
from sparkcast.engines.embedded import EmbeddedCluster
from sparkcast.store import open_store
from sparkcast.study import Outcome, SparkOptions
from sparkcast.study.application import PART_RESPONSES
from tests_support import Sparkcast, wait_until

pytestmark = pytest.mark.slow

STUDY = """\
study: s
workload: pi
settings: {executors: [1, 2], samples: 20000}
design: {replicates: 1, seed: 1}
limits: {trial: 2m}
price: {core_hour: 0.36}
"""


def test_a_study_runs_on_the_embedded_cluster_and_everything_is_kept(
    sparkcast: Sparkcast, tmp_path: Path, no_orphans: None
) -> None:
    (tmp_path / "s.yaml").write_text(STUDY)
    answer = sparkcast("run", "s.yaml", "--json", "--conf", "spark.executor.memory=600m")
    assert answer.returncode == 0, answer.stderr
    result = json.loads(answer.stdout)
    assert (result["finished"], result["planned"], result["left_out"]) == (2, 2, [])
    assert "your spark.executor.memory=600m replaces 1g" in answer.stderr
    assert "[2/2] run 2 of 2: " in answer.stderr
    for run in api.load_data(tmp_path / "s.yaml").dataset.observations:
        assert run.outcome is Outcome.OK
        assert {"time_s", "throughput", "startup_s", "total_s", "cost"} <= set(run.responses)
        assert run.responses["cost"] == pytest.approx(0.36 * run.responses["core_hours"])
        # Executors are held from before the first Spark job until after the last, and no longer than the run.
        held_s = 3600 * run.responses["core_hours"] / int(run.configuration["executors"])
        assert run.responses["time_s"] < held_s < run.responses["total_s"]
        assert run.tasks is not None
        assert (run.tasks.executors, run.tasks.failed_tasks) == (run.configuration["executors"], 0)
        assert run.utilization is not None
        assert 0 < run.utilization.cpu_percent <= 100
        assert sum(run.responses[part] for part in PART_RESPONSES) == pytest.approx(run.responses["total_s"], rel=0.01)
        assert min(run.responses[part] for part in PART_RESPONSES) >= 0
        assert run.fingerprint is not None
        assert run.fingerprint.spark == "3.5.9"
        assert run.fingerprint.affinity == EmbeddedCluster(SparkOptions()).facts().affinity
        assert list((tmp_path / "s.results" / run.artifacts / "eventlog").iterdir())
    again = sparkcast("run", "s.yaml", "--conf", "spark.executor.memory=600m")
    assert again.returncode == 0
    assert "2 of 2 trials have a result (0 new" in again.stdout
    changed = sparkcast("run", "s.yaml")
    assert changed.returncode == 2
    assert "spark.conf.spark.executor.memory: 600m -> (absent)" in changed.stderr
    assert sparkcast("export", "s.yaml", "-o", "s.parquet").returncode == 0
    for sampled in api.samples(api.load_data(tmp_path / "s.yaml")):
        [host], total_s = sampled.series.hosts, sampled.observation.responses["total_s"]
        assert len(host) >= total_s - 1  # one each second
        assert host.at_ms[-1] - host.at_ms[0] == pytest.approx(1e3 * total_s, abs=500)
        assert len(sampled.stages) == 2
        for stage in sampled.stages:
            assert 0 <= stage.started_s <= stage.ended_s <= total_s
            assert 0 < stage.means["cpu_percent"] <= 100
    report = sparkcast("report", "s.yaml", "-o", "s.html")
    assert report.returncode == 0, report.stderr
    assert "machines-1" in (tmp_path / "s.html").read_text()


def test_a_trial_over_its_limit_is_stopped_and_the_next_one_runs(
    sparkcast: Sparkcast, tmp_path: Path, no_orphans: None
) -> None:
    text = STUDY.replace("executors: [1, 2]", "pause_s: [300.0, 400.0]").replace("2m", "8s")
    (tmp_path / "s.yaml").write_text(text)
    assert sparkcast("run", "s.yaml", "--master", "local[2]").returncode == 0
    ends = [(run.outcome, run.cause) for run in api.load_data(tmp_path / "s.yaml").dataset.observations]
    assert ends == [(Outcome.TIMEOUT, "stopped at its time limit")] * 2


LOOK = """\
import json
from pyspark.sql import SparkSession

def look(_):
    import os, time
    time.sleep(1)  # both executors get a task
    with open(f"/proc/{os.getppid()}/stat") as stat:
        executor = int(stat.read().rpartition(")")[2].split()[1])
    names = ("OMP_NUM_THREADS", "MKL_NUM_THREADS", "OPENBLAS_NUM_THREADS", "TF_NUM_INTRAOP_THREADS")
    yield os.sched_getaffinity(0), os.sched_getaffinity(executor), [int(os.environ[name]) for name in names]

context = SparkSession.builder.getOrCreate().sparkContext
seen = context.parallelize(range(2), 2).mapPartitions(look).collect()
print("sparkcast: " + json.dumps({
    "executor_cpus": max(len(cpus) for own in seen for cpus in own[:2]),
    "cpus": len(set.union(*(own[0] for own in seen))),
    "threads": max(max(own[2]) for own in seen),
}))
"""


def test_executors_have_cpus_and_threads_of_their_own(sparkcast: Sparkcast, tmp_path: Path, no_orphans: None) -> None:
    """What a task sees: the CPUs of its process and of its executor, and the variables that libraries read."""
    (tmp_path / "look.py").write_text(LOOK)
    (tmp_path / "s.yaml").write_text(
        "study: s\nworkload: command\nsettings: {executors: 2}\n"
        "command: {application: look.py}\nresponses: [time_s, executor_cpus, cpus, threads]\n"
    )
    answer = sparkcast("run", "s.yaml")
    assert answer.returncode == 0, answer.stderr
    [run] = api.load_data(tmp_path / "s.yaml").dataset.observations
    assert run.fingerprint is not None
    is_pinned = "own" in run.fingerprint.affinity and len(os.sched_getaffinity(0)) > 1
    assert run.responses["executor_cpus"] == (1 if is_pinned else len(os.sched_getaffinity(0)))
    assert run.responses["cpus"] == (2 if is_pinned else len(os.sched_getaffinity(0)))  # of both together
    assert run.responses["threads"] == 1


def test_jobs_at_once_share_the_cluster_and_are_averaged(
    sparkcast: Sparkcast, tmp_path: Path, no_orphans: None
) -> None:
    (tmp_path / "s.yaml").write_text(STUDY.replace("executors: [1, 2]", "jobs: 2"))
    assert sparkcast("run", "s.yaml").returncode == 0
    [run] = api.load_data(tmp_path / "s.yaml").dataset.observations
    assert run.ok
    folders = sorted(p.name for p in (tmp_path / "s.results" / run.artifacts).iterdir())
    assert folders == ["job-1", "job-2"]


def test_both_frameworks_train_on_the_executors_of_the_embedded_cluster(
    sparkcast: Sparkcast, tmp_path: Path, no_orphans: None
) -> None:
    (tmp_path / "s.yaml").write_text(
        "study: s\nworkload: mnist-training\n"
        "settings: {framework: [bigdl, torch], executors: 2, dataset: digits, batch_size: 32, epochs: 2}\n"
    )
    answer = sparkcast("run", "s.yaml")
    assert answer.returncode == 0, answer.stderr
    for run in api.load_data(tmp_path / "s.yaml").dataset.observations:
        assert run.ok, run.cause
        assert run.responses["accuracy"] > 0.5  # ten digits: chance is 0.1
        assert [epoch.number for epoch in run.curve] == [1, 2]
        assert run.tasks is not None
        assert run.tasks.executors == 2
        assert run.fingerprint is not None
        assert "digits" in run.fingerprint.data
        parts = [run.responses[part] for part in PART_RESPONSES]
        assert min(parts) >= 0, run.responses
        assert sum(parts) == pytest.approx(run.responses["total_s"], rel=0.01)
        assert run.responses["compute_s"] + run.responses["sync_s"] <= run.responses["work_s"]
        assert run.responses["compute_s"] > 0
        assert run.responses["sync_s"] > 0


def test_the_quick_demo_ends_in_a_report_and_a_checked_recommendation(
    sparkcast: Sparkcast, tmp_path: Path, no_orphans: None
) -> None:
    answer = sparkcast("demo", "--quick", "--out", "d", "--json")
    assert answer.returncode == 0, answer.stderr
    result = json.loads(answer.stdout)
    assert result["runs"] == 4
    assert result["recommendation"]["chosen"]["probability"] >= 0.95
    assert result["check"]["measured"] > 0
    page = (tmp_path / result["report"]).read_text()
    assert page.startswith("<!doctype html>")
    assert "A check run at" in page


class TwoNodes(EmbeddedCluster):
    """Whose workers take themselves for machines of their own."""

    def _start_daemon(self, name: str, main_class: str, arguments: tuple[str, ...]) -> Path:
        os.environ["SPARKCAST_NODE"] = name
        try:
            return super()._start_daemon(name, main_class, arguments)
        finally:
            del os.environ["SPARKCAST_NODE"]


def test_a_cluster_of_somebody_else_is_used_by_its_url_and_its_nodes_are_sampled(
    sparkcast: Sparkcast, tmp_path: Path, no_orphans: None
) -> None:
    text = STUDY.replace("executors: [1, 2]", "executors: 2, pause_s: 2.5")
    (tmp_path / "s.yaml").write_text(text)
    cluster = TwoNodes(SparkOptions())
    with cluster:
        shutil.copy(cluster._running().folder / "cluster.conf", tmp_path / "secret.conf")
        options = (
            "--master",
            cluster._master,
            "--properties-file",
            "secret.conf",
            "--conf",
            "spark.driver.host=127.0.0.1",
        )
        answer = sparkcast("run", "s.yaml", *options)
        assert answer.returncode == 0, answer.stderr
        assert cluster.health_problem() == ""
        wait_until(lambda: not [p for p in _warden.members(cluster._running().mark) if p.cmdline()[1:3] == ["-I", "-"]])
    store = open_store(tmp_path / "s.results")
    [run] = store.observations("s")
    series = store.series(run.run_id)
    store.close()
    assert series is not None
    assert [(host.node, host.has_executors) for host in series.hosts[1:]] == [("worker 1", True), ("worker 2", True)]
    assert not series.hosts[0].has_executors
    for node in series.workers:  # each second while tasks sleep for 2.5
        assert len(node) >= 3
    assert "node_imbalance" in run.responses
    (folder,) = (tmp_path / "s.results" / "runs").iterdir()
    assert f"--master {cluster._master}" in (folder / "command.sh").read_text()
    secret = read_properties(tmp_path / "secret.conf")["spark.authenticate.secret"]  # without it nothing had run
    for file in (tmp_path / "s.results").rglob("*"):
        assert file.is_dir() or secret.encode() not in file.read_bytes(), file


GLUTTON = """\
from sparkcast.workloads.base import TIME, WORKLOADS

@WORKLOADS.register("glutton")
class Glutton:
    "Asks for more memory than there is."
    settings, responses, example = (), (TIME,), {}
    def check(self, settings): pass
    def prepare(self, settings, data_dir): return ""
    def spark_conf(self, settings): return {"spark.driver.memory": "512m"}
    def run(self, job):
        context = job.spark_context()
        job.started()
        keep = [context._jvm.java.nio.ByteBuffer.allocate(2**30) for _ in range(8)]
        job.result(time_s=1.0)
"""


def test_running_out_of_memory_is_data_and_a_workload_of_somebody_else_can_do_it(
    sparkcast: Sparkcast, tmp_path: Path, no_orphans: None
) -> None:
    (tmp_path / "glutton.py").write_text(GLUTTON)
    info = tmp_path / "glutton-1.0.dist-info"
    info.mkdir()
    (info / "METADATA").write_text("Metadata-Version: 2.1\nName: glutton\nVersion: 1.0\n")
    (info / "entry_points.txt").write_text("[sparkcast.workloads]\nglutton = glutton:Glutton\n")
    (tmp_path / "s.yaml").write_text("study: s\nworkload: glutton\nsettings: {executors: 1}\n")
    answer = sparkcast("run", "s.yaml", "--master", "local[1]", "--json", env={"PYTHONPATH": str(tmp_path)})
    assert answer.returncode == 0, answer.stderr
    [run] = json.loads(answer.stdout)["new"]
    assert run["outcome"] == "oom"
    assert "Java heap space" in run["cause"]


def test_ctrl_c_finishes_the_trial_and_a_second_one_stops_at_once(tmp_path: Path, no_orphans: None) -> None:
    (tmp_path / "s.yaml").write_text(STUDY.replace("samples: 20000", "samples: 20000, pause_s: 2.0"))
    first = _start(tmp_path, "run", "s.yaml")
    _wait_for_trial(tmp_path, 1)
    first.send_signal(signal.SIGINT)
    _, messages = first.communicate(timeout=120)
    assert first.returncode == 130, messages
    assert "finishing the current trial; Ctrl-C again to stop it now" in messages
    assert "Continue with: sparkcast run s.yaml --resume" in messages
    assert len(api.load_data(tmp_path / "s.yaml").dataset.observations) == 1

    second = _start(tmp_path, "run", "s.yaml", "--resume")
    _wait_for_trial(tmp_path, 2)
    second.send_signal(signal.SIGINT)
    time.sleep(0.5)
    second.send_signal(signal.SIGINT)
    second.communicate(timeout=120)
    assert second.returncode == 130
    assert len(api.load_data(tmp_path / "s.yaml").dataset.observations) == 1


@pytest.mark.parametrize(
    ("number", "message"), [(signal.SIGINT, "starting the cluster"), (signal.SIGTERM, "warming up (not measured)")]
)
def test_a_signal_before_the_first_trial_is_heard_at_once(
    tmp_path: Path, no_orphans: None, number: int, message: str
) -> None:
    (tmp_path / "s.yaml").write_text(STUDY)
    process = _start(tmp_path, "run", "s.yaml", env={"XDG_CACHE_HOME": str(tmp_path / "cache")})  # nothing is warm yet
    assert process.stderr is not None
    while message not in (line := process.stderr.readline()):
        assert line, "it ended before that"
    process.send_signal(number)
    _, messages = process.communicate(timeout=60)
    assert process.returncode == 130, messages
    assert "Continue with: sparkcast run s.yaml --resume" in messages
    assert not (tmp_path / "s.results" / "runs").exists()


def _start(folder: Path, *arguments: str, env: dict[str, str] | None = None) -> "subprocess.Popen[str]":
    command = [sys.executable, "-m", "sparkcast", *arguments]
    return subprocess.Popen(
        command,
        cwd=folder,
        env={**os.environ, **(env or {})},
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )


def _wait_for_trial(folder: Path, count: int) -> None:
    """Until so many drivers have reported in."""
    wait_until(lambda: len(list((folder / "s.results").glob("runs/*/report.jsonl"))) >= count)


def test_a_study_runs_into_a_database_and_is_analyzed_from_there(
    sparkcast: Sparkcast, tmp_path: Path, postgres: PostgresServer, no_orphans: None
) -> None:
    (tmp_path / "s.yaml").write_text(STUDY)
    answer = sparkcast("run", "s.yaml", "--store", (url := postgres.new_url()), "--json")
    assert answer.returncode == 0, answer.stderr
    assert json.loads(answer.stdout)["finished"] == 2
    assert not (tmp_path / "s.results" / "store.sqlite").exists()
    for data in (["s.yaml"], [url, "--study", "s"]):
        exported = sparkcast("export", *data, "-o", "runs.csv", "--force")
        assert exported.returncode == 0, exported.stderr
        assert len((tmp_path / "runs.csv").read_text().splitlines()) == 3
    assert len(api.load_data(url).dataset.observations) == 2
