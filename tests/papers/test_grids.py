"""The settings that the papers searched: `sparkcast fit --grid PAPER`."""

import math
from itertools import product

import pytest

from sparkcast.errors import UnknownNameError
from sparkcast.learned.grid_search import Range, search, space_of
from sparkcast.models.base import Problem, pose
from sparkcast.study import Dataset, Observation


def problem() -> Problem:
    """Four configurations: enough to tell that a method of the grid can be fitted."""
    observations = tuple(
        Observation({"executors": e, "size": s}, {"time_s": 5 + s / e}) for e, s in product((1, 4), (10, 40))
    )
    return pose(Dataset(("executors", "size"), observations), "time_s")


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
    space = space_of(paper, technique)
    sizes = [len(values.values if isinstance(values, Range) else values) for values in space.grid.values()]
    assert math.prod(sizes) == points
    cheap = {name: (values.values if isinstance(values, Range) else values)[:1] for name, values in space.grid.items()}
    cheap |= {"max_iter": (50,)} if "max_iter" in cheap else {}  # whether a network has converged is not the question
    assert search(problem(), space.make, cheap).error > 0


def test_unknown_grids_get_a_suggestion() -> None:
    with pytest.raises(UnknownNameError, match="did you mean 'myung2020'"):
        space_of("myung2021", "lasso")
    with pytest.raises(UnknownNameError, match="did you mean 'ridge'"):
        space_of("myung2020", "rigde")
