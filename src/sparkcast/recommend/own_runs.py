"""Settings that were run are judged by their runs first, and by what the model says of them second.

A model that explains all runs a little explains none of them exactly, and of settings that were run it may be off by
more than their noise. How far off it usually is, tells how much of that to believe (James and Stein 1961): where it
misses the measured means by no more than noise does, the model is right and the runs were lucky or unlucky; where it
misses them by much more, the runs are right. Where runs were repeated, the next one strays from their mean as repeats
do, as far as the runs are believed; else it is left to the model how far it strays.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from statistics import NormalDist

import numpy as np

from sparkcast.arrays import Bools, Floats, Ints
from sparkcast.fitting.answering import AnswerTable
from sparkcast.fitting.problem import ResponseScale, scale_of
from sparkcast.learned.tabulate import table_at
from sparkcast.models import Fitted
from sparkcast.recommend.comparison import pooled
from sparkcast.study import Configuration, Dataset, Response

_MOST = 300  # configurations: from more of them a model has learned enough of each
_FEWEST = 3  # configurations, to say how far off a model usually is
_LEVEL = 2 * NormalDist().cdf(1.0) - 1  # of the interval that reaches one standard deviation to either side
_LEAST = 1e-9  # spread of runs that hardly differ
_TAIL = 0.95  # where a spread that few repeats show is compared with one that is certain


@dataclass(frozen=True, slots=True, eq=False)
class OwnRuns:
    """Of each configuration that was run, where its next run falls by its own runs."""

    configurations: tuple[Configuration, ...]
    means: Floats  # on the scale
    trust: Floats  # between 0, the model alone, and 1, the runs alone
    spread: Floats  # of the next run by the runs alone; infinite where nothing was repeated
    missed: Floats  # by the model, on the scale
    scale: ResponseScale

    def judge(self, table: AnswerTable, which: Ints) -> AnswerTable:
        """What is said of candidates; `which` of the configurations each of them is, -1 if none."""
        was_run = which >= 0
        if not was_run.any():
            return table
        said = self.scale.forward(table.values)
        center = np.where(was_run, said + self.trust[which] * (self.means[which] - said), said)
        narrower = np.minimum(self.spread[which] / _width(table, self.scale), 1.0)
        share = np.where(was_run, 1 + self.trust[which] * (narrower - 1), 1.0)
        return JudgedByRuns(table, was_run, said, center, share, self.scale)


@dataclass(frozen=True, slots=True, eq=False)
class JudgedByRuns:
    """What a model says, moved and narrowed where there are runs."""

    table: AnswerTable
    was_run: Bools
    said: Floats  # the middle of what the model says, on the scale,
    center: Floats  # and where it is moved to
    share: Floats  # of the model's width
    scale: ResponseScale

    @property
    def values(self) -> Floats:
        return self._moved(self.table.values)

    def interval(self, level: float) -> tuple[Floats, Floats]:
        low, high = self.table.interval(level)
        return self._moved(low), self._moved(high)

    def probability_below(self, limit: Floats | float) -> Floats:
        limits = np.broadcast_to(np.asarray(limit, dtype=float), self.said.shape)
        back = self.said + (self.scale.forward(limits) - self.center) / self.share
        asked = np.exp(np.clip(back, -700.0, 700.0)) if self.scale.is_log else back
        below = self.table.probability_below(np.where(self.was_run, asked, limits))
        # Nothing is beyond a bound, wherever the middle is.
        within = np.where(limits < self.scale.low, 0.0, np.where(limits >= self.scale.high, 1.0, below))
        return np.where(self.was_run, within, below)

    def take(self, rows: Ints) -> "JudgedByRuns":
        own = (self.was_run[rows], self.said[rows], self.center[rows], self.share[rows])
        return JudgedByRuns(self.table.take(rows), *own, self.scale)

    def _moved(self, values: Floats) -> Floats:
        moved = self.scale.back(self.center + self.share * (self.scale.forward(values) - self.said))
        return np.where(self.was_run, moved, values)


def own_runs(runs: Dataset, response: Response, fitted: Fitted) -> OwnRuns | None:
    """None where the runs are too few, or too many, to set them against the model."""
    groups: dict[Configuration, list[float]] = {}
    for run in runs.successful(response.name):
        groups.setdefault(runs.key(run), []).append(run.responses[response.name])
    if not _FEWEST <= len(groups) <= _MOST:
        return None
    scale = scale_of(response, [value for values in groups.values() for value in values])
    # Rows that agree in every digit are one run that was copied.
    own = [scale.forward(np.array(sorted(set(values)))) for values in groups.values()]
    return _judged(tuple(groups), own, table_at(fitted, list(groups)), scale)


def _judged(
    configurations: tuple[Configuration, ...], own: Sequence[Floats], table: AnswerTable, scale: ResponseScale
) -> OwnRuns:
    means, counts = np.array([group.mean() for group in own]), np.array([len(group) for group in own])
    noise = pooled(own)
    # Where nothing was repeated, all that the model is unsure of may be noise.
    single = _width(table, scale) if noise is None else np.full(len(own), noise[0])
    missed = means - scale.forward(table.values)
    usual = float((missed**2).mean())
    trust = np.clip(1 - single**2 / counts / usual, 0.0, 1.0) if usual > 0 else np.zeros(len(own))
    spread = np.full(len(own), np.inf) if noise is None else noise[0] * np.sqrt(1 + 1 / counts) * _doubt(noise[1])
    return OwnRuns(configurations, means, trust, np.maximum(spread, _LEAST), missed, scale)


def _width(table: AnswerTable, scale: ResponseScale) -> Floats:
    """One standard deviation, on the scale."""
    low, high = (scale.forward(ends) for ends in table.interval(_LEVEL))
    return np.maximum((high - low) / 2, 1e-12)


def _doubt(freedom: int) -> float:
    """How much wider than it looks a spread is to be taken that so few repeats show."""
    from scipy.special import stdtrit

    return float(stdtrit(freedom, _TAIL)) / NormalDist().inv_cdf(_TAIL)
