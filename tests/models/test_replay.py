"""Answers from the event logs of runs, where the runs alone say nothing of another cluster."""

from dataclasses import replace
from pathlib import Path

import pytest

from replay_support import write_waves
from sparkcast import api
from sparkcast.errors import InfeasibleError, NotEnoughDataError, StudyError
from sparkcast.models.replay import Replay, recorded_at
from sparkcast.study import Dataset

STUDY = "nightly load"


def history(folder: Path, *, executors: tuple[int, ...] = (2, 2, 2, 2)) -> api.Data:
    """A night each: 12 tasks of 10 s and a little more, launched 5 s after submission."""
    logs = folder / "logs"
    logs.mkdir()
    for day, n in enumerate(executors):
        write_waves(logs / f"app-{day}", f"app-{day}", executors=n, seconds=10 + day / 10, day=day)
    api.ingest(logs, folder / "history")
    return api.load_data(folder / "history", study=STUDY)


def test_a_history_whose_executors_never_varied_is_asked_about_others(tmp_path: Path) -> None:
    data = history(tmp_path)
    assert data.dataset.factors == ()
    four = api.predict(data, {"executors": 4})
    # Three waves of ten seconds instead of six, with 9 s of launch, start and end as ever.
    assert four.prediction.value == pytest.approx(9 + 30.45, rel=0.02)
    assert four.prediction.low < 39 < four.prediction.high
    assert four.model == "replay"
    assert four.notes[0] == "executors never varied: replayed from the event logs of the latest 4 runs"
    assert four.beside is not None
    assert four.beside.value == pytest.approx(30.45, rel=0.02)


def test_its_own_cluster_takes_what_its_runs_took(tmp_path: Path) -> None:
    data = history(tmp_path)
    fitted = Replay().fit(data.dataset, "total_s")
    times = sorted(run.responses["total_s"] for run in data.dataset.observations)
    [own] = fitted.predict([data.dataset.observations[0].configuration])
    assert times[0] < own < times[-1]
    [(low, high)] = fitted.interval([data.dataset.observations[0].configuration])
    assert low < times[0]
    assert times[-1] < high
    assert fitted.probability_below([data.dataset.observations[0].configuration], high) == [pytest.approx(0.95)]


def test_recommend_chooses_a_cluster_for_such_a_history(tmp_path: Path) -> None:
    found = api.recommend(history(tmp_path), within_s=60)
    assert found.chosen.configuration["executors"] == 3
    assert found.chosen.predicted("total_s").value == pytest.approx(9 + 40.6, rel=0.02)
    assert found.objective == "minimize core_hours"
    assert "executors never varied" in found.notes[0]
    assert found.launch.properties == {"spark.executor.cores": "1", "spark.executor.instances": "3"}


def test_recommend_reads_one_log_and_its_deadline_counts_from_submission(tmp_path: Path) -> None:
    log = write_waves(tmp_path / "app", "app")
    # On three executors 4 + 40 s from the start of the application, and 5 s before it.
    assert api.recommend(log, within_s=53).chosen.configuration["executors"] == 3
    assert api.recommend(log, within_s=47).chosen.configuration["executors"] == 4
    assert api.recommend(log, api.Question(limits=["time_s <= 35"])).chosen.configuration["executors"] == 4
    with pytest.raises(InfeasibleError, match="from submission to exit"):
        api.recommend(log, within_s=15)


@pytest.mark.parametrize(
    ("question", "problem"),
    [
        ({"min_accuracy": 0.9}, "less is better"),
        ({"maximize": "accuracy"}, "less is better"),
        ({"budget": 1.0}, "needs a price"),
        ({"minimize": "cpu_s"}, "does not predict"),
        ({"fix": {"memory": "2g"}}, "varies executors and cores"),
        ({"fix": {"executors": 2.5}}, "not a whole number"),
        ({"within_s": -1.0}, "not positive"),
    ],
)
def test_what_a_replay_cannot_answer_is_refused(tmp_path: Path, question: dict[str, object], problem: str) -> None:
    log = write_waves(tmp_path / "app", "app")
    with pytest.raises(StudyError, match=problem):
        api.recommend(log, api.Question(**question))  # type: ignore[arg-type]


def test_options_of_runs_do_not_apply_to_a_log(tmp_path: Path) -> None:
    log = write_waves(tmp_path / "app", "app")
    with pytest.raises(StudyError, match="learns from runs"):
        api.recommend(log, within_s=60, model="ridge")
    with pytest.raises(StudyError, match="this is an event log"):
        api.recommend(log, within_s=60, present=api.Present(jobs_running=2))


def test_a_standalone_master_is_told_cores_and_a_run_with_dynamic_allocation_that_it_is_off(tmp_path: Path) -> None:
    log = write_waves(tmp_path / "app", "app", spark_master="spark://host:7077", spark_dynamicAllocation_enabled="true")
    assert api.recommend(log, within_s=53).launch.properties == {
        "spark.executor.cores": "1",
        "spark.cores.max": "3",
        "spark.dynamicAllocation.enabled": "false",
    }


def test_of_clusters_that_are_as_quick_the_smaller_one_is_chosen(tmp_path: Path) -> None:
    log = write_waves(tmp_path / "app", "app")
    choices = api.Choices({"executors": [12, 16, 24]})
    found = api.recommend(log, choices=choices)
    assert found.chosen.configuration["executors"] == 12


def test_where_executors_varied_each_is_predicted_from_the_others(tmp_path: Path) -> None:
    data = history(tmp_path, executors=(1, 2, 3, 4, 6))
    result = api.validate(data, "total_s", models=["replay"])
    card = next(one for one in result.scorecards if one.model == "replay")
    assert card.mape < 3
    assert card.coverage == 1.0


def test_logs_that_are_gone_or_of_other_settings_are_said_to_be_missing(tmp_path: Path) -> None:
    data = history(tmp_path)
    fitted = Replay().fit(replace(data.dataset, factors=("memory",)), "total_s")
    [error] = fitted.beyond([{"memory": "64g"}])
    assert error is not None
    assert "no event log is of a run with memory=64g" in error.problem
    for log in (tmp_path / "logs").iterdir():
        log.unlink()
    with pytest.raises(NotEnoughDataError, match="of these none can be read"):
        Replay().fit(data.dataset, "total_s")
    assert recorded_at(str(tmp_path / "logs" / "app-0")) is None
    with pytest.raises(StudyError, match="not a factor"):
        api.predict(data, {"executors": 4})


def test_only_times_and_core_hours_are_replayed(tmp_path: Path) -> None:
    data = history(tmp_path).dataset
    with pytest.raises(StudyError, match="replay predicts total_s, time_s, core_hours, and not cpu_s"):
        Replay().fit(data, "cpu_s")
    assert isinstance(data, Dataset)


def test_more_data_scale_the_work_of_the_closest_log(tmp_path: Path) -> None:
    data = history(tmp_path)
    sized = replace(
        data.dataset,
        factors=("input_size",),
        observations=tuple(
            replace(run, configuration=run.configuration | {"input_size": "1g"}) for run in data.dataset.observations
        ),
    )
    fitted = Replay().fit(sized, "time_s")
    once, twice = fitted.predict([{"input_size": "1g"}, {"input_size": "2g"}])
    assert twice == pytest.approx(2 * once, rel=0.05)


def test_a_model_file_of_replays_is_refused(tmp_path: Path) -> None:
    fitted = api.fit(history(tmp_path), ["total_s"], model="replay")
    with pytest.raises(StudyError, match="needs their event logs"):
        api.save_model(fitted.model, tmp_path / "m.sparkcast")
