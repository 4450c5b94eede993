"""`sparkcast profile`: an answer of about ten lines, two runs side by side, and exit codes for a pipeline."""

import json
import shutil
import sys
from pathlib import Path

import pytest

from eventlogs_support import REAL_LOG, START, application, as_lines, real_lines
from sparkcast.cli import main


@pytest.fixture(autouse=True)
def _here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("COLUMNS", "100")
    shutil.copy(REAL_LOG, tmp_path / "pi.zstd")
    (tmp_path / "quick.log").write_bytes(b"".join(as_lines(application())))
    slow = application()
    slow[-1]["Timestamp"] = START + 9000
    slow[2]["Spark Properties"] = {"spark.executor.memory": "4g", "spark.app.id": "x"}
    (tmp_path / "slow.log").write_bytes(b"".join(as_lines(slow)))


def run(monkeypatch: pytest.MonkeyPatch, *words: str) -> int:
    monkeypatch.setattr(sys, "argv", ["sparkcast", "profile", *words])
    with pytest.raises(SystemExit) as end:
        main()
    return int(end.value.code or 0)


def test_the_answer_is_about_ten_lines_and_adds_up(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run(monkeypatch, "pi.zstd") == 0
    lines = capsys.readouterr().out.splitlines()
    assert len(lines) <= 14
    assert lines[0].startswith("sparkcast pi (")
    assert "before the first job" in " ".join(lines)


def test_the_document_has_every_part_and_adds_up(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run(monkeypatch, "pi.zstd", "--json") == 0
    told = json.loads(capsys.readouterr().out)
    assert told["schema"] == "sparkcast/profile/1"
    assert sum(told["parts"].values()) == pytest.approx(told["wall_s"], rel=1e-3)
    assert told["core_hours"]["paid"] > 0


def test_a_log_that_was_cut_off_is_profiled_and_said_to_be_partial(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    Path("cut.log").write_bytes(b"".join(real_lines()[:-3]))
    assert run(monkeypatch, "cut.log") == 0
    assert "partial: the application has not ended" in capsys.readouterr().err


def test_a_second_run_that_takes_longer_fails_a_pipeline(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run(monkeypatch, "quick.log", "slow.log", "--fail-above", "10%") == 5
    told = capsys.readouterr()
    assert "takes 6.90 s longer (+329%)" in told.out
    assert "spark.executor.memory 2g -> 4g" in told.out
    assert "spark.app.id" not in told.out
    assert "more than 10%" in told.err
    assert run(monkeypatch, "slow.log", "quick.log", "--fail-above", "10%") == 0
    assert run(monkeypatch, "quick.log", "slow.log") == 0


def test_a_failing_comparison_prints_one_document(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run(monkeypatch, "quick.log", "slow.log", "--fail-above", "10%", "--json") == 5
    told = json.loads(capsys.readouterr().out)
    assert told["more_s"] == pytest.approx(6.9)
    assert sum(told["parts"].values()) == pytest.approx(6.9)
    assert sum(stage["after_s"] - stage["before_s"] for stage in told["stages"]) + told["outside_stages_s"] == (
        pytest.approx(6.9)
    )


def test_what_is_no_log_is_named(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    Path("runs.csv").write_text("a,b\n1,2\n")
    assert run(monkeypatch, "runs.csv") == 2
    assert "runs.csv" in capsys.readouterr().err


def test_a_folder_of_several_logs_asks_for_one(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run(monkeypatch, ".") == 2
    assert "contains 3 files or rolling logs" in capsys.readouterr().err
