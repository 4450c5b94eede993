"""The model behind an analysis of variance: main effects and interactions of coded factors."""

from dataclasses import dataclass
from itertools import combinations
from math import comb, prod

import numpy as np

from sparkcast.arrays import Floats
from sparkcast.errors import StudyError
from sparkcast.fitting.encoding import Axis, Domain
from sparkcast.fitting.plain import in_own_unit
from sparkcast.fitting.problem import Problem, ResponseScale, pose
from sparkcast.fitting.uncertainty import FittedPoints, LearnedPoints, fit
from sparkcast.models import MODELS
from sparkcast.models.base import Model
from sparkcast.models.linear import coefficients, require_rows
from sparkcast.study import Dataset
from sparkcast.study.matrix import interaction, sum_contrasts

_MOST_COLUMNS = 500


@dataclass(frozen=True, slots=True, eq=False)
class Effects:
    """The coefficients of coded factors and of their interactions up to `order`."""

    domain: Domain
    scale: ResponseScale
    order: int
    coefficients: Floats

    def __call__(self, x: Floats) -> Floats:
        return self.scale.back(coded(self.domain, x, self.order) @ self.coefficients)


@MODELS.register("anova")
class Anova(Model):
    """Least squares on coded settings with all interactions; drops the highest orders when runs are too few.

    They are left out while there are fewer than two configurations for each coefficient. Numbers are coded to [-1, 1],
    categories to sum to zero. `order` limits the interactions (2: of two factors); `log` learns the logarithm of
    positive responses.
    """

    def __init__(self, order: int | None = None, *, log: bool = True) -> None:
        if order is not None and order < 1:
            raise StudyError(f"an interaction order of {order} is not positive", hint="order 1 means main effects only")
        self._order = order
        self._log = log

    def fit(self, data: Dataset, response: str) -> FittedPoints:
        problem = pose(data, response)
        require_rows("anova", problem, coefficients(problem.domain) + 1)
        return fit(problem, self.learn)

    def learn(self, problem: Problem) -> LearnedPoints:
        require_rows("anova", problem, coefficients(problem.domain))
        posed = problem if self._log else in_own_unit(problem)
        order = self._order_for(problem)
        root = np.sqrt(posed.weights)
        columns = coded(posed.domain, posed.x, order) * root[:, None]
        # Effects that the runs cannot tell apart share what they have in common.
        found = np.linalg.lstsq(columns, posed.y * root, rcond=None)[0]
        return LearnedPoints(Effects(posed.domain, posed.scale, order, found))

    def _order_for(self, problem: Problem) -> int:
        """The highest interactions with at most half as many columns as configurations; main effects stay."""
        widths = _widths(problem.domain)
        wanted = max(1, min(self._order or len(widths), len(widths)))
        room = min(len(problem) // 2, _MOST_COLUMNS)
        while wanted > 1 and n_columns(widths, wanted) > room:
            wanted -= 1
        return wanted


def coded(domain: Domain, x: Floats, order: int) -> Floats:
    """One column for the mean, then those of main effects, of interactions of two factors, and so on."""
    blocks = [_coded(axis, x[:, j]) for j, axis in enumerate(domain.axes) if not axis.is_constant]
    columns: list[Floats] = [np.ones((len(x), 1))]
    for size in range(1, order + 1):
        for chosen in combinations(blocks, size):
            columns.append(_product(chosen))
    return np.hstack(columns)


def n_columns(widths: list[int], order: int) -> int:
    """How many columns `coded` has.

    >>> n_columns([1, 1, 1, 1], 4), n_columns([1, 2], 2)
    (16, 6)
    """
    if len(set(widths)) == 1:
        return sum(comb(len(widths), size) * widths[0] ** size for size in range(order + 1))
    return sum(prod(chosen) for size in range(order + 1) for chosen in combinations(widths, size))


def _widths(domain: Domain) -> list[int]:
    return [1 if axis.is_number else len(axis.levels) - 1 for axis in domain.axes if not axis.is_constant]


def _product(blocks: tuple[Floats, ...]) -> Floats:
    result = blocks[0]
    for block in blocks[1:]:
        result = interaction(result, block)
    return result


def _coded(axis: Axis, x: Floats) -> Floats:
    if axis.numbers is None:
        columns: Floats = sum_contrasts(len(axis.levels))[x.astype(int)]
        return columns
    low, high = axis.numbers[0], axis.numbers[-1]
    return (2 * (x - low) / (high - low) - 1)[:, None]
