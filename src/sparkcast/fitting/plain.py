"""A positive response in its own unit, for methods that add up times instead of multiplying them."""

from dataclasses import replace

import numpy as np

from sparkcast.fitting.problem import Problem, ResponseScale

# A straight line may cross zero, where no time is.
_FLOOR = 1 / 1000


def in_own_unit(problem: Problem) -> Problem:
    """The same question without the logarithm; answers stay above a thousandth of the smallest value."""
    if not problem.scale.is_log:
        return problem
    means = np.array([np.mean(values) for values in problem.values])
    return replace(problem, scale=ResponseScale(is_log=False, low=float(means.min()) * _FLOOR), y=means)
