"""Choosing columns: forward selection by the error on configurations that were left out, and what it leaves behind."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np

from sparkcast.arrays import Floats
from sparkcast.fitting.encoding import Domain
from sparkcast.fitting.problem import Problem, ResponseScale
from sparkcast.fitting.regression import Columns

# Less than this share of a column left beside the others is rounding error.
ALIASED = 1e-8
_WORTH = 1e-6  # relative: a smaller improvement is none


@dataclass(frozen=True, slots=True, eq=False)
class Line:
    """A straight line in some of the prepared columns."""

    domain: Domain
    scale: ResponseScale
    columns: Columns
    chosen: tuple[int, ...]  # which of the columns
    intercept: float
    slopes: Floats

    def __call__(self, x: Floats) -> Floats:
        if not self.chosen:
            return self.scale.back(np.full(len(x), self.intercept))
        return self.scale.back(self.intercept + self.columns.of(self.domain, x)[:, list(self.chosen)] @ self.slopes)

    @property
    def terms(self) -> tuple[str, ...]:
        """What the line is made of, for people."""
        names = self.columns.names(self.domain)
        return tuple(names[j] for j in self.chosen)


def forward(candidates: int, error: Callable[[tuple[int, ...]], float], most: int) -> tuple[int, ...]:
    """Sequential forward selection: each step adds the column that lowers `error` most, until none does.

    >>> forward(3, lambda chosen: 9.0 - 4 * (2 in chosen) - (0 in chosen), most=3)
    (2, 0)
    """
    chosen: tuple[int, ...] = ()
    lowest = error(chosen)
    while len(chosen) < min(most, candidates):
        tried = {j: error((*chosen, j)) for j in range(candidates) if j not in chosen}
        best = min(tried, key=lambda j: tried[j])
        if not tried[best] < lowest * (1 - _WORTH):
            break
        chosen, lowest = (*chosen, best), tried[best]
    return chosen


def left_out_error(x: Floats, y: Floats, weights: Floats) -> float:
    """The mean squared error of least squares with an intercept on rows it has not seen: (y - fit) / (1 - h), exact.

    Infinite where a row decides a coefficient alone, for without it nothing could be said.
    """
    root = np.sqrt(weights)
    basis, triangle = np.linalg.qr(np.column_stack([np.ones(len(y)), x]) * root[:, None])
    size = np.linalg.norm(triangle, axis=0)
    if len(triangle) > len(y) or (np.abs(np.diag(triangle)) <= np.sqrt(ALIASED) * size).any():
        return float("inf")
    spare = 1 - (basis**2).sum(axis=1)
    if (spare < ALIASED).any():
        return float("inf")
    error = (y * root - basis @ (basis.T @ (y * root))) / spare
    return float((error**2).mean())


def select_columns(x: Floats, y: Floats, weights: Floats, most: int) -> tuple[int, ...]:
    """Up to `most` columns of x for least squares, by the error on rows that were left out."""
    spread = x.std(axis=0)
    standard = (x - x.mean(axis=0)) / np.where(spread > 0, spread, 1.0)
    return forward(x.shape[1], lambda chosen: left_out_error(standard[:, list(chosen)], y, weights), most)


def least_squares(problem: Problem, columns: Columns, chosen: Sequence[int]) -> Line:
    """The line in the chosen columns; the shortest of several that fit alike."""
    x = columns.of(problem.domain, problem.x)[:, list(chosen)]
    share = problem.weights / problem.weights.sum()
    middle, center = share @ x, float(share @ problem.y)
    spread = np.sqrt(share @ (x - middle) ** 2)
    spread[spread == 0] = 1.0
    root = np.sqrt(problem.weights)
    scaled = np.linalg.lstsq((x - middle) / spread * root[:, None], (problem.y - center) * root, rcond=None)[0]
    slopes = scaled / spread
    return Line(problem.domain, problem.scale, columns, tuple(chosen), center - float(middle @ slopes), slopes)
