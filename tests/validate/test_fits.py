"""A validation and its figures learn nothing twice, and say what they would say otherwise."""

import random
from collections.abc import Sequence
from dataclasses import replace
from itertools import product
from pathlib import Path
from typing import Any

import pytest

from sparkcast import api
from sparkcast.fitting import posterior
from sparkcast.fitting.uncertainty import Answers, FittedPoints
from sparkcast.models import MODELS
from sparkcast.models.base import LearnedPoints, Problem
from sparkcast.models.nnls import NonNegativeLeastSquares
from sparkcast.models.ridge import Ridge
from sparkcast.study import Dataset, Level, Observation
from sparkcast.validate import Validation
from sparkcast.validate.fits import FitCache, fit_points
from sparkcast.validate.learning import learning_curve

N = 8


def measured(levels: Sequence[Level] = (1, 3)) -> Dataset:
    dice, runs = random.Random(2), []
    for e, (slow, level), r in product((1, 2, 4, 8), enumerate(levels, start=1), (1, 2)):
        time_s = slow * (5 + 60 / e) * dice.uniform(0.9, 1.1)
        runs.append(Observation({"executors": e, "batch_size": level}, {"time_s": time_s}, replicate=r))
    return Dataset(("executors", "batch_size"), tuple(runs))


@pytest.fixture
def learned(monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """How many configurations were learned from, each time nnls learned."""
    sizes: list[int] = []
    learn = NonNegativeLeastSquares.learn

    def watched(self: NonNegativeLeastSquares, problem: Problem) -> LearnedPoints:
        sizes.append(len(problem))
        return learn(self, problem)

    monkeypatch.setattr(NonNegativeLeastSquares, "learn", watched)
    return sizes


def test_leaving_out_two_configurations_is_learned_once_whichever_comes_first(learned: list[int]) -> None:
    MODELS.get("nnls")().fit(measured(), "time_s")  # so that no library is loaded meanwhile
    learned.clear()
    api.validate(api.Data(measured()), models=["nnls"])
    assert learned.count(N - 1) == N
    assert learned.count(N - 2) == N * (N - 1) / 2


def test_what_joins_auto_is_learned_without_two_configurations_once_for_all_models(learned: list[int]) -> None:
    data = api.Data(measured())
    MODELS.get("auto")().fit(data.dataset, "time_s")  # so that no library is loaded meanwhile
    assert N in learned
    learned.clear()
    api.validate(data, models=["auto", "nnls"])
    assert learned.count(N - 1) == 2 * N
    assert learned.count(N - 2) == N * (N - 1) / 2


def test_auto_and_the_bayesian_model_sample_each_posterior_once_for_both(monkeypatch: pytest.MonkeyPatch) -> None:
    sampled: list[int] = []
    posterior_of = posterior.posterior_of

    def watched(problem: Problem, *, seed: int = 0) -> posterior.Posterior:
        sampled.append(len(problem))
        return posterior_of(problem, seed=seed)

    data = api.Data(measured())
    MODELS.get("auto")().fit(data.dataset, "time_s")  # so that no library is loaded meanwhile
    monkeypatch.setattr("sparkcast.validate.fits.posterior_of", watched)
    fits = FitCache()
    both = api.validate(data, models=["auto", "bayesian"], fits=fits)
    assert sampled == [N - 1] * N
    alone = [api.validate(data, models=[name]).scorecards for name in ("auto", "bayesian")]
    expected = {card.model: card.mape for cards in alone for card in cards}
    assert {card.model: card.mape for card in both.scorecards} == expected


def test_a_tested_model_is_asked_for_its_points_once(monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[int] = []
    answers = FittedPoints.answers

    def watched(self: FittedPoints, x: Any) -> Answers:
        asked.append(len(x))
        return answers(self, x)

    monkeypatch.setattr(FittedPoints, "answers", watched)
    data = measured()
    api.validate(api.Data(data), models=["median"])
    asked_by_baseline = N  # which looks whether a configuration can be predicted at all, for each of two replicates
    assert sorted(asked) == [1] * 2 * asked_by_baseline + [2] * N


def test_figures_of_a_validation_learn_from_all_runs_once_and_nothing_else_again(
    learned: list[int], tmp_path: Path
) -> None:
    fits, data = FitCache(), api.Data(measured())
    validation = api.validate(data, models=["nnls"], fits=fits)
    learned.clear()
    api.write_validation_figures(data, validation, tmp_path, fits=fits)
    assert learned == [N]


def test_a_learning_curve_learns_once_for_each_size_and_draw(learned: list[int]) -> None:
    learning_curve(measured(), "time_s", ["nnls"], [5, 6], repeats=3)
    assert learned == [5] * 3 + [6] * 3


@pytest.mark.parametrize("name", ["auto", "bayesian", "ridge", "nnls", "ernest", "scaling", "anova", "decision-tree"])
def test_scorecards_and_fitted_models_are_those_of_models_that_share_nothing(
    name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    # Leaving out the first configuration changes the order in which categories are numbered.
    data, fits = measured(("small", "large")), FitCache()
    shared = api.validate(api.Data(data), models=[name], fits=fits)
    fitted, _ = fits.fit(name, data, "time_s")
    alone = MODELS.get(name)().fit(data, "time_s")
    asked = [data.key(run) for run in data.observations]
    assert fitted.predict(asked) == alone.predict(asked)
    assert fitted.interval(asked, level=0.8) == alone.interval(asked, level=0.8)
    monkeypatch.setattr(FitCache, "fit", lambda self, name, data, response, tested=(): _alone(name, data, response))
    assert _scores(shared) == _scores(api.validate(api.Data(data), models=[name]))


def _alone(name: str, data: Dataset, response: str) -> tuple[Any, float]:
    return MODELS.get(name)().fit(data, response), 0.0


def _scores(validation: Validation) -> list[Any]:
    return [replace(card, build_s=0, total_s=None) for card in validation.scorecards]


def test_points_alone_are_the_points_of_the_whole_model() -> None:
    data = measured()
    asked = [{"executors": 3, "batch_size": 2}]
    assert fit_points("ridge", data, "time_s").predict(asked) == Ridge().fit(data, "time_s").predict(asked)


def test_the_time_to_fit_counts_what_was_learned_before(monkeypatch: pytest.MonkeyPatch) -> None:
    """With a clock that only learning moves, every split takes as long as if nothing were shared."""
    now = [0.0]
    monkeypatch.setattr("time.perf_counter", lambda: now[0])
    learn = NonNegativeLeastSquares.learn

    def slow(self: NonNegativeLeastSquares, problem: Problem) -> LearnedPoints:
        now[0] += 1.0
        return learn(self, problem)

    monkeypatch.setattr(NonNegativeLeastSquares, "learn", slow)
    cards = {card.model: card for card in api.validate(api.Data(measured()), models=["nnls"]).scorecards}
    assert cards["nnls"].build_s == N  # once from all of the split, and once without each of its N - 1 configurations
