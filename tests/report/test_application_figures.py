"""Pictures of one application are valid Vega-Lite and show what ran."""

from pathlib import Path

import pytest

from eventlogs_support import REAL_LOG, START
from profile_support import T, log_of
from sparkcast import api
from sparkcast.eventlogs import Application, LogRead, read_log
from sparkcast.facts import facts_of
from sparkcast.facts.attribution import attribute
from sparkcast.report.figures import Figure, application_figures, attribution_bar, slot_usage, task_gantt
from sparkcast.report.page import render_application


def figures_of(log: LogRead) -> list[Figure]:
    return application_figures(log, facts_of(log))


@pytest.mark.parametrize("narrow", [False, True])
def test_every_figure_of_a_real_log_is_drawn(narrow: bool) -> None:
    import altair as alt

    figures = figures_of(read_log(REAL_LOG))
    assert [one.name for one in figures] == ["attribution", "stages", "tasks", "slots"]
    for one in figures:
        spec = one.narrow_spec if narrow else one.spec
        alt.Chart.from_dict(spec, validate=True) if "layer" not in spec else alt.LayerChart.from_dict(
            spec, validate=True
        )
        assert one.svg(narrow=narrow).startswith("<svg")


def test_the_page_about_a_log_is_one_file_with_findings_and_pictures(tmp_path: Path) -> None:
    api.report_log(REAL_LOG, tmp_path / "log.html")
    page = (tmp_path / "log.html").read_text()
    assert page.count("<svg") == 12  # four figures and two of replays, each for a desk and for a phone
    assert "What could be better" in page
    assert "src=" not in page
    assert "<script" not in page


def test_texts_of_a_log_are_escaped_in_its_page() -> None:
    evil = Application("app", "", "<script>alert(1)</script>", started_ms=START, ended_ms=START + 9000)
    page = render_application(log_of([T(1, 5)], end=9, application=evil), created="", version="")
    assert "<script" not in page
    assert "&lt;script" in page


def test_the_bar_is_as_long_as_the_application() -> None:
    facts = facts_of(log_of([T(5, 20), T(5, 30)], end=40))
    rows = attribution_bar(facts).rows
    assert sum(float(str(row["seconds"])) for row in rows) == pytest.approx(40, rel=0.01)


def test_tasks_that_run_at_once_stand_in_different_slots() -> None:
    log = log_of([T(0, 10), T(0, 5), T(5, 9), T(6, 10)], end=10)
    drawn = task_gantt(log, attribute(log))
    assert drawn is not None
    assert [row["slot"] for row in drawn.rows] == ["1.1", "1.2", "1.2", "1.3"]


def test_the_slots_are_those_of_the_executors_there_are() -> None:
    log = log_of([T(0, 10)], end=10)
    drawn = slot_usage(log, attribute(log))
    assert drawn is not None
    assert {row["slots"] for row in drawn.rows[:-1]} == {4.0}
    assert {row["running"] for row in drawn.rows[:-1]} == {1.0}


def test_an_application_without_tasks_has_its_bar() -> None:
    assert [one.name for one in figures_of(log_of([], end=10))] == ["attribution"]
