"""A Gaussian process: a smooth surface through the logarithms, with a straight trend beyond the data."""

from dataclasses import dataclass
from typing import Any

import numpy as np

from sparkcast.arrays import Floats
from sparkcast.fitting.encoding import Domain
from sparkcast.fitting.problem import Problem, ResponseScale
from sparkcast.fitting.regression import Columns
from sparkcast.fitting.uncertainty import LearnedPoints
from sparkcast.models import MODELS
from sparkcast.models.base import FEW, Model

_MAX_TUNED = 300  # rows on which the kernel is tuned: each step costs the cube of their number


@dataclass(frozen=True, slots=True)
class Surface:
    """A fitted process on standardized columns."""

    domain: Domain
    scale: ResponseScale
    columns: Columns
    scaler: Any
    rows: Floats
    coefficients: Floats
    kernel: Any
    center: float
    spread: float

    def __call__(self, x: Floats) -> Floats:
        columns = self.scaler.transform(self.columns.of(self.domain, x))
        return self.scale.back(self.center + self.spread * (self.kernel(columns, self.rows) @ self.coefficients))


@MODELS.register("gaussian-process")
class GaussianProcess(Model):
    """A smooth surface over the logarithms of the settings, with a linear trend beyond the measured range."""

    auto_from = FEW + 1
    columns = Columns(only_logs=True)

    def __init__(self, seed: int = 0) -> None:
        self._seed = seed

    def learn(self, problem: Problem) -> LearnedPoints:
        from scipy.linalg import cho_factor, cho_solve
        from sklearn.preprocessing import StandardScaler

        scaler = StandardScaler()
        rows: Floats = scaler.fit_transform(self.columns.of(problem.domain, problem.x))
        center, spread = float(np.mean(problem.y)), float(np.std(problem.y)) or 1.0
        y = (problem.y - center) / spread
        kernel = self._tuned(rows, y)
        factor = cho_factor(kernel(rows) + 1e-10 * np.eye(len(rows)))
        coefficients: Floats = cho_solve(factor, y)
        points = Surface(
            problem.domain, problem.scale, self.columns, scaler, rows, coefficients, kernel.k1, center, spread
        )
        # The closed form of leaving rows out would keep a kernel that knows them, and flatter: fit again instead.
        return LearnedPoints(points)

    def _tuned(self, rows: Floats, y: Floats) -> Any:
        """The kernel under which the data are most likely; its second part is the noise of the runs."""
        import warnings

        from sklearn.exceptions import ConvergenceWarning
        from sklearn.gaussian_process import GaussianProcessRegressor
        from sklearn.gaussian_process.kernels import RBF, ConstantKernel, DotProduct, WhiteKernel

        smooth = ConstantKernel(1.0, (1e-3, 1e3)) * RBF(np.ones(rows.shape[1]), (0.1, 100.0))
        trend = ConstantKernel(1.0, (1e-3, 1e2)) * DotProduct(1.0, sigma_0_bounds="fixed")
        kernel = smooth + trend + WhiteKernel(1e-3, (1e-5, 1.0))
        chosen = np.random.default_rng(self._seed).permutation(len(rows))[:_MAX_TUNED]
        process = GaussianProcessRegressor(kernel, alpha=1e-10, random_state=self._seed)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", ConvergenceWarning)  # a length at its bound says that a setting is inert
            return process.fit(rows[chosen], y[chosen]).kernel_
