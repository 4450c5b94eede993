"""Asked against got: runs are stored with the cluster they really had."""

from pathlib import Path

import pytest

from observe_support import START_S, events, leave
from sparkcast.observe.run import Run, observe
from sparkcast.study import Configuration, Observation, Role, Trial

ROLES = {"executors": Role.MACHINES, "cores": Role.CORES, "memory": Role.MEMORY, "rows": Role.DATA_SIZE}
ONE_CORE = {"Host": "a", "Total Cores": 1}


def observed(
    folder: Path, asked: dict[str, object], properties: dict[str, str] | None = None, roles: dict[str, Role] = ROLES
) -> Observation:
    job = leave(folder, {"work_s": 4.0}, events(executor=ONE_CORE, properties=properties))
    trial = Trial(Configuration(asked))  # type: ignore[arg-type]
    return observe(Run(trial, (job,), START_S, START_S + 12, (), None, roles=roles)).observation


def test_a_run_that_got_what_it_asked_for_is_as_it_was(tmp_path: Path) -> None:
    asked = {"executors": 1, "cores": 1, "memory": "2g", "rows": 10}
    run = observed(tmp_path, asked, {"spark.executor.memory": "2048m"})
    assert run.configuration == Configuration(asked)  # type: ignore[arg-type]
    assert (run.requested, run.difference) == (None, "")


def test_a_run_with_fewer_executors_than_asked_is_stored_with_those_it_had(tmp_path: Path) -> None:
    run = observed(tmp_path, {"executors": 4, "cores": 1, "rows": 10})
    assert run.configuration == Configuration({"executors": 1, "cores": 1, "rows": 10})
    assert run.requested == Configuration({"executors": 4, "cores": 1, "rows": 10})
    assert run.difference == "asked for executors=4, got executors=1"
    assert run.leaves_open


def test_other_cores_and_memory_are_noticed_under_the_names_of_the_study(tmp_path: Path) -> None:
    roles = {"threads": Role.CORES, "ram": Role.MEMORY}
    run = observed(tmp_path, {"threads": 2, "ram": "4g"}, {"spark.executor.memory": "1g"}, roles)
    assert run.configuration == Configuration({"threads": 1, "ram": "1g"})


@pytest.mark.parametrize("is_on", ["true", "false"])
def test_with_dynamic_allocation_spark_decides_on_the_number_of_executors(tmp_path: Path, is_on: str) -> None:
    run = observed(tmp_path, {"executors": 4}, {"spark.dynamicAllocation.enabled": is_on})
    assert (run.requested is None) == (is_on == "true")


def test_what_no_run_of_a_study_can_decide_leaves_no_trial_open(tmp_path: Path) -> None:
    job = leave(tmp_path, {"work_s": 4.0}, events(executor=ONE_CORE))
    trial = Trial(Configuration({"executors": 1, "cores": 4}))
    run = Run(trial, (job,), START_S, START_S + 12, (), None, roles=ROLES, uncontrolled=frozenset({Role.CORES}))
    seen = observe(run).observation
    assert (seen.configuration["cores"], seen.leaves_open) == (1, False)
