"""What is stored of a run, where only little of it is there: parts of logs, several jobs, other systems."""

import json
import re
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace

import psutil
import pytest

from observe_support import START_S, events, leave
from sparkcast.observe.outcome import ExitReport, classify
from sparkcast.observe.output import read_output
from sparkcast.observe.psutil_counters import PsutilCounters
from sparkcast.observe.report import JobReport
from sparkcast.observe.run import RanJob, Run, observe
from sparkcast.study import Configuration, Epoch, Fingerprint, Outcome, Sharing, TaskTotals, Trial
from sparkcast.study.application import EXIT, LAUNCH
from sparkcast.workloads.base import SubmittedApplication
from sparkcast.workloads.sampler import TOTALS

TASKS = TaskTotals(3, 4, 8, 0, 1, 0, 6.0, 5.0, 0.5, 0.0, 100, 200, 0, first_job_s=1000.0, last_job_s=1012.5)
AUC = SubmittedApplication("a.py", promised=("auc",), patterns={"auc": re.compile(r"AUC = (\S+)")})
ONE_CORE = {"Host": "a", "Total Cores": 1}


def run_of(*jobs: RanJob, program: SubmittedApplication | None = None, sharing: Sharing | None = None) -> Run:
    trial = Trial(Configuration({"rows": 10}), replicate=2, position=5)
    fingerprint = Fingerprint("", 1, 1, "", "", "", "", "embedded", "")
    return Run(trial, jobs, START_S, START_S + 12, (), fingerprint, program, sharing)


def write(folder: Path, **files: str) -> Path:
    for name, text in files.items():
        (folder / name.replace("_", ".")).write_text(text)
    return folder


# ---------------------------------------------------------------- an observation


def test_an_observation_has_its_place_in_the_study_and_the_moment_it_was_launched(tmp_path: Path) -> None:
    seen = observe(run_of(leave(tmp_path, {}, events(executor=ONE_CORE)))).observation
    assert (seen.replicate, seen.position, seen.started_at) == (2, 5, START_S)
    assert (seen.jobs, seen.sharing) == ((), None)  # those of a stream


def test_two_jobs_at_once_are_stored_each_with_its_times_since_the_launch(tmp_path: Path) -> None:
    first = replace(leave(tmp_path / "1", {"auc": 0.5}, events(executor=ONE_CORE)), cores=3)
    second = replace(leave(tmp_path / "2", {"auc": 0.7}, events(executor=ONE_CORE)), submitted_at=START_S + 1)
    seen = observe(run_of(first, second, sharing=Sharing("fair", 4))).observation
    assert seen.sharing == Sharing("fair", 4)
    assert [(job.number, job.arrived_s, job.started_s, job.ended_s, job.cores) for job in seen.jobs] == [
        (1, 0.0, 3.0, 12.0, 3),
        (2, 1.0, 3.0, 12.0, None),
    ]
    assert seen.responses["startup_s"] == pytest.approx(3.5)  # 4 s and 3 s after they were submitted
    assert seen.responses["total_s"] == pytest.approx(12)


def test_of_several_outcomes_the_worst_counts_with_its_cause(tmp_path: Path) -> None:
    good = leave(tmp_path / "1", {"auc": 0.5}, events(executor=ONE_CORE))
    late = replace(leave(tmp_path / "2", {}, events(executor=ONE_CORE)), end=ExitReport(-15, "timeout"))
    gone = replace(leave(tmp_path / "3", {}, events(executor=ONE_CORE)), end=ExitReport(-15, "the master ended"))
    assert observe(run_of(good, late)).observation.outcome is Outcome.TIMEOUT
    seen = observe(run_of(good, late, gone)).observation
    assert (seen.outcome, seen.cause) == (Outcome.LOST, "the master ended")


def test_a_log_without_the_start_of_its_application_still_counts_its_tasks(tmp_path: Path) -> None:
    whole = events(executor=ONE_CORE)
    parts = [event for event in whole if event["Event"] != "SparkListenerApplicationStart"]
    tasks = [
        observe(run_of(leave(tmp_path / name, {"auc": 0.5}, log))).observation.tasks
        for name, log in (("whole", whole), ("parts", parts))
    ]
    assert tasks[0] is not None
    assert tasks[1] is not None
    assert (tasks[1].jobs, tasks[1].tasks) == (tasks[0].jobs, tasks[0].tasks) == (1, 1)


def test_without_an_event_log_the_work_began_when_the_job_said_so(tmp_path: Path) -> None:
    job = leave(tmp_path, {"auc": 0.5}, [])
    (tmp_path / "eventlog" / "app-1").unlink()
    seen = observe(run_of(job)).observation
    assert seen.tasks is None
    assert seen.responses["startup_s"] == pytest.approx(6)


def test_the_time_outside_of_the_application_is_that_before_and_after_it(tmp_path: Path) -> None:
    responses = observe(run_of(leave(tmp_path, {}, events(executor=ONE_CORE)))).observation.responses
    assert (responses[LAUNCH], responses[EXIT]) == (2.0, 2.0)  # from 1002 to 1010 s of 1000 to 1012 s
    early = run_of(leave(tmp_path / "early", {}, events(executor=ONE_CORE)))
    early = replace(early, launched_at=START_S + 3)  # two clocks may differ
    responses = observe(early).observation.responses
    assert (responses[LAUNCH], responses[EXIT]) == (0.0, 1.0)


def test_the_cause_is_looked_for_at_the_end_of_a_long_log(tmp_path: Path) -> None:
    (tmp_path / "driver.log").write_text("java.lang.OutOfMemoryError: long ago\n" + 30_000 * "INFO fine\n" + "boom\n")
    seen = observe(run_of(RanJob(tmp_path, ExitReport(1), START_S, START_S + 1))).observation
    assert seen.outcome is Outcome.ERROR
    assert seen.cause == "boom"  # neither what is logged as usual, nor the rest of a line that was cut
    (tmp_path / "driver.log").write_text(100 * "INFO fine\n" + "java.lang.OutOfMemoryError: now\n" + 100 * "INFO x\n")
    assert observe(run_of(RanJob(tmp_path, ExitReport(1), START_S, START_S + 1))).observation.outcome is Outcome.OOM


# ---------------------------------------------------------------- how a job ended


def test_the_last_five_lines_with_text_are_the_cause_of_an_end_that_says_nothing() -> None:
    log = "".join(f"line {number}\n\n" for number in range(1, 8))
    assert classify(ExitReport(1), JobReport(), TASKS, log) == (
        Outcome.ERROR,
        "line 3\nline 4\nline 5\nline 6\nline 7",
    )
    assert classify(ExitReport(3), JobReport(), None, " \n") == (Outcome.ERROR, "the driver exited with code 3")


@pytest.mark.parametrize("code", [-9, 137, -15, 143])
def test_a_driver_that_was_killed_is_lost_unless_it_ran_out_of_memory(code: int) -> None:
    assert classify(ExitReport(code), JobReport(), TASKS, "INFO fine")[0] is Outcome.LOST
    assert classify(ExitReport(code), JobReport(), TASKS, "java.lang.OutOfMemoryError: heap")[0] is Outcome.OOM


def test_a_job_that_ended_well_without_a_promised_number_failed_for_that_reason() -> None:
    report = JobReport(failure="no auc")
    assert classify(ExitReport(0), report, TASKS, "java.lang.OutOfMemoryError: of a task that was tried again") == (
        Outcome.ERROR,
        "no auc",
    )
    assert classify(ExitReport(0), report, replace(TASKS, lost_executors=1), "")[0] is Outcome.LOST


# ---------------------------------------------------------------- what a program printed


def test_points_that_were_logged_have_no_time_of_the_printed_lines(tmp_path: Path) -> None:
    program = SubmittedApplication(
        "a.py", promised=("auc",), patterns={"auc": re.compile(r"epoch (?P<epoch>\d+): AUC = (\S+)")}
    )
    write(tmp_path, stdout_log="x\n" * 20, driver_log="epoch 1: AUC = 0.5\n", stdout_times="40 1003.0\n")
    report = read_output(tmp_path, program, TASKS, 0)
    assert (report.responses, report.curve) == ({"auc": 0.5}, ())


def test_a_point_was_printed_when_the_output_had_reached_its_line(tmp_path: Path) -> None:
    lines = [f'sparkcast: {{"epoch": {number}, "auc": 0.{number}}}\n' for number in (1, 2, 3, 4)]
    size = len(lines[0])
    notes = f"{size - 1} 999.0\n{2 * size} 1004.0\n{4 * size - 1} 1006.0\n"
    write(tmp_path, stdout_log="".join(lines), stdout_times=notes)
    curve = read_output(tmp_path, SubmittedApplication("a.py"), TASKS, 0).curve
    # The first two ended between the first two looks, the third before the last one; nobody saw the fourth.
    assert curve == (Epoch(1, 4.0, {"auc": 0.1}), Epoch(2, 4.0, {"auc": 0.2}), Epoch(3, 6.0, {"auc": 0.3}))


def test_a_point_from_before_the_first_spark_job_is_at_zero(tmp_path: Path) -> None:
    write(tmp_path, stdout_log='sparkcast: {"epoch": 0, "auc": 0.1}\n', stdout_times="36 990.0\n")
    assert read_output(tmp_path, SubmittedApplication("a.py"), TASKS, 0).curve == (Epoch(0, 0.0, {"auc": 0.1}),)


def test_points_in_the_file_fill_in_what_the_file_itself_does_not_say(tmp_path: Path) -> None:
    points = [{"epoch": 1, "auc": 0.5, "loss": 3, "time_s": 4}, "cut", {"epoch": 2, "auc": 0.8, "loss": 2, "time_s": 7}]
    write(tmp_path, result_json=json.dumps({"auc": 0.9, "epochs": points}))
    report = read_output(tmp_path, AUC, TASKS, 0)
    assert report.responses == {"auc": 0.9, "loss": 2.0}
    assert [(point.number, point.time_s) for point in report.curve] == [(1, 4.0), (2, 7.0)]
    write(tmp_path, result_json=json.dumps({"auc": 0.9, "epochs": 3}))
    assert read_output(tmp_path, AUC, TASKS, 0).responses == {"auc": 0.9}


def test_a_number_after_one_that_was_none_keeps_the_promise(tmp_path: Path) -> None:
    write(tmp_path, stdout_log="AUC = high\nAUC = 0.5\n")
    assert read_output(tmp_path, AUC, TASKS, 0).responses == {"auc": 0.5}


def test_the_error_of_the_last_traceback_comes_first(tmp_path: Path) -> None:
    once = "Traceback (most recent call last):\n File 'a.py'\n\tboom()\n{}\n"
    write(tmp_path, stdout_log="", driver_log=once.format("KeyError: 1") + once.format("ValueError: 2") + "INFO bye\n")
    assert read_output(tmp_path, AUC, TASKS, 1).failure.startswith("ValueError: 2\n")


def test_only_the_last_lines_with_text_are_shown_and_no_long_one_whole(tmp_path: Path) -> None:
    printed = "".join(f"line {number}\n \n" for number in range(1, 12))
    write(tmp_path, stdout_log=printed, driver_log="x" * 5000)
    *lines, long = read_output(tmp_path, AUC, TASKS, 2).failure.splitlines()
    assert lines == ["the job ended with exit code 2", *(f"line {number}" for number in range(4, 12))]
    assert long == 2000 * "x"


# ---------------------------------------------------------------- systems without /proc


def test_counters_of_psutil_come_in_the_units_of_the_kernel(monkeypatch: pytest.MonkeyPatch) -> None:
    cpu = SimpleNamespace(user=2.0, nice=1.0, system=0.5, idle=9.0)
    memory = SimpleNamespace(total=8 * 2**20, available=3 * 2**20)
    disk = SimpleNamespace(read_count=3, write_count=4, read_bytes=5120, write_bytes=10240)
    links = {
        "lo": SimpleNamespace(bytes_sent=1, bytes_recv=2, packets_sent=3, packets_recv=4),
        "eth0": SimpleNamespace(bytes_sent=10, bytes_recv=20, packets_sent=30, packets_recv=40),
        "eth1": SimpleNamespace(bytes_sent=100, bytes_recv=200, packets_sent=300, packets_recv=400),
    }
    monkeypatch.setattr(psutil, "cpu_times", lambda percpu=False: [cpu, cpu] if percpu else cpu)
    monkeypatch.setattr(psutil, "virtual_memory", lambda: memory)
    monkeypatch.setattr(psutil, "disk_io_counters", lambda: disk)
    monkeypatch.setattr(psutil, "net_io_counters", lambda pernic: dict(links))
    counters = PsutilCounters()
    about = counters.about()
    assert (about["cores"], about["memory_bytes"], about["ticks_per_s"]) == (2, 8 * 2**20, 100)
    seen = dict(zip(about["names"], counters.read(), strict=True))
    assert set(seen) == {*TOTALS, "core0", "core1"}
    seen.pop("at_ms")
    assert seen == {
        **{"user": 300, "system": 50, "iowait": 0, "steal": 0, "idle": 900, "memory_kib": 5 * 1024},
        **{"disk_reads": 3, "disk_read_sectors": 10, "disk_writes": 4, "disk_written_sectors": 20},
        **{"network_in_bytes": 220, "network_in_packets": 440, "network_out_bytes": 110, "network_out_packets": 330},
        **{"loopback_bytes": 2, "loopback_packets": 4, "core0": 350, "core1": 350},
    }
    monkeypatch.setattr(psutil, "disk_io_counters", lambda: None)
    assert dict(zip(about["names"], counters.read(), strict=True))["disk_read_sectors"] == 0
