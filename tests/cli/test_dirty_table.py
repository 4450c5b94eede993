"""A spreadsheet of 30 runs with every kind of dirt gets the answers of its clean twin."""

import csv
import io
import json
import math
import re
from pathlib import Path
from typing import Any

import pytest

from tests_support import Call

Run = dict[str, Any]


def runs() -> list[Run]:
    found: list[Run] = []
    for executors in (1, 2, 4, 8):
        for memory in ("4g", "8g"):
            for rows in (500_000, 1_000_000, 5_000_000, 20_000_000):
                time = round(120 + rows / 4000 / executors**0.8 * (0.9 if memory == "8g" else 1.0))
                quality = next(
                    k / 10_000
                    for k in range(round(10_000 * (0.8 + 0.02 * math.log10(rows))), 10_000)
                    if float(f"{k / 100:.2f}") / 100 == k / 10_000
                )
                cost = round(time / 3600 * executors * 0.48, 2)
                found.append(
                    {
                        "executors": executors,
                        "memory": memory,
                        "rows": rows,
                        "time_s": time,
                        "accuracy": quality,
                        "cost": cost,
                    }
                )
    found = found[:30]
    for i in (3, 17):
        found[i]["accuracy"] = None
    return found


def clean(path: Path) -> None:
    with path.open("w", newline="") as file:
        writer = csv.DictWriter(file, list(runs()[0]))
        writer.writeheader()
        writer.writerows(runs())


def duration(seconds: int, i: int) -> str:
    hours, rest = divmod(seconds, 3600)
    minutes, left = divmod(rest, 60)
    forms = [
        f"{hours}h {minutes}m {left}s" if hours else f"{minutes} min {left} s",
        f"{hours:02d}:{minutes:02d}:{left:02d}",
    ]
    return [*forms, f"{seconds} sec"][i % 3]


def dirty_rows(run: Run, i: int, decimal: str, thousands: str, currency: str) -> list[str]:
    def number(value: float, places: int) -> str:
        text = f"{value:,.{places}f}"
        return text.replace(",", "\0").replace(".", decimal).replace("\0", thousands)

    memory = "4 GB" if run["memory"] == "4g" else "8192 MB" if i % 2 else "8 GiB"
    accuracy = ["", "NA", "n/a"][i % 3] if run["accuracy"] is None else number(100 * run["accuracy"], 2) + " %"
    return [
        f"application_17_{i:04d}",
        f"{i % 27 + 1:02d}.03.2024 {i % 24:02d}:15",
        str(run["executors"]),
        memory,
        number(run["rows"], 0),
        duration(run["time_s"], i),
        accuracy,
        currency.format(number(run["cost"], 2)),
        "lenet5",
        "cluster was busy" if i == 5 else "",
        "",
    ]


HEADER = ["Run ID", "Started", "executors", "memory", "rows", "time_s", "accuracy", "cost", "network", "Note", ""]


def dirty(path: Path, *, separator: str, decimal: str, thousands: str, encoding: str, currency: str) -> None:
    rows = [dirty_rows(run, i, decimal, thousands, currency) for i, run in enumerate(runs())]
    rows = [*rows[:12], rows[11], *rows[12:20], [""] * len(HEADER), *rows[20:], rows[2], [""] * len(HEADER)]
    file = io.StringIO()
    writer = csv.writer(file, delimiter=separator, lineterminator="\r\n")
    writer.writerow(["Läufe im März"])
    writer.writerow([])
    writer.writerow([f" {name} " for name in HEADER])
    writer.writerows(rows)
    path.write_bytes(file.getvalue().encode(encoding))


DIALECTS: dict[str, dict[str, str]] = {
    "german": {"separator": ";", "decimal": ",", "thousands": ".", "encoding": "utf-8-sig", "currency": "{} €"},
    "american": {"separator": ",", "decimal": ".", "thousands": ",", "encoding": "cp1252", "currency": "${}"},
    "french": {"separator": "\t", "decimal": ",", "thousands": "\u202f", "encoding": "utf-16", "currency": "{} EUR"},
    "swiss": {"separator": ";", "decimal": ".", "thousands": "'", "encoding": "latin-1", "currency": "CHF {}"},
}


@pytest.fixture(params=list(DIALECTS))
def tables(tmp_path: Path, request: pytest.FixtureRequest) -> tuple[str, str]:
    """The clean table and its twin, under one file name."""
    for folder in ("clean", "dirty"):
        (tmp_path / folder).mkdir()
    clean(tmp_path / "clean" / "runs.csv")
    dirty(tmp_path / "dirty" / "runs.csv", **DIALECTS[request.param])
    return "clean/runs.csv", "dirty/runs.csv"


NO_REPLICATES = "note: no configuration was run twice, so the noise of single runs is assumed, not measured"

QUESTIONS = (
    ("analyze",),
    ("analyze", "--response", "accuracy"),
    ("predict", "--model", "ridge", "--at", "executors=3,memory=4g,rows=2000000"),
    # Only the cells of the dirty table tell a currency: said of both.
    ("recommend", "--model", "ridge", "--within", "40m", "--minimize", "cost", "--role", "cost=money:EUR"),
    ("recommend", "--within", "10m", "--fix", "rows=5000000", "--model", "ridge", "--role", "cost=money:EUR"),
)


@pytest.mark.parametrize("question", QUESTIONS, ids=lambda question: "-".join(question[:2]))
def test_a_dirty_table_gets_the_answers_of_its_clean_twin(
    call: Call, tables: tuple[str, str], question: tuple[str, ...]
) -> None:
    command, *options = question
    told = [call(command, table, *options) for table in tables]
    assert [answer.code for answer in told] == [0, 0], told[1].err
    assert told[0].out == told[1].out
    numbers = [json.loads(call(command, table, *options, "--json").out) for table in tables]
    for each in numbers:
        each.pop("understood")
    assert without_units(numbers[0]) == without_units(numbers[1])


def without_units(found: Any) -> Any:
    """Only the dirty table tells its currency."""
    if isinstance(found, dict):
        return {name: without_units(value) for name, value in found.items() if name != "unit"}
    return [without_units(value) for value in found] if isinstance(found, list) else found


def test_what_was_understood_is_told_in_a_few_lines(call: Call, tables: tuple[str, str]) -> None:
    told = call("predict", tables[1], *QUESTIONS[2][1:]).err.splitlines()
    assert told[0].startswith("runs.csv: 30 runs; ")
    for words in (
        "1 title line above the header",
        "rows 16, 36 repeat earlier ones, left out",
        "no accuracy in rows 7, 22",
    ):
        assert words in told[0]
    assert told[1] == "  settings: executors (machines), memory (memory, size), rows (data-size)"
    assert told[2].startswith("  responses: time_s (time, s), accuracy (share), cost (money, ")
    assert told[3] == "  left out: Run ID (identifier), Started (dates), network (always lenet5), Note (remarks)"
    assert told[4:] == [NO_REPLICATES]


@pytest.mark.slow
def test_the_report_of_a_dirty_table_is_that_of_its_clean_twin(call: Call, tmp_path: Path) -> None:
    for folder in ("clean", "dirty"):
        (tmp_path / folder).mkdir()
    clean(tmp_path / "clean" / "runs.csv")
    dirty(tmp_path / "dirty" / "runs.csv", **DIALECTS["german"])
    pages = []
    for folder in ("clean", "dirty"):
        told = ("--role", "cost=money:EUR") if folder == "clean" else ()  # what the other tells in its cells
        answer = call("report", f"{folder}/runs.csv", "-o", f"{folder}.html", "--within", "30m", *told)
        assert answer.code == 0, answer.err
        pages.append((tmp_path / f"{folder}.html").read_text())
    when = re.compile(r"\b[0-9a-f]{64}\b|\d{4}-\d\d-\d\d \d\d:\d\d \w+|\d+(\.\d+)? (ms|s)\b")
    assert when.sub("", pages[0]) == when.sub("", pages[1])


# ---------------------------------------------------------------- times in other units


def timed(path: Path, header: str, factor: float) -> None:
    rows = (f"{run['executors']},{run['memory']},{run['rows']},{run['time_s'] / factor!r}" for run in runs())
    path.write_text("\n".join([f"executors,memory,rows,{header}", *rows]))


@pytest.mark.parametrize(
    ("header", "factor", "options"),
    [
        ("minutes", 60, ()),
        ("Run time (min)", 60, ()),
        ("duration_h", 3600, ()),
        ("Duration [h]", 3600, ()),
        ("duration", 60, ("--time-unit", "min")),
        ("duration", 3600, ("--time-unit", "hours")),
        ("spent", 60, ("--role", "spent=time", "--time-unit", "min")),
    ],
)
def test_a_deadline_holds_for_times_in_minutes_and_hours(
    call: Call, tmp_path: Path, header: str, factor: float, options: tuple[str, ...]
) -> None:
    timed(tmp_path / "s.csv", "time_s", 1)
    timed(tmp_path / "other.csv", header, factor)
    question = ("--model", "ridge", "--within", "40m", "--json")
    asked = (("s.csv",), ("other.csv", *options))
    seconds, other = (json.loads(call("recommend", *given, *question).out) for given in asked)
    assert seconds["chosen"]["configuration"] == other["chosen"]["configuration"]
    assert seconds["chosen"]["probability"] == pytest.approx(other["chosen"]["probability"])
    value, same = (found["chosen"]["predictions"][0]["value"] for found in (seconds, other))
    assert value == pytest.approx(same * factor)


def test_a_time_whose_unit_nothing_tells_is_said_to_be_taken_as_seconds(call: Call, tmp_path: Path) -> None:
    timed(tmp_path / "runs.csv", "duration", 60)
    answer = call("predict", "runs.csv", "--model", "ridge", "--at", "executors=2,memory=4g,rows=1000000")
    assert "responses: duration (time, assumed to be seconds; see --time-unit)" in answer.err


# ---------------------------------------------------------------- corrections


SMALL = "executors;kind;took;auc;user\n" + "".join(
    f"{e};{k};{90 / e:.1f};0.9;u{e}\n" for e in (1, 2, 4, 8) for k in "ab"
)


@pytest.mark.parametrize("command", ["analyze", "fit", "validate", "predict", "export", "report", "recommend"])
def test_every_command_takes_the_same_options(call: Call, tmp_path: Path, command: str) -> None:
    help_text = call(command, "--help").out
    for option in ("--factors", "--role", "--ignore", "--na", "--time-unit", "--decimal", "--response", "--study"):
        assert option in help_text


@pytest.mark.parametrize(
    ("options", "settings", "responses", "left_out"),
    [
        ([], ["executors", "kind", "user"], ["took", "auc"], []),
        (["--ignore", "user"], ["executors", "kind"], ["took", "auc"], ["user"]),
        (["--factors", "executors"], ["executors"], ["took", "auc"], ["kind", "user"]),
        (["--response", "took"], ["executors", "kind", "user"], ["took"], []),
        (["--role", "kind=machines"], ["kind", "executors", "user"], ["took", "auc"], []),
    ],
)
def test_what_was_understood_can_be_corrected(
    call: Call, tmp_path: Path, options: list[str], settings: list[str], responses: list[str], left_out: list[str]
) -> None:
    (tmp_path / "runs.csv").write_text(SMALL)
    answer = call("export", "runs.csv", "-o", "out.csv", *options, "--json")
    assert answer.code == 0, answer.err
    told = json.loads(answer.out)["understood"]
    assert sorted(name for name, _ in told["settings"]) == sorted(settings)
    assert [name for name, _ in told["responses"]] == responses
    assert [name for name, _ in told["left_out"]] == left_out
    assert answer.err == ""


def test_all_problems_are_listed_at_once_by_row_and_column(call: Call, tmp_path: Path) -> None:
    rows = ["1;4 GB;10", "2;12 min;8", "4;8 GB;fast", ";4 GB;5", "8;8 GB;4", "1;4 GB;9"]
    (tmp_path / "runs.csv").write_text("executors;memory;time_s\n" + "\n".join(rows))
    answer = call("analyze", "runs.csv")
    assert (answer.code, answer.out) == (2, "")
    assert answer.err.splitlines()[:4] == [
        "Error: runs.csv has 3 problems:",
        "  row 5, column 'executors': a setting has no value here",
        "  row 3, column 'memory': '12 min' is not a size, as other cells of the column are",
        "  row 4, column 'time_s': 'fast' is not a number",
    ]
    assert "hint: " in answer.err
    fixed = call("export", "runs.csv", "-o", "x.csv", "--na", "fast", "--ignore", "memory")
    assert "row 5, column 'executors'" in fixed.err


def test_of_many_problems_the_first_twenty_are_listed(call: Call, tmp_path: Path) -> None:
    rows = [f"{e};{'x' if i % 2 else i}" for i, e in enumerate((1, 2, 4) * 20)]
    (tmp_path / "runs.csv").write_text("executors;time_s\n" + "\n".join(rows))
    told = call("analyze", "runs.csv").err.splitlines()
    assert told[0] == "Error: runs.csv has 30 problems:"
    assert told[21] == "  and 10 more"


@pytest.mark.parametrize(
    ("options", "words"),
    [
        (["--time-unit", "moons"], ["--time-unit 'moons' is not a unit of time", "ms, s, min, h or d"]),
        (["--decimal", "dot"], ["--decimal 'dot' is not a decimal mark", "comma or point"]),
        (["--ignore", "usr"], ["runs.csv has no column 'usr'", "did you mean 'user'"]),
        (["--ignore", "user", "--factors", "user"], ["user is ignored, but another option uses it"]),
    ],
)
def test_an_option_that_makes_no_sense_is_refused(
    call: Call, tmp_path: Path, options: list[str], words: list[str]
) -> None:
    (tmp_path / "runs.csv").write_text(SMALL)
    answer = call("analyze", "runs.csv", *options)
    assert answer.code == 2
    for word in [*words, "hint: "]:
        assert word in answer.err


def test_a_time_unit_that_every_time_tells_is_refused(call: Call, tmp_path: Path) -> None:
    timed(tmp_path / "runs.csv", "time_s", 1)
    answer = call("analyze", "runs.csv", "--time-unit", "min")
    assert (answer.code, "--role NAME=time:min" in answer.err) == (2, True)


@pytest.mark.parametrize("name", ["runs.xlsx", "runs.xls", "runs.ods"])
def test_a_spreadsheet_file_is_told_how_to_become_a_table(call: Call, tmp_path: Path, name: str) -> None:
    (tmp_path / name).write_bytes(b"PK\x03\x04rest")
    answer = call("analyze", name)
    assert answer.code == 2
    assert f"{name} is a spreadsheet file" in answer.err
    assert "save its sheet as CSV" in answer.err


def test_a_workbook_under_another_name_is_known_by_its_content(call: Call, tmp_path: Path) -> None:
    from zipfile import ZipFile

    with ZipFile(tmp_path / "runs.csv", "w") as archive:
        archive.writestr("xl/workbook.xml", "<workbook/>")
    assert "is a spreadsheet file" in call("predict", "runs.csv", "--at", "a=1").err


def test_parquet_reads_as_its_csv_does(call: Call, tmp_path: Path) -> None:
    clean(tmp_path / "runs.csv")
    assert call("export", "runs.csv", "-o", "copy.parquet").code == 0
    question = ("--model", "ridge", "--at", "executors=3,memory=4g,rows=2000000")
    found = call("predict", "copy.parquet", *question)
    assert (found.code, found.err) == (0, f"{NO_REPLICATES}\n")
    assert found.out == call("predict", "runs.csv", *question).out


def test_a_status_tells_which_runs_failed(call: Call, tmp_path: Path) -> None:
    rows = [f"{e},{90 / e},{'FAILED' if e == 8 else 'SUCCEEDED'}" for e in (1, 2, 3, 4, 8, 1, 2, 3, 4)]
    (tmp_path / "runs.csv").write_text("executors,time_s,Status\n" + "\n".join(rows))
    answer = call("export", "runs.csv", "-o", "out.csv")
    assert "Status says how runs ended: 1 failed" in answer.err
    assert (tmp_path / "out.csv").read_text().count(",error,") == 1
