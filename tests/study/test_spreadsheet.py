"""No cell of an export is run by a spreadsheet, and all of them come back as they were."""

import csv
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sparkcast import api
from sparkcast.data.table import read_csv, write_rows, write_table
from sparkcast.study import Configuration, Dataset, Observation
from sparkcast.study.spreadsheet import escaped, unescaped

FORMULAS = ["=1+1", "+1+cmd|' /C calc'!A0", "-1+1", "@SUM(A1)", '=HYPERLINK("http://x")', "-Xmx4g", "--rows", "'=1"]


@given(st.text())
def test_every_cell_comes_back_as_it_was(text: str) -> None:
    written = escaped(text)
    assert isinstance(written, str)
    assert unescaped(written) == text


@given(st.one_of(st.integers(), st.floats(allow_nan=False)))
def test_numbers_stay_numbers(number: float) -> None:
    assert escaped(number) == number
    assert escaped(str(number)) == str(number)


@pytest.mark.parametrize("text", FORMULAS)
def test_what_a_spreadsheet_would_run_is_a_text_in_the_export(tmp_path: Path, text: str) -> None:
    runs = tuple(Observation(Configuration({"mode": level}), {"time_s": 3.0}) for level in (text, "plain"))
    write_table(Dataset(("mode",), runs, "d", ("time_s",)), tmp_path / "out.csv")
    with (tmp_path / "out.csv").open(newline="") as file:
        cells = [cell for row in csv.reader(file) for cell in row]
    assert not any(cell.startswith(("=", "+", "-", "@")) for cell in cells)
    again = read_csv(tmp_path / "out.csv")
    assert [run.configuration["mode"] for run in again.observations] == [text, "plain"]


def test_a_name_of_a_column_is_a_cell_too_and_negative_numbers_are_numbers(tmp_path: Path) -> None:
    write_rows([{"=name": -3, "b": "-2.5"}], ["=name", "b"], tmp_path / "out.csv")
    assert (tmp_path / "out.csv").read_text().splitlines() == ["'=name,b", "-3,-2.5"]


def test_a_plan_is_escaped_as_well(tmp_path: Path) -> None:
    (tmp_path / "job.py").touch()
    (tmp_path / "s.yaml").write_text(
        "study: s\nworkload: command\ncommand: {application: job.py, arguments: ['{mode}']}\n"
        "settings: {mode: ['=1+1', plain]}\n"
    )
    api.write_plan(api.plan(tmp_path / "s.yaml"), tmp_path / "plan.csv")
    assert "'=1+1" in (tmp_path / "plan.csv").read_text()
