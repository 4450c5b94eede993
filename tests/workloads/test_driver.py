"""The driver's report, with workloads that need no Spark."""

import itertools
import json
import subprocess
import sys
import time
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

from sparkcast.workloads import driver
from sparkcast.workloads.base import TIME, WORKLOADS, Configuration, Job, Response, Setting

LONG_JAVA_ERROR = "\n".join(
    [
        "An error occurred while calling o83.optimize.",
        ": org.apache.spark.SparkException: Job aborted due to stage failure",
        "Caused by: java.lang.OutOfMemoryError: Java heap space",
        *[f"\tat org.apache.spark.Thing{i}.run(Thing.scala:{i})" for i in range(200)],
        "\t... 12 more",
        *[f"a line of no importance {i}" for i in range(60)],
    ]
)


class Fake:
    settings: tuple[Setting, ...] = (Setting("batch_size", 8, "size"),)
    responses: tuple[Response, ...] = (TIME,)
    example: Mapping[str, object] = {}

    def check(self, settings: Configuration) -> None: ...

    def prepare(self, settings: Configuration, data_dir: Path) -> str:
        return ""

    def spark_conf(self, settings: Configuration) -> Mapping[str, str]:
        return {}

    def run(self, job: Job) -> None:
        job.started()
        job.epoch(1, 0.5, accuracy=0.9, loss=float("nan"))
        job.result(time_s=float(job.settings["batch_size"]), loss=float("inf"))


class Failing(Fake):
    def run(self, job: Job) -> None:
        job.started()
        raise RuntimeError(LONG_JAVA_ERROR)


class Silent(Fake):
    def run(self, job: Job) -> None:
        job.started()


@pytest.fixture(autouse=True)
def _fakes(monkeypatch: pytest.MonkeyPatch) -> None:
    WORKLOADS.names()
    for cls in (Fake, Failing, Silent):
        monkeypatch.setitem(WORKLOADS._classes, cls.__name__.lower(), cls)


def run(folder: Path, workload: str) -> tuple[int, list[dict[str, Any]]]:
    order, report = folder / "job.json", folder / "report.jsonl"
    order.write_text(json.dumps({"workload": workload, "settings": {"batch_size": 8}, "data_dir": str(folder)}))
    code = driver.main([str(order), str(report)])
    return code, [json.loads(line) for line in report.read_text().splitlines()]


def test_a_good_run_reports_every_step_with_its_time(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(time, "time", itertools.count(1000.0).__next__)
    code, lines = run(tmp_path, "fake")
    assert code == 0
    assert [line["kind"] for line in lines] == ["driver", "started", "epoch", "result"]
    assert [line["at"] for line in lines] == [1000, 1001, 1002, 1003]
    assert lines[-1]["responses"]["time_s"] == 8


def test_numbers_that_json_cannot_say_are_left_out(tmp_path: Path) -> None:
    _, lines = run(tmp_path, "fake")
    assert {"number": 1, "time_s": 0.5, "values": {"accuracy": 0.9}}.items() <= lines[2].items()
    assert lines[3]["responses"] == {"time_s": 8.0}


def test_a_failure_is_reported_and_the_line_about_memory_is_kept(tmp_path: Path) -> None:
    code, lines = run(tmp_path, "failing")
    assert code == 1
    assert lines[-1]["kind"] == "failed"
    assert lines[-1]["error"] == "RuntimeError"
    assert lines[-1]["message"].startswith("An error occurred while calling o83.optimize.")
    cause = lines[-1]["cause"].splitlines()
    assert "Caused by: java.lang.OutOfMemoryError: Java heap space" in cause
    assert cause[-1] == "a line of no importance 59"
    assert len(cause) < 50
    assert not any("Thing.scala" in line for line in cause)


@pytest.mark.parametrize("error", ["PythonException", "Py4JJavaError"])
def test_a_failure_in_a_python_process_of_an_executor_begins_with_its_own_words(error: str) -> None:
    told = {
        "PythonException": "\n  An exception was thrown from the Python worker. Please see the stack trace below.\n",
        "Py4JJavaError": "An error occurred while calling o70.collectToPython.\n: org.apache.spark.SparkException: Job "
        "aborted: Most recent failure reason: barrier task finished unsuccessfully.\n"
        "org.apache.spark.api.python.PythonException: ",
    }[error]
    worker = (
        'Traceback (most recent call last):\n  File "a.py", line 1, in load\nKeyError: 1\n\n'
        "The above exception was the direct cause of the following exception:\n\n"
        'Traceback (most recent call last):\n  File "a.py", line 3, in load\n    raise MemoryError(words) from error\n'
        "MemoryError: a replica takes 700 MiB\n\n\tat org.apache.spark.Thing(Thing.scala:1)\n"
    )
    described = driver.describe(type(error, (Exception,), {})(told + worker))
    assert described["error"] == error
    assert described["message"] == "MemoryError: a replica takes 700 MiB"
    assert "KeyError: 1" in described["cause"]


def test_a_note_is_reported(tmp_path: Path) -> None:
    with driver.Report(tmp_path / "report.jsonl") as report:
        driver.DriverJob(Configuration({}), tmp_path, report).note("3 images are unreadable")
    line = json.loads((tmp_path / "report.jsonl").read_text())
    assert (line["kind"], line["text"]) == ("note", "3 images are unreadable")


def test_a_workload_that_ends_without_a_result_has_failed(tmp_path: Path) -> None:
    code, lines = run(tmp_path, "silent")
    assert code == 1
    assert "without a result" in lines[-1]["message"]


def test_an_unknown_workload_has_failed_with_a_suggestion(tmp_path: Path) -> None:
    code, lines = run(tmp_path, "fakes")
    assert code == 1
    assert lines[-1]["error"] == "UnknownNameError"
    assert "did you mean 'fake'?" in lines[-1]["message"]


def test_a_result_can_be_given_only_once(tmp_path: Path) -> None:
    with driver.Report(tmp_path / "report.jsonl") as report:
        job = driver.DriverJob(Configuration({}), tmp_path, report)
        job.result(time_s=1)
        with pytest.raises(RuntimeError, match="twice"):
            job.result(time_s=1)


def test_a_report_is_continued_never_overwritten(tmp_path: Path) -> None:
    run(tmp_path, "fake")
    _, lines = run(tmp_path, "fake")
    assert [line["kind"] for line in lines].count("result") == 2


def test_the_script_finds_sparkcast_by_itself_and_hides_no_module(tmp_path: Path) -> None:
    order = tmp_path / "job.json"
    order.write_text(json.dumps({"workload": "nothing-like-it", "settings": {}, "data_dir": ""}))
    script = [sys.executable, "-I", "-c", RUN_AS_SCRIPT, str(driver.__file__), str(order), str(tmp_path / "r")]
    done = subprocess.run(script, capture_output=True, text=True, check=False)
    assert "UnknownNameError" in (tmp_path / "r").read_text(), done.stderr
    assert done.stdout.split() == ["hidden"]


# What `python driver.py` does where sparkcast is not installed, and which `pi` could be imported after that.
RUN_AS_SCRIPT = """
import importlib.util, pathlib, runpy, sys
sys.argv = sys.argv[1:]
sys.path[:] = [entry for entry in sys.path if not pathlib.Path(entry, "sparkcast").is_dir()]
sys.path.insert(0, str(pathlib.Path(sys.argv[0]).parent))
try:
    runpy.run_path(sys.argv[0], run_name="__main__")
except SystemExit:
    print("pi" if importlib.util.find_spec("pi") else "hidden")
"""


def test_wrong_arguments_are_refused(capsys: pytest.CaptureFixture[str]) -> None:
    assert driver.main([]) == 2
    assert "usage: spark-submit" in capsys.readouterr().err
