"""Searching the settings of a method."""

import math
import sys
from itertools import product
from typing import Any

import numpy as np
import pytest

from sparkcast.errors import NotEnoughDataError, StudyError, UnknownNameError
from sparkcast.fitting.problem import Problem, pose
from sparkcast.learned.grid_search import Estimator, Range, left_out_error, paper_grid, search
from sparkcast.models.decision_tree import DecisionTree
from sparkcast.models.stepwise import Stepwise
from sparkcast.study import Dataset, Observation


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
    with pytest.raises(StudyError, match="for ever"):
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
    drawn = search(
        problem(),
        Estimator,
        {"technique": ("ridge",), "alpha": Range(1e-3, 1e3, is_log=True)},
        method="tpe",
        n_trials=8,
    )
    assert all(1e-3 <= float(str(trial.settings["alpha"])) <= 1e3 for trial in drawn.trials)


@pytest.mark.parametrize(
    ("paper", "technique", "points"),
    [
        ("myung2020", "lasso", 9),
        ("myung2020", "ridge", 9),
        ("myung2020", "random-forest", 27),
        ("myung2020", "mlp", 108),
        ("polimi2019", "decision-tree", 480),
        ("polimi2019", "lasso", 2),
        ("polimi2019", "random-forest", 135),
        ("polimi2019", "mlp", 486),
        ("polimi2019", "svr", 576),
        ("courier2021", "courier", 210),
    ],
)
def test_the_grids_of_the_papers_can_be_asked_for_and_used(paper: str, technique: str, points: int) -> None:
    space = paper_grid(paper, technique)
    sizes = [len(values.values if isinstance(values, Range) else values) for values in space.grid.values()]
    assert math.prod(sizes) == points
    cheap = {name: (values.values if isinstance(values, Range) else values)[:1] for name, values in space.grid.items()}
    cheap |= {"max_iter": (20,)} if "max_iter" in cheap else {}
    assert search(problem().subset(range(0, 12, 3)), space.make, cheap).error > 0


def test_unknown_grids_get_a_suggestion() -> None:
    with pytest.raises(UnknownNameError, match="did you mean 'myung2020'"):
        paper_grid("myung2021", "lasso")
    with pytest.raises(UnknownNameError, match="did you mean 'ridge'"):
        paper_grid("myung2020", "rigde")
