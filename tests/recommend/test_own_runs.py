"""Settings that were run are judged by their runs."""

import math
import random

import numpy as np
import pytest

from sparkcast.learned.knowledge import Knowledge
from sparkcast.learned.tabulate import tabulate
from sparkcast.models import MODELS
from sparkcast.recommend.own_runs import own_runs
from sparkcast.study import Dataset, Observation
from sparkcast.study.space import Candidates
from tests_support import recommend

EXECUTORS, BATCHES = (1, 2, 4, 8, 16), (64, 128, 256)
GRID = [{"executors": e, "batch_size": b} for e in EXECUTORS for b in BATCHES]


def measured(noise: float, odd: float, repeats: int = 2) -> Dataset:
    """Times that `ridge` can follow but for four of the configurations, which are off by `odd`."""
    draw = random.Random(2)
    runs = tuple(
        Observation(
            settings,
            {
                "time_s": (
                    300 / settings["executors"] * math.exp(odd * (place in (1, 5, 6, 11))) + settings["batch_size"] / 64
                )
                * math.exp(draw.gauss(0, noise))
            },
            replicate=r,
        )
        for place, settings in enumerate(GRID)
        for r in range(1, repeats + 1)
    )
    return Dataset(("executors", "batch_size"), runs, responses=("time_s",))


def test_a_measured_setting_that_met_the_deadline_is_not_disallowed_by_a_model_that_misses_it() -> None:
    data = measured(noise=0.005, odd=0.2)
    best = {"executors": 4, "batch_size": 64}
    real = [run.responses["time_s"] for run in data.observations if run.configuration == best]
    model = MODELS.get("ridge")().fit(data, "time_s")
    deadline = 1.1 * max(real)
    assert model.probability_below([best], deadline) < [0.95]
    found = recommend(data, GRID, model="ridge", within_s=deadline, minimize="time_s", fix=best)
    assert found.chosen.configuration == best
    assert found.chosen.predicted("time_s").value == pytest.approx(float(np.mean(real)), rel=0.02)


def test_where_the_model_misses_runs_by_no_more_than_their_noise_its_word_stands() -> None:
    data = measured(noise=0.3, odd=0.0)
    found = recommend(data, GRID, model="bayesian", minimize="time_s")
    model = MODELS.get("bayesian")().fit(data, "time_s")
    for candidate in found.candidates:
        said = model.predict([candidate.configuration])[0]
        assert candidate.predicted("time_s").value == pytest.approx(said, rel=0.02)


def test_interval_and_probability_of_settings_that_were_run_agree() -> None:
    data = measured(noise=0.02, odd=0.4)
    _, fitted = Knowledge(data, "ridge").model_of("time_s")
    own = own_runs(data, data.vocabulary.response("time_s"), fitted)
    assert own is not None
    candidates = Candidates.of([*own.configurations, {"executors": 3, "batch_size": 64}], data.factors)
    which = np.array([*range(len(GRID)), -1])
    plain = tabulate(fitted, candidates)
    judged = own.judge(plain, which)
    low, high = judged.interval(0.9)
    assert judged.probability_below(high) == pytest.approx(0.95, abs=1e-6)
    assert judged.probability_below(low) == pytest.approx(0.05, abs=1e-6)
    assert judged.values[-1] == plain.values[-1]
    some = np.array([len(GRID), 3])
    assert judged.take(some).values.tolist() == judged.values[some].tolist()
    gap = np.abs(np.log(judged.values[:-1]) - own.means)
    assert (gap <= np.abs(np.log(plain.values[:-1]) - own.means)).all()


def test_an_accuracy_near_its_bound_stays_below_it() -> None:
    draw = random.Random(1)
    runs = tuple(
        Observation(settings, {"accuracy": min(0.9 + 0.1 * draw.random(), 1.0)}, replicate=r)
        for settings in GRID
        for r in (1, 2)
    )
    data = Dataset(("executors", "batch_size"), runs, responses=("accuracy",))
    found = recommend(data, GRID, model="ridge", maximize="accuracy")
    for candidate in found.candidates:
        prediction = candidate.predicted("accuracy")
        assert 0 <= prediction.low <= prediction.value <= prediction.high <= 1
