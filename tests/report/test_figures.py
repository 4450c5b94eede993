import json
from collections.abc import Callable
from dataclasses import replace
from math import inf, nan
from types import SimpleNamespace
from typing import Any

import pytest

from sparkcast.recommend import Candidate, Recommendation
from sparkcast.report import figures
from sparkcast.report.figures import Figure
from sparkcast.study import Configuration, Dataset, Outcome
from sparkcast.study.application import PART_RESPONSES
from tests_support import assert_is_picture

Make = Callable[[SimpleNamespace], Figure | None]
EVERY: dict[str, Make] = {
    "main effects": lambda e: figures.main_effects(e.analysis),
    "variation": lambda e: figures.variation(e.analysis),
    "results": lambda e: figures.results(e.data, "time_s"),
    "failures": lambda e: figures.results(e.failures, "time_s"),
    "learning curves": lambda e: figures.learning_curves(e.data),
    "utilization": lambda e: figures.utilization(e.data),
    "parts": lambda e: figures.parts(with_parts(e.data)),
    "predicted against actual": lambda e: figures.predicted_vs_actual(e.validation),
    "scaling": lambda e: figures.scaling_curve(e.data, "time_s", e.fitted["time_s"], upto=4),
    "scaling of one factor": lambda e: figures.scaling_curve(e.one_factor, "time_s", e.fitted["time_s"]),
    "candidates": lambda e: figures.candidates(e.recommendation),
    "candidates by time alone": lambda e: figures.candidates(time_only(e.recommendation)),
}


def with_parts(data: Dataset) -> Dataset:
    """Each part of a run takes a second longer than the one before it."""
    seconds = {part: float(number) for number, part in enumerate(PART_RESPONSES, start=1)}
    runs = tuple(replace(run, responses={**run.responses, **seconds}) for run in data.observations)
    return replace(data, observations=runs)


def time_only(recommendation: Recommendation) -> Recommendation:
    def cut(candidate: Candidate) -> Candidate:
        return replace(candidate, predictions=candidate.predictions[:1])

    every = tuple(cut(candidate) for candidate in recommendation.candidates)
    return replace(recommendation, objective="minimize time_s", chosen=every[0], runner_up=every[1], candidates=every)


def drawn(made: Figure | None) -> Figure:
    assert made is not None
    return made


def titles(spec: Any) -> set[str]:
    """Every axis and legend title of a Vega-Lite spec."""
    if isinstance(spec, list):
        return set().union(*(titles(part) for part in spec))
    if not isinstance(spec, dict):
        return set()
    own = {spec["title"]} if isinstance(spec.get("title"), str) else set()
    return own.union(*(titles(part) for part in spec.values()))


@pytest.mark.parametrize("make", EVERY.values(), ids=EVERY)
def test_every_figure_is_valid_vega_lite_and_becomes_a_picture(example: SimpleNamespace, make: Make) -> None:
    assert_is_picture(drawn(make(example)))


def test_main_effects_hold_one_row_per_level_with_its_interval(example: SimpleNamespace) -> None:
    figure = drawn(figures.main_effects(example.analysis))
    assert len(figure.rows) == 5
    assert figure.rows[0] == {"factor": "batch_size", "level": 64, "mean": 42.0, "low": 39.5, "high": 44.5, "n": 4}
    assert {"time (s)", "batch size (records)", "executors (number)"} <= titles(figure.spec)
    assert len(figure.spec["concat"]) == 2


def test_levels_keep_their_order_of_size_and_not_of_the_alphabet(example: SimpleNamespace) -> None:
    small, large = (replace(m, factor="memory") for m in example.analysis.means[:2])
    means = (replace(large, level="1g"), replace(small, level="512m"))
    figure = drawn(figures.main_effects(replace(example.analysis, means=means)))
    assert '"sort": ["512m", "1g"]' in json.dumps(figure.spec)


def test_variation_is_sorted_with_the_unexplained_part_last(example: SimpleNamespace) -> None:
    rows = drawn(figures.variation(example.analysis)).rows
    assert [row["term"] for row in rows] == ["batch_size", "executors", "batch_size × executors", "not explained"]
    assert [row["explained"] for row in rows] == [True, True, True, False]
    assert rows[0]["percent"] == 76.2


def test_each_panel_of_the_results_has_room_of_its_own_beside_a_level(example: SimpleNamespace) -> None:
    """Shared, the runs of a factor with many levels would stand at its neighbors' places."""
    figure = drawn(figures.results(example.data, "time_s"))
    for spec in (figure.spec, figure.narrow_spec):
        assert spec["resolve"]["scale"]["xOffset"] == "independent"


def test_results_hold_every_run_once_per_factor_and_mark_failures(example: SimpleNamespace) -> None:
    runs = example.data.observations
    failed = replace(runs[0], responses={}, outcome=Outcome.OOM)
    figure = drawn(figures.results(replace(example.data, observations=(failed, *runs[1:])), "time_s"))
    assert len(figure.rows) == 24
    assert figure.rows[0] == {
        "factor": "batch_size",
        "level": 64,
        "value": None,
        "configuration": "batch_size=64, executors=1",
        "outcome": "oom",
        "ok": False,
        "order": 7,
    }
    assert figure.rows[1]["value"] == runs[1].responses["time_s"]
    assert "a run that failed (1 did)" in figure.caption


def test_a_large_dataset_is_thinned_and_the_caption_says_so(example: SimpleNamespace) -> None:
    many = replace(example.data, observations=example.data.observations * 200)
    figure = drawn(figures.results(many, "time_s"))
    assert len(figure.rows) == 2 * 1000
    assert "1,000 of 2,400 runs" in figure.caption


def test_learning_curves_average_the_replicates_of_a_configuration(example: SimpleNamespace) -> None:
    rows = drawn(figures.learning_curves(example.data)).rows
    first, second = example.data.observations[:2]
    assert len(rows) == 6 * 3
    assert rows[0]["configuration"] == "64 · 1"
    assert rows[0]["training_s"] == pytest.approx((first.curve[0].time_s + second.curve[0].time_s) / 2)
    assert rows[0]["runs"] == 2


def test_configurations_come_in_the_order_of_their_levels_and_not_of_their_runs(example: SimpleNamespace) -> None:
    shuffled = replace(example.data, observations=tuple(sorted(example.data.observations, key=lambda r: r.position)))
    order = [f"{batch} · {executors}" for batch in (64, 128, 256) for executors in (1, 2)]
    curves, busy = drawn(figures.learning_curves(shuffled)), drawn(figures.utilization(shuffled))
    assert list(dict.fromkeys(row["configuration"] for row in curves.rows)) == order
    assert [row["configuration"] for row in busy.rows] == order
    assert curves.spec["layer"][0]["encoding"]["color"]["scale"]["domain"] == order


def test_means_and_their_intervals_are_inside_the_picture(example: SimpleNamespace) -> None:
    wide = tuple(replace(mean, mean=0.9, low=-0.2, high=1.3) for mean in example.analysis.means)
    for response in ("time_s", "accuracy"):
        figure = drawn(figures.main_effects(replace(example.analysis, response=response, means=wide)))
        low, high = figure.spec["concat"][0]["layer"][0]["encoding"]["y"]["scale"]["domain"]
        assert low <= -0.2
        assert high >= 1.3


def test_a_figure_without_a_number_in_it_is_left_out(example: SimpleNamespace) -> None:
    means = tuple(replace(mean, mean=nan, low=nan, high=nan) for mean in example.analysis.means)
    rows = tuple(replace(row, percent=nan) for row in example.analysis.rows)
    cells = tuple(replace(cell, mean=nan) for cell in example.analysis.cells)
    lines = tuple(replace(line, r=nan) for line in example.analysis.regressions)
    nothing = replace(
        example.analysis, means=means, rows=rows, cells=cells, regressions=lines, effects=(), residuals=()
    )
    assert figures.analysis_figures(nothing) == ()


def test_the_parts_of_a_run_are_drawn_in_their_order_one_bar_per_configuration(example: SimpleNamespace) -> None:
    made = drawn(figures.parts(with_parts(example.data)))
    ok = {example.data.key(run) for run in example.data.observations if run.ok}
    assert len(made.rows) == len(ok)
    for row in made.rows:
        seconds = [value for name, value in row.items() if name not in ("configuration", "runs")]
        assert seconds == [1 + 2, 3, 8 + 9, 10 + 11 + 12, 13 + 6 + 7, 4 + 5 + 14 + 15, 16, 17]


def test_there_is_no_figure_where_there_is_nothing_to_draw(example: SimpleNamespace) -> None:
    nothing = replace(example.data, observations=())
    assert figures.learning_curves(example.failures) is None
    assert figures.utilization(nothing) is None
    assert figures.parts(example.data) is None  # its workload did not tell
    assert figures.results(nothing, "time_s") is None
    assert figures.scaling_curve(example.failures, "time_s", example.fitted["time_s"]) is None
    assert figures.predicted_vs_actual(replace(example.validation, scorecards=())) is None
    assert figures.main_effects(replace(example.analysis, means=())) is None


def test_predicted_against_actual_shows_the_best_model_and_who_fell_outside(example: SimpleNamespace) -> None:
    figure = drawn(figures.predicted_vs_actual(example.validation))
    best = example.validation.scorecards[0]
    assert [row["measured"] for row in figure.rows] == [run.actual for run in best.runs]
    outside = [row for row in figure.rows if not row["inside"]]
    assert len(outside) == sum(not run.low <= run.actual <= run.high for run in best.runs) > 0
    assert "by ernest" in figure.caption
    assert {"measured time (s)", "predicted time (s)"} <= titles(figure.spec)


def test_an_interval_without_a_bound_is_drawn_without_a_bar(example: SimpleNamespace) -> None:
    best = example.validation.scorecards[0]
    endless = tuple(replace(run, low=-inf, high=inf) for run in best.runs)
    figure = drawn(figures.predicted_vs_actual(replace(example.validation, scorecards=(replace(best, runs=endless),))))
    assert {row["low"] for row in figure.rows} == {None}
    assert figure.png(scale=1).startswith(b"\x89PNG")


def test_the_scaling_curve_runs_along_executors_and_beyond_only_when_asked(example: SimpleNamespace) -> None:
    model = example.fitted["time_s"]
    figure = drawn(figures.scaling_curve(example.data, "time_s", model, upto=4))
    predicted = [row for row in figure.rows if row["kind"] == "predicted"]
    assert [row["x"] for row in predicted if row["series"] == "64"] == [1, 2, 3, 4]
    assert [row["extrapolated"] for row in predicted if row["series"] == "64"] == [False, False, True, True]
    assert predicted[0]["value"] == pytest.approx(model.predict([{"batch_size": 64, "executors": 1}])[0])
    assert sum(row["kind"] == "measured" for row in figure.rows) == 12
    assert "Dashed" in figure.caption
    within = drawn(figures.scaling_curve(example.data, "time_s", model))
    assert max(int(str(row["x"])) for row in within.rows) == 2
    assert {"executors (number)", "time (s)"} <= titles(within.spec)


def test_the_scaling_curve_holds_other_settings_and_shows_only_runs_made_there(example: SimpleNamespace) -> None:
    runs = tuple(
        replace(run, configuration=run.configuration | {"jobs": jobs})
        for run in example.data.observations
        for jobs in (1, 3)
    )
    data = replace(example.data, factors=(*example.data.factors, "jobs"), observations=runs)
    figure = drawn(figures.scaling_curve(data, "time_s", example.fitted["time_s"], at=Configuration({"jobs": 3})))
    assert sum(row["kind"] == "measured" for row in figure.rows) == 12
    assert "Other settings: jobs=3." in figure.caption


def test_levels_written_with_units_are_ticks_of_the_scaling_axis(example: SimpleNamespace) -> None:
    sizes = {1: "512m", 2: "1g"}
    runs = tuple(
        replace(run, configuration={**run.configuration, "memory": sizes[int(run.configuration["executors"])]})
        for run in example.data.observations
    )
    data = replace(example.data, factors=("memory",), observations=runs)
    figure = drawn(figures.scaling_curve(data, "time_s", example.fitted["time_s"]))
    assert [row["x"] for row in figure.rows if row["kind"] == "predicted"] == ["512m", "1g"]
    assert "memory" in titles(figure.spec)
    assert figure.png(scale=1).startswith(b"\x89PNG")


def test_candidates_carry_both_responses_and_the_chosen_one_is_marked(example: SimpleNamespace) -> None:
    figure = drawn(figures.candidates(example.recommendation))
    chosen = example.recommendation.chosen
    row = figure.rows[0]
    assert (row["configuration"], row["place"], row["kind"]) == ("128 · 1", "chosen", "meets the deadline")
    assert row["x"] == chosen.predicted("time_s").value
    assert row["y_high"] == chosen.predicted("accuracy").high
    assert [r["place"] for r in figure.rows] == ["chosen", "runner-up", "", "", "", ""]
    assert '"deadline": 36.0' in json.dumps(figure.spec)
    assert {"predicted time (s)", "predicted accuracy (share correct)"} <= titles(figure.spec)


def test_candidates_without_a_deadline_have_no_deadline_line_and_no_verdicts(example: SimpleNamespace) -> None:
    figure = drawn(figures.candidates(replace(example.recommendation, within_s=None, limits=())))
    assert '"deadline"' not in json.dumps(figure.spec)
    assert "deadline" not in figure.caption


def test_names_that_look_like_paths_do_not_confuse_the_drawing(example: SimpleNamespace) -> None:
    name = "spark.sql[x]"
    runs = tuple(
        replace(run, configuration={name: run.configuration["executors"]}, responses={"a.b": run.responses["time_s"]})
        for run in example.data.observations
    )
    data = replace(example.data, factors=(name,), observations=runs, responses=("a.b",))
    figure = drawn(figures.results(data, "a.b"))
    assert figure.name == "results-a-b"
    assert figure.svg().count('aria-roledescription="point"') == 12
