"""Whether a job that waits for executors will get them."""

import json
from pathlib import Path

import pytest

from sparkcast.engines import HasShortage
from sparkcast.runs.placement import Placement
from sparkcast.workloads import Shape
from tests_support import PlayedEngine

START = {"Event": "SparkListenerApplicationStart", "App Name": "x", "App ID": "app-1", "Timestamp": 1000}
EXECUTOR = {
    "Event": "SparkListenerExecutorAdded",
    "Timestamp": 2000,
    "Executor ID": "0",
    "Executor Info": {"Host": "h", "Total Cores": 1},
}
JOB = {"Event": "SparkListenerJobStart", "Job ID": 0, "Submission Time": 3000, "Stage Infos": [], "Stage IDs": []}
SHAPE = Shape(executors=2, cores=1, memory="1g", jobs=1)


class Full(PlayedEngine):
    """A cluster that has no room for so many executors."""

    lacking: int | None = 1

    def shortage(self, application: str, shape: Shape) -> int | None:
        assert application == "app-1"
        return self.lacking


def _placement(folder: Path, *events: dict[str, object], lacking: int | None = 1) -> Placement:
    engine = Full(lambda settings: {})
    engine.lacking = lacking
    if events:
        (folder / "app-1.inprogress").write_text("".join(json.dumps(event) + "\n" for event in events))
    return Placement(engine, folder, SHAPE)


def test_a_job_that_waits_without_room_is_hopeless_after_a_while(tmp_path: Path) -> None:
    waiting = _placement(tmp_path, START, EXECUTOR)
    assert waiting.hopeless(89.0) == ""
    assert waiting.hopeless(90.0) == waiting.missing
    asked = "asked for 2 executors with 1 core and 1g each, 1 came within 1 min 30 s"
    assert waiting.missing == f"{asked}, and the cluster has no room for 1 more"


def test_a_job_that_waits_in_vain_is_told_of_before_it_is_given_up(tmp_path: Path) -> None:
    waiting = _placement(tmp_path, START, EXECUTOR)
    assert waiting.hopeless(29.0) == waiting.lacking == ""
    assert waiting.hopeless(30.0) == ""
    assert waiting.lacking.endswith("1 came within 30.0 s, and the cluster has no room for 1 more")


@pytest.mark.parametrize("lacking", [0, None])
def test_a_job_waits_on_where_there_is_room_or_nobody_knows(tmp_path: Path, lacking: int | None) -> None:
    waiting = _placement(tmp_path, START, lacking=lacking)
    assert waiting.hopeless(500.0) == ""
    assert waiting.never_started(600.0) == "asked for 2 executors with 1 core and 1g each, none came within 10 min 00 s"


def test_an_engine_without_an_answer_is_no_reason_to_stop(tmp_path: Path) -> None:
    assert not isinstance(PlayedEngine(lambda settings: {}), HasShortage)
    _placement(tmp_path, START)
    assert Placement(PlayedEngine(lambda settings: {}), tmp_path, SHAPE).hopeless(500.0) == ""


@pytest.mark.parametrize(
    "events",
    [(), (START, EXECUTOR, EXECUTOR), (START, EXECUTOR, JOB)],
    ids=["not registered yet", "all executors", "some executors and told not to wait"],
)
def test_other_runs_have_started_or_cannot_be_told(tmp_path: Path, events: tuple[dict[str, object], ...]) -> None:
    running = _placement(tmp_path, *events)
    assert (running.hopeless(500.0), running.never_started(600.0)) == ("", "")


def test_a_job_without_any_executor_has_not_started_though_it_wants_to(tmp_path: Path) -> None:
    assert "none came" in _placement(tmp_path, START, JOB).never_started(600.0)
