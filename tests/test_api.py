"""Stages put together, without a cluster."""

from pathlib import Path

from sparkcast import api
from sparkcast.designs import make_plan
from sparkcast.store import open_store, results_folder
from sparkcast.study import Observation

STUDY = "study: s\nworkload: pi\nsettings: {executors: [1, 2], samples: 1000}\n"


def _pretend_to_run(path: Path) -> None:
    study = api.load_study(path)
    plan = make_plan(study)
    store = open_store(results_folder(path), create=True)
    store.register(study, plan, allow_changed=True)
    for trial in store.pending("s", plan):
        run_id, _ = store.begin_run("s", trial)
        store.finish_run("s", trial, Observation(trial.configuration, {"time_s": 1.0}, run_id=run_id))
    store.close()


def test_results_with_other_fixed_settings_are_kept_but_not_mixed_in(tmp_path: Path) -> None:
    path = tmp_path / "s.yaml"
    path.write_text(STUDY)
    _pretend_to_run(path)
    path.write_text(STUDY.replace("1000", "2000").replace("[1, 2]", "[1, 2, 4]"))
    _pretend_to_run(path)
    seen = api.load_data(path).dataset.observations
    assert sorted(int(o.configuration["executors"]) for o in seen) == [1, 2, 4]
    assert {o.configuration["samples"] for o in seen} == {2000}
    path.write_text(STUDY)
    assert {o.configuration["samples"] for o in api.load_data(path).dataset.observations} == {1000}


def test_levels_that_a_study_no_longer_varies_still_teach(tmp_path: Path) -> None:
    path = tmp_path / "s.yaml"
    path.write_text(STUDY.replace("[1, 2]", "[1, 2, 4]"))
    _pretend_to_run(path)
    path.write_text(STUDY)
    assert len(api.load_data(path).dataset.observations) == 3
