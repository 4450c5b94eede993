"""The public base of models: all that a model needs, be it a file in this folder or a package of its own.

A model says how to learn point predictions. The interval of the next run, the probability of meeting a deadline and the
refusal far from the data are found for it, by leaving configurations out:

    >>> from dataclasses import dataclass
    >>> import numpy as np
    >>> from sparkcast.study import Dataset, Observation
    >>> @dataclass(frozen=True)
    ... class Constant:
    ...     value: float
    ...     def __call__(self, x):
    ...         return np.full(len(x), self.value)
    >>> class Average(Model):  # @MODELS.register("average") makes it one of `sparkcast list models`
    ...     def learn(self, problem):
    ...         return LearnedPoints(Constant(float(problem.target.mean())))
    >>> runs = Dataset(("executors",), tuple(Observation({"executors": e}, {"time_s": 60 / e}) for e in (1, 2, 4)))
    >>> [round(seconds, 1) for seconds in Average().fit(runs, "time_s").predict([{"executors": 3}])]
    [35.0]

What `learn` gets and gives:

- `Problem` is one response with one row per configuration, so that replicates are never told apart: `x` (numbers as
  they are, categories as codes; `domain.axes[j]`, an `Axis`, says which), `y` on the response's `ResponseScale`
  (logarithms of positive responses), `target` in its own unit, `weights`, `values` and `metrics`. `pose` makes one
  from runs; `in_own_unit` undoes the logarithm for methods that add up times.
- `LearnedPoints` holds `PointPredictions`: called with rows of `x` they answer in the unit of the response. They are
  dataclasses at the top level of a module that hold arrays, numbers, tuples, estimators of scikit-learn and other such
  dataclasses, never a lambda: processes pass them on. `left_out`, where the method knows in closed form what it would
  say of each configuration without it, saves fitting again; `Forms` names other laws that fit as well, which the
  interval then reaches.
- The same problem gives the same answer, and `learn` is called up to 30 times: seeds are arguments with a default.
- `NotEnoughDataError` when the rows are too few for the method, `StudyError` when it is not about such a response
  (`require_times`).

`Columns` prepares settings for a regression, `least_squares` fits some of them and `regress` wraps an estimator of
scikit-learn. The modules of
`sparkcast.fitting` behind these names may change; the names here stay.
"""

import math
from abc import ABC, abstractmethod
from typing import ClassVar

from sparkcast.fitting.answering import Answering
from sparkcast.fitting.encoding import Axis, Domain
from sparkcast.fitting.plain import in_own_unit
from sparkcast.fitting.problem import Problem, ResponseScale, pose
from sparkcast.fitting.regression import Columns, Regressed, regress
from sparkcast.fitting.relative import positive_setting, relative_nnls, require_times
from sparkcast.fitting.selection import least_squares
from sparkcast.fitting.uncertainty import (
    FittedPoints,
    Forms,
    LearnedPoints,
    PointPredictions,
    fit,
    left_out_predictions,
)
from sparkcast.models import MODELS, Fitted, Predictor
from sparkcast.study import Dataset

__all__ = [
    "FEW",
    "MODELS",
    "Answering",
    "Axis",
    "Columns",
    "Domain",
    "Fitted",
    "FittedPoints",
    "Forms",
    "LearnedPoints",
    "Model",
    "PointPredictions",
    "Predictor",
    "Problem",
    "Regressed",
    "ResponseScale",
    "in_own_unit",
    "least_squares",
    "left_out_predictions",
    "pose",
    "positive_setting",
    "regress",
    "relative_nnls",
    "require_times",
]


FEW = 100  # configurations up to which `auto` is led by what is known of jobs in general, and others only move it


class Model(ABC):
    """A model that answers with points; the errors around them are found for it.

    Settings of the method are constructor arguments with defaults. The first line of the docstring is what
    `sparkcast list models` shows.
    """

    auto_from: ClassVar[float] = math.inf  # heard in `auto` from this many configurations on; see FEW
    auto_outside: ClassVar[bool] = True  # and also beyond the measured range
    extrapolates_by_law: ClassVar[int] = 0  # not by resemblance: always heard beyond the range, the highest first
    is_usual: ClassVar[bool] = False  # validated when nobody says which
    is_baseline: ClassVar[bool] = False  # what every other model must beat
    is_default: ClassVar[bool] = False  # learned when nobody says which
    is_quick: ClassVar[bool] = False  # fitted in milliseconds, and good enough to see whether runs drift

    def fit(self, data: Dataset, response: str) -> Answering:
        return fit(pose(data, response), self.learn)

    def joins_auto(self, problem: Problem) -> bool:
        return len(problem) >= self.auto_from

    @abstractmethod
    def learn(self, problem: Problem) -> LearnedPoints:
        """Learn from every row of the problem; raises NotEnoughDataError when they are too few for this method."""
