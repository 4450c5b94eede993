"""Figures of a validation: predicted against measured, errors, scaling with its band, learning curve."""

import json
from collections.abc import Callable, Sequence
from dataclasses import replace
from math import inf
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from typer.testing import CliRunner

from sparkcast.cli import app
from sparkcast.cli.prediction import validate
from sparkcast.errors import NotEnoughDataError, StudyError
from sparkcast.report import figures
from sparkcast.report.figures import Figure
from sparkcast.study import Configuration, Dataset, Observation
from sparkcast.study.configuration import Levels
from sparkcast.validate import Scorecard, Validation
from sparkcast.validate.calibration import wilson
from sparkcast.validate.learning import LearningCurve, LearningPoint
from tests_support import assert_is_picture

CURVE = LearningCurve(
    response="time_s",
    n_configurations=40,
    noise_floor_mape=3.1,
    points=(
        LearningPoint("ridge", 3, 60.0, 20.0, 1e300, 5),
        LearningPoint("ridge", 12, 9.0, 7.0, 14.0, 5),
        LearningPoint("median", 3, 55.0, 40.0, 70.0, 5),
        LearningPoint("median", 12, 50.0, 45.0, 54.0, 5),
        LearningPoint("wild", 12, inf, 80.0, inf, 5),
    ),
    refused=(("wild", 3, "it needs 4 configurations"),),
    repeats=5,
    seed=0,
)
Make = Callable[[SimpleNamespace], Figure | None]
EVERY: dict[str, Make] = {
    "predicted against actual": lambda e: figures.predicted_vs_actual(e.validation, most=3),
    "reliability": lambda e: figures.reliability(promising(e), e.data.factors, most=3),
    "errors": lambda e: figures.prediction_errors(e.validation, e.data.factors),
    "scaling": lambda e: figures.scaling_curve(e.data, "time_s", e.fitted["time_s"], single=True, upto=4),
    "learning curve": lambda e: figures.error_curve(CURVE),
}


def promising(example: SimpleNamespace) -> Validation:
    """The example with probabilities: the k-th of n runs was as likely to be exceeded as it should be."""
    n = len(example.validation.scorecards[0].runs)

    def promised(card: Scorecard) -> Scorecard:
        return replace(card, runs=tuple(replace(r, probability_below=(k + 0.5) / n) for k, r in enumerate(card.runs)))

    validation: Validation = example.validation
    return replace(validation, scorecards=tuple(map(promised, validation.scorecards)))


def drawn(made: Figure | None) -> Figure:
    assert made is not None
    return made


def shapes(figure: Figure) -> list[Any]:
    return [row["shape"] for row in figure.spec["datasets"]["rows"]]


@pytest.mark.parametrize("make", EVERY.values(), ids=EVERY)
def test_every_figure_is_valid_vega_lite_and_becomes_a_picture(example: SimpleNamespace, make: Make) -> None:
    assert_is_picture(drawn(make(example)))


# ---------------------------------------------------------------- predicted against measured


def test_each_of_the_best_models_has_a_panel_with_its_error_and_all_share_one_frame(example: SimpleNamespace) -> None:
    figure = drawn(figures.predicted_vs_actual(example.validation, most=2))
    panels = figure.spec["concat"]
    assert [panel["title"]["text"] for panel in panels] == ["ernest", "forest"]
    assert panels[1]["title"]["subtitle"] == "MAPE 9.8%"
    frames = [json.dumps(panel["layer"][0]["encoding"]["x"]["scale"]) for panel in panels]
    assert len(set(frames)) == 1
    assert [row["model"] for row in figure.rows] == ["ernest"] * 12 + ["forest"] * 12
    assert "by ernest and forest" in figure.caption


def test_a_prediction_far_outside_stands_at_the_edge_and_leaves_the_others_their_room(example: SimpleNamespace) -> None:
    best = example.validation.scorecards[0]
    wild = (replace(best.runs[0], predicted=1e9, high=2e9), *best.runs[1:])
    figure = drawn(figures.predicted_vs_actual(replace(example.validation, scorecards=(replace(best, runs=wild),))))
    low, high = figure.spec["layer"][0]["encoding"]["y"]["scale"]["domain"]
    assert (low, high < 100) == (0, True)
    assert shapes(figure) == ["triangle-up"] + ["circle"] * 11
    assert figure.spec["datasets"]["rows"][0]["predicted"] == high
    assert figure.rows[0]["predicted"] == 1e9
    assert "predictions beyond it (1)" in figure.caption


def test_measurements_of_many_sizes_are_compared_as_ratios(example: SimpleNamespace) -> None:
    best = example.validation.scorecards[0]
    tall = tuple(
        replace(r, actual=r.actual * 9**i, predicted=r.predicted * 9**i, low=0.0) for i, r in enumerate(best.runs)
    )
    figure = drawn(figures.predicted_vs_actual(replace(example.validation, scorecards=(replace(best, runs=tall),))))
    scale = figure.spec["layer"][0]["encoding"]["y"]["scale"]
    assert scale["type"] == "log"
    assert scale["domain"][0] > 0
    assert figure.png(scale=1).startswith(b"\x89PNG")


@pytest.mark.parametrize(("factor", "kind"), [(1.3, None), (3.0, None), (40.0, "log")])
def test_the_bars_of_predictions_are_inside_the_picture(
    example: SimpleNamespace, factor: float, kind: str | None
) -> None:
    best = example.validation.scorecards[0]
    wide = tuple(replace(run, low=run.predicted / factor, high=run.predicted * factor) for run in best.runs)
    figure = drawn(figures.predicted_vs_actual(replace(example.validation, scorecards=(replace(best, runs=wide),))))
    scale = figure.spec["layer"][0]["encoding"]["y"]["scale"]
    assert scale["domain"][0] <= min(run.low for run in wide)
    assert scale["domain"][1] >= max(run.high for run in wide)
    assert scale.get("type") == kind
    assert "beyond it" not in figure.caption


def test_a_point_tells_its_configuration_when_the_mouse_rests_on_it(example: SimpleNamespace) -> None:
    figure = drawn(figures.predicted_vs_actual(example.validation))
    assert "<title>batch_size=64, executors=1: measured" in figure.svg()


# ---------------------------------------------------------------- promised versus observed


def test_promises_of_the_best_models_are_drawn_against_what_was_kept(example: SimpleNamespace) -> None:
    figure = drawn(figures.reliability(promising(example), example.data.factors, most=2))
    assert figure.name == "reliability-time_s"
    assert list(dict.fromkeys(row["model"] for row in figure.rows)) == ["ernest", "forest"]
    half = next(row for row in figure.rows if row["promised"] == 0.5)
    assert half["kept"] == pytest.approx(0.5)
    assert half["configurations"] == 6
    assert (half["low"], half["high"]) == pytest.approx(wilson(0.5, 6))
    kept = [row["kept"] for row in figure.rows if row["model"] == "ernest"]
    assert kept == sorted(kept, key=lambda share: float(share or 0.0)), (
        "whoever keeps to a promise keeps to a weaker one"
    )


def test_only_the_best_model_has_a_band_and_the_diagonal_runs_from_corner_to_corner(example: SimpleNamespace) -> None:
    figure = drawn(figures.reliability(promising(example), example.data.factors, most=3))
    band, diagonal = figure.spec["layer"][:2]
    assert band["transform"] == [{"filter": 'datum.model === "ernest"'}]
    corners = figure.spec["datasets"][diagonal["data"]["name"]]
    assert corners == [{"promised": 0, "kept": 0}, {"promised": 1, "kept": 1}]
    assert "interval for ernest" in figure.caption


def test_without_probabilities_there_is_nothing_to_hold_against_promises(example: SimpleNamespace) -> None:
    assert figures.reliability(example.validation, example.data.factors, most=3) is None
    assert figures.reliability(replace(example.validation, scorecards=()), example.data.factors) is None


# ---------------------------------------------------------------- errors


def test_errors_are_in_percent_of_what_was_measured_and_positive_when_too_high(example: SimpleNamespace) -> None:
    figure = drawn(figures.prediction_errors(example.validation, example.data.factors, model="median"))
    runs = example.validation.scorecards[2].runs
    against_prediction = [row for row in figure.rows if row["factor"] is None]
    assert [row["error"] for row in against_prediction] == pytest.approx(
        [100 * (run.predicted / run.actual - 1) for run in runs]
    )
    assert [row["level"] for row in against_prediction] == [run.predicted for run in runs]
    assert [row["large"] for row in against_prediction] == [abs(r.predicted / r.actual - 1) >= 0.3 for r in runs]
    assert figure.name == "errors-time_s-median"


def test_there_is_a_panel_for_the_prediction_and_for_each_setting_that_varies(example: SimpleNamespace) -> None:
    figure = drawn(figures.prediction_errors(example.validation, ("batch_size", "executors")))
    titles = [panel["title"]["text"] for panel in figure.spec["concat"]]
    assert titles == ["Against the prediction", "Against batch_size", "Against executors"]
    assert [row["level"] for row in figure.rows if row["factor"] == "executors"] == [1, 1, 2, 2] * 3
    card = example.validation.scorecards[0]
    alone = replace(card, runs=tuple(run for run in card.runs if run.configuration["executors"] == 1))
    figure = drawn(figures.prediction_errors(replace(example.validation, scorecards=(alone,)), ("executors",)))
    assert len(figure.spec["concat"]) == 1


def test_the_bounds_of_large_errors_are_always_in_sight(example: SimpleNamespace) -> None:
    figure = drawn(figures.prediction_errors(example.validation, ()))
    assert '{"error": -30.0}, {"error": 30.0}' in json.dumps(figure.spec)
    low, high = figure.spec["concat"][0]["layer"][2]["encoding"]["y"]["scale"]["domain"]
    assert (low < -30, high > 30) == (True, True)


def test_an_error_of_many_times_the_value_stands_at_the_edge(example: SimpleNamespace) -> None:
    best = example.validation.scorecards[0]
    wild = (replace(best.runs[0], predicted=1e6), *best.runs[1:])
    figure = drawn(
        figures.prediction_errors(replace(example.validation, scorecards=(replace(best, runs=wild),)), ("executors",))
    )
    assert shapes(figure).count("triangle-up") == 2, "once in each panel"
    assert "errors beyond it (1)" in figure.caption


def test_many_levels_share_a_numeric_axis_and_many_categories_are_left_out(example: SimpleNamespace) -> None:
    card = example.validation.scorecards[0]
    runs = tuple(
        replace(run, configuration=Configuration({"size": f"{n + 1}g", "name": f"job-{n}"}))
        for n, run in enumerate(card.runs * 2)
    )
    figure = drawn(
        figures.prediction_errors(replace(example.validation, scorecards=(replace(card, runs=runs),)), ("size", "name"))
    )
    assert [panel["title"]["text"] for panel in figure.spec["concat"]] == ["Against the prediction", "Against size"]
    assert figure.spec["concat"][1]["layer"][2]["encoding"]["x"]["type"] == "quantitative"


def test_no_model_or_only_zeros_make_no_error_figure(example: SimpleNamespace) -> None:
    card = example.validation.scorecards[0]
    zeros = replace(card, runs=tuple(replace(run, actual=0.0) for run in card.runs))
    assert figures.prediction_errors(example.validation, (), model="unknown") is None
    assert figures.prediction_errors(replace(example.validation, scorecards=(zeros,)), ()) is None
    assert figures.error_curve(replace(CURVE, points=())) is None


# ---------------------------------------------------------------- scaling


def test_one_line_alone_holds_every_other_setting_and_the_title_says_where(example: SimpleNamespace) -> None:
    figure = drawn(figures.scaling_curve(example.data, "time_s", example.fitted["time_s"], single=True, upto=4))
    assert {row["series"] for row in figure.rows} == {None}
    assert figure.title == "Predicted time along executors at batch_size=128"
    assert sum(row["kind"] == "measured" for row in figure.rows) == 4
    assert '"text": "not measured"' in json.dumps(figure.spec)
    within = drawn(figures.scaling_curve(example.data, "time_s", example.fitted["time_s"], single=True))
    assert '"text": "not measured"' not in json.dumps(within.spec)


def observed(*settings: Levels) -> Dataset:
    runs = tuple(Observation(at, {"time_s": 20.0 + n}) for n, at in enumerate(settings))
    return Dataset(tuple(settings[0]), runs)


def test_settings_are_held_where_most_was_run_even_if_the_levels_alone_are_rare() -> None:
    grid: list[Levels] = [{"executors": e, "cores": 2, "net": "b"} for e in (1, 2, 4)]
    other: list[Levels] = [{"executors": 1, "cores": c, "net": "a"} for c in (1, 1, 4, 4, 4)]
    figure = drawn(figures.scaling_curve(observed(*grid, *other), "time_s", FlatAnswer(), single=True))
    assert figure.title.endswith("at cores=2, net=b")
    assert sum(row["kind"] == "measured" for row in figure.rows) == 3


def test_of_equal_combinations_the_one_with_frequent_levels_is_held() -> None:
    every: list[Levels] = [
        {"executors": e, "net": n, "memory": m} for e in (1, 2) for n, m in (("a", 1), ("b", 1), ("b", 2))
    ]
    figure = drawn(figures.scaling_curve(observed(*every), "time_s", FlatAnswer(), single=True))
    assert figure.title.endswith("at net=b, memory=1")


def test_without_executors_the_curve_runs_along_the_number_with_most_levels() -> None:
    every: list[Levels] = [
        {"cores": c, "net": n, "lines": x} for c in (1, 2) for n in ("a", "b", "c", "d") for x in (5, 6, 7)
    ]
    assert drawn(figures.scaling_curve(observed(*every), "time_s", FlatAnswer())).title.startswith(
        "Predicted time along lines"
    )


@pytest.mark.parametrize(("high", "kind"), [(90.0, None), (900.0, "log"), (15_000.0, "log")])
def test_the_bands_of_a_scaling_curve_are_inside_the_picture_and_each_has_a_panel(
    high: float, kind: str | None
) -> None:
    class Unsure(FlatAnswer):
        def interval(self, at: Sequence[Levels], *, level: float = 0.9) -> list[tuple[float, float]]:
            return [(2.0, high if place["batch_size"] == 64 else 30.0) for place in at]

    data = observed(*({"executors": e, "batch_size": b} for e in (1, 4) for b in (256, 64, 128)))
    figure = drawn(figures.scaling_curve(data, "time_s", Unsure()))
    panels = figure.spec["concat"]
    assert [panel["title"]["text"] for panel in panels] == ["batch size 64", "batch size 128", "batch size 256"]
    scales = [
        layer["encoding"]["y"]["scale"] for panel in panels for layer in panel["layer"] if "y" in layer["encoding"]
    ]
    assert len({json.dumps(scale) for scale in scales}) == 1, "panels can be compared"
    assert scales[0]["domain"][0] <= 2.0
    assert scales[0]["domain"][1] >= high
    assert scales[0].get("type") == kind
    assert "beyond it" not in figure.caption


def test_a_band_that_never_ends_is_cut_off_and_the_caption_says_so() -> None:
    class Endless(FlatAnswer):
        def interval(self, at: Sequence[Levels], *, level: float = 0.9) -> list[tuple[float, float]]:
            return [(19.0, 1e12)] * len(at)

    figure = drawn(figures.scaling_curve(observed({"executors": 1}, {"executors": 4}), "time_s", Endless()))
    assert max(row["high"] or 0 for row in figure.spec["datasets"]["rows"]) < 100
    assert "Intervals that touch the edge extend beyond it (4)." in figure.caption


class FlatAnswer:
    """Always the same, give or take one; knows nothing beyond 8 executors."""

    def predict(self, at: Sequence[Levels]) -> list[float]:
        if any(float(place.get("executors", 1)) > 8 for place in at):
            raise NotEnoughDataError("nothing is known beyond 8", hint="run more")
        return [20.0] * len(at)

    def interval(self, at: Sequence[Levels], *, level: float = 0.9) -> list[tuple[float, float]]:
        return [(19.0, 21.0)] * len(at)

    def probability_below(self, at: Sequence[Levels], limit: float) -> list[float]:
        return [float(limit > 20)] * len(at)

    def beyond(self, at: Sequence[Levels]) -> list[NotEnoughDataError | None]:
        return [None] * len(at)


# ---------------------------------------------------------------- learning curve


def test_the_learning_curve_has_a_row_for_each_model_and_size_and_the_noise_floor() -> None:
    figure = drawn(figures.error_curve(CURVE))
    assert figure.rows[1] == {"model": "ridge", "size": 12, "mape": 9.0, "low": 7.0, "high": 14.0, "draws": 5}
    assert '"text": "noise floor 3.1%"' in json.dumps(figure.spec)
    assert "1 of the models cannot handle some sizes" in figure.caption
    assert "noise floor" not in json.dumps(drawn(figures.error_curve(replace(CURVE, noise_floor_mape=None))).spec)


def test_each_model_has_a_panel_of_its_own_and_the_best_comes_first() -> None:
    figure = drawn(figures.error_curve(replace(CURVE, points=CURVE.points[::-1])))
    assert [panel["title"]["text"] for panel in figure.spec["concat"]] == ["ridge", "median", "wild"]


def test_an_error_without_bounds_is_shown_at_the_edge_of_the_learning_curve() -> None:
    figure = drawn(figures.error_curve(CURVE))
    assert shapes(figure) == ["circle"] * 4 + ["triangle-up"]
    assert max(row["high"] for row in figure.spec["datasets"]["rows"]) < 200
    json.dumps(figure.spec, allow_nan=False)


@pytest.mark.parametrize(("least", "written"), [(40.0, ">20<"), (0.4, ">0.5<")])
def test_errors_are_written_without_exponents_on_both_kinds_of_axis(least: float, written: str) -> None:
    points = (*CURVE.points[2:4], LearningPoint("ridge", 12, least, least, least, 5))
    picture = drawn(figures.error_curve(replace(CURVE, points=points))).svg()
    assert written in picture
    assert "e+" not in picture


# ---------------------------------------------------------------- all of them


def test_a_validation_has_figures_of_its_best_models_and_says_what_is_missing(example: SimpleNamespace) -> None:
    data = observed(*({"executors": e, "batch_size": b} for e in (1, 8) for b in (64, 128, 256)))
    fitted = {"ernest": example.fitted["time_s"], "forest": FlatAnswer()}
    made, missing = figures.validation_figures(data, example.validation, fitted, CURVE, most=2)
    assert [figure.name for figure in made] == [
        "predicted-vs-actual-time_s",
        "errors-time_s-ernest",
        "errors-time_s-forest",
        "scaling-time_s-ernest",
        "learning-curve-time_s",
    ]
    assert made[3].title.endswith("(ernest)")
    assert any(row["extrapolated"] for row in made[3].rows)
    assert missing == (
        "no scaling curve of forest: nothing is known beyond 8",
        "no wild at 3 configurations in the learning curve: it needs 4 configurations",
    )


@pytest.fixture
def runs(tmp_path: Path) -> str:
    rows = [(e, b, 30 / e + 64 / b + r / 50) for e in (1, 2, 4) for b in (64, 128) for r in (0, 1)]
    path = tmp_path / "runs.csv"
    path.write_text("executors,batch_size,time_s\n" + "".join(f"{e},{b},{t}\n" for e, b, t in rows))
    return str(path)


def test_validate_writes_each_figure_as_picture_and_as_drawing(runs: str, tmp_path: Path) -> None:
    asked = ["validate", runs, "--factors", "executors,batch_size", "--model", "median", "--json"]
    answer = CliRunner().invoke(app, [*asked, "--figures", str(tmp_path / "drawn"), "--learning-curve"])
    assert answer.exit_code == 0, answer.output
    assert "wrote 15 files to" in answer.stderr
    assert json.loads(answer.stdout)["response"] == "time_s"
    names = {"predicted-vs-actual-time_s", "errors-time_s-median", "scaling-time_s-median", "learning-curve-time_s"}
    names.add("reliability-time_s")
    kinds = ("png", "svg", "vl.json")
    assert {path.name for path in (tmp_path / "drawn").iterdir()} == {f"{n}.{kind}" for n in names for kind in kinds}


def test_figures_that_exist_are_not_replaced_but_the_result_is_shown(
    runs: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    taken = tmp_path / "drawn" / "errors-time_s-median.svg"
    taken.parent.mkdir()
    taken.write_text("mine")
    with pytest.raises(StudyError, match="exists"):
        validate(runs, model="median", figures=taken.parent)
    assert "median" in capsys.readouterr().out
    assert list(taken.parent.iterdir()) == [taken]


def test_a_learning_curve_needs_a_folder_to_be_drawn_in(runs: str) -> None:
    with pytest.raises(StudyError, match="--figures DIR"):
        validate(runs, learning_curve=True)
