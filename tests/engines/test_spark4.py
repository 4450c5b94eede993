"""The embedded cluster on Spark 4, where a Python environment with it can be had."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

from sparkcast import api

STUDY = """\
study: four
workload: pi
settings: {executors: [1, 2], samples: 20000}
limits: {trial: 5m}
"""


def _place() -> str:
    """A folder that has pyspark 4 for this Python: SPARKCAST_SPARK4 names it."""
    place = os.environ.get("SPARKCAST_SPARK4", "")
    if not list(Path(place or "/nonexistent").glob("pyspark-4.*.dist-info")):
        pytest.skip("set SPARKCAST_SPARK4 to a folder with pyspark 4: pip install --target FOLDER 'pyspark>=4,<5'")
    return place


@pytest.mark.slow
def test_a_study_runs_on_spark_4_and_its_runs_say_so(tmp_path: Path, no_orphans: None) -> None:
    (tmp_path / "s.yaml").write_text(STUDY)
    path = os.pathsep.join([_place(), *(one for one in sys.path if one)])
    command = [sys.executable, "-m", "sparkcast", "run", "s.yaml"]
    done = subprocess.run(
        command, cwd=tmp_path, env={**os.environ, "PYTHONPATH": path}, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
    runs = api.load_data(tmp_path / "s.yaml").dataset.observations
    assert [run.ok for run in runs] == [True, True]
    for run in runs:
        assert run.fingerprint is not None
        assert run.fingerprint.spark.startswith("4.")
        assert run.tasks is not None
        assert run.tasks.executors == run.configuration["executors"]
