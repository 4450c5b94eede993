"""Exact optimal designs by exchange: of many candidates the runs that make the coefficients of a model most certain.

Fedorov, Theory of Optimal Experiments (1972); Cook & Nachtsheim, Technometrics 22 (1980) for the variant that exchanges
run by run. All candidates are judged at once by how the information matrix would change (rank-two update).
"""

import random
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np

from sparkcast.arrays import Array, Floats, Ints

Criterion = Literal["D", "A"]

_RIDGE = 1e-6  # makes the information of too few runs invertible while a start is built
_LEAST_GAIN = 1e-9  # relative; below it an exchange is rounding
_PASSES = 50
_WORK = 2e9  # multiplications spent on starts: a few seconds


@dataclass(frozen=True, slots=True)
class ExchangeProblem:
    """One row per candidate with the model's terms, and what its run costs."""

    rows: Floats
    costs: Floats
    criterion: Criterion = "D"

    def quality(self, chosen: Ints) -> float:
        """Larger is better; minus infinity when the runs cannot tell the terms apart."""
        matrix = self.rows[chosen]
        information = matrix.T @ matrix
        sign, logarithm = np.linalg.slogdet(information)
        if sign <= 0 or np.linalg.matrix_rank(matrix) < matrix.shape[1]:
            return -np.inf
        return float(logarithm) if self.criterion == "D" else -float(np.trace(np.linalg.inv(information)))


def best_runs(problem: ExchangeProblem, runs: int, seed: int) -> Ints:
    """Indices of `runs` candidates (one may occur twice), the best of several random starts."""
    generator = random.Random(seed)
    n, p = problem.rows.shape
    starts = int(np.clip(_WORK / (12.0 * n * p * runs), 3, 16))
    found = [_exchange(problem, _random_start(problem, runs, generator), np.inf) for _ in range(starts)]
    return np.sort(_best(problem, found))


def best_within(problem: ExchangeProblem, budget: float, seed: int) -> Ints | None:
    """Indices of candidates that together cost no more than `budget`; None when it does not pay for the model."""
    basis = cheapest_basis(problem)
    if problem.costs[basis].sum() > budget:
        return None
    generator = random.Random(seed)
    found = []
    for power in (0.0, 0.5, 1.0, 1.5):
        for start in (basis, _greedy(problem, basis[:0], budget, power)):
            filled = _greedy(problem, start, budget, power)
            if np.isfinite(problem.quality(filled)):
                found.append(_improve(problem, filled, budget, power, generator))
    return np.sort(_best(problem, found))


def _best(problem: ExchangeProblem, found: Sequence[Ints]) -> Ints:
    return found[_first_best(np.array([problem.quality(chosen) for chosen in found]))]


def _first_best(values: Floats) -> int:
    """The first of the largest values up to rounding, so that symmetric choices are made alike on every machine."""
    largest = values.max()
    return int((values >= largest - _LEAST_GAIN * max(1.0, abs(largest))).argmax())


def cheapest_basis(problem: ExchangeProblem) -> Ints:
    """The cheapest candidates that can tell all terms apart: greedy is exact, independence is a matroid."""
    p = problem.rows.shape[1]
    scale = np.abs(problem.rows).max(axis=0)
    residual = problem.rows / np.where(scale > 0, scale, 1.0)
    order = np.argsort(problem.costs, kind="stable")
    chosen = []
    for _ in range(p):
        size = (residual**2).sum(axis=1)
        place = next((i for i in order if size[i] > 1e-9), None)
        if place is None:
            break
        chosen.append(place)
        direction = residual[place] / np.sqrt(size[place])
        residual = residual - np.outer(residual @ direction, direction)
    return np.array(chosen, dtype=np.intp)


def _random_start(problem: ExchangeProblem, runs: int, generator: random.Random) -> Ints:
    """Half of the runs by chance, the others where the model is least certain."""
    chosen = [generator.randrange(len(problem.rows)) for _ in range(max(1, runs // 2))]
    inverse = _inverse(problem.rows[chosen])
    spread = ((problem.rows @ inverse) * problem.rows).sum(axis=1)
    for _ in range(runs - len(chosen)):
        best = _first_best(spread)
        chosen.append(best)
        moved, scale = inverse @ problem.rows[best], 1 + spread[best]
        inverse = inverse - np.outer(moved, moved) / scale
        spread = spread - (problem.rows @ moved) ** 2 / scale
    return np.array(chosen, dtype=np.intp)


def _inverse(matrix: Floats) -> Floats:
    """The inverse information, with a ridge that keeps it finite."""
    inverse: Array = np.linalg.inv(matrix.T @ matrix + _RIDGE * np.eye(matrix.shape[1]))
    return inverse


def _exchange(problem: ExchangeProblem, start: Ints, budget: float) -> Ints:
    """Each run in turn gives way to the candidate that improves the design most, until none does."""
    chosen = start.copy()
    rows, costs = problem.rows, problem.costs
    spent = costs[chosen].sum()
    for _ in range(_PASSES):
        state = _State(problem, chosen)  # anew in each pass, so that rounding does not build up
        improved = False
        for place in range(len(chosen)):
            gain = state.gains(rows[chosen[place]])
            if np.isfinite(budget):
                gain = np.where(spent - costs[chosen[place]] + costs <= budget * (1 + 1e-12), gain, -np.inf)
            best = _first_best(gain)
            if gain[best] > _LEAST_GAIN:
                spent += costs[best] - costs[chosen[place]]
                state.replace(rows[chosen[place]], rows[best])
                chosen[place] = best
                improved = True
        if not improved:
            break
    return chosen


class _State:
    """The inverse information of the chosen runs, and every candidate seen through it."""

    def __init__(self, problem: ExchangeProblem, chosen: Ints) -> None:
        self._problem = problem
        self._inverse = _inverse(problem.rows[chosen])
        self._seen = problem.rows @ self._inverse
        self._variance: Floats = (self._seen * problem.rows).sum(axis=1)
        if problem.criterion == "A":
            self._note_trace()

    def _note_trace(self) -> None:
        self._square = (self._seen**2).sum(axis=1)
        self._trace = self._inverse.trace()

    def gains(self, old: Floats) -> Floats:
        """The relative gain of replacing the run `old` by each candidate."""
        moved = self._inverse @ old
        own, cross = float(old @ moved), self._seen @ old
        ratio = (1 - own) * (1 + self._variance) + cross**2  # of determinants
        if self._problem.criterion == "D":
            return ratio - 1
        # The trace after the update, from the two-by-two matrix of Woodbury's identity.
        corner = (1 + self._variance) * float(moved @ moved) - 2 * cross * (self._seen @ moved)
        corner = corner + (own - 1) * self._square
        safe = np.where(ratio > 1e-9, ratio, 1.0)
        return np.where(ratio > 1e-9, -corner / safe / self._trace, -np.inf)

    def replace(self, old: Floats, new: Floats) -> None:
        pair = np.stack([old, new])
        seen = pair @ self._inverse
        factor = np.linalg.solve(np.diag([-1.0, 1.0]) + seen @ pair.T, seen)
        across = self._seen @ pair.T  # candidates by the two runs
        self._inverse = self._inverse - seen.T @ factor
        self._variance = self._variance - (across * (self._problem.rows @ factor.T)).sum(axis=1)
        self._seen = self._seen - across @ factor
        if self._problem.criterion == "A":
            self._note_trace()


# ---------------------------------------------------------------- within a budget


def _greedy(problem: ExchangeProblem, start: Ints, budget: float, power: float) -> Ints:
    """Adds the candidate with the largest gain per cost (to a power) that can still be paid."""
    rows, costs = problem.rows, problem.costs
    chosen = list(start)
    left = budget - costs[chosen].sum() if chosen else budget
    inverse = _inverse(rows[chosen]) if chosen else np.eye(rows.shape[1]) / _RIDGE
    while True:
        seen = rows @ inverse
        variance = (seen * rows).sum(axis=1)
        gain = np.log1p(variance) if problem.criterion == "D" else (seen**2).sum(axis=1) / (1 + variance)
        worth = np.where(costs <= left * (1 + 1e-12), gain / costs**power, -np.inf)
        best = _first_best(worth)
        if not np.isfinite(worth[best]):  # nothing can be paid any more
            return np.array(chosen, dtype=np.intp)
        chosen.append(best)
        left -= costs[best]
        inverse = inverse - np.outer(seen[best], seen[best]) / (1 + variance[best])


def _improve(problem: ExchangeProblem, chosen: Ints, budget: float, power: float, generator: random.Random) -> Ints:
    """Exchanges within the budget; then, again and again, a few runs out and better ones for their money in."""
    best = _exchange(problem, chosen, budget)
    quality = problem.quality(best)
    for _ in range(12):
        out = generator.sample(range(len(best)), max(1, len(best) // 5))
        trial = _exchange(problem, _greedy(problem, np.delete(best, out), budget, power), budget)
        if problem.quality(trial) > quality:
            best, quality = trial, problem.quality(trial)
    return best
