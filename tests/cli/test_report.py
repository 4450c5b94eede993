"""`sparkcast report` of data that no study file describes."""

from functools import partial
from pathlib import Path

import pytest

from sparkcast import api
from tests_support import Call

CSV = "executors,time_s\n" + "".join(f"{n},{60 / n + 5 + r / 10}\n" for n in (1, 2, 3, 4) for r in (0, 1))


@pytest.mark.parametrize("name", ["runs.csv", "runs.CSV"])
def test_a_table_is_a_table_however_its_name_is_written(tmp_path: Path, name: str) -> None:
    (tmp_path / name).write_text(CSV)
    assert len(api.load_data(tmp_path / name).dataset.observations) == 8
    assert api.export(api.load_data(tmp_path / name), tmp_path / "copy.CSV") == 8


def test_a_study_file_is_one_however_its_name_is_written(tmp_path: Path, call: Call) -> None:
    (tmp_path / "S.YAML").write_text("study: s\nworkload: pi\nsettings: {executors: [1, 2], samples: 1000}\n")
    assert "has no results yet" in call("analyze", "S.YAML").err


def test_a_csv_has_a_report(call: Call, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    # Testing all of them takes long.
    monkeypatch.setattr("sparkcast.api.reports.validate", partial(api.validate, models=["ridge"]))
    (tmp_path / "runs.CSV").write_text(CSV)
    answer = call("report", "runs.CSV", "-o", "r.html", "--within", "60s")
    assert answer.code == 0, answer.err
    page = (tmp_path / "r.html").read_text()
    assert "<h1>runs</h1>" in page
    assert "executors=2" in page  # a recommendation, among what was run
    assert "not run" not in page  # nobody planned anything


def test_what_columns_are_can_be_said_to_a_report(call: Call, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "runs.csv").write_text(CSV.replace("executors", "hosts").replace("time_s", "minutes"))
    given: list[api.Data] = []
    monkeypatch.setattr(api, "report", lambda data, output, within_s: given.append(data))
    roles = ["--role", "hosts=machines", "--role", "minutes=time:min"]
    answer = call("report", "runs.csv", "--factors", "hosts", "--response", "minutes", *roles)
    assert answer.code == 0, answer.err
    assert (given[0].dataset.factors, given[0].dataset.responses) == (("hosts",), ("minutes",))
    assert given[0].dataset.vocabulary.time == "minutes"
