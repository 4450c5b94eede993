"""A recommendation for a study: its space, its price, the load of its cluster and the age of its runs."""

import math
import os
import random
from pathlib import Path
from typing import Any

import pytest

from sparkcast import api
from sparkcast.designs import make_plan
from sparkcast.errors import InfeasibleError, StudyError
from sparkcast.store import open_store, results_folder
from sparkcast.study import Configuration, Fingerprint, Observation
from tests_support import advice

STUDY = """\
study: s
workload: pi
settings: {executors: [1, 2, 4], jobs: [1, 2, 3], samples: [1000, 4000]}
rules: ["executors * jobs <= 8"]
responses: [time_s, error]
design: {replicates: 2}
limits: {trial: 5m}
price: {core_hour: 0.36}
"""
HERE = Fingerprint("slow", 2, 2**33, "Linux", "3.11", "3.5.3", "17", "spark://far:7077")


@pytest.fixture
def study(tmp_path: Path) -> Path:
    path = tmp_path / "s.yaml"
    path.write_text(STUDY)
    return path


def run(path: Path, *, fingerprint: Fingerprint | None = HERE, slower: float = 1.0) -> None:
    """Put results into the store, as if the study had been run; the last third is slower."""
    loaded = api.load_study(path)
    plan, noise = make_plan(loaded), random.Random(1)
    store = open_store(results_folder(path), create=True)
    store.register(loaded, plan)
    for trial in plan.trials:
        run_id, _ = store.begin_run("s", trial)
        c = trial.configuration
        late = slower if trial.position > 2 / 3 * len(plan.trials) else 1.0
        seconds = (5 + float(c["samples"]) / 50 / int(c["executors"])) * (1 + 0.3 * (int(c["jobs"]) - 1)) * late
        responses = {"time_s": seconds * math.exp(noise.gauss(0, 0.01)), "error": 1 / float(c["samples"])}
        store.finish_run("s", trial, Observation(c, responses, run_id=run_id, fingerprint=fingerprint))
    store.close()


def ask(path: Path, **options: Any) -> Any:
    return advice(path, model="ridge", **options)


def test_only_what_the_rules_allow_is_recommended_by_data_and_by_model_file(study: Path, tmp_path: Path) -> None:
    run(study)
    found = ask(study, fix={"jobs": 3})
    assert found.chosen.configuration["executors"] == 2
    saved = tmp_path / "m.sparkcast"
    api.save_model(api.fit(api.load_data(study), ["time_s", "error"], model="ridge").model, saved)
    again = api.recommend(api.load_model(saved), fix={"jobs": 3})
    assert again.chosen == found.chosen
    with pytest.raises(InfeasibleError, match="rules leave no candidate with jobs=3, executors=4"):
        api.recommend(api.load_model(saved), fix={"jobs": 3, "executors": 4})


def test_a_running_study_is_the_load_of_the_next_job(study: Path) -> None:
    run(study)
    loaded = api.load_study(study)
    store = open_store(results_folder(study))
    trial = store.add_trial("s", Configuration({**loaded.fixed, "executors": 1, "jobs": 2, "samples": 4000}), 7)
    store.begin_run("s", trial)
    store.close()
    found = ask(study, present=api.Present("store"))
    assert found.chosen.configuration["jobs"] == 3
    assert len(found.running) == 2
    assert all(forecast.job.within_s == 300 for forecast in found.running)
    assert all(forecast.ends_with_new_s > forecast.ends_s for forecast in found.running)


def test_an_idle_store_is_no_load(study: Path) -> None:
    run(study)
    found = ask(study, present=api.Present("store"))
    assert (found.chosen.configuration["jobs"], found.running) == (1, ())


def test_runs_on_another_cluster_are_not_compared_with_this_machine(study: Path) -> None:
    run(study)
    assert ask(study).staleness.verdict == "unknown"


def test_runs_on_other_hardware_of_an_embedded_cluster_ask_for_new_ones(study: Path) -> None:
    elsewhere = Fingerprint(
        "a slower one", 4 * (os.cpu_count() or 1), 2**33, "", "", "3.5.3", "17", "embedded: 1 worker"
    )
    run(study, fingerprint=elsewhere)
    stale = ask(study).staleness
    assert stale.verdict == "retrain"
    assert "cores" in stale.reasons[0]


def test_runs_that_became_slower_ask_for_new_ones(study: Path) -> None:
    run(study, slower=1.6)
    stale = ask(study).staleness
    assert stale.verdict == "retrain"
    assert "longer than predicted" in stale.reasons[0]


def test_a_formula_named_cost_is_the_cost_and_not_the_price(study: Path) -> None:
    study.write_text(STUDY.replace("[time_s, error]", '[time_s, error, "cost = time_s * 1000"]'))
    run(study)
    found = ask(study, minimize="cost", fix={"jobs": 1})
    assert found.models["cost"] == "ridge"
    assert found.chosen.predicted("cost").value == pytest.approx(
        1000 * found.chosen.predicted("time_s").value, rel=0.02
    )


def test_levels_of_what_is_no_factor_are_refused(study: Path) -> None:
    run(study)
    with pytest.raises(StudyError, match="'memory' is not a factor"):
        ask(study, levels={"memory": ["1g", "2g"]})
