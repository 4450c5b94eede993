"""What a job that knows nothing of sparkcast told: numbers it printed, a file it left, its event log."""

import json
import re
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sparkcast.facts.totals import totals_of
from sparkcast.observe.eventlog import read_run_logs
from sparkcast.observe.outcome import ExitReport
from sparkcast.observe.output import OutputGrowth, read_output
from sparkcast.observe.run import RanJob, Run, observe
from sparkcast.study import Configuration, Epoch, Fingerprint, Outcome, TaskTotals, Trial
from sparkcast.workloads.base import SubmittedApplication

TASKS = TaskTotals(3, 4, 8, 0, 1, 0, 6.0, 5.0, 0.5, 0.0, 100, 200, 0, first_job_s=1000.0, last_job_s=1012.5)
AUC = SubmittedApplication("a.py", promised=("auc",), patterns={"auc": re.compile(r"AUC = (\S+)")})
JSON_ONLY = SubmittedApplication("a.py", promised=("auc",))


APPLICATION = (
    '{"Event":"SparkListenerApplicationStart","App Name":"a","App ID":"app-1","Timestamp":993000}\n'
    '{"Event":"SparkListenerJobStart","Job ID":0,"Submission Time":995000}\n'
    '{"Event":"SparkListenerJobEnd","Job ID":0,"Completion Time":999000,"Job Result":{"Result":"JobSucceeded"}}\n'
    '{"Event":"SparkListenerApplicationEnd","Timestamp":999500}\n'
)


def leave(folder: Path, stdout: str = "", stderr: str = "", result: object = None) -> Path:
    (folder / "stdout.log").write_text(stdout)
    (folder / "driver.log").write_text(stderr)
    if result is not None:
        (folder / "result.json").write_text(json.dumps(result))
    return folder


def test_the_span_of_the_jobs_is_read_from_the_log(tmp_path: Path) -> None:
    events: list[dict[str, Any]] = [
        {"Event": "SparkListenerEnvironmentUpdate", "Spark Properties": {"spark.master": "local[2]"}},
        {"Event": "SparkListenerJobStart", "Job ID": 1, "Submission Time": 2000},
        {"Event": "SparkListenerJobStart", "Job ID": 0, "Submission Time": 1500},
        {"Event": "SparkListenerJobEnd", "Job ID": 0, "Completion Time": 9000},
        {"Event": "SparkListenerJobEnd", "Job ID": 1, "Completion Time": 4000},
        {"Event": "SparkListenerJobStart", "Job ID": 2, "Submission Time": 3000},
    ]
    (tmp_path / "app-1").write_text("".join(json.dumps(event) + "\n" for event in events))
    [log] = read_run_logs(tmp_path)
    totals = totals_of(log)
    assert (totals.first_job_s, totals.last_job_s, totals.master) == (1.5, 9.0, "local[2]")


def test_the_last_match_of_a_pattern_counts(tmp_path: Path) -> None:
    leave(tmp_path, "AUC = 0.1\nAUC = 0.5 AUC = 0.7\nend\n")
    assert read_output(tmp_path, AUC, TASKS, 0).responses["auc"] == 0.7


def test_a_number_that_was_logged_instead_of_printed_is_found(tmp_path: Path) -> None:
    leave(tmp_path, "hello\n", "26/11/17 INFO train: AUC = 0.7\n")
    assert read_output(tmp_path, AUC, TASKS, 0).responses["auc"] == 0.7


def test_a_printed_object_wins_over_a_pattern_and_the_file_over_both(tmp_path: Path) -> None:
    text = 'sparkcast: {"auc": 0.6, "rows": 5}\nAUC = 0.1\n'
    report = read_output(leave(tmp_path, text), AUC, TASKS, 0)
    assert (report.responses["auc"], report.responses["rows"]) == (0.6, 5)
    report = read_output(leave(tmp_path, text, result={"auc": 0.9}), AUC, TASKS, 0)
    assert report.responses["auc"] == 0.9


def test_points_of_a_curve_have_the_time_they_were_printed(tmp_path: Path) -> None:
    program = SubmittedApplication(
        "a.py", promised=("auc",), patterns={"auc": re.compile(r"epoch (?P<epoch>\d+): AUC = (\S+)")}
    )
    leave(tmp_path, "epoch 1: AUC = 0.5\nepoch 2: AUC = 0.8\n")
    (tmp_path / "stdout.times").write_text("19 1003.0\n38 1009.5\n")
    report = read_output(tmp_path, program, TASKS, 0)
    assert report.curve == (Epoch(1, 3.0, {"auc": 0.5}), Epoch(2, 9.5, {"auc": 0.8}))
    assert report.responses["auc"] == 0.8


def test_points_may_be_objects_and_say_their_time_themselves(tmp_path: Path) -> None:
    lines = [{"epoch": 2, "auc": 0.8, "time_s": 7}, {"epoch": 1, "auc": 0.5, "loss": 2, "time_s": 4}]
    leave(tmp_path, "".join(f"sparkcast: {json.dumps(line)}\n" for line in lines))
    report = read_output(tmp_path, JSON_ONLY, TASKS, 0)
    assert report.curve == (Epoch(1, 4.0, {"auc": 0.5, "loss": 2.0}), Epoch(2, 7.0, {"auc": 0.8}))
    assert "time_s" not in report.responses  # that of a point is not the run's


def test_points_may_stand_in_the_file(tmp_path: Path) -> None:
    points = [{"epoch": 1, "auc": 0.5, "time_s": 4}, {"epoch": 2, "auc": 0.8, "time_s": 7}]
    report = read_output(leave(tmp_path, result={"auc": 0.9, "epochs": points}), JSON_ONLY, TASKS, 0)
    assert (len(report.curve), report.responses["auc"]) == (2, 0.9)


def test_growth_of_the_output_is_noted_once_for_each_size(tmp_path: Path) -> None:
    growth = OutputGrowth(tmp_path)
    growth.look()
    leave(tmp_path, "12345")
    growth.look()
    growth.look()
    [line] = (tmp_path / "stdout.times").read_text().splitlines()
    assert line.startswith("5 ")


@pytest.mark.parametrize(
    ("program", "stdout", "problem"),
    [
        (AUC, "loss 3\nbye\n", "no auc: the pattern 'AUC = (\\\\S+)' matches nothing that the job printed"),
        (AUC, "AUC = high\n", "no auc: the pattern 'AUC = (\\\\S+)' matches 'high', which is not a number"),
        (AUC, "AUC = nan\n", "matches 'nan', which is not a number"),
        (JSON_ONLY, "x\n", 'no auc: the job printed no line like sparkcast: {"auc": 0.5}'),
        (JSON_ONLY, 'sparkcast: {"auc": "high"}\n', "no auc: the job says 'high', which is not a number"),
        (JSON_ONLY, 'sparkcast: {"auc": 0.5\n', "no auc: the job printed no line like"),
        (JSON_ONLY, 'sparkcast: {"auc": true}\n', "the job says 'True', which is not a number"),
    ],
)
def test_a_run_without_a_response_it_promised_keeps_its_time_and_says_what_is_missing(
    tmp_path: Path, program: SubmittedApplication, stdout: str, problem: str
) -> None:
    leave(tmp_path, stdout, "OutOfMemoryError, in a log of Spark\n")
    job = RanJob(tmp_path, ExitReport(0), 990.0, 1020.0)
    run = Run(Trial(Configuration({})), (job,), 990.0, 1020.0, (), None, program)
    (tmp_path / "eventlog").mkdir()
    (tmp_path / "eventlog" / "app").write_text(
        '{"Event":"SparkListenerJobStart","Job ID":0,"Submission Time":1}\n'
        '{"Event":"SparkListenerJobEnd","Job ID":0,"Completion Time":9}\n'
    )
    observed = observe(run)
    assert observed.observation.outcome is Outcome.OK
    assert observed.observation.responses["time_s"] == pytest.approx(0.008)
    assert "auc" not in observed.observation.responses
    [note] = observed.notes
    assert problem in note


def test_a_job_without_an_event_log_or_a_spark_job_has_no_time(tmp_path: Path) -> None:
    leave(tmp_path)
    assert "left no event log" in read_output(tmp_path, SubmittedApplication("a.py"), None, 0).failure
    idle = replace(TASKS, jobs=0, first_job_s=None, last_job_s=None)
    assert "ran no Spark job" in read_output(tmp_path, SubmittedApplication("a.py"), idle, 0).failure


def test_a_job_that_names_its_own_master_was_not_measured(tmp_path: Path) -> None:
    leave(tmp_path)
    own = replace(TASKS, master="local[*]")
    failure = read_output(tmp_path, SubmittedApplication("a.py"), own, 0, cluster="embedded: 2 worker(s)").failure
    assert 'remove .master("local[*]")' in failure
    assert not read_output(tmp_path, SubmittedApplication("a.py"), own, 0, cluster="local[2]").failure


def test_a_failed_job_shows_its_error_first(tmp_path: Path) -> None:
    stderr = "WARN x\nTraceback (most recent call last):\n  File 'a.py'\n    boom()\nValueError: no rows\nINFO bye\n"
    report = read_output(leave(tmp_path, "begun\n", stderr), AUC, TASKS, 1)
    assert report.failure.splitlines()[0] == "ValueError: no rows"
    assert "begun" in report.failure
    assert not report.responses
    java = 'WARN x\nException in thread "main" java.lang.Error: no\n\tat a.b.C(D.scala:1)\n'
    assert read_output(leave(tmp_path, "", java), AUC, None, 1).failure.startswith("Exception in thread")
    assert read_output(leave(tmp_path, "", ""), AUC, None, 3).failure.startswith("the job ended with exit code 3")


def test_jobs_at_once_are_averaged(tmp_path: Path) -> None:
    folders = (tmp_path / "1", tmp_path / "2")
    for folder, auc in zip(folders, (0.6, 0.8), strict=True):
        (folder / "eventlog").mkdir(parents=True)
        leave(folder, f"AUC = {auc}\n")
        (folder / "eventlog" / "app").write_text(APPLICATION)
    fingerprint = Fingerprint("", 1, 1, "", "", "", "", "embedded", "")
    jobs = tuple(RanJob(folder, ExitReport(0), 990.0, 1000.0) for folder in folders)
    run = Run(Trial(Configuration({"jobs": 2})), jobs, 990.0, 1000.0, (), fingerprint, AUC)
    responses = observe(run).observation.responses
    assert responses["auc"] == pytest.approx(0.7)
    assert (responses["time_s"], responses["startup_s"], responses["total_s"]) == (4.0, 5.0, 10.0)


@given(st.lists(st.one_of(st.binary(max_size=40), st.sampled_from([b'sparkcast: {"auc": 1}', b"AUC = 1"])), max_size=6))
def test_no_output_whatever_makes_the_reader_fail(tmp_path_factory: pytest.TempPathFactory, lines: list[bytes]) -> None:
    folder = tmp_path_factory.getbasetemp()
    for name in ("stdout.log", "driver.log", "result.json"):
        (folder / name).write_bytes(b"\n".join(lines))
    report = read_output(folder, AUC, TASKS, 0)
    assert not report.failure
    assert bool(report.missing) != ("auc" in report.responses)


def test_a_time_that_the_job_reports_itself_gets_a_name_of_its_own(tmp_path: Path) -> None:
    (tmp_path / "eventlog").mkdir()
    (tmp_path / "eventlog" / "app").write_text(APPLICATION)
    leave(tmp_path, 'sparkcast: {"time_s": 3, "total_s": 1}\n')
    job = RanJob(tmp_path, ExitReport(0), 990.0, 1000.0)
    fingerprint = Fingerprint("", 1, 1, "", "", "", "", "embedded", "")
    run = Run(Trial(Configuration({})), (job,), 990.0, 1000.0, (), fingerprint, SubmittedApplication("a.py"))
    observed = observe(run)
    responses = observed.observation.responses
    assert (responses["time_s"], responses["work_s"], responses["total_s"]) == (4.0, 3.0, 10.0)
    assert "stored as work_s" in observed.notes[0]
