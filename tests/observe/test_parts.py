"""Parts of a run add up to all of it."""

from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from profile_support import START, T, at, log_of
from sparkcast.eventlogs import Executor
from sparkcast.observe.outcome import JobEnd
from sparkcast.observe.parts import parts_in_tasks, parts_of
from sparkcast.observe.run import RanJob, Run, observe
from sparkcast.study import Configuration, Trial
from sparkcast.study.names import PARTS

seconds = st.floats(0, 1e5)


@given(boot_s=seconds, loading_s=seconds, compute_s=seconds, sync_s=seconds, idle_s=seconds, teardown_s=seconds)
def test_whatever_was_measured_the_parts_add_up_and_are_what_they_were(**told: float) -> None:
    time_s = told["compute_s"] + told["sync_s"] + told["idle_s"]
    startup_s = told["boot_s"] + told["loading_s"]
    responses = {
        "startup_s": startup_s,
        "time_s": time_s,
        "total_s": startup_s + time_s + told["teardown_s"],
        "compute_s": told["compute_s"],
        "sync_s": told["sync_s"],
    }
    found = parts_of(responses, told["boot_s"])
    assert tuple(found) == PARTS
    assert found == pytest.approx(told, abs=1e-6)


@pytest.mark.parametrize("missing", ["startup_s", "time_s", "total_s", "compute_s", "sync_s"])
def test_a_run_that_did_not_tell_everything_has_no_parts(missing: str) -> None:
    told = dict.fromkeys(("startup_s", "time_s", "total_s", "compute_s", "sync_s"), 1.0)
    del told[missing]
    assert parts_of(told, 1.0) == {}


def test_the_parts_of_a_run_come_from_its_report(tmp_path: Path) -> None:
    (tmp_path / "report.jsonl").write_text(
        '{"kind": "driver", "at": 1003.0}\n{"kind": "loading", "at": 1005.0}\n{"kind": "started", "at": 1006.0}\n'
        '{"kind": "result", "at": 1010.1, "responses": {"time_s": 4.0, "compute_s": 2.5, "sync_s": 1.0}}\n'
    )
    job = RanJob(tmp_path, JobEnd(0), 1000.0, 1012.0)
    run = Run(Trial(Configuration({"executors": 1})), (job,), 1000.0, 1012.0, (), None)
    responses = observe(run).observation.responses
    assert not {*observe(replace(run, jobs=(job, job))).observation.responses} & {
        "boot_s",
        "idle_s",
    }  # of one job alone
    assert [responses[part] for part in PARTS] == pytest.approx([5.0, 1.0, 2.5, 1.0, 0.5, 2.0])
    assert sum(responses[part] for part in PARTS) == pytest.approx(responses["total_s"])


def test_slots_compute_wait_for_shuffled_data_or_have_no_task() -> None:
    tasks = [T(0, 4), T(1, 3, columns={"fetch_wait_ms": 500}), T(5, 9)]  # 2 s of the last one are measured
    log = log_of(tasks, end=10, executors=[Executor("1", "a", 2, 0, at(0))])
    found = parts_in_tasks(log, START / 1e3 + 2, 5.0)
    assert found == pytest.approx({"compute_s": (2 + 0.75 + 2) / 2, "sync_s": 0.25 / 2})


def test_a_log_without_tasks_or_executors_says_nothing() -> None:
    assert parts_in_tasks(log_of([], end=3), START / 1e3, 2.0) == {}
    assert parts_in_tasks(log_of([T(0, 1)], end=3, executors=()), START / 1e3, 2.0) == {}


@given(st.lists(st.tuples(st.floats(0, 50), st.floats(0, 20), st.integers(0, 40_000)), min_size=1), seconds, seconds)
def test_slots_never_do_more_than_there_is_time(
    tasks: list[tuple[float, float, int]], start_s: float, time_s: float
) -> None:
    made = [T(launch, launch + took, columns={"fetch_wait_ms": wait}) for launch, took, wait in tasks]
    found = parts_in_tasks(log_of(made, end=100), START / 1e3 + start_s % 60, time_s % 60)
    assert all(part >= -1e-9 for part in found.values())
    assert sum(found.values()) <= time_s % 60 + 1e-6
