"""Which stored results belong to a study, and what is no source of runs."""

from pathlib import Path

import pytest

from sparkcast import api
from sparkcast.data.sources import stored_observations
from sparkcast.designs import make_plan
from sparkcast.errors import StudyError
from sparkcast.store import open_store, results_folder
from sparkcast.study import Observation, Study
from sparkcast.study.file import parse_study
from sparkcast.workloads import resolve

STUDY = "study: s\nworkload: mnist-training\nsettings: {executors: [1, 2]%s}\n"


def stored(path: Path, study: Study) -> None:
    """Run the first trial of a study, changed or not."""
    store = open_store(results_folder(path), create=True)
    plan = make_plan(study)
    store.register(study, plan, allow_changed=True)
    trial = plan.trials[0]
    run_id, artifacts = store.begin_run(study.name, trial)
    observation = Observation(trial.configuration, {"time_s": 1.0}, run_id=run_id, artifacts=artifacts)
    store.finish_run(study.name, trial, observation)
    store.close()


def test_runs_at_other_levels_of_a_setting_that_is_not_recorded_at_its_default_are_left_out(tmp_path: Path) -> None:
    path = tmp_path / "s.yaml"
    plain, adam = (resolve(parse_study(STUDY % more, path)) for more in ("", ", optimizer: adam"))
    stored(path, plain)
    stored(path, adam)
    [of_plain] = stored_observations(plain)
    [of_adam] = stored_observations(adam)
    assert "optimizer" not in of_plain.configuration
    assert of_adam.configuration["optimizer"] == "adam"


@pytest.mark.parametrize("name", ["runs.csv", "store.sqlite", "app-20261118"])
def test_an_empty_file_is_called_empty_and_stays_so(name: str, tmp_path: Path) -> None:
    (tmp_path / name).touch()
    with pytest.raises(StudyError, match=f"{name} is empty"):
        api.load_data(tmp_path / name)
    assert (tmp_path / name).stat().st_size == 0
