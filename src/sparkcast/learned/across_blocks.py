"""Answers about a run at another hour, learned from runs of a few hours.

What sets blocks of runs apart is estimated from configurations that ran in several of them: the sum of squares that
blocks explain beside configurations, less what single runs explain of it (Henderson's third method, which needs no
balance). The runs of a model scatter about their mean over b blocks, so an interval has (1 - 1/b) of that variance in
it; the next run, in a block of its own, has (1 + 1/b) of it, and with few blocks it is hardly known.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from scipy.special import ndtr, stdtrit

from sparkcast.arrays import Floats
from sparkcast.fitting.answering import Answering, AnswerTable
from sparkcast.fitting.encoding import Domain
from sparkcast.fitting.predictive import Link, Quantiles, link_of
from sparkcast.fitting.problem import scale_of
from sparkcast.models import Fitted
from sparkcast.study import Dataset, Observation, Response
from sparkcast.study.hours import BLOCK

_SCORES = np.arange(-12, 13) / 4  # as `Quantiles` has them
_APART = 1e-9


@dataclass(frozen=True, slots=True)
class BlockScatter:
    """How much blocks of runs differ, on the scale of a response."""

    n_blocks: int
    between: float  # standard deviation of what all runs of a block share
    within: float  # of single runs of the same settings in the same block

    def added(self, scores: Floats) -> Floats:
        """What the square of an interval's half lacks, at so many standard deviations of a normal distribution."""
        share = 1 / self.n_blocks
        t = stdtrit(self.n_blocks - 1, ndtr(np.abs(scores)))
        lacking: Floats = self.between**2 * ((1 + share) * t**2 - (1 - share) * scores**2)
        return lacking


def block_scatter(runs: Sequence[Observation], keys: Sequence[object], values: Floats) -> BlockScatter | None:
    """What runs of the same settings in different blocks show; None where there is one block, or nothing to compare."""
    blocks, block_of = np.unique([run.labels[BLOCK] for run in runs], return_inverse=True)
    numbers = {key: place for place, key in enumerate(dict.fromkeys(keys))}
    of = np.array([numbers[key] for key in keys])
    n_blocks, n = len(blocks), len(values)
    if n_blocks < 2 or n <= len(numbers):
        return None
    configurations, in_block = np.eye(len(numbers))[of], np.eye(n_blocks)[block_of]
    residual, apart = _left(configurations, values), _left(configurations, in_block)
    rank = int(np.linalg.matrix_rank(apart))
    if rank == 0:
        return None
    explained = apart @ np.linalg.lstsq(apart, residual, rcond=None)[0]
    between_square = float((explained**2).sum())
    free = n - len(numbers) - rank
    within = float(((residual - explained) ** 2).sum()) / free if free > 0 else 0.0
    weight = float((apart**2).sum())
    variance = max(0.0, (between_square - rank * within) / weight)
    return BlockScatter(n_blocks, math.sqrt(variance), math.sqrt(within))


def _left(configurations: Floats, columns: Floats) -> Floats:
    """The columns less their means over each configuration."""
    counts = configurations.sum(axis=0)
    means = (configurations.T @ columns).T / counts
    left: Floats = columns - (means @ configurations.T).T
    return left


@dataclass(frozen=True, slots=True)
class AcrossBlocks(Answering):
    """What a model says, about a run in a block that it has not seen."""

    inner: Answering
    domain: Domain
    link: Link
    scatter: BlockScatter

    def answers(self, x: Floats) -> AnswerTable:
        table = self.inner.answers(x)
        middle = self.link.forward(table.values)
        columns = []
        for score, added in zip(_SCORES.tolist(), self.scatter.added(_SCORES).tolist(), strict=True):
            if score == 0:
                columns.append(middle)
                continue
            low, high = table.interval(float(2 * ndtr(abs(score)) - 1))
            half = self.link.forward(low if score < 0 else high) - middle
            columns.append(middle + math.copysign(1.0, score) * np.sqrt(np.maximum(half**2 + added, 0.0)))
        return Quantiles(np.maximum.accumulate(np.stack(columns, axis=1), axis=1) + _APART * _SCORES, self.link)


def across_blocks(fitted: Fitted, data: Dataset, response: Response) -> Fitted:
    """A model of runs that were spread over hours, with what it does not know of other hours; any other as it is."""
    runs = [run for run in data.successful(response.name) if BLOCK in run.labels]
    if not runs or not isinstance(fitted, Answering):
        return fitted
    values = np.array([run.responses[response.name] for run in runs])
    scale = scale_of(response, values.tolist())
    link = link_of(response, scale, values)
    scatter = block_scatter(runs, [data.key(run) for run in runs], link.forward(values))
    if scatter is None or scatter.between == 0:
        return fitted
    return AcrossBlocks(fitted, fitted.domain, link, scatter)


def model_inside(fitted: Fitted) -> Fitted:
    return fitted.inner if isinstance(fitted, AcrossBlocks) else fitted


def note_on_blocks(data: Dataset, response: Response, fitted: Fitted) -> str:
    """What to know of runs that were to be spread over hours; "" of others."""
    blocks = {run.labels[BLOCK] for run in data.successful(response.name) if BLOCK in run.labels}
    if len(blocks) == 1:
        return "all runs are of one block so far: how much other hours differ is not known yet"
    if not isinstance(fitted, AcrossBlocks):
        return ""
    spread = fitted.scatter.between
    told = f"{100 * math.expm1(spread):.2g}%" if fitted.link.kind == "log" else f"{spread:.2g} on its scale"
    return f"the {len(blocks)} blocks of runs differ by {told} (standard deviation), which is in the interval"
