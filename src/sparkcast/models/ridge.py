"""Ridge regression on the settings and their usual curves."""

import numpy as np

from sparkcast.arrays import Floats
from sparkcast.fitting.problem import Problem
from sparkcast.fitting.regression import Columns, Regressed
from sparkcast.fitting.ridge import best_ridge
from sparkcast.fitting.uncertainty import LearnedPoints
from sparkcast.models import MODELS
from sparkcast.models.base import FEW, Model

_PENALTIES: Floats = np.logspace(-4, 4, 25, dtype=np.float64)


@MODELS.register("ridge")
class Ridge(Model):
    """Linear in x, log x and 1/x of each setting, logs of positive responses; a power law beyond the runs."""

    auto_from = FEW + 1
    is_usual = True
    is_quick = True
    auto_outside = False  # a free power law: start-up time bends it, and outside the range the bend goes on

    def learn(self, problem: Problem) -> LearnedPoints:
        columns = Columns(logs=True, inverses=True, tame=problem.scale.is_log)
        # One row per configuration: the closed-form leave-one-out that picks the penalty then never sees a replicate.
        line = best_ridge(columns.of(problem.domain, problem.x), problem.y, problem.weights, _PENALTIES)
        return LearnedPoints(Regressed(problem.domain, problem.scale, columns, line))
