"""Logs as people have them: several applications in one folder, shells and notebooks, runs that were lost."""

import json
import re
import shlex
from functools import partial
from pathlib import Path
from typing import Any

import pytest

from eventlogs_support import START, application, as_lines, write_log
from sparkcast import api
from tests_support import Call

ingest = partial(api.ingest, processes=1)  # in this process: starting others takes longer than reading


def test_two_applications_in_files_called_eventlog_are_two_runs(tmp_path: Path) -> None:
    (tmp_path / "logs").mkdir()
    write_log(tmp_path / "logs" / "eventlog-a", "app-1", job_end_ms=2010)
    write_log(tmp_path / "logs" / "eventlog-b", "app-2", job_end_ms=2060)
    found = ingest(tmp_path / "logs", tmp_path / "runs.csv")
    assert [(log.status.value, log.taken, log.key) for log in found.logs] == [
        ("ok", "new", "app-1/2"),
        ("ok", "new", "app-2/2"),
    ]
    assert [log.time_s for log in found.logs] == [pytest.approx(1.11), pytest.approx(1.16)]


@pytest.mark.parametrize("names", [("both",), ("eventlog-2024-01-01--10-00", "eventlog")])
def test_a_log_with_two_applications_is_refused(tmp_path: Path, names: tuple[str, ...]) -> None:
    (tmp_path / "logs").mkdir()
    texts = [write_log(tmp_path / f"{n}.log", f"app-{n}").read_text() for n in (1, 2)]
    for name, text in zip(names, texts if len(names) == 2 else ["".join(texts)], strict=True):
        (tmp_path / "logs" / name).write_text(text)
    found = ingest(tmp_path / "logs", tmp_path / "runs.csv")
    [log] = found.logs
    assert (log.status.value, log.taken, found.tables) == ("failed", "", ())
    assert log.reason == "2 applications in one log (app-1, app-2): give the files of each alone"


def lose(log: Path) -> None:
    """Make its job fail because a machine vanished."""
    events = [json.loads(line) for line in log.read_text().splitlines()]
    for event in events:
        if event["Event"] == "SparkListenerJobEnd":
            text = "Job aborted: ExecutorLostFailure (executor 1 exited): worker lost"
            event["Job Result"] = {"Result": "JobFailed", "Exception": {"Message": text, "Stack Trace": []}}
    log.write_bytes(b"".join(as_lines(events)))


def test_a_level_that_only_a_lost_run_had_stops_no_answer(tmp_path: Path, call: Call) -> None:
    (tmp_path / "logs").mkdir()
    for number in range(8):
        mode, executors = ("fast", "slow")[number % 2], 1 + number // 2
        write_log(
            tmp_path / "logs" / f"{number}.log",
            f"app-{number}",
            n_executors=executors,
            command=f"job.py --mode {mode}",
            job_end_ms=2010 - 100 * executors + 5 * number,
        )
    lose(write_log(tmp_path / "logs" / "lost.log", "app-lost", n_executors=9, command="job.py --mode odd"))
    found = ingest(tmp_path / "logs", tmp_path / "runs.csv", settings=[r"mode=--mode (\w+)"])
    [lost] = [log for log in found.logs if log.reason]
    assert (lost.key, lost.taken) == ("app-lost/2", "new")
    assert "not used" in lost.reason
    data = api.load_data(tmp_path / "runs.csv").dataset
    assert data.levels("mode") == ("fast", "slow")
    assert 9 not in data.levels("executors")
    answer = call("recommend", tmp_path / "runs.csv", "--within", "5s", "--minimize", "time_s")
    assert answer.code == 0, answer.err


# ---------------------------------------------------------------- shells and notebooks

SUBMIT = "org.apache.spark.deploy.SparkSubmit"
HIVE = "org.apache.spark.sql.hive.thriftserver"


@pytest.mark.parametrize(
    ("name", "command", "program"),
    [
        ("Spark shell", f"{SUBMIT} --class org.apache.spark.repl.Main --name Spark_shell spark-shell", "spark-shell"),
        ("PySparkShell", f"{SUBMIT} --name PySparkShell pyspark-shell-main", "the pyspark shell"),
        ("Thrift JDBC/ODBC Server", f"{SUBMIT} --class {HIVE}.HiveThriftServer2 spark-internal", "the Thrift server"),
        ("SparkSQL::10.0.0.1", f"{SUBMIT} --class {HIVE}.SparkSQLCLIDriver spark-internal", "spark-sql"),
        ("livy-session-7", "*********(redacted)", "a Livy session"),
        ("Zeppelin", "", "Zeppelin"),
        ("mine", "org.apache.zeppelin.interpreter.remote.RemoteInterpreterServer 10.0.0.1 1234", "Zeppelin"),
    ],
)
def test_a_shell_or_a_notebook_is_not_a_run_unless_it_is_asked_for(
    tmp_path: Path, name: str, command: str, program: str
) -> None:
    log = write_log(tmp_path / "a.log", "app-1", name=name, command=command)
    found = ingest(log, tmp_path / "runs.csv")
    assert (found.logs[0].status.value, found.logs[0].taken, found.tables) == ("skipped", "", ())
    assert found.logs[0].reason == f"{program}, not a job: `interactive=True` takes it as one"
    assert ingest(log, tmp_path / "runs.csv", interactive=True).logs[0].taken == "new"


@pytest.mark.parametrize(
    ("name", "command"),
    [
        ("nightly", f"{SUBMIT} --class com.example.Etl etl.jar"),
        ("train.py", f"{SUBMIT} pyspark-shell"),  # python train.py
        ("notebook_export", f"{SUBMIT} export.py"),
        ("SparkSQL::10.0.0.1", f"{SUBMIT} --class {HIVE}.SparkSQLCLIDriver spark-internal -f nightly.sql"),
        ("SparkPi", ""),
    ],
)
def test_a_job_is_no_shell_whatever_it_is_called(tmp_path: Path, name: str, command: str) -> None:
    log = write_log(tmp_path / "a.log", "app-1", name=name, command=command)
    assert ingest(log, tmp_path / "runs.csv").logs[0].taken == "new"


def typed(path: Path, *, pause_s: int) -> Path:
    """An application of five Spark jobs with pauses between them."""
    events: list[dict[str, Any]] = []
    for event in application():
        if event["Event"] == "SparkListenerApplicationEnd":
            for number in range(1, 5):
                at = START + 2010 + 1000 * number * (pause_s + 1)
                events += [
                    {"Event": "SparkListenerJobStart", "Job ID": number, "Submission Time": at - 1000, "Stage IDs": []},
                    {
                        "Event": "SparkListenerJobEnd",
                        "Job ID": number,
                        "Completion Time": at,
                        "Job Result": {"Result": "JobSucceeded"},
                    },
                ]
            event["Timestamp"] = START + 10_000_000
        if event["Event"] == "SparkListenerEnvironmentUpdate":
            event["System Properties"] = {"sun.java.command": f"{SUBMIT} pyspark-shell"}
        events.append(event)
    path.write_bytes(b"".join(as_lines(events)))
    return path


def test_a_python_process_with_the_pauses_of_a_person_is_a_notebook(tmp_path: Path) -> None:
    thinking = ingest(typed(tmp_path / "a.log", pause_s=300), tmp_path / "a.csv").logs[0]
    assert (thinking.taken, thinking.reason.partition(",")[0]) == ("", "a notebook or shell")
    assert ingest(typed(tmp_path / "b.log", pause_s=5), tmp_path / "b.csv").logs[0].taken == "new"


# ---------------------------------------------------------------- the way on


@pytest.mark.parametrize("n_runs", [1, 2, 3, 6])
@pytest.mark.parametrize("into", ["my runs.csv", "runs.results"])
def test_the_command_that_is_printed_next_works(tmp_path: Path, call: Call, n_runs: int, into: str) -> None:
    (tmp_path / "logs").mkdir()
    for number in range(n_runs):
        later = 37 * number % 100
        log = tmp_path / "logs" / f"{number}.log"
        write_log(log, f"app-{number}", n_executors=1 + number % 2, job_end_ms=2010 + later, ends_later_ms=later)
    answer = call("ingest", tmp_path / "logs", "--into", tmp_path / into, "--processes", "1")
    assert answer.code == 0, answer.err
    command = shlex.split(re.sub(r"\s+", " ", answer.out.partition("next: sparkcast ")[2]))
    assert command[0] == ("analyze" if n_runs > 2 else "profile")
    followed = call(*command)
    assert followed.code == 0, followed.err
