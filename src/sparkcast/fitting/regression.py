"""Regressions on prepared columns: what the models built on scikit-learn have in common."""

from dataclasses import dataclass
from itertools import combinations, combinations_with_replacement
from typing import Any

import numpy as np

from sparkcast.arrays import Floats
from sparkcast.fitting.encoding import Axis, Domain
from sparkcast.fitting.problem import Problem, ResponseScale
from sparkcast.fitting.uncertainty import LearnedPoints


@dataclass(frozen=True, slots=True)
class Columns:
    """How settings become columns of a learner: a declared preparation, as a-MLLibrary offers it.

    Numbers stay themselves, or become their logarithms (`only_logs`, where they are positive); `logs` and `inverses`
    add log x and 1/x. `degree` adds products of up to that many of these columns, never x times 1/x. A category becomes
    one column per level. Settings that never varied get none. `ratios` adds the product and the ratio of each pair of
    positive numbers, as logarithms: data per machine is one step for a tree, which machines and data alone are not.
    With `tame`, x and 1/x go on beyond the measured range as their tangents in log x. Where the logarithm of a response
    is learned, a line in x would be an exponential; its tangent is a power.
    """

    logs: bool = False
    inverses: bool = False
    only_logs: bool = False
    degree: int = 1
    powers: bool = False  # products may repeat a column: x * x
    ratios: bool = False
    tame: bool = False

    def of(self, domain: Domain, x: Floats) -> Floats:
        parts = [part for j, axis in enumerate(domain.axes) for part in self._axis(axis, x[:, j])]
        columns = [values for _, _, values in parts]
        for size in range(2, self.degree + 1):
            for chosen in combinations_with_replacement(range(len(parts)), size):
                if self._is_product([parts[i][:2] for i in chosen], chosen):
                    columns.append(np.prod([parts[i][2] for i in chosen], axis=0))
        columns += self._ratios(domain, x)
        return np.column_stack(columns) if columns else np.zeros((len(x), 1))

    def names(self, domain: Domain) -> tuple[str, ...]:
        """What each column is, for people."""
        parts = [part for axis in domain.axes for part in self._axis(axis, np.ones(1))]
        names = [label for _, label, _ in parts]
        for size in range(2, self.degree + 1):
            for chosen in combinations_with_replacement(range(len(parts)), size):
                if self._is_product([parts[i][:2] for i in chosen], chosen):
                    names.append(" * ".join(parts[i][1] for i in chosen))
        for a, b in ((domain.axes[a].name, domain.axes[b].name) for a, b in self._pairs(domain)):
            names += [f"{a} * {b}", f"{a} / {b}"]
        return tuple(names) or ("nothing varied",)

    def _pairs(self, domain: Domain) -> list[tuple[int, int]]:
        varied = [j for j, axis in enumerate(domain.axes) if axis.is_positive and not axis.is_constant]
        return list(combinations(varied, 2)) if self.ratios else []

    def _ratios(self, domain: Domain, x: Floats) -> list[Floats]:
        least = [axis.numbers[0] / 1000 if axis.numbers else 0.0 for axis in domain.axes]
        found = []
        for a, b in self._pairs(domain):
            first, second = np.log(np.maximum(x[:, a], least[a])), np.log(np.maximum(x[:, b], least[b]))
            found += [first + second, first - second]
        return found

    def _is_product(self, parts: list[tuple[str, str]], chosen: tuple[int, ...]) -> bool:
        factors = [factor for factor, _ in parts]
        if self.powers and len(set(chosen)) == 1:
            return True
        return len(set(factors)) == len(factors)

    def _axis(self, axis: Axis, x: Floats) -> list[tuple[str, str, Floats]]:
        """Factor, label and values of each column of one factor."""
        if axis.is_constant:
            return []
        if axis.numbers is None:
            return [(axis.name, f"{axis.name}={level}", (x == code) * 1.0) for code, level in enumerate(axis.levels)]
        if not axis.is_positive:
            return [(axis.name, axis.name, x)]
        # Outside the measured range a value may reach zero, where log and 1/x end.
        positive = np.maximum(x, axis.numbers[0] / 1000)
        logarithm = (axis.name, f"log({axis.name})", np.log(positive))
        if self.only_logs:
            return [logarithm]
        inverse = 1 / positive
        if self.tame:
            edge = np.clip(x, axis.numbers[0], axis.numbers[-1])
            beyond = np.log(positive / edge)
            x, inverse = edge * (1 + beyond), (1 - beyond) / edge
        found = [(axis.name, axis.name, x)]
        found += [logarithm] if self.logs else []
        found += [(axis.name, f"1/{axis.name}", inverse)] if self.inverses else []
        return found


@dataclass(frozen=True, slots=True)
class Regressed:
    """The points of a scikit-learn estimator of the response on its scale."""

    domain: Domain
    scale: ResponseScale
    columns: Columns
    estimator: Any

    def __call__(self, x: Floats) -> Floats:
        return self.scale.back(self.estimator.predict(self.columns.of(self.domain, x)))


def regress(problem: Problem, columns: Columns, estimator: Any, *, weighted: str = "") -> LearnedPoints:
    """Fit `estimator` to one row per configuration; `weighted` names the step of a pipeline that takes weights."""
    weights = {f"{weighted}__sample_weight": problem.weights} if weighted else {}
    estimator.fit(columns.of(problem.domain, problem.x), problem.y, **weights)
    return LearnedPoints(Regressed(problem.domain, problem.scale, columns, estimator))
