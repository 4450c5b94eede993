"""Searching the settings of a method."""

import math
import sys
from itertools import product
from typing import Any

import numpy as np
import pytest

from sparkcast.errors import NotEnoughDataError, StudyError
from sparkcast.fitting.problem import Problem, pose
from sparkcast.learned.grid_search import Range, left_out_error, search
from sparkcast.models.decision_tree import DecisionTree
from sparkcast.study import Dataset, Observation
from sparkcast_papers.models.stepwise import Stepwise


def problem() -> Problem:
    random = np.random.RandomState(0)
    return pose(
        Dataset(
            ("executors", "size"),
            tuple(
                Observation({"executors": e, "size": s}, {"time_s": (5 + s / e) * math.exp(0.1 * random.randn())})
                for e, s in product((1, 2, 4, 8), (10, 20, 40))
            ),
        ),
        "time_s",
    )


def test_a_grid_search_tries_everything_and_keeps_the_smallest_left_out_error() -> None:
    found = search(problem(), DecisionTree, {"depth": (1, 2, 3, None), "leaf": (1, 2)})
    assert len(found.trials) == 8
    assert found.error == min(trial.error for trial in found.trials)
    assert found.error == left_out_error(problem(), DecisionTree(**found.settings))  # type: ignore[arg-type]


def test_part_of_a_grid_is_drawn_by_the_seed() -> None:
    grid: dict[str, Any] = {"depth": Range(1, 10, steps=10, is_whole=True), "leaf": (1, 2, 3)}
    first, again, other = (search(problem(), DecisionTree, grid, n_trials=4, seed=s).trials for s in (1, 1, 2))
    assert first == again
    assert first != other
    assert len(first) == 4


def test_what_cannot_be_fitted_is_lost_and_the_search_goes_on() -> None:
    found = search(problem(), DecisionTree, {"depth": (-3, 2)})
    assert [math.isfinite(trial.error) for trial in found.trials] == [False, True]
    assert found.settings == {"depth": 2}
    with pytest.raises(NotEnoughDataError, match=r"none of 2 combinations(.|\n)*max_depth"):
        search(problem(), DecisionTree, {"depth": (-3, -4)})


def test_mistakes_in_the_question_are_not_lost() -> None:
    with pytest.raises(StudyError, match="forever"):
        search(problem(), Stepwise, {"enter": (0.5,), "remove": (0.1,)})
    with pytest.raises(StudyError, match="no values"):
        search(problem(), DecisionTree, {"depth": ()})
    with pytest.raises(StudyError, match="0 trials"):
        search(problem(), DecisionTree, {"depth": (1,)}, n_trials=0)
    with pytest.raises(StudyError, match=r"no search named 'tpa'(.|\n)*'tpe'"):
        search(problem(), DecisionTree, {"depth": (1,)}, method="tpa")
    with pytest.raises(StudyError, match="not a range"):
        Range(2, 1)


def test_tpe_without_optuna_says_what_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "optuna", None)
    with pytest.raises(StudyError, match=r"needs optuna(.|\n)*sparkcast\[search\]"):
        search(problem(), DecisionTree, {"depth": (1, 2)}, method="tpe")


def test_tpe_finds_what_the_grid_finds() -> None:
    pytest.importorskip("optuna")
    grid: dict[str, Any] = {"depth": (1, 2, 3, None), "leaf": Range(1, 4, is_whole=True)}
    found = search(problem(), DecisionTree, grid, method="tpe", n_trials=30, seed=3)
    assert found.error == pytest.approx(search(problem(), DecisionTree, grid).error)
    assert found == search(problem(), DecisionTree, grid, method="tpe", n_trials=30, seed=3)
    drawn = search(problem(), DecisionTree, {"leaf": Range(1e-3, 0.5, is_log=True)}, method="tpe", n_trials=8)
    assert all(1e-3 <= float(str(trial.settings["leaf"])) <= 0.5 for trial in drawn.trials)
