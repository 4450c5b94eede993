"""A script that starts Spark twice leaves two event logs: a run is all of its applications."""

import json
from pathlib import Path
from typing import Any

import pytest

from eventlogs_support import as_lines, real_lines
from observe_support import START_S, events, leave
from sparkcast.observe.run import Observed, RanJob, Run, observe
from sparkcast.study import Configuration, Role, Trial
from sparkcast.study.application import PART_RESPONSES

ONE_CORE = {"Host": "a", "Total Cores": 1}
MOMENTS = ("Timestamp", "Submission Time", "Completion Time", "Launch Time", "Finish Time", "time")
ROLES = {"executors": Role.MACHINES, "cores": Role.CORES}


def later(log: list[dict[str, Any]], seconds: int, app_id: str) -> list[dict[str, Any]]:
    """The same application, that much later, under another id."""

    def moved(value: Any) -> Any:
        if isinstance(value, dict):
            return {
                key: part + 1000 * seconds if key in MOMENTS and part else moved(part) for key, part in value.items()
            }
        return value

    return [moved(event) | ({"App ID": app_id} if "App ID" in event else {}) for event in log]


def leave_two(folder: Path, first: list[dict[str, Any]], second: list[dict[str, Any]]) -> RanJob:
    job = leave(folder, {"work_s": 4.0}, first)
    (folder / "eventlog" / "app-2").write_bytes(b"".join(as_lines(second)))
    return job


def observed(job: RanJob, total_s: float, asked: dict[str, int] | None = None) -> Observed:
    return observe(Run(Trial(Configuration(asked or {})), (job,), START_S, START_S + total_s, (), None, roles=ROLES))


def test_two_applications_of_a_run_are_measured_from_the_first_to_the_last_spark_job(tmp_path: Path) -> None:
    first = events(executor=ONE_CORE)  # from 1002 to 1010 s, with a job from 1004 to 1009
    one = observed(leave(tmp_path / "one", {"work_s": 4.0}, first), 12).observation
    two = observed(leave_two(tmp_path / "two", first, later(first, 40, "app-2")), 51).observation
    assert (two.responses["time_s"], two.responses["startup_s"], two.responses["total_s"]) == (45.0, 4.0, 51.0)
    assert two.tasks is not None
    assert one.tasks is not None
    assert (two.tasks.tasks, two.tasks.jobs, two.tasks.executors) == (2, 2, 2)
    for name in ("cpu_s", "task_s", "task_count", "core_hours", "input_bytes", "shuffle_read_bytes"):
        assert two.responses[name] == pytest.approx(2 * one.responses[name]), name
    assert sum(two.responses[part] for part in PART_RESPONSES) == pytest.approx(51)
    # 1010 to 1042 belongs to no application: the program did something else
    assert two.responses["part_driver_only_s"] == pytest.approx(32 + 2 * one.responses["part_driver_only_s"])


def test_the_parts_of_applications_that_lived_at_once_add_up_as_well(tmp_path: Path) -> None:
    first = events(executor=ONE_CORE)
    run = observed(leave_two(tmp_path, first, later(first, 3, "app-2")), 20).observation
    assert run.responses["time_s"] == 8.0
    assert sum(run.responses[part] for part in PART_RESPONSES) == pytest.approx(20)


def test_an_application_without_a_spark_job_adds_its_time_and_what_it_held(tmp_path: Path) -> None:
    first = events(executor=ONE_CORE)
    own = ("SparkListenerJob", "SparkListenerTask")
    idle = [event for event in later(first, 40, "app-2") if not event["Event"].startswith(own)]
    run = observed(leave_two(tmp_path, first, idle), 60).observation
    assert run.responses["time_s"] == 5.0
    assert run.responses["core_hours"] == pytest.approx(2 * 7 / 3600)
    assert sum(run.responses[part] for part in PART_RESPONSES) == pytest.approx(60)


def test_applications_with_different_executors_are_pointed_out(tmp_path: Path) -> None:
    first, wide = events(executor=ONE_CORE), events(executor=ONE_CORE | {"Total Cores": 2})
    alike = observed(leave_two(tmp_path / "a", first, later(first, 40, "app-2")), 60, {"executors": 1, "cores": 1})
    assert (alike.notes, alike.observation.requested) == ((), None)
    found = observed(leave_two(tmp_path / "b", first, later(wide, 40, "app-2")), 60)
    [note] = found.notes
    assert note == (
        "its 2 Spark applications had different executors: 1 executor with 1 core each and 1 executor with 2 cores each"
    )


def test_the_order_of_the_logs_names_does_not_matter(tmp_path: Path) -> None:
    first = events(executor=ONE_CORE)
    forth = observed(leave_two(tmp_path / "forth", first, later(first, 40, "app-2")), 51).observation
    back = observed(leave_two(tmp_path / "back", later(first, 40, "app-2"), first), 51).observation
    assert forth.responses == pytest.approx(back.responses)


def test_a_real_log_twice_counts_twice(tmp_path: Path) -> None:
    lines = [json.loads(line) for line in real_lines()]
    start = next(event["Timestamp"] for event in lines if event["Event"] == "SparkListenerApplicationStart") / 1e3
    end = next(event["Timestamp"] for event in lines if event["Event"] == "SparkListenerApplicationEnd") / 1e3

    def run(job: RanJob, ended_at: float) -> Any:
        return observe(Run(Trial(Configuration({})), (job,), start - 5, ended_at, (), None)).observation.responses

    once = run(leave(tmp_path / "once", {"work_s": 1.0}, lines), end + 1)
    moved = later(lines, 60, "app-2")
    twice = run(leave_two(tmp_path / "twice", lines, moved), end + 61)
    assert twice["time_s"] == pytest.approx(once["time_s"] + 60)
    assert twice["task_count"] == 2 * once["task_count"] == 8
    assert twice["core_hours"] == pytest.approx(2 * once["core_hours"])
    for responses in (once, twice):
        assert sum(responses[part] for part in PART_RESPONSES) == pytest.approx(responses["total_s"])
