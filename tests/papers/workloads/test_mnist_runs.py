"""Training through spark-submit, with real Spark on this machine."""

from pathlib import Path
from typing import Any

import pytest

from driver_support import responses, spark_submit, submit
from sparkcast.study import Level
from sparkcast.workloads import WORKLOADS, complete

pytestmark = pytest.mark.slow
SEVERAL = Path(__file__).with_name("several_trainings.py")
TINY: dict[str, Level] = {"dataset": "digits", "cores": 2, "epochs": 1, "batch_size": 32, "network": "simplenet"}


def submit_trainings(folder: Path, *trainings: dict[str, Level]) -> list[list[dict[str, Any]]]:
    """Train several times in one application; the lines of the report about each."""
    workload = WORKLOADS.get("mnist-training")()
    full = [complete(workload, settings) for settings in trainings]
    for settings in full:
        workload.check(settings)
        workload.prepare(settings, folder / "data")
    order = {"settings": [dict(settings) for settings in full], "data_dir": str(folder / "data")}
    lines = spark_submit(folder, str(SEVERAL), order, workload.spark_conf(complete(workload, {})))
    starts = [i for i, line in enumerate(lines) if line["kind"] == "settings"]
    return [lines[start + 1 : end] for start, end in zip(starts, [*starts[1:], len(lines)], strict=True)]


# What is trained in each framework, the least accuracy, and by how much the frameworks may differ in it.
ALIKE: list[tuple[dict[str, Level], float, float]] = [
    ({"learning_rate": 0.1}, 0.5, 0.3),
    ({"optimizer": "nesterov", "momentum": 0.9, "learning_rate": 0.05, "schedule": "step", "decay": 0.1}, 0.8, 0.1),
    ({"optimizer": "adam", "learning_rate": 0.005, "schedule": "step", "schedule_on": "batch_size"}, 0.8, 0.1),
    ({"optimizer": "adam", "learning_rate": 0.005, "target_accuracy": 0.6, "epochs": 4}, 0.6, 0.4),
    ({"network": "bi-rnn", "optimizer": "adam", "learning_rate": 0.005, "sampling_rate": 0.5, "epochs": 1}, 0.3, 0.5),
]


def test_both_frameworks_learn_alike_whatever_the_recipe_and_report_each_epoch(tmp_path: Path) -> None:
    # lenet5 is trained on a cluster, see test_running.py
    trainings = [{**TINY, "epochs": 2, **settings} for settings, _, _ in ALIKE]
    both = [{**settings, "framework": framework} for framework in ("bigdl", "torch") for settings in trainings]
    reports = submit_trainings(tmp_path, *both)
    assert len(reports) == len(both)
    for report, settings in zip(reports, both, strict=True):
        _check_training(report, settings)
    for (_, least, apart), report, other in zip(ALIKE, reports[: len(ALIKE)], reports[len(ALIKE) :], strict=True):
        accuracies = [responses(one)["accuracy"] for one in (report, other)]
        assert min(accuracies) >= least, accuracies
        assert max(accuracies) - min(accuracies) <= apart, accuracies


def _check_training(report: list[dict[str, Any]], settings: dict[str, Level]) -> None:
    measured = responses(report)
    epochs = report[2:-1]
    assert [line["kind"] for line in report] == ["loading", "started", *["epoch"] * len(epochs), "result"]
    assert [line["number"] for line in epochs] == [*range(1, len(epochs) + 1)]
    assert len(epochs) == measured["epochs_trained"]
    assert len(epochs) < 4 if "target_accuracy" in settings else len(epochs) == settings["epochs"]
    declared = {response.name for response in WORKLOADS.get("mnist-training")().responses}
    assert set(measured) == {*declared - {"time_s"}, "compute_s", "sync_s"}  # which sparkcast measures itself
    assert 0 < measured["compute_s"] < measured["compute_s"] + measured["sync_s"] <= measured["work_s"]
    assert 0 < epochs[0]["time_s"] <= epochs[-1]["time_s"] <= measured["work_s"]
    assert epochs[-1]["values"]["loss"] <= epochs[0]["values"]["loss"]
    assert epochs[-1]["values"]["accuracy"] == pytest.approx(measured["accuracy"])
    assert measured["throughput"] > 10
    assert measured["work_s"] <= report[-1]["at"] - report[1]["at"] + 0.1  # it is a part of what the report spans


def test_a_training_process_that_fails_says_why(tmp_path: Path) -> None:
    report = submit(tmp_path, "mnist-training", {**TINY, "framework": "torch", "learning_rate": -1.0})
    assert [line["kind"] for line in report] == ["driver", "loading", "failed"]
    assert report[-1]["error"] == "RunError"
    assert "Invalid learning rate" in report[-1]["cause"]  # the words of PyTorch, from a process of an executor
