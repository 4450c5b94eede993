"""Courier's forest (Albo Martinez, Bobde, Motyka and Chen, ICPE 2021): what runs at once matters beside the batch."""

from dataclasses import dataclass
from typing import Any, Literal

from sparkcast.arrays import Floats
from sparkcast.models.base import MODELS, Columns, Domain, LearnedPoints, Model, Problem, ResponseScale, in_own_unit
from sparkcast.study import Role
from sparkcast.units import as_number

_SETTINGS = Columns()
_MIN_TREES_OUT_OF_BAG = 50  # with fewer, a configuration may be in the bag of every tree


@dataclass(frozen=True, slots=True, eq=False)
class Forest:
    """A forest on processes, cpu and every setting."""

    domain: Domain
    scale: ResponseScale
    estimator: Any

    def __call__(self, x: Floats) -> Floats:
        return self.scale.back(self.estimator.predict(columns(self.domain, x)))


@MODELS.register("courier")
class Courier(Model):
    """A random forest with the feature processes = cpu * jobs, where cpu = executors * cores (Courier, ICPE 2021).

    Settings that are absent count as 1, others are used as they are. `log` learns the logarithm of positive responses.
    """

    def __init__(
        self,
        trees: int = 200,
        depth: int | None = None,
        criterion: Literal["squared_error", "absolute_error"] = "squared_error",
        features: Literal["sqrt", "log2"] | float = 1.0,
        seed: int = 0,
        *,
        log: bool = True,
    ) -> None:
        self._trees = trees
        self._settings = {
            "max_depth": depth,
            "criterion": criterion,
            "max_features": features,
            "random_state": seed,
        }
        self._log = log

    def learn(self, problem: Problem) -> LearnedPoints:
        from sklearn.ensemble import RandomForestRegressor

        posed = problem if self._log else in_own_unit(problem)
        # One row per configuration: out of a tree's bag are then configurations that it has not seen.
        out_of_bag = self._trees >= _MIN_TREES_OUT_OF_BAG
        forest = RandomForestRegressor(self._trees, **self._settings, oob_score=out_of_bag, n_jobs=1)
        forest.fit(columns(posed.domain, posed.x), posed.y, sample_weight=posed.weights)
        points = Forest(posed.domain, posed.scale, forest)
        return LearnedPoints(points, posed.scale.back(forest.oob_prediction_) if out_of_bag else None)


def columns(domain: Domain, x: Floats) -> Floats:
    """Every setting, and before them processes and cpu which trees cannot put together from them."""
    import numpy as np

    cpus = cpu(domain, x)
    return np.column_stack([cpus * setting(domain, x, Role.JOBS), cpus, _SETTINGS.of(domain, x)])


def cpu(domain: Domain, x: Floats) -> Floats:
    """The cores that one job has: given as such, or as cores of each executor."""
    if domain.first(Role.TOTAL_CORES):
        return setting(domain, x, Role.TOTAL_CORES)
    return setting(domain, x, Role.MACHINES) * setting(domain, x, Role.CORES)


def setting(domain: Domain, x: Floats, *roles: Role) -> Floats:
    """The number that the setting with one of these roles has in every row; 1 where there is none."""
    import numpy as np

    numbers = [axis.name for axis in domain.axes if axis.is_number]
    fixed = {name: number for name, level in domain.fixed if (number := as_number(level)) is not None}
    name = domain.first(*roles, among=(*numbers, *fixed))
    if name in numbers:
        return x[:, [axis.name for axis in domain.axes].index(name)]
    return np.full(len(x), 1.0 if name is None else fixed[name])
