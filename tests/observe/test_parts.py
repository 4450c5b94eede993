"""The parts of a run add up to the time from submission to exit."""

from pathlib import Path

import pytest

from observe_support import START_S, events, leave
from sparkcast.observe.run import Run, observe
from sparkcast.study import Configuration, Trial
from sparkcast.study.application import EXIT, LAUNCH, PART_RESPONSES


def test_the_parts_of_a_run_add_up_from_submission_to_exit(tmp_path: Path) -> None:
    job = leave(tmp_path, {"work_s": 4.0, "accuracy": 0.9}, events(executor={"Host": "a", "Total Cores": 1}))
    responses = observe(Run(Trial(Configuration({})), (job,), START_S, START_S + 12, (), None)).observation.responses
    assert (responses["time_s"], responses["work_s"], responses["startup_s"]) == (5.0, 4.0, 4.0)
    assert (responses[LAUNCH], responses["part_before_first_job_s"], responses[EXIT]) == (2.0, 2.0, 2.0)
    assert sum(responses[part] for part in PART_RESPONSES) == pytest.approx(responses["total_s"]) == 12.0


def test_jobs_that_ran_at_once_have_no_parts_together(tmp_path: Path) -> None:
    jobs = tuple(
        leave(tmp_path / name, {"work_s": 4.0}, events(executor={"Host": "a", "Total Cores": 1})) for name in "ab"
    )
    responses = observe(Run(Trial(Configuration({})), jobs, START_S, START_S + 12, (), None)).observation.responses
    assert responses["time_s"] == 5.0
    assert not set(PART_RESPONSES) & set(responses)
