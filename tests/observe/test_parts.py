"""Parts of a run add up to all of it."""

from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sparkcast.observe.outcome import JobEnd
from sparkcast.observe.parts import parts_of
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
    assert not {*observe(replace(run, jobs=(job, job))).observation.responses} & {"boot_s", "idle_s"}  # of one job alone
    assert [responses[part] for part in PARTS] == pytest.approx([5.0, 1.0, 2.5, 1.0, 0.5, 2.0])
    assert sum(responses[part] for part in PARTS) == pytest.approx(responses["total_s"])
