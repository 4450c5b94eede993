"""Logs become tables of runs: settings that differ, times, costs; one bad log never stops the rest."""

import csv
import json
import sys
from functools import partial
from pathlib import Path

import pytest

from eventlogs_support import write_log
from sparkcast import api
from sparkcast.cli import main
from sparkcast.data.ingest.applications import job_name
from sparkcast.errors import StudyError
from sparkcast.study import Price

ingest = partial(api.ingest, processes=1)  # in this process: starting others takes longer than reading


def rows_of(path: Path) -> list[dict[str, str]]:
    with path.open() as file:
        return list(csv.DictReader(file))


def test_applications_become_runs_with_the_settings_that_differ(tmp_path: Path) -> None:
    for number, partitions in enumerate(("8", "16", "32")):
        write_log(
            tmp_path / f"{number}.log",
            f"app-{number}",
            n_executors=number + 1,
            job_end_ms=2000 + 100 * number,
            spark_sql_shuffle_partitions=partitions,
            spark_ui_port=str(number),
        )
    found = ingest(tmp_path, tmp_path / "runs.csv", settings=[r"rows=--rows (\d+)"], price=Price(core_hour=2))
    assert [log.taken for log in found.logs] == ["new"] * 3
    assert found.tables[0].settings == ("executors", "spark.sql.shuffle.partitions")
    data = api.load_data(tmp_path / "runs.csv")
    assert data.dataset.factors == ("executors", "spark.sql.shuffle.partitions")
    levels = [run.configuration["spark.sql.shuffle.partitions"] for run in data.dataset.observations]
    assert sorted(levels) == [8, 16, 32]
    first = next(run for run in data.dataset.observations if run.configuration["executors"] == 1)
    assert first.configuration["cores"] == 4
    assert first.configuration["memory"] == "2g"
    assert first.responses["time_s"] == pytest.approx(1.1)
    assert first.responses["total_s"] == pytest.approx(2.1)
    assert first.responses["cost"] == pytest.approx(2 * 4 * 1.53 / 3600)


def test_ingesting_twice_changes_nothing(tmp_path: Path) -> None:
    write_log(tmp_path / "a.log", "app-1")
    table = tmp_path / "out" / "runs.csv"
    table.parent.mkdir()
    ingest(tmp_path / "a.log", table)
    before = {file.name: file.read_bytes() for file in table.parent.iterdir()}
    again = ingest(tmp_path / "a.log", table)
    assert again.logs[0].taken == "unchanged"
    assert {file.name: file.read_bytes() for file in table.parent.iterdir()} == before


def test_a_ledger_of_the_first_version_is_read_and_written_anew(tmp_path: Path) -> None:
    log, table = write_log(tmp_path / "a.log", "app-1", command="job.py --rows 10"), tmp_path / "runs.csv"
    ingest(log, table, settings=[r"rows=--rows (\d+)"])
    ledger = table.with_suffix(".ingested.json")
    today = json.loads(ledger.read_text())
    [run] = today["runs"]
    origin = run["origin"]
    old = {
        "responses": run["responses"],
        **{name: origin[name] for name in ("job", "log", "is_complete")},
        **{"key": run["run_id"], "size": origin["size_bytes"], "started_s": run["started_at"]},
        **{"settings": {**run["configuration"], "rows": "10"}, "properties": origin.get("properties", {})},
        **{"outcome": "ok", "cause": "", "curve": [], "missing": []},
        **{"spark": run["fingerprint"]["spark"], "cluster": run["fingerprint"].get("cluster", "")},
    }
    ledger.write_text(json.dumps({**today, "version": 1, "runs": [old]}))
    assert ingest(log, table, settings=[r"rows=--rows (\d+)"]).logs[0].taken == "unchanged"
    assert json.loads(ledger.read_text()) == today


def test_a_run_that_differs_in_something_else_brings_its_column_for_the_earlier_ones_too(tmp_path: Path) -> None:
    a = write_log(tmp_path / "a.log", "app-1", spark_memory_fraction="0.6")
    b = write_log(tmp_path / "b.log", "app-2", spark_memory_fraction="0.3")
    c = write_log(tmp_path / "c.log", "app-3", spark_memory_fraction="0.3", spark_io_compression_codec="zstd")
    ingest([a, b], tmp_path / "runs.csv")
    ingest(c, tmp_path / "runs.csv")
    rows = {row["run_id"]: row for row in rows_of(tmp_path / "runs.csv")}
    assert rows["app-1/2"]["spark.memory.fraction"] == "0.6"
    assert rows["app-1/2"]["spark.io.compression.codec"] == "default"
    assert rows["app-3/2"]["spark.io.compression.codec"] == "zstd"


def test_a_log_in_progress_is_taken_when_it_has_ended(tmp_path: Path) -> None:
    write_log(tmp_path / "a.log", "app-1", has_ended=False)
    first = ingest(tmp_path / "a.log", tmp_path / "runs.csv")
    assert (first.logs[0].status, first.logs[0].taken, first.tables) == ("partial", "in progress", ())
    write_log(tmp_path / "a.log", "app-1")
    assert ingest(tmp_path / "a.log", tmp_path / "runs.csv").logs[0].taken == "new"
    assert len(rows_of(tmp_path / "runs.csv")) == 1


def test_jobs_are_kept_apart(tmp_path: Path) -> None:
    write_log(tmp_path / "a.log", "app-1", name="etl_2025_06_27_03_56_52")
    write_log(tmp_path / "b.log", "app-2", name="etl_2025_06_28_03_56_52")
    write_log(tmp_path / "c.log", "app-3", name="train model")
    found = ingest(tmp_path, tmp_path / "runs.csv")
    assert [(Path(table.path).name, table.job, table.n_runs) for table in found.tables] == [
        ("runs.csv", "etl", 2),
        ("runs-train-model.csv", "train model", 1),
    ]
    only = ingest([tmp_path / "a.log", tmp_path / "c.log"], tmp_path / "train.csv", job="^(train)")
    assert [(log.job, log.reason) for log in only.logs] == [("etl", "of another job"), ("train", "")]


def test_a_name_keeps_its_numbers_but_not_its_date() -> None:
    assert job_name("query 72") == "query 72"
    assert job_name("nightly-20250627") == "nightly"
    assert job_name("20250627") == "20250627"


def test_parameters_come_from_names_descriptions_and_own_properties(tmp_path: Path) -> None:
    write_log(tmp_path / "a.log", "app-1", name="job of 7 parts", spark_sparkcast_alpha="0.5")
    ingest(tmp_path / "a.log", tmp_path / "runs.csv", settings=[r"parts=of (\d+) parts", "what=(first)"])
    row = rows_of(tmp_path / "runs.csv")[0]
    assert (row["alpha"], row["parts"], row["what"], row["rows"]) == ("0.5", "7", "first", "10")


def test_a_log_that_does_not_tell_a_setting_is_left_out_and_said(tmp_path: Path) -> None:
    write_log(tmp_path / "a.log", "app-1", command="job.py")
    found = ingest(tmp_path / "a.log", tmp_path / "runs.csv", settings=[r"depth=--depth (\d+)"])
    assert (found.logs[0].status, found.logs[0].reason) == ("skipped", "the log does not say depth")


def test_a_job_that_failed_is_kept_as_a_failure(tmp_path: Path) -> None:
    log = write_log(tmp_path / "a.log", "app-1")
    log.write_bytes(log.read_bytes().replace(b"JobSucceeded", b"JobFailed"))
    ingest(log, tmp_path / "runs.csv")
    assert rows_of(tmp_path / "runs.csv")[0]["outcome"] == "error"


def test_somebody_elses_table_is_not_replaced(tmp_path: Path) -> None:
    log, table = write_log(tmp_path / "a.log", "app-1"), tmp_path / "runs.csv"
    table.write_text("a,b\n")
    with pytest.raises(StudyError, match="is not from"):
        ingest(log, table)
    ingest(log, table, force=True)
    table.write_text(table.read_text() + "\n")
    with pytest.raises(StudyError, match="was changed"):
        ingest(log, table)


# The log lines of BigDL, as in the papers.


def training(iterations: range, *, per_epoch: int = 4, seconds: float = 0.5) -> str:
    lines = []
    for i in iterations:
        epoch = (i - 1) // per_epoch + 1
        head = f"2020-01-01 INFO  [Epoch {epoch} {i % per_epoch * 128}/512][Iteration {i}][Wall Clock {i * seconds}s] "
        told = f"Trained 128.0 records in {seconds} seconds. Throughput is 256.0 records/second. Loss is 0.3."
        lines.append(head + told)
        if i % per_epoch == 0:
            lines.append(f"{head}Top1Accuracy is Accuracy(correct: 9{i}, count: 100, accuracy: 0.9{i})")
    return "\n".join(lines) + "\n"


def test_a_driver_log_of_bigdl_becomes_a_run(tmp_path: Path) -> None:
    (tmp_path / "lenet-batch128-cores4.log").write_text("starting\n" + training(range(1, 9)))
    found = ingest(tmp_path, tmp_path / "runs.csv", settings=[r"batch_size=batch(\d+)", r"cores=cores(\d+)"])
    assert (found.logs[0].status, found.logs[0].taken) == ("ok", "new")
    row = rows_of(tmp_path / "runs.csv")[0]
    assert (row["batch_size"], row["cores"]) == ("128", "4")
    assert (float(row["work_s"]), float(row["throughput"]), float(row["accuracy"])) == (4.0, 256.0, 0.98)


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        (training(range(1, 2)), "1 iteration is too few"),
        (
            training(range(1, 9)) + training(range(1, 5)),
            "mixed: iteration 1 at 0.5 s follows 8 at 4 s",
        ),
    ],
)
def test_a_driver_log_with_too_few_lines_or_two_trainings_is_refused(tmp_path: Path, text: str, reason: str) -> None:
    (tmp_path / "bad.log").write_text(text)
    (tmp_path / "good.log").write_text(training(range(1, 9)))
    found = ingest(tmp_path, tmp_path / "runs.csv")
    assert sorted(log.status for log in found.logs) == ["failed", "ok"]
    assert reason in next(log.reason for log in found.logs if log.status == "failed")


# The command.


def run(monkeypatch: pytest.MonkeyPatch, *words: str) -> int:
    monkeypatch.setattr(sys, "argv", ["sparkcast", "ingest", *words])
    with pytest.raises(SystemExit) as end:
        main()
    return int(end.value.code or 0)


def test_one_bad_log_does_not_stop_the_rest(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    write_log(tmp_path / "a.log", "app-1")
    (tmp_path / "b.log").write_text("nothing of Spark\n")
    alone = ("--processes", "1")
    assert run(monkeypatch, "a.log", "b.log", "--into", "runs.csv", *alone, "--json") == 0
    told = json.loads(capsys.readouterr().out)
    assert [(log["status"], log["taken"]) for log in told["logs"]] == [("ok", "new"), ("skipped", "")]
    assert run(monkeypatch, "a.log", "b.log", "--into", "runs.csv", *alone) == 0
    out = capsys.readouterr().out
    assert "2 logs: 1 unchanged, 1 left out" in out
    assert "b.log" in out


def test_exit_code_3_when_no_log_could_be_read(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "b.log").write_text("nothing of Spark\n")
    assert run(monkeypatch, "b.log", "--into", "runs.csv", "--json") == 3
    assert json.loads(capsys.readouterr().out)["logs"][0]["status"] == "skipped"
    assert not (tmp_path / "runs.csv").exists()


def test_a_training_that_goes_on_is_taken_again_and_not_twice(tmp_path: Path) -> None:
    log = tmp_path / "lenet.log"
    log.write_text(training(range(1, 5)))
    assert ingest(log, tmp_path / "runs.csv").logs[0].taken == "new"
    log.write_text(training(range(1, 9)))
    assert ingest(log, tmp_path / "runs.csv").logs[0].taken == "again"
    assert [float(row["work_s"]) for row in rows_of(tmp_path / "runs.csv")] == [4.0]


def test_two_trainings_that_write_at_once_are_told_by_their_clocks(tmp_path: Path) -> None:
    slow = training(range(1, 5), seconds=2.0).splitlines(keepends=True)
    quick = training(range(5, 9)).splitlines(keepends=True)
    (tmp_path / "mixed.log").write_text("".join((*slow, *quick)))
    found = ingest(tmp_path / "mixed.log", tmp_path / "runs.csv")
    assert (found.logs[0].status, found.n_read) == ("failed", 0)
    assert "two trainings are mixed" in found.logs[0].reason


def test_trainings_enter_a_store_with_their_curves_and_a_study_by_its_settings(tmp_path: Path) -> None:
    logs = tmp_path / "lenet"
    logs.mkdir()
    for batch_size in (64, 128):
        (logs / f"batch{batch_size}.log").write_text(training(range(1, 9), seconds=64 / batch_size))
    ingest(logs, tmp_path / "history", settings=[r"batch_size=batch(\d+)"])
    data = api.load_data(tmp_path / "history").dataset
    assert (data.name, data.factors, data.responses) == ("lenet", ("batch_size",), ("work_s", "accuracy", "throughput"))
    assert [point.number for point in data.observations[0].curve] == [1, 2]
    study = tmp_path / "mnist.yaml"
    study.write_text("study: mnist\nworkload: mnist-training\nsettings: {batch_size: [64, 128], epochs: 2}\n")
    told = ingest(logs, study, settings=[r"batch_size=batch(\d+)"])
    assert told.tables[0].n_runs == 2
    assert not told.tables[0].notes
    assert sorted(run.configuration["batch_size"] for run in api.load_data(study).dataset.observations) == [64, 128]
