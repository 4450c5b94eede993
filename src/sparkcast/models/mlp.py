"""A small neural network, or rather the mean of a few: a single one depends too much on where it started."""

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


@dataclass(frozen=True, slots=True)
class Networks:
    """The mean of several networks on standardized columns."""

    domain: Domain
    scale: ResponseScale
    columns: Columns
    scaler: Any
    networks: tuple[Any, ...]
    center: float
    spread: float

    def __call__(self, x: Floats) -> Floats:
        columns = self.scaler.transform(self.columns.of(self.domain, x))
        answers = np.mean([network.predict(columns) for network in self.networks], axis=0)
        return self.scale.back(self.center + self.spread * answers)


@MODELS.register("mlp")
class Mlp(Model):
    """The mean of three small neural networks on the logarithms of the settings."""

    auto_from = FEW + 1
    columns = Columns(only_logs=True)

    def __init__(
        self, units: tuple[int, ...] = (32, 32), alpha: float = 0.01, networks: int = 3, steps: int = 500, seed: int = 0
    ) -> None:
        self._units, self._alpha, self._networks, self._steps, self._seed = units, alpha, networks, steps, seed

    def learn(self, problem: Problem) -> LearnedPoints:
        import warnings

        from sklearn.exceptions import ConvergenceWarning
        from sklearn.neural_network import MLPRegressor
        from sklearn.preprocessing import StandardScaler

        scaler = StandardScaler()
        columns = scaler.fit_transform(self.columns.of(problem.domain, problem.x))
        center, spread = float(np.mean(problem.y)), float(np.std(problem.y)) or 1.0
        networks = tuple(
            MLPRegressor(
                hidden_layer_sizes=self._units,
                alpha=self._alpha,
                solver="lbfgs",
                max_iter=self._steps,
                random_state=self._seed + i,
            )
            for i in range(self._networks)
        )
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", ConvergenceWarning)  # stopping early is a way to regularize
            for network in networks:
                network.fit(columns, (problem.y - center) / spread)
        return LearnedPoints(Networks(problem.domain, problem.scale, self.columns, scaler, networks, center, spread))
