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
    assert lines[0] == "sparkcast pi took 13.8 s; no change is worth making."
    assert [line.split()[0] for line in lines if line.startswith("  ") and line[2] != " "] == (
        ["App", "Work", "Time", "Core-hours"]
    )
    assert lines[-1] == "Next: add --details for all parts and stages."
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


def test_an_application_that_failed_is_called_so_first(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    events = application()
    end = next(event for event in events if event["Event"] == "SparkListenerJobEnd")
    end["Job Result"] = {
        "Result": "JobFailed",
        "Exception": {"Message": "java.lang.OutOfMemoryError: Java heap space", "Stack Trace": []},
    }
    Path("failed.log").write_bytes(b"".join(as_lines(events)))
    assert run(monkeypatch, "failed.log") == 0
    first, *lines = capsys.readouterr().out.splitlines()
    assert "failed after 2.10 s: the driver ran out of heap memory (1.0 GiB)" in first
    assert any("set spark.driver.memory=2g" in line for line in lines)
    monkeypatch.setattr(sys, "argv", ["sparkcast", "report", "failed.log", "-o", "failed.html"])
    with pytest.raises(SystemExit):
        main()
    header = Path("failed.html").read_text().split("<header>")[1].split("</header>")[0]
    assert "failed" in header
    assert "the driver ran out of heap memory" in header


def test_an_empty_value_is_not_one_that_is_not_set(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    for name, properties in (
        ("empty.log", {"spark.jars": ""}),
        ("unset.log", {}),
        ("set.log", {"spark.jars": "a.jar"}),
    ):
        events = application()
        events[2]["Spark Properties"] = properties
        Path(name).write_bytes(b"".join(as_lines(events)))
    assert run(monkeypatch, "empty.log", "set.log") == 0
    assert "spark.jars (empty) -> a.jar" in capsys.readouterr().out
    assert run(monkeypatch, "unset.log", "empty.log", "--details") == 0
    told = capsys.readouterr().out
    assert "(not set)" in told
    assert "(empty)" in told
    assert run(monkeypatch, "unset.log", "empty.log", "--json") == 0
    [change] = json.loads(capsys.readouterr().out)["settings"]
    assert (change["before"], change["after"]) == (None, "")


def sql_log(path: Path) -> None:
    """An application whose one stage is a join of a query."""
    events = application()
    plan = next(event for event in events if "sparkPlanInfo" in event)["sparkPlanInfo"]
    join = {"name": "number of output rows", "accumulatorId": 9, "metricType": "sum"}
    plan |= {"nodeName": "SortMergeJoin", "simpleString": "SortMergeJoin [customer_id#1L], [id#2L], Inner"}
    plan["metrics"] = [join]
    path.write_bytes(b"".join(as_lines(events)))


def test_details_show_queries_with_their_operators_and_stages_by_these(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    sql_log(Path("sql.log"))
    assert run(monkeypatch, "sql.log", "--details") == 0
    told = capsys.readouterr().out
    block = told.split("Queries and operators")[1].split("Stages by share")[0]
    assert "query 3" in block
    assert "count it" in block
    assert "SortMergeJoin customer_id *" in block
    assert "outside" in block
    stages = told.split("Stages by share")[1]
    assert "SortMergeJoin customer_id" in stages
    assert max(map(len, told.splitlines())) <= 100


def test_the_answer_names_the_operator_that_takes_most(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    sql_log(Path("sql.log"))
    assert run(monkeypatch, "sql.log") == 0
    [line] = [line for line in capsys.readouterr().out.splitlines() if line.startswith("  SQL")]
    assert "in 1 query, most of it" in line
    assert "SortMergeJoin customer_id" in line


def test_queries_in_the_document_add_up(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    sql_log(Path("sql.log"))
    assert run(monkeypatch, "sql.log", "--json") == 0
    told = json.loads(capsys.readouterr().out)
    queries = told["queries"]
    assert sum(query["wall_s"] for query in queries["queries"]) + queries["outside_s"] == pytest.approx(told["wall_s"])
    [query] = queries["queries"]
    assert [line["operator"] for line in query["operators"]] == ["SortMergeJoin customer_id"]


def test_the_report_of_a_log_has_queries_and_operators(monkeypatch: pytest.MonkeyPatch) -> None:
    sql_log(Path("sql.log"))
    monkeypatch.setattr(sys, "argv", ["sparkcast", "report", "sql.log", "-o", "sql.html"])
    with pytest.raises(SystemExit):
        main()
    table = Path("sql.html").read_text().split('id="queries"')[1].split("</table>")[0]
    assert "SortMergeJoin customer_id" in table
    assert "outside of SQL queries" in table
