"""Samples of machines as tables."""

import csv
from pathlib import Path

import pytest

from sparkcast import api
from sparkcast.data.sources import Data
from sparkcast.designs import make_plan
from sparkcast.errors import NotEnoughDataError
from sparkcast.store import open_store
from sparkcast.study import DesignChoice, Factor, Observation, Study
from sparkcast.study.series import HostSeries, RunSeries, StageSpan
from sparkcast.workloads.sampler import TOTALS


@pytest.fixture
def sampled(tmp_path: Path) -> Data:
    """Two runs, of which the first was sampled for two seconds."""
    study = Study("s", "pi", (Factor("executors", (1, 2)),), design=DesignChoice())
    plan = make_plan(study)
    counters = dict.fromkeys((*TOTALS, "core0"), (0, 0, 0))
    counters |= {"at_ms": (5000, 6000, 7000), "user": (0, 100, 150), "idle": (0, 0, 50)}
    host = HostSeries("h", "n", 1, 2**30, 100, counters)
    series = RunSeries((host,), (StageSpan(3, 0, "map", 6000, 7000),))
    store = open_store(tmp_path / "s.results", create=True)
    store.register(study, plan)
    for trial, own in zip(plan.trials, (series, None), strict=True):
        run_id, artifacts = store.begin_run("s", trial)
        responses = {"time_s": 2.0, "imbalance": 0.1, "busy_core_s": 3.0}
        seen = Observation(trial.configuration, responses, run_id=run_id, artifacts=artifacts)
        store.finish_run("s", trial, seen, own)
    store.close()
    return api.load_data(tmp_path / "s.results")


def test_a_store_reports_what_its_workload_told_and_keeps_the_rest_for_models(sampled: Data) -> None:
    assert sampled.dataset.responses == ("time_s",)
    assert sampled.dataset.measured == ("time_s", "imbalance", "busy_core_s")


def rows_of(path: Path) -> list[dict[str, str]]:
    with path.open() as file:
        return list(csv.DictReader(file))


def test_samples_come_with_the_settings_of_their_run(sampled: Data, tmp_path: Path) -> None:
    [run] = api.samples(sampled)
    assert run.series.hosts[0].at_ms == (5000, 6000, 7000)
    assert [(stage.stage_id, stage.means["cpu_percent"]) for stage in run.stages] == [(3, 50.0)]
    assert api.export_samples(sampled, tmp_path / "samples.csv") == 1
    rows = rows_of(tmp_path / "samples.csv")
    assert [row["cpu_percent"] for row in rows] == ["100.0", "50.0"]
    assert {row["executors"] for row in rows} == {str(run.observation.configuration["executors"])}


def test_stages_have_the_means_of_their_time(sampled: Data, tmp_path: Path) -> None:
    api.export_samples(sampled, tmp_path / "stages.csv", by="stage")
    [row] = rows_of(tmp_path / "stages.csv")
    assert (row["stage"], row["started_s"], row["user_percent"]) == ("map", "1.0", "50.0")


def test_runs_without_samples_are_an_error_with_advice(tmp_path: Path) -> None:
    (tmp_path / "runs.csv").write_text("executors,time_s\n1,10\n2,6\n")
    with pytest.raises(NotEnoughDataError, match="no sample of a machine"):
        api.export_samples(api.load_data(tmp_path / "runs.csv"), tmp_path / "samples.csv")
