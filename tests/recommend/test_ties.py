"""Of candidates that are equally good the cheaper one is recommended; and the best guess far from all runs is not."""

import math
import random
from itertools import product
from typing import Any

import numpy as np
import pytest

from sparkcast.recommend import Recommendation
from sparkcast.recommend.comparison import Means
from sparkcast.recommend.lines import answer_lines, other_lines
from sparkcast.study import Dataset, Observation, Price
from sparkcast.study.configuration import Levels
from tests_support import recommend

GRID = [{"executors": e, "batch_size": b} for e, b in product((1, 2, 4), (64, 128, 256))]
PRICE = Price(core_hour=1.0)


def measured(gain: float = 0.0, noise: float = 0.004, seed: int = 3, replicates: int = 3) -> Dataset:
    """Executors make a job a little faster and its model more accurate by `gain` each; small batches do so too."""
    draw = random.Random(seed)
    runs = [
        Observation(
            {**settings, "cores": 1},
            {
                "time_s": (60 + 20 / settings["executors"]) * math.exp(draw.gauss(0, 0.02)),
                "accuracy": 0.9
                - 0.03 * math.log2(settings["batch_size"] / 64)
                + gain * settings["executors"]
                + draw.gauss(0, noise),
            },
            replicate=r,
        )
        for settings in GRID
        for r in range(replicates)
    ]
    return Dataset(("executors", "batch_size"), tuple(runs), responses=("time_s", "accuracy"))


def ask(data: Dataset, **question: Any) -> Recommendation:
    return recommend(data, GRID, **{"model": "ridge", "price": PRICE, "maximize": "accuracy", **question})


@pytest.mark.parametrize("seed", range(8))
def test_of_settings_that_are_equally_accurate_the_cheapest_is_taken_and_the_tie_is_said(seed: int) -> None:
    found = ask(measured(seed=seed))
    assert found.chosen.configuration == {"executors": 1, "batch_size": 64}
    if found.tie is not None:  # which of the equal ones is predicted best is luck
        assert found.tie.configuration["batch_size"] == 64
        assert found.tie.predicted("cost").value > 1.5 * found.chosen.predicted("cost").value
        [line] = [text for label, text in other_lines(found) if label == "Tie"]
        assert "times the cost" in line
        assert dict(answer_lines(found))["Why"].endswith(", and costs less")


@pytest.mark.parametrize("seed", range(4))
def test_without_a_price_fewer_machines_are_cheaper(seed: int) -> None:
    found = ask(measured(seed=seed), price=None)
    assert found.chosen.configuration == {"executors": 1, "batch_size": 64}


@pytest.mark.parametrize("seed", range(4))
def test_a_real_gain_is_worth_its_price(seed: int) -> None:
    found = ask(measured(gain=0.01, seed=seed))
    assert found.chosen.configuration == {"executors": 4, "batch_size": 64}
    assert found.tie is None


def test_a_difference_in_the_fourth_digit_does_not_decide_even_where_runs_repeat_exactly() -> None:
    runs = tuple(
        Observation({"executors": e, "batch_size": b, "cores": 1}, {"time_s": 100.0 / e**0.1, "auc": auc}, replicate=r)
        for (e, b), auc in zip(product((1, 2), (64, 128)), (0.9537, 0.9312, 0.9539, 0.9301), strict=True)
        for r in (1, 2)
    )
    data = Dataset(("executors", "batch_size"), runs, responses=("time_s", "auc"))
    grid = [{"executors": e, "batch_size": b} for e, b in product((1, 2), (64, 128))]
    found = recommend(data, grid, model="decision-tree", price=PRICE, maximize="auc")
    assert found.chosen.configuration == {"executors": 1, "batch_size": 64}


def test_what_is_far_worse_is_no_tie_however_little_is_known() -> None:
    # One run each, and a lot of scatter: the model is unsure of everything.
    found = ask(measured(noise=0.05, replicates=1))
    best = max(c.predicted("accuracy").value for c in found.candidates)
    assert found.chosen.predicted("accuracy").value > best - 0.02
    means = Means(np.array([0.9256, 0.8353, 0.92]), np.full(3, 0.2), nothing=0.001, much=0.02)
    assert means.ties(0, np.arange(3), is_more=True).tolist() == [True, False, True]


def test_the_fastest_of_equals_uses_the_fewest_machines() -> None:
    draw = random.Random(1)
    runs = tuple(
        Observation({"executors": e, "cores": 2}, {"time_s": 50 * math.exp(draw.gauss(0, 0.03))}, replicate=r)
        for e in (1, 2, 4, 8)
        for r in range(4)
    )
    found = recommend(Dataset(("executors",), runs), [{"executors": e} for e in (1, 2, 4, 8)], model="ridge")
    assert found.objective == "minimize time_s"
    assert found.chosen.configuration == {"executors": 1}


def test_of_equals_the_one_that_was_run_is_taken() -> None:
    runs = [run for run in measured(noise=0.0).observations if run.configuration.get("executors") != 2]
    data = Dataset(("executors", "batch_size"), tuple(runs), responses=("time_s", "accuracy"))
    found = ask(data, price=None, fix={"batch_size": 64})
    assert found.chosen.measured_runs == 3


# ---------------------------------------------------------------- far from all runs

NAMES = tuple(f"s{i}" for i in range(10))


def scattered(n: int, seed: int = 0) -> Dataset:
    """Ten settings of which only few matter, and that not as a power; runs at random, as people make them."""
    draw = random.Random(seed)
    runs = []
    for _ in range(n):
        settings = {name: draw.choice((1, 2, 4, 8)) for name in NAMES}
        time = (
            60 * settings["s0"] ** -0.3 * (1 + 0.1 * abs(math.log2(settings["s1"]) - 1)) * math.exp(draw.gauss(0, 0.25))
        )
        runs.append(Observation(settings, {"time_s": time}))
    return Dataset(NAMES, tuple(runs), responses=("time_s",))


def corners(draw: random.Random, n: int) -> list[dict[str, int]]:
    """Settings at the ends of all ranges: unlike any run, where models are boldest."""
    return [{name: draw.choice((1, 8)) for name in NAMES} for _ in range(n)]


def test_what_is_unlike_any_run_is_not_recommended_for_being_predicted_best() -> None:
    data = scattered(70)
    ran: list[Levels] = [run.configuration for run in data.observations]
    grid = [*ran, *corners(random.Random(1), 1000)]
    found = recommend(data, grid, model="linear", minimize="time_s")
    assert found.untested is not None
    assert found.untested.predicted("time_s").value < found.chosen.predicted("time_s").value
    assert found.chosen.measured_runs
    assert any("combinations unlike any run" in text for text in found.excluded)
    [line] = [text for label, text in other_lines(found) if label == "Untested"]
    assert line.startswith(str(found.untested.configuration))
    assert line.endswith("run it to find out")
    # All that were run took longer, also by far, than what was predicted.
    assert min(run.responses["time_s"] for run in data.observations) > found.untested.predicted("time_s").value


def test_combinations_of_a_fraction_and_levels_between_runs_are_not_far() -> None:
    half = [(a, b, c, d) for a, b, c, d in product((1, 2), repeat=4) if (a + b + c + d) % 2 == 0]
    names = ("a", "b", "c", "d")
    runs = [
        Observation(dict(zip(names, at, strict=True)), {"time_s": 100.0 / math.prod(at) ** 0.2 + r})
        for at in half
        for r in (0.0, 0.5)
    ]
    grid = [dict(zip(names, at, strict=True)) for at in product((1, 2), repeat=4)]
    found = recommend(Dataset(names, tuple(runs)), grid, model="ridge", minimize="time_s")
    assert found.untested is None
    assert not found.excluded


def test_where_every_candidate_is_far_there_is_an_answer_that_says_so() -> None:
    found = recommend(scattered(70), corners(random.Random(1), 1), model="ridge", minimize="time_s")
    assert "these settings were never run; closest run s0=" in dict(answer_lines(found))["Evidence"]


def test_settings_that_the_runs_cannot_tell_apart_are_named_with_the_runs_that_would() -> None:
    together = [Observation({"a": n, "b": n, "c": c}, {"time_s": 10.0 * n + c}) for n in (1, 2, 4) for c in (1, 2)]
    data = Dataset(("a", "b", "c"), tuple(together))
    grid = [{"a": a, "b": b, "c": c} for a, b, c in product((1, 2, 4), (1, 2, 4), (1, 2))]
    [note] = recommend(data, grid, model="ridge", minimize="time_s").notes
    assert "the 6 configurations that were run cannot tell the effects of a, b apart" in note
    assert "run this one first: a=" in note
    only = [{"a": n, "b": n, "c": c} for n in (1, 2, 4) for c in (1, 2)]
    assert recommend(data, only, model="ridge", minimize="time_s").notes == ()  # nobody asks for anything else


def test_more_settings_than_runs_are_said() -> None:
    data = scattered(7)
    grid = [dict(run.configuration) for run in scattered(40, seed=5).observations]
    [note] = recommend(data, grid, model="ridge", minimize="time_s").notes
    assert "cannot tell the effects of 10 of the 10 settings apart; run these first: s0=" in note
    assert note.count("s0=") == 2  # no more than two are proposed


@pytest.mark.parametrize("seed", range(4))
def test_nothing_that_was_never_run_takes_the_place_of_a_run_because_it_is_cheaper(seed: int) -> None:
    data = measured(seed=seed)
    cheapest = {"executors": 1, "batch_size": 64}
    some = tuple(run for run in data.observations if not run.configuration.includes(cheapest))
    found = ask(Dataset(data.factors, some, responses=data.responses))
    assert found.chosen.measured_runs
    assert found.chosen.configuration == {"executors": 2, "batch_size": 64}
    assert found.untested is not None
    assert found.untested.configuration == cheapest
