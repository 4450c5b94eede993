"""Lasso regression on the settings, their usual curves and products."""

from collections.abc import Sequence

import numpy as np

from sparkcast.arrays import Floats
from sparkcast.fitting.plain import in_own_unit
from sparkcast.fitting.problem import Problem
from sparkcast.fitting.regression import Columns
from sparkcast.fitting.selection import Line
from sparkcast.fitting.uncertainty import LearnedPoints, folds_of
from sparkcast.models import MODELS
from sparkcast.models.base import Model

# Shares of the penalty at which every slope is 0.
_SHARES = (1.0, 0.5, 0.25, 0.1, 0.05, 0.025, 0.01, 0.005, 0.0025, 0.001)
_TOLERANCE = 1e-4  # scikit-learn's: x, log x and 1/x follow each other closely, and the last digits would cost minutes
_FINAL_TOLERANCE = 1e-8


@MODELS.register("lasso")
class Lasso(Model):
    """Linear in a few of x, log x, 1/x and their products; penalty and products chosen by held-out error.

    `alphas` are penalties to choose from, for standardized columns as scikit-learn counts them (by default shares of
    the smallest that leaves nothing); `degree` is the most columns in a product. `log` learns the logarithm of positive
    responses.
    """

    def __init__(self, alphas: Sequence[float] | None = None, degree: int = 2, *, log: bool = True) -> None:
        self._alphas = None if alphas is None else tuple(alphas)
        self._degree = degree
        self._log = log

    def learn(self, problem: Problem) -> LearnedPoints:
        posed = problem if self._log else in_own_unit(problem)
        found = [self._line(posed, Columns(logs=True, inverses=True, degree=d)) for d in self._degrees(posed)]
        return LearnedPoints(min(found, key=lambda item: item[0])[1])

    def _degrees(self, problem: Problem) -> range:
        """Products only where there are at least as many configurations as columns."""
        wanted = self._degree
        while wanted > 1 and len(Columns(logs=True, inverses=True, degree=wanted).names(problem.domain)) > len(problem):
            wanted -= 1
        return range(1, wanted + 1)

    def _line(self, problem: Problem, columns: Columns) -> tuple[float, Line]:
        """The line with the best penalty, and its error on configurations that were left out."""
        x, y = columns.of(problem.domain, problem.x), problem.y
        spread = x.std(axis=0)
        varies = np.flatnonzero(spread > 1e-12 * np.maximum(np.abs(x).max(axis=0), 1e-300))
        if not len(varies):
            return float(y.var()), Line(problem.domain, problem.scale, columns, (), float(y.mean()), np.zeros(0))
        standard = (x[:, varies] - x[:, varies].mean(axis=0)) / spread[varies]
        alphas = self._penalties(standard, y)
        errors = left_out_errors(standard, y, alphas)
        best = int(np.argmin(errors))
        standard_slopes = lasso_slopes(standard, y, alphas[best : best + 1], _FINAL_TOLERANCE)[:, 0]
        kept = np.flatnonzero(standard_slopes)
        slopes = standard_slopes[kept] / spread[varies[kept]]
        intercept = float(y.mean() - x[:, varies[kept]].mean(axis=0) @ slopes)
        chosen = tuple(int(j) for j in varies[kept])
        return float(errors[best]), Line(problem.domain, problem.scale, columns, chosen, intercept, slopes)

    def _penalties(self, x: Floats, y: Floats) -> tuple[float, ...]:
        if self._alphas is not None:
            return self._alphas
        most = float(np.abs(x.T @ (y - y.mean())).max()) / len(y)
        return tuple(most * share for share in _SHARES) if most > 0 else (1.0,)


def left_out_errors(x: Floats, y: Floats, alphas: Sequence[float]) -> Floats:
    """One mean squared error per penalty, on rows that were left out (one by one while they are few)."""
    left_out = np.empty((len(alphas), len(y)))
    for fold in folds_of(len(y)):
        kept = np.delete(np.arange(len(y)), fold)
        slopes = lasso_slopes(x[kept], y[kept], alphas, _TOLERANCE)
        left_out[:, fold] = (y[kept].mean() + (x[fold] - x[kept].mean(axis=0)) @ slopes).T
    errors: Floats = ((left_out - y) ** 2).mean(axis=1)
    return errors


def lasso_slopes(x: Floats, y: Floats, alphas: Sequence[float], tolerance: float) -> Floats:
    """One column of slopes per penalty, beside an intercept without one."""
    import warnings

    from sklearn.exceptions import ConvergenceWarning
    from sklearn.linear_model import lasso_path

    order = np.argsort(alphas)[::-1]
    centered = np.asfortranarray(x - x.mean(axis=0))
    slopes = np.zeros((x.shape[1], len(alphas)))
    with warnings.catch_warnings():
        # A penalty at which the descent does not end is judged by its error like any other.
        warnings.simplefilter("ignore", ConvergenceWarning)
        found = lasso_path(centered, y - y.mean(), alphas=np.asarray(alphas)[order], precompute=True, tol=tolerance)[1]
    slopes[:, order] = found
    return slopes
