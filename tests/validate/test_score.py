import math
import random
import sys
import time
from collections.abc import Sequence
from itertools import product
from statistics import fmean
from typing import NamedTuple

import numpy as np
import pytest

from sparkcast.api.reports import fit_best
from sparkcast.errors import NotEnoughDataError, StudyError, UnknownNameError
from sparkcast.learned.knowledge import Knowledge
from sparkcast.models import MODELS, Fitted
from sparkcast.study import Configuration, Dataset, Level, Observation, Outcome
from sparkcast.validate import FoldProgress, NoiseFloor, score
from sparkcast.validate.score import best_of, noise_floor, validate


def measured(replicates: int = 2) -> Dataset:
    noise = random.Random(1)
    return Dataset(
        ("executors", "batch_size"),
        tuple(
            Observation(
                {"executors": e, "batch_size": b},
                {"time_s": (30 / e + 2) * (1 + 64 / b) * math.exp(noise.gauss(0, 0.03)), "accuracy": 0.99 - b / 9999},
                replicate=r,
            )
            for e, b in product((1, 2, 4), (64, 128, 256))
            for r in range(1, replicates + 1)
        ),
    )


def test_scorecards_come_best_first_with_the_baseline_among_them() -> None:
    result = validate(measured(), "time_s", models=["ridge"], level=0.8)
    assert [card.model for card in result.scorecards] == ["ridge", "median"]
    assert result.scorecards[0].mape < result.scorecards[1].mape
    assert (result.protocol, result.level, result.refused, result.untested) == ("loo", 0.8, (), ())
    assert all(len(card.runs) == 18 for card in result.scorecards)


class Narrow(NamedTuple):
    """Claims that every run takes 4 s, give or take 1 s."""

    def fit(self, data: Dataset, response: str) -> "Narrow":
        return self

    def predict(self, at: Sequence[object]) -> list[float]:
        return [4.0 for _ in at]

    def interval(self, at: Sequence[object], *, level: float = 0.9) -> list[tuple[float, float]]:
        return [(3.0, 5.0) for _ in at]

    def probability_below(self, at: Sequence[object], limit: float) -> list[float]:
        return [0.5 for _ in at]


def test_coverage_counts_runs_below_an_interval_as_missed_like_those_above(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(MODELS._classes, "narrow", Narrow)
    times = (2, 3, 4, 5, 6, 2, 2, 4)
    data = Dataset(("x",), tuple(Observation({"x": x}, {"time_s": t}) for x, t in enumerate(times)))
    [card] = [card for card in validate(data, "time_s", models=["narrow"]).scorecards if card.model == "narrow"]
    assert card.coverage == 4 / 8  # three are below, one is above, and both ends belong to it


def test_scores_are_what_their_names_say() -> None:
    data = Dataset(
        ("x",), tuple(Observation({"x": x}, {"time_s": t}) for x, t in zip(range(4), (2, 4, 4, 8), strict=True))
    )
    [card] = validate(data, "time_s", models=["median"]).scorecards
    # Without 2 the median is 4; without a 4 it is 4; without 8 it is 4.
    assert [run.predicted for run in card.runs] == [4, 4, 4, 4]
    assert card.mape == pytest.approx((100 + 0 + 0 + 50) / 4)
    assert card.median_ape == pytest.approx(25)
    assert card.mae == pytest.approx((2 + 0 + 0 + 4) / 4)
    assert card.rmse == pytest.approx(math.sqrt((4 + 16) / 4))
    assert card.r_squared == pytest.approx(1 - 20 / 19)
    assert card.coverage == sum(run.low <= run.actual <= run.high for run in card.runs) / 4
    assert card.relative_width == pytest.approx(sum((r.high - r.low) / 4 for r in card.runs) / 4)
    assert card.large_errors == pytest.approx(100 * 2 / 4)
    assert card.collect_s == pytest.approx((16 + 14 + 14 + 10) / 4)
    assert card.build_s > 0
    assert card.total_s == pytest.approx(13.5 + card.build_s)


@pytest.mark.parametrize(("predicted", "is_large"), [(9.1, True), (4.9, True), (9.0, False), (5.0, False)])
def test_an_error_of_30_percent_is_large_whatever_the_rounding(predicted: float, is_large: bool) -> None:
    # 100 * (9.1 - 7) / 7 is 29.999999999999993.
    runs = [(1, predicted), (2, predicted), (3, predicted), (4, 7.0)]
    data = Dataset(("x",), tuple(Observation({"x": x}, {"time_s": t}) for x, t in runs))
    [card] = validate(data, "time_s", protocol="cases:x=1+2+3|4", models=["median"]).scorecards
    assert [run.predicted for run in card.runs] == [predicted]
    assert card.large_errors == (100 if is_large else 0)


def test_collecting_is_counted_in_the_runs_learned_from_replicates_included() -> None:
    data = measured(replicates=3)
    [card] = validate(data, "accuracy", protocol="extrapolate:batch_size>128", models=["median"]).scorecards
    learned = [o.responses["time_s"] for o in data.observations if float(o.configuration["batch_size"]) <= 128]
    assert card.collect_s == pytest.approx(sum(learned))
    assert len(learned) == 18


def test_without_all_times_it_is_unknown_what_collecting_took() -> None:
    data = measured()
    first = Observation(data.observations[0].configuration, {"accuracy": 0.9})
    data = Dataset(data.factors, (first, *data.observations[1:]))
    [card] = validate(data, "accuracy", models=["median"]).scorecards
    assert card.collect_s is None
    assert card.total_s is None


def test_the_times_of_fitting_and_collecting_are_those_of_one_split(monkeypatch: pytest.MonkeyPatch) -> None:
    def fit_in_two_seconds(name: str, data: Dataset, response: str, *others: object) -> tuple[Fitted, float]:
        return MODELS.get(name)().fit(data, response), 2.0

    monkeypatch.setattr(score, "_timed_fit", fit_in_two_seconds)
    [card] = validate(measured(), "time_s", models=["median"], protocol="loo").scorecards
    times = [o.responses["time_s"] for o in measured().observations]
    assert card.collect_s == pytest.approx(sum(times) * 8 / 9)
    assert card.build_s == 2.0
    assert card.total_s == pytest.approx(sum(times) * 8 / 9 + 2)


def test_loading_a_library_is_not_counted_as_fitting(monkeypatch: pytest.MonkeyPatch) -> None:
    now = [0.0]
    monkeypatch.setattr(time, "perf_counter", lambda: now[0])

    class Slow:
        def fit(self, data: Dataset, response: str) -> Fitted:
            now[0] += 1
            if "loaded_for_a_test" not in sys.modules:
                now[0] += 60
                monkeypatch.setitem(sys.modules, "loaded_for_a_test", sys)
            return MODELS.get("median")().fit(data, response)

    monkeypatch.setitem(MODELS._classes, "slow", Slow)
    cards = validate(measured(), "time_s", models=["slow"], protocol="extrapolate:executors>2").scorecards
    assert {card.model: card.build_s for card in cards} == {"slow": 1.0, "median": 0.0}


def test_each_model_is_announced_before_each_split() -> None:
    steps: list[FoldProgress] = []
    result = validate(measured(), "time_s", models=["ridge"], protocol="kfold:3", on_step=steps.append)
    assert result.n_splits == 3
    assert steps == [FoldProgress(m, i, 2, s, 3) for i, m in enumerate(("ridge", "median"), start=1) for s in (1, 2, 3)]


def test_the_seed_decides_what_is_drawn() -> None:
    tested = [
        [run.configuration for run in validate(measured(), "time_s", "holdout", [], seed=seed).scorecards[0].runs]
        for seed in (5, 5, 6)
    ]
    assert tested[0] == tested[1] != tested[2]


def test_a_rolling_extrapolation_begins_when_there_is_enough_to_learn_from() -> None:
    data = Dataset(("x",), tuple(Observation({"x": x}, {"time_s": 3.0 * x}) for x in (1, 2, 4, 8, 16)))
    result = validate(data, "time_s", protocol="extrapolate:x", models=["ridge"])
    assert [card.model for card in result.scorecards] == ["ridge", "median"]
    assert [run.configuration["x"] for run in result.scorecards[0].runs] == [8, 16]
    assert (result.n_splits, result.untested) == (2, (Configuration({"x": 4}),))


def test_of_a_split_only_the_runs_of_which_something_is_known_are_tested() -> None:
    data = Dataset(
        ("x", "net"),
        tuple(Observation({"x": x, "net": n}, {"time_s": 1.0 + x}) for x, n in product((1, 2, 3, 4), "ab")),
    )
    result = validate(data, "time_s", protocol="cases:x=1+2+3|4;net=a|a+b", models=["ridge"])
    assert [len(card.runs) for card in result.scorecards] == [1, 1]
    assert result.untested == (Configuration({"x": 4, "net": "b"}),)


def test_a_configuration_known_in_one_draw_is_not_untested() -> None:
    data = Dataset(
        ("x", "net"),
        tuple(
            Observation({"x": x, "net": n}, {"time_s": 1.0 + x})
            for x, n in [*product((1, 2, 3), "ab"), (1, "c"), (2, "c")]
        ),
    )
    result = validate(data, "time_s", protocol="holdout:0.5", models=[])
    assert result.untested == ()
    assert {run.configuration["net"] for run in result.scorecards[0].runs} == {"a", "b", "c"}


def test_the_only_word_among_numbers_is_named_as_untested() -> None:
    levels: tuple[Level, ...] = (1, 2, 4, 8, "all")
    data = Dataset(("x",), tuple(Observation({"x": x}, {"time_s": t}) for t, x in enumerate(levels, start=1)))
    result = validate(data, "time_s", models=["median"])
    assert {"x": "all"} in result.untested


def test_the_usual_models_are_tested_when_none_is_named_and_refusals_say_why() -> None:
    data = Dataset(("executors",), tuple(Observation({"executors": e}, {"accuracy": 1 - e / 99}) for e in range(1, 6)))
    result = validate(data, "accuracy", "extrapolate:executors>3")
    assert {*(c.model for c in result.scorecards), *(name for name, _ in result.refused)} == {
        "auto",
        "bayesian",
        "ernest",
        "random-forest",
        "ridge",
        "scaling",
        "median",
    }
    assert dict(result.refused)["ernest"] == "ernest predicts times, but accuracy is not a time"


def test_a_model_that_refuses_one_split_is_refused_and_the_reason_names_the_split() -> None:
    [(name, reason)] = validate(measured(), "time_s", models=["ernest"]).refused
    assert name == "ernest"
    assert reason.startswith("without executors=1, batch_size=64: ernest cannot model batch_size")


def repeated(generator: np.random.Generator, replicates: int, *, noise: float) -> tuple[Dataset, float]:
    """Eight configurations whose means are known, and the MAPE of predicting these means."""
    runs, errors = [], []
    for executors, mean in enumerate((5.0, 8.0, 12.0, 20.0, 31.0, 50.0, 80.0, 120.0), start=1):
        for replicate in range(1, replicates + 1):
            value = mean * (1 + noise * generator.normal())
            runs.append(Observation({"executors": executors}, {"time_s": value}, replicate=replicate))
            errors.append(100 * abs(mean - value) / value)
    return Dataset(("executors",), tuple(runs)), fmean(errors)


def floor_of(data: Dataset) -> NoiseFloor:
    floor = noise_floor(data, "time_s")
    assert floor is not None
    return floor


@pytest.mark.parametrize("replicates", [2, 3, 5])
def test_the_noise_floor_is_the_error_of_a_model_that_knows_every_mean(replicates: int) -> None:
    """Against the mean of the other replicates it would be 41 % above that with two of them, 22 % with three."""
    generator = np.random.default_rng(0)
    drawn = [repeated(generator, replicates, noise=0.06) for _ in range(400)]
    floors, known = [floor_of(data).mape for data, _ in drawn], [error for _, error in drawn]
    assert fmean(floors) == pytest.approx(fmean(known), rel=0.03)
    # Known noise: the mean distance of a normal number from its mean is 0.798 standard deviations.
    assert fmean(floors) == pytest.approx(100 * 0.06 * math.sqrt(2 / math.pi), rel=0.03)


@pytest.mark.parametrize("replicates", [2, 3])
def test_the_interval_of_the_noise_floor_holds_it_as_often_as_it_says(replicates: int) -> None:
    generator = np.random.default_rng(1)
    true = 100 * 0.06 * math.sqrt(2 / math.pi)
    floors = [floor_of(repeated(generator, replicates, noise=0.06)[0]) for _ in range(400)]
    assert 0.87 <= fmean(floor.low <= true <= floor.high for floor in floors) <= 0.98


def test_the_noise_floor_is_computed_by_hand_for_two_replicates() -> None:
    data = Dataset(("a",), tuple(Observation({"a": 1}, {"time_s": value}) for value in (10.0, 12.0)))
    # Each is 1 from their mean, and the root of 2 times that from the true mean.
    assert floor_of(data).mape == pytest.approx(100 * math.sqrt(2) * (1 / 10 + 1 / 12) / 2)
    assert noise_floor(measured(replicates=1), "time_s") is None


def test_the_noise_floor_lies_below_a_model_that_was_fitted() -> None:
    """In a demo of eight configurations with two runs each, it stood above five models for want of the factor."""
    generator = np.random.default_rng(5)
    runs = []
    for executors, batch_size in product((1, 2), (64, 128, 256, 512)):
        for replicate in (1, 2):
            value = (4 + 300 / batch_size / executors) * (1 + 0.15 * generator.normal())
            at = {"executors": executors, "batch_size": batch_size}
            runs.append(Observation(at, {"time_s": value}, replicate=replicate))
    result = validate(Dataset(("executors", "batch_size"), tuple(runs)), "time_s", models=["ridge", "nnls"])
    assert result.noise_floor_mape is not None
    assert result.noise_floor_interval is not None
    low, high = result.noise_floor_interval
    assert low < result.noise_floor_mape < high
    assert result.noise_floor_mape < min(card.mape for card in result.scorecards)


def test_a_configuration_with_the_only_run_of_a_category_is_named_as_untested() -> None:
    data = Dataset(
        ("x", "net"),
        tuple(Observation({"x": x, "net": n}, {"time_s": 1.0 + x}) for x, n in [*product((1, 2, 3), "ab"), (1, "c")]),
    )
    result = validate(data, "time_s", models=["ridge"])
    assert result.untested == (Configuration({"x": 1, "net": "c"}),)
    assert [len(card.runs) for card in result.scorecards] == [6, 6]


def test_categories_that_were_all_run_once_cannot_be_tested_at_all() -> None:
    data = Dataset(
        ("net",), tuple(Observation({"net": n}, {"time_s": t}) for n, t in zip("abcd", (1, 2, 3, 4), strict=True))
    )
    result = validate(data, "time_s", models=[])
    assert not result.scorecards
    assert len(result.untested) == 4
    with pytest.raises(NotEnoughDataError, match="no model can be tested on time_s"):
        best_of(result)


def test_failed_runs_are_not_scored() -> None:
    data = measured()
    failed = Observation({"executors": 1, "batch_size": 64}, {"time_s": 1e9}, outcome=Outcome.TIMEOUT)
    result = validate(Dataset(data.factors, (*data.observations, failed)), "time_s", models=[])
    assert [len(card.runs) for card in result.scorecards] == [18]


def test_intervals_hold_about_as_many_unseen_runs_as_they_say() -> None:
    for card in validate(measured(replicates=3), "time_s", models=["ridge"], level=0.9).scorecards:
        assert 0.75 <= card.coverage <= 1


def test_the_best_of_a_validation_is_fitted_to_everything() -> None:
    data = Dataset(("x",), tuple(Observation({"x": x}, {"time_s": 3.0 * x**2}) for x in (1, 2, 4, 8, 16)))
    result = validate(data, "time_s", models=["ridge", "random-forest"])
    assert best_of(result) == "ridge"
    fitted = fit_best(Knowledge(data), result)
    assert fitted.predict([{"x": 3}]) == MODELS.get("ridge")().fit(data, "time_s").predict([{"x": 3}])


def test_wild_predictions_have_a_finite_score() -> None:
    data = Dataset(("x",), tuple(Observation({"x": x}, {"time_s": 1e300 if x == 9 else 1.0}) for x in range(1, 10)))
    [card] = validate(data, "time_s", models=[]).scorecards
    assert math.isfinite(card.rmse)


def test_zeros_have_no_percentage_error() -> None:
    data = Dataset(("x",), tuple(Observation({"x": x}, {"lost": 0.0}) for x in range(5)), responses=("lost",))
    with pytest.raises(StudyError, match="0 in every run"):
        validate(data, "lost")


@pytest.mark.parametrize("level", [0.0, 1.0, 90.0])
def test_a_level_that_is_no_probability_is_refused(level: float) -> None:
    with pytest.raises(StudyError, match="between 0 and 1"):
        validate(measured(), "time_s", level=level)


def test_unknown_names_get_suggestions() -> None:
    with pytest.raises(UnknownNameError, match="did you mean 'ridge'"):
        validate(measured(), "time_s", models=["rigde"])
    with pytest.raises(UnknownNameError, match="did you mean 'loo'"):
        validate(measured(), "time_s", protocol="lo")
    with pytest.raises(StudyError, match="did you mean 'time_s'"):
        validate(measured(), "times")
