import re
import shutil
import subprocess
from dataclasses import replace
from html.parser import HTMLParser
from pathlib import Path
from types import SimpleNamespace

import pytest

from sparkcast.analysis import Proposal
from sparkcast.errors import NotEnoughDataError, StoreError
from sparkcast.report import CheckRun, Figure, FigureSection, ReportContent, build_content, render, write_report
from sparkcast.report.page import inline_svg, lead_figure
from sparkcast.report.words import headline
from sparkcast.study import Configuration, Outcome, SparkOptions
from sparkcast.workloads.base import TIME


class Page(HTMLParser):
    """What a browser would make of the page: texts, ids, links to elsewhere, tags that were never closed."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.ids: list[str] = []
        self.loads: list[str] = []
        self.tags: set[str] = set()
        self.open: list[str] = []
        self.words: list[str] = []
        self.feed(text)
        self.text = " ".join(" ".join(self.words).split())

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.add(tag)
        if tag not in ("meta", "br", "link", "img", "input"):
            self.open.append(tag)
        for name, value in attrs:
            if name == "id":
                self.ids.append(value or "")
            if name in ("src", "href", "xlink:href", "data", "action", "srcset") and not (value or "").startswith("#"):
                self.loads.append(f"{tag} {name}={value}")

    def handle_startendtag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.handle_starttag(tag, attrs)
        self.open.remove(tag)

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag

    def handle_data(self, data: str) -> None:
        if self.open and self.open[-1] != "style":
            self.words.append(data)


@pytest.fixture(scope="module")
def full(example: SimpleNamespace) -> ReportContent:
    return build_content(
        example.data,
        created="16 November 2026",
        version="0.1.0",
        study=example.study,
        plan=example.plan,
        analyses=[example.analysis],
        validations=[example.validation],
        recommendation=example.recommendation,
        check=CheckRun(Configuration({"batch_size": 128, "executors": 1}), TIME, 28.8, 25.9, 31.6, 0.9, 29.4),
        fitted={"time_s": example.fitted["time_s"]},
        notes=["2 configurations were ruled out."],
    )


@pytest.fixture(scope="module")
def text(full: ReportContent) -> str:
    return render(full)


def test_the_full_report_answers_first_and_says_where_it_comes_from(text: str) -> None:
    page = Page(text)
    assert not page.open
    order = [
        "Use batch_size=128, executors=1: expect time 28.8 s and accuracy 0.921.",
        "It meets the deadline of 36.0 s with 98% probability; 95% was required.",
        "measured a time of 29.4 s, inside the predicted 25.9 s to 31.6 s.",
        "2 configurations were ruled out.",
        "spark-submit \\ --conf spark.executor.instances=2 \\ --conf spark.executor.cores=1 \\ train.py",
        "12 runs succeeded.",
        "very strong evidence",
        "ernest predicts the time with a mean error of 4.3%",
        "noise floor",
        "courier was not tested: it needs the factor 'cores'",
        "Example CPU 3000, 8 cores",
        "16.0 GiB",
    ]
    places = [page.text.replace("\xa0", " ").find(text) for text in order]
    assert -1 not in places
    assert places == sorted(places)


def test_the_page_loads_nothing_and_runs_nothing(text: str) -> None:
    page = Page(text)
    assert page.loads == []
    assert page.tags.isdisjoint({"script", "link", "iframe", "img", "object", "embed"})
    assert set(re.findall(r"https?://[^\"'\s<]+", text)) == {
        "http://www.w3.org/2000/svg",
        "http://www.w3.org/1999/xlink",
    }
    assert not re.search(r"@import|url\((?!#)", text)
    assert "default-src 'none'" in text


def with_gradient(name: str) -> Figure:
    """Colors that run from one to another are drawn with ids."""
    row: dict[str, str | int | float | bool | None] = {"x": 1, "z": 0.5}
    encoding = {"x": {"field": "x"}, "color": {"field": "z", "type": "quantitative"}}
    spec = {"data": {"values": [row]}, "mark": "point", "encoding": encoding}
    return Figure(name, FigureSection.RESULTS, name, name, (row,), lambda width: {**spec, "width": width})


def test_ids_are_unique_and_every_gradient_finds_its_own_shape(full: ReportContent) -> None:
    text = render(replace(full, figures=(*full.figures, with_gradient("one"), with_gradient("two"))))
    ids = Page(text).ids
    assert len(ids) == len(set(ids))
    used = set(re.findall(r"url\(#([^)]+)\)", text))
    assert used
    assert used <= set(ids)


def test_markup_in_names_and_causes_is_shown_and_never_run(example: SimpleNamespace) -> None:
    evil = "<script>alert(1)</script>"
    runs = tuple(
        replace(run, configuration={evil: f"{evil}{run.configuration['executors']}"})
        for run in example.bare.observations
    )
    failed = replace(runs[0], outcome=Outcome.ERROR, cause=f"{evil}\"'>", responses={})
    data = replace(example.bare, factors=(evil,), observations=(failed, *runs[1:]), name=evil)
    content = build_content(data, created=evil, version=evil, notes=[evil])
    text = render(replace(content, workload=evil, study=evil))
    assert "<script" not in text
    assert "script" not in Page(text).tags
    assert text.count("&lt;script&gt;") > 10


def test_a_report_without_a_recommendation_leads_with_what_matters(
    full: ReportContent, example: SimpleNamespace
) -> None:
    content = replace(full, recommendation=None, check=None, figures=full.figures[:1])
    page = Page(render(content))
    assert headline(content) == example.analysis.summary[0]
    assert "recommendation" not in page.ids
    assert "spark-submit" not in page.text


def test_a_report_of_failures_only_says_so_and_shows_one_picture_of_them(example: SimpleNamespace) -> None:
    content = build_content(
        example.failures, created="today", version="0.1.0", study=example.study, fitted=example.fitted
    )
    page = Page(render(content))
    assert "No run succeeded: 12 runs ran out of memory." in page.text
    assert "exit 137" in page.text
    assert [figure.name for figure in content.figures] == ["results-time_s"]


def test_a_report_of_one_factor_needs_nothing_but_data(example: SimpleNamespace) -> None:
    content = build_content(example.bare, created="today", version="0.1.0", fitted=example.fitted)
    page = Page(render(content))
    assert "4 runs succeeded." in page.text
    assert "scaling-time_s" in page.ids


def test_a_report_before_any_run_lists_the_plan(example: SimpleNamespace) -> None:
    empty = replace(example.data, observations=())
    content = build_content(empty, created="today", version="0.1.0", study=example.study, plan=example.plan)
    page = Page(render(content))
    assert "12 of 12 planned runs are missing" in page.text
    assert [run.position for run in content.plan] == list(range(1, 13))
    assert {run.outcome for run in content.plan} == {"not run"}


def test_each_trial_is_listed_with_its_own_run_and_strangers_come_last(example: SimpleNamespace) -> None:
    stranger = replace(
        example.data.observations[0], configuration=Configuration({"batch_size": 512, "executors": 4}), position=0
    )
    data = replace(example.data, observations=(stranger, *example.data.observations[:-1]))
    content = build_content(data, created="today", version="0.1.0", plan=example.plan)
    assert len(content.plan) == 13
    assert content.plan[-1].settings == stranger.configuration
    lost = next(run for run in content.plan if run.outcome == "not run")
    assert (lost.position, lost.settings, lost.replicate) == (6, Configuration({"batch_size": 256, "executors": 2}), 2)


def test_a_model_that_cannot_give_intervals_costs_the_figure_and_not_the_report(example: SimpleNamespace) -> None:
    class Refusing(type(example.fitted["time_s"])):  # type: ignore[misc]
        def interval(self, at: object, *, level: float = 0.9) -> list[tuple[float, float]]:
            raise NotEnoughDataError("4 runs cannot carry a 90 % interval", hint="run more")

    content = build_content(example.bare, created="today", version="0.1.0", fitted={"time_s": Refusing()})
    assert content.notes == ("No scaling curve of time_s: 4 runs cannot carry a 90 % interval.",)


def test_secrets_among_the_spark_properties_stay_out_of_the_report(example: SimpleNamespace) -> None:
    spark = SparkOptions(conf={"spark.hadoop.fs.s3a.secret.key": "hush", "spark.executor.memory": "1g"})
    study = replace(example.study, spark=spark)
    text = render(build_content(example.bare, created="today", version="0.1.0", study=study))
    assert "hush" not in text
    assert "spark.executor.memory=1g" in text


def test_runs_from_two_machines_are_told_apart(example: SimpleNamespace) -> None:
    first, *others = example.bare.observations
    moved = replace(first, fingerprint=replace(first.fingerprint, cpu="Another CPU"))
    content = build_content(replace(example.bare, observations=(moved, *others)), created="today", version="0.1.0")
    page = Page(render(content))
    assert "The runs come from 2 different environments" in page.text
    assert "Environment 2: 1 run" in page.text


@pytest.mark.parametrize(
    ("measured", "words"),
    [(29.4, "inside the predicted"), (50.0, "outside the predicted"), (None, "failed, so its")],
)
def test_the_check_run_is_reported_whatever_it_showed(
    example: SimpleNamespace, measured: float | None, words: str
) -> None:
    check = CheckRun(Configuration({"executors": 1}), TIME, 28.8, 25.9, 31.6, 0.9, measured)
    content = build_content(example.bare, created="today", version="0.1.0", check=check)
    assert words in Page(render(content)).text
    assert check.inside is (words == "inside the predicted")


def test_ids_inside_a_picture_carry_its_name_and_size() -> None:
    figure = with_gradient("one")
    for narrow, prefix in ((False, "one-wide-"), (True, "one-narrow-")):
        ids = re.findall(r'\bid="([^"]+)"', inline_svg(figure, narrow=narrow))
        assert ids
        assert all(name.startswith(prefix) for name in ids)


def test_writing_replaces_the_old_report_whole(example: SimpleNamespace, tmp_path: Path) -> None:
    path = tmp_path / "new" / "report.html"
    content = build_content(example.bare, created="today", version="0.1.0")
    write_report(path, content)
    path.write_text("old")
    assert write_report(path, content) == path
    assert path.read_text(encoding="utf-8").startswith("<!doctype html>")
    assert [file.name for file in path.parent.iterdir()] == ["report.html"]


def test_a_failed_write_keeps_the_old_report_and_leaves_no_litter(
    example: SimpleNamespace, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "report.html"
    path.write_text("old")

    def full_disk(*_: object) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(Path, "replace", full_disk)
    with pytest.raises(StoreError, match=r"cannot write the report(.|\n)*hint"):
        write_report(path, build_content(example.bare, created="today", version="0.1.0"))
    assert path.read_text() == "old"
    assert [file.name for file in tmp_path.iterdir()] == ["report.html"]


def test_the_checks_are_told_with_their_verdicts_and_what_to_do(text: str) -> None:
    page = Page(text)
    order = [
        "What makes the time vary",
        "Mean time at each level",
        "How settings interact in their effect on the time",
        "Assumptions of the analysis",
        "normality holds The residuals look normal.",
        "equal variance does not hold The variances differ. take logarithms",
        "influence in doubt",
        "lack of fit not tested",
        "batch_size matters: see batch_size × executors.",
        "Can this be trusted? The checks in pictures",
        "Which effects on the time are significant",
        "Residuals of the time",
        "The analysis of variance, term by term",
        "Note: only 2 replicates",
    ]
    places = [page.text.find(words) for words in order]
    assert -1 not in places
    assert places == sorted(places)


def test_the_anova_table_shows_changes_and_robust_tests_where_there_are_some(text: str) -> None:
    page = Page(text).text.replace("\xa0", " ")
    assert "executors 15.7% very strong evidence −9.00 s < 0.001" in page
    assert "p, robust" in page
    assert "permuted" not in page


def test_a_transformed_response_is_shown_beside_the_untransformed_one(
    full: ReportContent, example: SimpleNamespace
) -> None:
    proposal = Proposal("log", 0.1, -0.2, 0.4, "Box-Cox suggests analyzing log(time_s).")
    log = replace(
        example.analysis,
        transform="log",
        formula="log(time_s) ~ executors",
        r_squared=0.99,
        checks=example.analysis.checks[:1],
        proposal=proposal,
        untransformed=example.analysis,
    )
    page = Page(render(replace(full, analyses=(log,), figures=())))
    assert (
        "Box-Cox suggests analyzing log(time_s). R² is 0.97 for time_s as measured and 0.99 for log(time_s)"
        in page.text
    )
    assert "As measured, equal variance does not hold; for log(time_s), no check fails." in page.text
    assert "As measured," not in Page(render(replace(full, figures=()))).text


# ---------------------------------------------------------------- what folds


def test_the_answer_and_one_picture_come_before_anything_that_folds(text: str) -> None:
    first = text.index('<details class="part"')
    above = text[:first]
    assert "Use batch_size=128, executors=1" in above.replace("\xa0", " ")
    assert above.count("<figure") == 1
    assert '<figure id="candidates">' in above
    assert text.index('class="answer"') < text.index("<figure") < text.index("<details")
    assert "<details open" not in text
    assert not re.search(r"<details[^>]* open", text)


def test_every_figure_of_the_report_is_in_the_page_once(full: ReportContent, text: str) -> None:
    assert sorted(re.findall(r'<figure id="([^"]+)"', text)) == sorted(figure.name for figure in full.figures)


def test_without_a_recommendation_the_picture_is_of_what_matters_and_else_of_the_runs(full: ReportContent) -> None:
    def lead(*sections: FigureSection) -> str:
        chosen = lead_figure([figure for figure in full.figures if figure.section in sections])
        return "" if chosen is None else chosen.name

    assert lead(*FigureSection) == "candidates"
    assert lead(FigureSection.EFFECTS, FigureSection.RESULTS, FigureSection.TRUST) == "variation-time_s"
    assert lead(FigureSection.RESULTS, FigureSection.TRUST) == "results-time_s"
    assert lead(FigureSection.TRUST) == ""


def test_each_part_says_in_a_line_what_is_in_it(text: str) -> None:
    gists = [" ".join(words.split()) for words in re.findall(r'<span class="gist">([^<]+)</span>', text)]
    assert [words.replace("\xa0", " ") for words in gists] == [
        "12 runs succeeded.",
        "Every run as it was measured: time and accuracy.",
        "batch_size explains 76% of the variation of the time; executors another 16%.",
        "Mean error of the best models on held-out configurations: 4.3% for the time (ernest).",
        "What the best model predicts along a setting, with intervals.",
        "Question: maximize accuracy, meeting a deadline of 36.0 s with 95% probability.",
        "Example CPU 3000, 8 cores, Spark 3.5.1.",
    ]


def test_paper_shows_what_is_folded(text: str) -> None:
    printed = text[text.index("@media print") :]
    assert ".part::details-content" in printed
    assert "break-inside: avoid" in printed


@pytest.mark.parametrize(("width", "most"), [(1280, 6000), (390, 8000)])
def test_the_page_is_short_and_never_wider_than_the_screen(text: str, tmp_path: Path, width: int, most: int) -> None:
    """Measured in a real browser, where there is one."""
    browser = shutil.which("chromium") or shutil.which("google-chrome")
    if browser is None:
        pytest.skip("no Chromium on this machine")
    size = "`${innerWidth} ${document.documentElement.scrollWidth} ${document.documentElement.scrollHeight}`"
    inner = tmp_path / "report.html"
    inner.write_text(
        re.sub(r'<meta http-equiv="Content-Security-Policy"[^>]*>', "", text)
        + f"<script>parent.postMessage({size}, '*')</script>"
    )
    # A window has a least width; a frame has not.
    frame = tmp_path / "frame.html"
    frame.write_text(
        f'<body data-size=""><iframe src="report.html" width="{width}" height="900" frameborder="0"></iframe>'
        "<script>onmessage = e => document.body.dataset.size = e.data</script>"
    )
    flags = [
        "--headless",
        "--no-sandbox",
        "--disable-gpu",
        "--disable-background-networking",
        "--window-size=1400,1000",
    ]
    own = [f"--user-data-dir={tmp_path / 'profile'}", "--virtual-time-budget=5000"]
    done = subprocess.run(
        [browser, *flags, *own, "--dump-dom", frame.as_uri()], capture_output=True, text=True, timeout=300, check=True
    )
    found = re.search(r'data-size="(\d+) (\d+) (\d+)"', done.stdout)
    assert found is not None, done.stdout[-500:]
    seen, needed, height = map(int, found.groups())
    assert needed <= seen == width
    assert height <= most
