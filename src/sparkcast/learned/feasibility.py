"""How likely a setting fails, learned from the runs that did.

A logistic regression on the logarithms of the settings, standardized. The prior makes few runs say little: slopes are
drawn to 0, and half a failed and half a good run stand in the middle of the settings. The answer is averaged over what
the slopes may be (MacKay 1992), so it goes towards even odds where no run is near, instead of towards certainty.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np

from sparkcast.arrays import Floats
from sparkcast.errors import NotEnoughDataError
from sparkcast.fitting.encoding import Domain, domain_of
from sparkcast.fitting.regression import Columns
from sparkcast.learned.support import like_known
from sparkcast.study import Dataset, Outcome
from sparkcast.study.configuration import Levels
from sparkcast.units import show_level, show_percent

_SLOPE_SD = 2.0  # of the prior: one standard deviation of a setting seldom changes the odds more than 50-fold
_PSEUDO_RUNS = 0.5  # of either kind
_COLUMNS = Columns(only_logs=True)


_CONFIDENCE = 0.95


@dataclass(frozen=True, slots=True)
class NoFailure:
    """What is known of failing where no run has failed: a bound, no probability.

    It is the upper end of Clopper and Pearson's (1934) interval for no failure in so many runs; nearly 3 / n, which is
    the rule of three.

    >>> round(NoFailure(12).below, 4), str(NoFailure(12))
    (0.2209, 'no failures in 12 runs; the failure rate is below 22.1% (95% confidence)')
    """

    runs: int
    below: float = field(init=False)
    confidence: float = _CONFIDENCE

    def __post_init__(self) -> None:
        object.__setattr__(self, "below", float(1 - (1 - self.confidence) ** (1 / self.runs)))

    def __str__(self) -> str:
        below = show_percent(math.ceil(1000 * self.below) / 1000, 3)
        runs = "1 run" if self.runs == 1 else f"{self.runs} runs"
        sure = show_level(self.confidence)
        return f"no failures in {runs}; the failure rate is below {below} ({sure} confidence)"


@dataclass(frozen=True, slots=True, eq=False)
class Feasibility:
    """The probability of failure by settings. Lost runs say nothing about settings and are not counted."""

    domain: Domain
    n_runs: int
    n_failed: int
    center: Floats
    spread: Floats
    mean: Floats  # intercept and slopes
    covariance: Floats

    def probability_of_failure(self, at: Sequence[Levels]) -> list[float]:
        return self.probability_rows(self.domain.encode(at)).tolist() if at else []

    def worst_at(self, configuration: Levels) -> float:
        """Like `probability_of_failure`; of a category that was never run, that of the worst known one."""
        known = {axis.name: axis.levels for axis in self.domain.axes if not axis.is_number}
        return max(self.probability_of_failure(like_known(configuration, known)))

    def probability_rows(self, x: Floats) -> Floats:
        """Like `probability_of_failure`, of settings that are numbers already."""
        if not self.n_failed:
            return np.full(len(x), 1 / (self.n_runs + 2))  # Laplace's rule of succession
        rows = _rows(self.domain, x, self.center, self.spread)
        variance = np.einsum("ij,jk,ik->i", rows, self.covariance, rows, optimize=True)
        return _logistic(rows @ self.mean / np.sqrt(1 + math.pi / 8 * variance))


def fit_feasibility(data: Dataset) -> Feasibility:
    """Learn from every run that ended by itself; raises NotEnoughDataError when there is none."""
    runs = [run for run in data.observations if run.outcome is not Outcome.LOST]
    if not runs:
        raise NotEnoughDataError(f"{data.name} has no runs to learn failures from", hint="run the study first")
    configurations = [data.key(run) for run in runs]
    domain = domain_of(data.factors, configurations, data.vocabulary)
    columns = _COLUMNS.of(domain, domain.encode(configurations))
    spread = columns.std(axis=0)
    spread[spread == 0] = 1.0
    center = columns.mean(axis=0)
    rows = _rows(domain, domain.encode(configurations), center, spread)
    failed = np.array([not run.ok for run in runs], dtype=float)
    mean, covariance = _posterior(rows, failed)
    return Feasibility(domain, len(runs), int(failed.sum()), center, spread, mean, covariance)


def _rows(domain: Domain, x: Floats, center: Floats, spread: Floats) -> Floats:
    columns = (_COLUMNS.of(domain, x) - center) / spread
    return np.column_stack([np.ones(len(columns)), columns])


def _posterior(rows: Floats, failed: Floats) -> tuple[Floats, Floats]:
    """The most likely coefficients and their covariance, by Newton's method: the problem is convex."""
    middle = np.zeros((2, rows.shape[1]))
    middle[:, 0] = 1.0
    x, y = np.vstack([rows, middle]), np.concatenate([failed, [0.0, 1.0]])
    weights = np.concatenate([np.ones(len(rows)), [_PSEUDO_RUNS, _PSEUDO_RUNS]])
    prior = np.full(rows.shape[1], 1 / _SLOPE_SD**2)
    prior[0] = 0.0  # the pseudo-runs hold the intercept
    mean: Floats = np.zeros(rows.shape[1])
    for _ in range(100):
        p = _logistic(x @ mean)
        hessian = (x * (weights * p * (1 - p))[:, None]).T @ x + np.diag(prior)
        step = np.linalg.solve(hessian, x.T @ (weights * (y - p)) - prior * mean)
        mean = mean + step * min(1.0, 5.0 / max(float(np.abs(step).max()), 1e-300))
        if float(np.abs(step).max()) < 1e-10:
            break
    p = _logistic(x @ mean)
    return mean, np.linalg.inv((x * (weights * p * (1 - p))[:, None]).T @ x + np.diag(prior))


def _logistic(odds: Floats) -> Floats:
    return 1 / (1 + np.exp(-np.clip(odds, -700, 700)))
