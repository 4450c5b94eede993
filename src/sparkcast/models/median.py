"""The baseline every other model must beat."""

from dataclasses import dataclass
from statistics import median

import numpy as np

from sparkcast.arrays import Floats
from sparkcast.fitting.problem import Problem
from sparkcast.fitting.uncertainty import LearnedPoints
from sparkcast.models import MODELS
from sparkcast.models.base import Model


@dataclass(frozen=True, slots=True)
class Constant:
    value: float

    def __call__(self, x: Floats) -> Floats:
        return np.full(len(x), self.value)


@MODELS.register("median")
class Median(Model):
    """The median of all runs, regardless of the settings: the baseline."""

    is_baseline = True

    def learn(self, problem: Problem) -> LearnedPoints:
        # Each configuration counts once, however often it was repeated.
        return LearnedPoints(Constant(float(median(median(values) for values in problem.values))))
