"""Runs of a real MLflow."""

import sys
from pathlib import Path
from typing import Any

import pytest

from sparkcast import api
from sparkcast.data.tracking import tracking_uri
from sparkcast.errors import NotEnoughDataError, StudyError
from sparkcast.study import Dataset, Epoch, Kind, Observation, Outcome, Response, Role, Setting, Vocabulary
from tests_support import Call

# MLflow's own code, and SQLAlchemy's as MLflow calls it, warn of what is not ours to mend.
pytestmark = [pytest.mark.filterwarnings("ignore")]
START = 1_700_000_000_000


def log(uri: str, name: str = "mnist", *, with_time: bool = False) -> Any:
    """Eighteen runs as a training script logs them, one that failed, and one that goes on."""
    from mlflow.tracking import MlflowClient

    client = MlflowClient(tracking_uri=uri)
    experiment = client.create_experiment(name)
    for i in range(20):
        executors, batch = (1, 2, 4)[i % 3], (64, 128, 256)[i // 3 % 3]
        seconds = (10 + 80 / executors * (64 / batch) ** 0.5) * (1 + 0.01 * (i // 9))
        run = client.create_run(experiment, start_time=START + i * 1_000_000)
        params = {"executors": executors, "batch_size": batch, "epochs": 3, "executor_memory": "4 GB", "sha": f"f{i}ab"}
        for key, value in params.items():
            client.log_param(run.info.run_id, key, value)
        if i < 18:
            for step in range(3):
                at = int(run.info.start_time + 1000 * seconds * (step + 1) / 3)
                client.log_metric(run.info.run_id, "val_accuracy", 0.8 + 0.03 * step - 0.0001 * batch, at, step)
            if with_time:
                client.log_metric(run.info.run_id, "train_time_min", seconds / 120)
        if i < 19:
            status = "FINISHED" if i < 18 else "FAILED"
            client.set_terminated(run.info.run_id, status, end_time=int(run.info.start_time + 1000 * seconds))
    return client


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> str:
    monkeypatch.setenv("MLFLOW_ALLOW_FILE_STORE", "true")
    monkeypatch.setenv("MLFLOW_DISABLE_TELEMETRY", "true")
    monkeypatch.chdir(tmp_path)
    return (tmp_path / "mlruns").as_uri()


@pytest.mark.slow
def test_parameters_are_settings_metrics_responses_and_steps_curves(folder: str, call: Call) -> None:
    log(folder)
    data = api.load_data("mlflow:mlruns")
    runs = data.dataset
    assert (runs.name, set(runs.factors), set(runs.responses)) == (
        "mnist",
        {"executors", "batch_size"},
        {"val_accuracy", "time_s"},
    )
    assert (runs.vocabulary.quality, runs.vocabulary.time) == ("val_accuracy", "time_s")
    first = runs.observations[0]
    assert first.configuration == {"executors": 1, "batch_size": 64}
    assert first.responses == pytest.approx({"val_accuracy": 0.86 - 0.0064, "time_s": 90.0})
    assert [(epoch.number, round(epoch.time_s)) for epoch in first.curve] == [(1, 30), (2, 60), (3, 90)]
    assert first.started_at == START / 1000
    assert [run.outcome for run in runs.observations][-2:] == [Outcome.OK, Outcome.ERROR]
    assert data.understood is not None
    assert "1 still running, left out" in data.understood.notes
    assert dict(data.understood.left_out) == {
        "epochs": "always 3",
        "executor_memory": "always 4 GB",
        "sha": "identifier",
    }
    # The folder alone is known for what it is; another number of epochs can be asked for.
    question = ("--at", "executors=2,batch_size=128,epochs=6", "--model", "ridge")
    answer = call("predict", "mlruns", *question)
    assert (answer.code, "Model      curve" in answer.out) == (0, True), answer.err
    assert answer.err.startswith("MLflow experiment mnist: 19 runs; ")
    # And back, into a database: the same runs with the same meaning.
    assert call("export", "mlflow:mlruns", "--to", "mlflow", "-o", "back.db").code == 0
    back = api.load_data("mlflow:back.db")
    assert back.dataset.vocabulary.only(runs.responses).time == "time_s"
    assert set(back.dataset.factors) == set(runs.factors)
    shown = [
        {(str(o.configuration), o.outcome, str(sorted(o.responses.items())), len(o.curve)) for o in each.observations}
        for each in (runs, back.dataset)
    ]
    assert shown[0] == shown[1]
    assert call("predict", "mlflow:sqlite:///back.db", *question).out == answer.out
    again = call("export", "mlflow:mlruns", "--to", "mlflow", "-o", "back.db")
    assert (again.code, "already has an experiment 'mnist' with runs" in again.err) == (2, True)


@pytest.mark.slow
def test_an_experiment_is_chosen_like_a_study(folder: str, call: Call) -> None:
    client = log(folder, "first", with_time=True)
    client.create_experiment("empty")
    assert "time_s" not in api.load_data("mlflow:mlruns").dataset.responses
    assert api.load_data("mlflow:mlruns").dataset.vocabulary.response("train_time_min").unit == "min"
    log(folder, "second")
    with pytest.raises(StudyError, match=r"2 experiments with runs: (.|\n)*`study=NAME`"):
        api.load_data("mlflow:mlruns")
    assert api.load_data("mlflow:mlruns", study="second").dataset.name == "second"
    with pytest.raises(StudyError, match=r"no experiment 'secnd'(.|\n)*did you mean 'second'"):
        api.load_data("mlflow:mlruns", study="secnd")
    with pytest.raises(NotEnoughDataError, match="has no runs"):
        api.load_data("mlflow:mlruns", study="empty")


@pytest.mark.slow
def test_what_sparkcast_writes_keeps_its_meaning(folder: str) -> None:
    words = Vocabulary(
        (Setting("hosts", role=Role.MACHINES), Setting("ram", role=Role.MEMORY)),
        (Response("spent", kind=Kind.TIME, unit="min"), Response("regret", kind=Kind.SHARE, better="less")),
    )
    runs = tuple(
        Observation(
            {"hosts": hosts, "ram": "1g"},
            {"spent": 9.0 / hosts, "regret": 0.1},
            curve=(Epoch(1, 30.0, {"regret": 0.2}), Epoch(2, 60.0, {"regret": 0.1})),
        )
        for hosts in (1, 2, 4)
    )
    data = Dataset(("hosts",), runs, "own", ("spent", "regret"), words)
    assert api.export(api.Data(data), "mlflow:mlruns") == 3
    back = api.load_data("mlflow:mlruns").dataset
    assert (back.factors, set(back.responses)) == (("hosts",), {"spent", "regret"})
    assert back.vocabulary.first(Role.MACHINES) == "hosts"
    assert (back.vocabulary.time, back.vocabulary.response("spent").unit) == ("spent", "min")
    assert back.vocabulary.response("regret").better == "less"
    assert {o.configuration["ram"] for o in back.observations} == {"1g"}
    assert [[epoch.number for epoch in o.curve] for o in back.observations] == [[1, 2]] * 3


@pytest.mark.slow
def test_a_killed_run_is_a_failure_of_its_settings_unless_sparkcast_wrote_it_as_lost(folder: str) -> None:
    from mlflow.tracking import MlflowClient

    client = MlflowClient(tracking_uri=folder)
    experiment = client.create_experiment("nightly")
    for executors, status in ((1, "FINISHED"), (2, "FINISHED"), (4, "KILLED")):
        run = client.create_run(experiment, start_time=START + executors * 1_000_000).info
        client.log_param(run.run_id, "executors", executors)
        client.set_terminated(run.run_id, status, end_time=run.start_time + 90_000 // executors)
    killed = api.load_data("mlflow:mlruns").dataset.observations
    assert [(run.configuration["executors"], run.outcome, run.responses) for run in killed] == [
        (1, Outcome.OK, {"time_s": 90.0}),
        (2, Outcome.OK, {"time_s": 45.0}),
        (4, Outcome.ERROR, {}),
    ]
    ends = {1: Outcome.OK, 2: Outcome.OK, 4: Outcome.LOST, 8: Outcome.OOM}
    runs = tuple(Observation({"hosts": n}, {"time_s": 90.0 / n} if o is Outcome.OK else {}, o) for n, o in ends.items())
    api.export(api.Data(Dataset(("hosts",), runs, "own", ("time_s",))), "mlflow:back.db")
    back = api.load_data("mlflow:back.db").dataset.observations
    assert {run.configuration["hosts"]: run.outcome for run in back} == ends


def test_without_mlflow_the_way_to_it_is_told(call: Call, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "mlruns").mkdir()
    monkeypatch.setitem(sys.modules, "mlflow.tracking", None)
    monkeypatch.setitem(sys.modules, "mlflow.exceptions", None)
    answer = call("analyze", "mlflow:mlruns")
    assert (answer.code, "pip install 'sparkcast[mlflow]'" in answer.err) == (2, True)


def test_what_is_not_there_is_not_made(call: Call, tmp_path: Path) -> None:
    for source in ("mlflow:mlrun", "mlflow:sqlite:///runs.db", "mlflow:runs.db"):
        answer = call("analyze", source)
        assert (answer.code, "no MLflow runs at" in answer.err) == (2, True)
    assert list(tmp_path.iterdir()) == []


def test_a_tracking_folder_a_file_and_a_server_are_told_apart(tmp_path: Path) -> None:
    (tmp_path / "runs.db").touch()
    assert tracking_uri(f"mlflow:{tmp_path}", is_written=False) == tmp_path.as_uri()
    assert tracking_uri(f"mlflow:{tmp_path / 'runs.db'}", is_written=False) == f"sqlite:///{tmp_path / 'runs.db'}"
    assert tracking_uri("mlflow:http://host:5000", is_written=False) == "http://host:5000"
    assert tracking_uri("mlflow:", is_written=False) is None
