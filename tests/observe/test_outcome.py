import dataclasses
from pathlib import Path

import pytest

from sparkcast.observe.outcome import ExitReport, classify
from sparkcast.observe.report import JobReport, read_report
from sparkcast.observe.run import RanJob, Run, observe
from sparkcast.study import Configuration, Outcome, TaskTotals, Trial

DONE = JobReport(responses={"time_s": 1.0})
TASKS = TaskTotals(1, 1, 2, 0, 1, 0, 1.0, 1.0, 0.0, 0.0, 0, 0, 0)


@pytest.mark.parametrize(
    ("end", "report", "log", "outcome"),
    [
        (ExitReport(0), DONE, "", Outcome.OK),
        (ExitReport(0), JobReport(), "", Outcome.ERROR),  # it said nothing of itself
        (ExitReport(1), JobReport(failure="ValueError: no"), "", Outcome.ERROR),
        (ExitReport(1), JobReport(failure="java.lang.OutOfMemoryError: Java heap space"), "", Outcome.OOM),
        (ExitReport(1), JobReport(), "ExecutorLostFailure: Command exited with code 52", Outcome.OOM),
        (ExitReport(1), JobReport(), "Container killed by YARN for exceeding memory limits", Outcome.OOM),
        (ExitReport(1), JobReport(failure="MemoryError: "), "", Outcome.OOM),
        (ExitReport(1), JobReport(failure="numpy._core._exceptions._ArrayMemoryError: Unable to"), "", Outcome.OOM),
        (ExitReport(1), JobReport(failure="TypeError: `Unable to allocate 9.19 MiB for an array`"), "", Outcome.OOM),
        (ExitReport(1), JobReport(), "ExecutorLostFailure (executor 1 exited)", Outcome.LOST),
        (ExitReport(1), JobReport(), "Reason: All masters are unresponsive! Giving up.", Outcome.LOST),
        (ExitReport(-9), JobReport(), "", Outcome.LOST),
        (ExitReport(-15, "timeout"), DONE, "", Outcome.TIMEOUT),
        (ExitReport(-15, "the master ended"), DONE, "", Outcome.LOST),
    ],
)
def test_an_end_is_classified(end: ExitReport, report: JobReport, log: str, outcome: Outcome) -> None:
    found, cause = classify(end, report, TASKS, log)
    assert found is outcome
    assert bool(cause) == (outcome is not Outcome.OK)


def test_a_run_that_lost_an_executor_on_the_way_is_not_comparable() -> None:
    outcome, cause = classify(ExitReport(0), DONE, dataclasses.replace(TASKS, lost_executors=1), "")
    assert outcome is Outcome.LOST
    assert "1 executor(s) lost" in cause


def test_running_out_of_memory_explains_the_executors_that_were_lost_by_it() -> None:
    failure = JobReport(failure="java.lang.OutOfMemoryError: Java heap space")
    outcome, cause = classify(ExitReport(1), failure, dataclasses.replace(TASKS, lost_executors=2), "")
    assert outcome is Outcome.OOM
    assert "lost" not in cause


def test_a_report_cut_off_in_the_middle_of_a_line_is_still_read(tmp_path: Path) -> None:
    path = tmp_path / "report.jsonl"
    path.write_text(
        '{"kind":"started","at":5.0}\n{"kind":"epoch","at":6,"number":1,"time_s":1.0,"values":{"accuracy":0.5}}\n{"kind":"resu'
    )
    report = read_report(path)
    assert (report.started_at, report.curve[0].values["accuracy"], report.responses) == (5.0, 0.5, {})


def test_notes_of_a_run_are_read(tmp_path: Path) -> None:
    path = tmp_path / "report.jsonl"
    path.write_text('{"kind":"note","at":5.0,"text":"3 images are unreadable"}\n')
    assert read_report(path).notes == ("3 images are unreadable",)


def test_jobs_of_one_trial_are_averaged_and_the_worst_outcome_counts(tmp_path: Path) -> None:
    folders = (tmp_path / "job-1", tmp_path / "job-2")
    for folder, seconds in zip(folders, (10, 20), strict=True):
        folder.mkdir()
        lines = ['{"kind":"started","at":103}', f'{{"kind":"result","at":9,"responses":{{"time_s":{seconds}}}}}']
        (folder / "report.jsonl").write_text("\n".join(lines))
    jobs = tuple(
        RanJob(folder, ExitReport(0), 100.0, ended) for folder, ended in zip(folders, (120.0, 125.0), strict=True)
    )
    run = Run(Trial(Configuration({"jobs": 2})), jobs, 100.0, 125.0, (), None)
    observed = observe(run, artifacts="runs/1")
    assert "no event log: its times are what the job itself reports" in observed.notes[0]
    seen = observed.observation
    assert {name: seen.responses[name] for name in ("time_s", "startup_s", "total_s", "response_s")} == {
        "time_s": 15.0,
        "startup_s": 3.0,
        "total_s": 25.0,
        "response_s": 22.5,
    }
    assert [(job.response_s, job.responses["time_s"], job.artifacts) for job in seen.jobs] == [
        (20.0, 10.0, "runs/1/job-1"),
        (25.0, 20.0, "runs/1/job-2"),
    ]
    failed = dataclasses.replace(run, jobs=(jobs[0], dataclasses.replace(jobs[1], end=ExitReport(1))))
    assert observe(failed).observation.outcome is Outcome.ERROR
    assert observe(failed).observation.responses == {}
