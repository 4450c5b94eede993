"""The machines of a run over time."""

import json
from dataclasses import replace
from types import SimpleNamespace

import pytest

from sparkcast.report import build_content, figures, render
from sparkcast.report.figures.machines import stage_bands
from sparkcast.study.series import HostSeries, RunSeries, StageSpan
from sparkcast.workloads.sampler import TOTALS
from tests_support import assert_is_picture


def machine(name: str, seconds: int = 20, busy: int = 150) -> HostSeries:
    """Two cores that are busy for so many of two hundred ticks a second."""
    at = range(seconds + 1)
    still = dict.fromkeys((*TOTALS, "core0", "core1"), (0,) * (seconds + 1))
    moving = {
        "at_ms": tuple(1_000_000 + 1000 * second for second in at),
        "user": tuple(busy * second for second in at),
        "idle": tuple((200 - busy) * second for second in at),
        "memory_kib": (2**20,) * (seconds + 1),
        "disk_written_sectors": tuple(2048 * second for second in at),
    }
    return HostSeries(name, name, 2, 2**32, 100, {**still, **moving})


STAGES = (StageSpan(0, 0, "map", 1_002_000, 1_005_000), StageSpan(1, 0, "reduce", 1_010_000, 1_018_000))


def test_curves_show_shares_rates_and_the_stages_behind_them() -> None:
    drawn = figures.machine_curves(RunSeries((machine("a"),), STAGES), "machines-1", "A run")
    assert drawn is not None
    values = {(row["panel"], row["line"]): row["value"] for row in drawn.rows}
    assert values["CPU (%)", "user"] == 75
    assert values["memory (GiB)", "in use"] == 1
    assert values["disk (MiB/s)", "written"] == 1
    bands = stage_bands(STAGES, 1_000_000, 20.0)
    assert [(band["start"], band["end"], band["label"]) for band in bands] == [(2, 5, "0"), (10, 18, "1")]
    assert json.dumps(bands[0]) in json.dumps(drawn.spec)
    assert_is_picture(drawn)


def test_several_machines_are_averaged_and_shown_each() -> None:
    driver = replace(machine("driver", busy=200), has_executors=False)
    run = RunSeries((driver, machine("a", busy=100), machine("b", busy=50)), STAGES)
    drawn = figures.machine_curves(run, "machines-1", "A run")
    assert drawn is not None
    values = {(row["panel"], row["line"]): row["value"] for row in drawn.rows}
    assert values["CPU (%)", "user"] == 37.5
    assert {line: value for (panel, line), value in values.items() if "each" in str(panel)} == {"a": 50, "b": 25}


def test_an_hour_is_drawn_with_a_few_hundred_points() -> None:
    drawn = figures.machine_curves(RunSeries((machine("a", seconds=3600),)), "machines-1", "A run")
    assert drawn is not None
    assert len({row["time"] for row in drawn.rows}) == 301


@pytest.mark.parametrize("run", [RunSeries(), RunSeries((machine("a", seconds=0),), STAGES)])
def test_a_run_without_two_samples_has_no_curves(run: RunSeries) -> None:
    assert figures.machine_curves(run, "machines-1", "A run") is None


def test_stages_that_follow_each_other_closely_are_one_band() -> None:
    close = [StageSpan(n, 0, "s", 1000 * n, 1000 * n + 999) for n in range(500)]
    assert stage_bands(close, 0, 500.0) == ({"start": 0.0, "end": 499.999, "label": "0–499"},)
    spread = [StageSpan(n, 0, "s", 10_000 * n, 10_000 * n + 1000) for n in range(500)]
    assert 1 <= len(stage_bands(spread, 0, 5000.0)) <= 60


def test_a_report_folds_away_the_fastest_and_the_slowest_run(example: SimpleNamespace) -> None:
    fast, slow = (example.bare.observations[place] for place in (0, -1))
    sampled = [(run, RunSeries((machine("a"),), STAGES)) for run in (fast, slow)]
    content = build_content(example.bare, created="today", version="0.1.0", sampled=sampled)
    titles = [figure.title for figure in content.figures if figure.name.startswith("machines")]
    assert [title.partition(":")[0] for title in titles] == ["The fastest run", "The slowest run"]
    page = render(content)
    assert '<details class="part" id="machines">' in page
    without = render(build_content(example.bare, created="today", version="0.1.0"))
    assert 'id="machines"' not in without
