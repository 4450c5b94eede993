"""C3O's way (Will et al., 2021): of a few models the one that errs least on configurations left out.

Models of sparkcast stand in for its own: Ernest, boosted trees, and regressions on logarithms, which assume as its
optimistic models do that settings act independently of each other. The interval is made of the errors by which the
model was chosen.
"""

import math

import numpy as np

from sparkcast.arrays import Floats
from sparkcast.errors import NotEnoughDataError, SparkcastError
from sparkcast.models.base import MODELS, LearnedPoints, Model, Problem, left_out_predictions

_CANDIDATES = ("ernest", "gradient-boosting", "lasso", "ridge")
_FOLDS = 5


@MODELS.register("c3o")
class ChosenByErrors(Model):
    """The one of Ernest, boosted trees, lasso and ridge that errs least on configurations left out."""

    def learn(self, problem: Problem) -> LearnedPoints:
        found = [(_error(problem, said), name, said) for name in _CANDIDATES for said in _left_out(problem, name)]
        if not found:
            raise NotEnoughDataError("none of C3O's models can learn this", hint="run more configurations")
        _, name, said = min(found, key=lambda one: one[:2])
        return LearnedPoints(_model(name).learn(problem).points, said)


def _left_out(problem: Problem, name: str) -> list[Floats]:
    """What a model says of each configuration without it; nothing where it cannot learn."""
    folds = [list(range(k, len(problem), _FOLDS)) for k in range(min(_FOLDS, len(problem)))]
    try:
        return [left_out_predictions(problem, _model(name).learn, folds)]
    except SparkcastError:
        return []


def _error(problem: Problem, said: Floats) -> float:
    """Mean relative error; infinite where nothing was said of some configuration."""
    missed = np.abs(said - problem.target) / np.maximum(np.abs(problem.target), 1e-9)
    return float(np.nan_to_num(missed.mean(), nan=math.inf))


def _model(name: str) -> Model:
    model = MODELS.get(name)()
    assert isinstance(model, Model)
    return model
