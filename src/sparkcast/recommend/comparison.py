"""Which differences between candidates are likely real.

Two candidates differ for good when the means of many runs with either do; one run of each may still fall the other way.
The uncertainty of such a mean is that of the prediction without the scatter of single runs, which is known from
repeated runs where the runs are at hand, and else counts as uncertainty too. The errors of two predictions are taken as
independent: those of neighbors are alike, so real differences are more likely than is said, never less.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from math import sqrt
from statistics import NormalDist

import numpy as np

from sparkcast.arrays import Bools, Floats, Ints
from sparkcast.fitting.answering import AnswerTable
from sparkcast.study import Configuration, Dataset, Kind, Response

LIKELY = 0.8  # the probability from which on a difference is told
_SCORE = NormalDist().inv_cdf(LIKELY)
_LEVEL = 2 * NormalDist().cdf(1.0) - 1  # of the interval that reaches one standard deviation to either side
_LEAST = 0.5  # of the spread of the next run: a mean is not taken for more certain than this


@dataclass(frozen=True, slots=True, eq=False)
class Means:
    """What is known of the mean at every candidate: where it lies, and its standard deviation."""

    center: Floats  # logarithms of what is positive
    spread: Floats

    def score(self, rows: Ints | slice, than: Ints | slice | int, *, is_more: bool) -> Floats:
        """By how many standard deviations some are better than others."""
        gain = self.center[rows] - self.center[than]
        apart = np.sqrt(self.spread[rows] ** 2 + self.spread[than] ** 2)
        signed = gain if is_more else -gain
        certain = np.where(signed == 0, 0.0, np.copysign(np.inf, signed))
        return np.where(apart > 0, signed / np.where(apart > 0, apart, 1.0), certain)

    def probability(self, row: int, than: int, *, is_more: bool) -> float:
        [score] = self.score(np.array([row]), np.array([than]), is_more=is_more).tolist()
        return NormalDist().cdf(score)


def is_likely(scores: Floats) -> Bools:
    return scores >= _SCORE


def means_of(table: AnswerTable, response: Response, noise: float) -> Means:
    """`noise`: the standard deviation of repeated runs, on the scale of `noise_in`; 0 when it is not known."""
    low, high = table.interval(_LEVEL)
    center = table.values
    if is_compared_by_ratio(response, float(low.min(initial=1.0))):
        low, high, center = np.log(low), np.log(high), np.log(center)
    spread = (high - low) / 2
    return Means(center, np.sqrt(np.maximum(spread**2 - noise**2, (_LEAST * spread) ** 2)))


def exact(values: Floats) -> Means:
    """Of a setting, nothing is uncertain."""
    return Means(values, np.zeros(len(values)))


def is_compared_by_ratio(response: Response, smallest: float) -> bool:
    return response.kind is not Kind.SHARE and smallest > 0


def noise_in(runs: Dataset, response: str) -> float:
    """The standard deviation of repeated runs around their means, of logarithms where times are; 0 when unknown."""
    groups: dict[Configuration, list[float]] = {}
    for run in runs.successful(response):
        groups.setdefault(runs.key(run), []).append(run.responses[response])
    smallest = min((value for group in groups.values() for value in group), default=0.0)
    by_ratio = is_compared_by_ratio(runs.vocabulary.response(response), smallest)
    repeated = [np.log(group) if by_ratio else np.array(group) for group in groups.values() if len(group) > 1]
    freedom = sum(len(group) - 1 for group in repeated)
    squares = sum(float(((group - group.mean()) ** 2).sum()) for group in repeated)
    return sqrt(squares / freedom) if freedom else 0.0


def likely_better(rows: Ints, than: Ints, means: Sequence[tuple[Means, bool]]) -> Bools:
    """For each of some candidates and each of others, whether it is likely better in something.

    `means`: of each response, and whether more of it is better.
    """
    scores = [own.score(rows[:, None], than[None, :], is_more=is_more) for own, is_more in means]
    return is_likely(np.max(scores, axis=0))


def apart(better: Bools, than_first: Bools, first: int | None) -> list[bool]:
    """Which candidates are likely better in something than each that was kept before, and than the one kept first.

    `better`: see `likely_better`, of each against each; `than_first`: against the one kept first, whose place is
    `first` if it is one of them.
    """
    kept = [] if first is None else [first]
    pairs, against_first = better.tolist(), than_first.tolist()
    for i, row in enumerate(pairs):
        if i != first and against_first[i] and all(row[j] for j in kept):
            kept.append(i)
    return [i in kept for i in range(len(pairs))]
