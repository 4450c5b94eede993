"""Answers in Python: as text what the command prints, in a notebook the block of the report, and as DataFrames."""

import dataclasses
import inspect
import re
from collections.abc import Callable
from hashlib import sha256
from pathlib import Path
from types import ModuleType
from typing import Any

import altair
import pandas as pd
import pytest

from eventlogs_support import REAL_LOG
from every_command import FRACTION, STUDY, TABLE
from sparkcast import api
from sparkcast.cli._wording import as_options
from sparkcast.display import Displayed
from sparkcast.queues.described import parse_described
from tests_support import Call

WIDE = 10_000
AT: dict[str, Any] = {"executors": 3, "batch_size": 128, "network": "vgg"}
LOAD = api.Load(arrival_rate=0.1, service_time_s=30)
SHORT = api.Effort(n_jobs=1000, replications=2)
RUNNING, NEW = "time=300s,elapsed=120s,within=400s", "time=60s,within=200s"

# A command, and the call that asks the same.
ALIKE: dict[str, tuple[tuple[str, ...], Callable[[], Any]]] = {
    "analyze": (("runs.csv",), lambda: api.analyze("runs.csv")),
    "design": (("s.yaml",), lambda: api.plan("s.yaml")),
    "fit": (("runs.csv", "--model", "ridge"), lambda: api.fit("runs.csv", model="ridge")),
    "ingest": ((str(REAL_LOG), "--into", "in.csv", "--force"), lambda: api.ingest(REAL_LOG, "in.csv", force=True)),
    "predict": (
        ("runs.csv", "--model", "ridge", "--at", "executors=3,batch_size=128,network=vgg"),
        lambda: api.predict("runs.csv", AT, model="ridge"),
    ),
    "profile": ((str(REAL_LOG),), lambda: api.profile(REAL_LOG)),
    "queue": (
        (*"--service-time 30s --arrival-rate 0.1/s --servers 4 --jobs 1000 --replications 2".split(),),
        lambda: api.queue(load=LOAD, servers=4, effort=SHORT),
    ),
    "queue admit": (
        ("--running", RUNNING, "--new", NEW, "--servers", "2"),
        lambda: api.admit([parse_described(RUNNING)], parse_described(NEW), cluster=api.SharedCluster(servers=2)),
    ),
    "recommend": (
        ("runs.csv", "--model", "ridge", "--within", "100s"),
        lambda: api.recommend("runs.csv", within_s=100, model="ridge"),
    ),
    "replicate": (("marinos2020", "--part", "queues"), lambda: api.replicate("marinos2020", part="queues")),
    "validate": (
        ("runs.csv", "--model", "ridge,median", "--protocol", "kfold:3"),
        lambda: api.validate("runs.csv", models=["ridge", "median"], protocol="kfold:3"),
    ),
}
HAVE_DETAILS = ("analyze", "design", "profile", "queue", "recommend", "replicate")
# Lines of a command that say what to type next or how a table was read; the answer does not know its file.
OF_THE_COMMAND = re.compile(
    r"(next|the runs, aliases and correlations|taken as|testing|simulating)\b|--(save|details)\b|runs\.csv: |  \w+: "
)


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    Path("runs.csv").write_text(TABLE)
    Path("s.yaml").write_text(STUDY)
    Path("fraction.yaml").write_text(FRACTION.replace("resolution: V", "resolution: III"))


@pytest.mark.parametrize("command", ALIKE)
def test_an_answer_as_text_is_what_the_command_prints(call: Call, command: str) -> None:
    arguments, ask = ALIKE[command]
    text = str(ask())
    printed = call(*command.split(), *arguments)
    assert printed.code == 0, printed.err
    require_same(text_of_command(ask().text(width=WIDE)), printed.out, printed.err)
    assert max(map(len, text.splitlines())) <= 100


@pytest.mark.parametrize("command", HAVE_DETAILS)
def test_with_details_it_is_what_details_prints(call: Call, command: str) -> None:
    arguments, ask = ALIKE[command]
    printed = call(*command.split(), *arguments, "--details")
    require_same(text_of_command(ask().text(details=True, width=WIDE)), printed.out, printed.err)


def text_of_command(text: str) -> str:
    return as_options(text)


def require_same(told: str, out: str, err: str) -> None:
    lines = [line for line in told.splitlines() if line]
    printed = [line for line in (out + err).splitlines() if line]
    assert [line for line in lines if line not in printed] == []
    more = [line for line in printed if line not in lines]
    assert [line for line in more if not OF_THE_COMMAND.match(line)] == []


@pytest.mark.parametrize("command", sorted(set(ALIKE) - {"profile"}))  # whose fixes are options of spark-submit
def test_the_text_of_an_answer_names_no_option_of_the_command_line(command: str) -> None:
    text = ALIKE[command][1]().text(details=True, width=WIDE)
    lines = [line for line in text.splitlines() if "spark." not in line]
    assert re.findall(r"(?<!\w)--[a-z]+", "\n".join(lines)) == []


def test_the_text_fits_the_width_that_is_asked_for() -> None:
    assert max(map(len, api.analyze("runs.csv").text(width=60).splitlines())) <= 60


# ---------------------------------------------------------------- notebooks


def test_a_notebook_shows_the_block_of_the_report() -> None:
    Path("small.csv").write_text(
        "\n".join(line for line in TABLE.splitlines() if "vgg" not in line and ",256," not in line)
    )
    api.report("small.csv", "report.html", within_s=100)
    page = re.sub(r"\s+", " ", Path("report.html").read_text())
    data = api.load_data("small.csv")
    for answer, part in (
        (api.recommend(data, within_s=100), r'<section class="answer".*?</section>'),
        (api.analyze(data), r'<table class="checks">.*?</table>'),
        (api.analyze(data), r'<figure id="pareto-time_s">.*?</figcaption>'),
        (api.validate(data), r'<h3 class="response">time \(s\)</h3> <p>On configurations.*?</p>'),
    ):
        shown = re.sub(r"\s+", " ", answer._repr_html_())
        found = re.search(part, shown)
        assert found is not None, part
        assert found[0] in page


def test_a_block_brings_its_style_and_leaves_the_rest_of_the_notebook_alone() -> None:
    block = api.profile(REAL_LOG)._repr_html_()
    style = block.split("<style>")[1].split("</style>")[0]
    assert style.startswith(".sparkcast {")
    assert ":root" not in style
    assert "\nbody {" not in style
    assert "<html" not in block
    assert "<script" not in block


def test_a_plan_and_a_what_if_are_blocks_with_their_first_line_numbers_and_a_picture() -> None:
    plan = api.plan("s.yaml")._repr_html_()
    assert '<p class="big">a-study-with-a-rather-long-name: full design, 16 runs' in re.sub("\xa0", " ", plan)
    assert plan.count("<tr>") > 16
    whatif = api.whatif(REAL_LOG)._repr_html_()
    assert '<figure id="whatif">' in whatif
    assert whatif.count("replayed</span>") >= 2


def test_an_answer_without_a_block_shows_its_text() -> None:
    assert api.queue(load=api.Load(arrival_rate=0.01, service_time_s=10.0), servers=2)._repr_html_().startswith("<pre>")


def test_text_in_a_block_is_escaped() -> None:
    table = TABLE.replace("lenet5", "<b>lenet5</b>")
    Path("evil.csv").write_text(table)
    for answer in (api.analyze("evil.csv"), api.predict("evil.csv", AT, model="ridge")):
        assert "<b>lenet5" not in answer._repr_html_()


# ---------------------------------------------------------------- DataFrames


@pytest.mark.parametrize("command", ALIKE)
def test_an_answer_that_is_a_table_comes_out_as_a_frame(command: str) -> None:
    answer = ALIKE[command][1]()
    if command == "predict":
        answer = api.predict("runs.csv", [AT, AT], model="ridge")
    if command == "queue":
        answer = api.queue(load=LOAD, servers=4, goal=api.Goal(compare=(4, 5)), effort=SHORT)
    frame = answer.frame()
    assert isinstance(frame, pd.DataFrame)
    assert len(frame) > 0
    assert not any(isinstance(cell, dict | list | tuple) for column in frame for cell in frame[column])


def test_the_frame_of_data_is_data() -> None:
    data = api.load_data("runs.csv")
    frame = data.frame()
    assert len(frame) == 48
    again = api.load_data(frame)
    assert again.dataset.factors == data.dataset.factors
    assert again.dataset.responses == data.dataset.responses
    assert api.analyze(again).r_squared == pytest.approx(api.analyze(data).r_squared)


def test_the_frame_of_a_recommendation_begins_with_the_chosen_candidate() -> None:
    found = api.recommend("runs.csv", within_s=100, model="ridge")
    first = found.frame().iloc[0]
    assert {name: first[name] for name in found.chosen.configuration} == dict(found.chosen.configuration)
    assert first["time_s_low"] < first["time_s"] < first["time_s_high"]
    assert first["probability"] == found.chosen.probability


# ---------------------------------------------------------------- figures


def test_figures_come_back_as_charts_of_altair() -> None:
    queued = api.Effort(n_jobs=1000, replications=2, with_figures=True)
    answers: dict[str, Any] = {
        "pareto-time_s": api.analyze("runs.csv"),
        "candidates": api.recommend("runs.csv", within_s=100, model="ridge"),
        "predicted-vs-actual-time_s": api.validate("runs.csv", models="ridge", protocol="kfold:3"),
        "alias-map": api.plan("fraction.yaml"),
        "queue-response": api.queue(load=LOAD, servers=4, effort=queued),
        "results-time_s": "runs.csv",
        "results-accuracy": pd.read_csv("runs.csv"),
        "attribution": REAL_LOG,
    }
    for name, answer in answers.items():
        charts = api.figures(answer)
        assert name in charts
        for chart in charts.values():
            assert isinstance(chart, altair.TopLevelMixin)
            spec = chart.to_dict()  # checks it against the schema
            assert spec["description"]
            assert spec["title"]["text"]


def test_a_chart_can_be_changed_and_saved() -> None:
    chart = api.figures(api.analyze("runs.csv"))["pareto-time_s"]
    chart.properties(width=300).save("pareto.svg")
    assert Path("pareto.svg").read_text().startswith("<svg")


def test_a_report_of_a_table_names_the_file_and_its_hash() -> None:
    Path("small.csv").write_text("executors,time_s\n1,20.5\n2,11.5\n4,7.5\n1,21.5\n2,12.5\n4,6.5\n")
    api.report("small.csv", "report.html")
    page = Path("report.html").read_text()
    assert "<td>small.csv</td>" in page
    assert sha256(Path("small.csv").read_bytes()).hexdigest() in page


def test_the_map_of_aliases_says_what_its_colors_mean() -> None:
    spec = api.figures(api.plan("fraction.yaml"))["alias-map"].to_dict()
    color = spec["encoding"]["color"]
    assert color["title"] == "absolute correlation: 0 separate, 1 aliased"
    assert color["scale"]["domain"] == [0, 1]


def test_captions_explain_gray_lines_and_bands() -> None:
    analysis = api.figures(api.analyze("runs.csv"))
    assert "Dashed gray: no error" in analysis["residuals-time_s"].to_dict()["description"]
    assert "Lenth" in analysis["half-normal-time_s"].to_dict()["description"]
    tested = api.figures(api.validate("runs.csv", models="ridge", protocol="kfold:3"))
    assert "Band: 95% confidence interval" in tested["reliability-time_s"].to_dict()["description"]


# ---------------------------------------------------------------- names


def test_dir_has_the_public_verbs_and_nouns_only() -> None:
    assert sorted(dir(api)) == sorted(api.__all__)
    for name in dir(api):
        found = getattr(api, name)
        assert not name.startswith("_")
        assert not isinstance(found, ModuleType)
        assert inspect.isfunction(found) or inspect.isclass(found) or name == "Source"


@pytest.mark.parametrize("command", ALIKE)
def test_completion_of_an_answer_offers_what_is_documented(command: str) -> None:
    answer: Any = ALIKE[command][1]()
    assert isinstance(answer, Displayed)
    assert dataclasses.is_dataclass(answer)
    fields = {*answer.__dataclass_fields__}
    for name in (name for name in dir(answer) if not name.startswith("_") and name not in fields):
        assert inspect.getdoc(getattr(type(answer), name)), name
    assert {"text", "frame"} <= set(dir(answer)) or command == "predict"
    assert [name for name in dir(answer) if name.startswith("_") and not name.startswith("__")] == ["_repr_html_"]
