"""Ridge regression on the settings and their usual curves."""

import numpy as np

from sparkcast.fitting.problem import Problem
from sparkcast.fitting.regression import Columns, regress
from sparkcast.fitting.uncertainty import LearnedPoints
from sparkcast.models import MODELS
from sparkcast.models.base import FEW, Model


@MODELS.register("ridge")
class Ridge(Model):
    """Linear in x, log x and 1/x of each setting, logs of positive responses; a power law beyond the runs."""

    auto_from = FEW + 1
    is_usual = True
    is_quick = True
    auto_outside = False  # a free power law: start-up time bends it, and outside the range the bend goes on

    def learn(self, problem: Problem) -> LearnedPoints:
        from sklearn.linear_model import RidgeCV
        from sklearn.pipeline import make_pipeline
        from sklearn.preprocessing import StandardScaler

        columns = Columns(logs=True, inverses=True, tame=problem.scale.is_log)
        # One row per configuration: the closed-form leave-one-out that picks alpha then never sees a replicate.
        model = make_pipeline(StandardScaler(), RidgeCV(alphas=np.logspace(-4, 4, 25)))
        return regress(problem, columns, model, weighted="ridgecv")
