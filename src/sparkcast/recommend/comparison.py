"""Which differences between candidates are likely real, and which are ties.

Two candidates differ for good when the means of many runs with either do; one run of each may still fall the other way.
The mean of a candidate that was run is as uncertain as the mean of its runs: the scatter of repeated runs over the root
of their number. That of any other is as uncertain as its prediction without the scatter of single runs. Where no run
was repeated, half of the spread of the next run is taken for that of the mean. The errors of two predictions are taken
as independent: those of neighbors are alike, so real differences are more likely than is said, never less.

Candidates tie when one is predicted better by next to nothing, or by what may be chance (with a probability above 5 %).
A large difference is no tie, however little is known: nobody takes an accuracy of 0.84 for as good as 0.93.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from math import log, sqrt
from statistics import NormalDist

import numpy as np

from sparkcast.arrays import Bools, Floats, Ints
from sparkcast.fitting.answering import AnswerTable
from sparkcast.study import Configuration, Dataset, Kind, Response

LIKELY = 0.8  # the probability from which on a difference is told
_SCORE = NormalDist().inv_cdf(LIKELY)
_SURE_SCORE = NormalDist().inv_cdf(0.95)  # of what is paid for: of many equals the best looks better by chance alone
_LEVEL = 2 * NormalDist().cdf(1.0) - 1  # of the interval that reaches one standard deviation to either side
_LEAST = 0.5  # of the spread of the next run: a predicted mean is not taken for more certain than this
_NOTHING, _MUCH = 1.01, 1.1  # ratios: what nobody would pay for, and what nobody calls a tie
_FEW_POINTS, _MANY_POINTS = 0.001, 0.02  # the same of shares


@dataclass(frozen=True, slots=True, eq=False)
class Means:
    """What is known of the mean at every candidate: where it lies, and its standard deviation."""

    center: Floats  # logarithms of what is positive
    spread: Floats
    nothing: float = 0.0  # a difference that counts as none,
    much: float = 0.0  # and one that never does

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

    def ties(self, best: int, rows: Ints, *, is_more: bool, doubt: float = 1.0) -> Bools:
        """Which of some candidates are as good as the one that is predicted best, of which more may be in doubt."""
        behind = (self.center[best] - self.center[rows]) * (1 if is_more else -1)
        unsure = (-self.score(rows, best, is_more=is_more) < _SURE_SCORE) & (behind <= doubt * self.much)
        tied: Bools = unsure | (behind <= self.nothing)
        return tied


def is_likely(scores: Floats) -> Bools:
    return scores >= _SCORE


def means_of(table: AnswerTable, response: Response, noise: float | None, n_runs: Ints) -> Means:
    """`noise`: the standard deviation of repeated runs, on the scale of `noise_in`; `n_runs` of each candidate."""
    low, high = table.interval(_LEVEL)
    center = table.values
    by_ratio = is_compared_by_ratio(response, float(low.min(initial=1.0)))
    if by_ratio:
        low, high, center = np.log(low), np.log(high), np.log(center)
    variance = ((high - low) / 2) ** 2
    least = _LEAST**2 * variance
    if noise is None:
        return Means(center, np.sqrt(least), *_bounds(response, by_ratio, table.values))
    predicted = np.maximum(variance - noise**2, least)
    spread = np.sqrt(np.where(n_runs > 0, np.minimum(noise**2 / np.maximum(n_runs, 1), predicted), predicted))
    return Means(center, spread, *_bounds(response, by_ratio, table.values))


def _bounds(response: Response, by_ratio: bool, values: Floats) -> tuple[float, float]:
    """Which differences count as none, and which never do."""
    if by_ratio:
        return log(_NOTHING), log(_MUCH)
    largest = float(np.abs(values).max(initial=0.0))
    whole = (1.0 if largest <= 1 else 100.0) if response.kind is Kind.SHARE else largest
    few, many = (_FEW_POINTS, _MANY_POINTS) if response.kind is Kind.SHARE else (_NOTHING - 1, _MUCH - 1)
    return few * whole, many * whole


def exact(values: Floats) -> Means:
    """Of a setting, nothing is uncertain."""
    return Means(values, np.zeros(len(values)))


def is_compared_by_ratio(response: Response, smallest: float) -> bool:
    return response.kind is not Kind.SHARE and smallest > 0


def noise_in(runs: Dataset, response: str) -> float | None:
    """The standard deviation of repeated runs around their means, of logarithms where times are; None when unknown."""
    groups: dict[Configuration, list[float]] = {}
    for run in runs.successful(response):
        groups.setdefault(runs.key(run), []).append(run.responses[response])
    smallest = min((value for group in groups.values() for value in group), default=0.0)
    by_ratio = is_compared_by_ratio(runs.vocabulary.response(response), smallest)
    found = pooled([np.log(group) if by_ratio else np.array(group) for group in groups.values()])
    return None if found is None else found[0]


def pooled(groups: Iterable[Floats]) -> tuple[float, int] | None:
    """The standard deviation within groups, and its degrees of freedom; None where no group has two."""
    repeated = [group for group in groups if len(group) > 1]
    freedom = sum(len(group) - 1 for group in repeated)
    squares = sum(float(((group - group.mean()) ** 2).sum()) for group in repeated)
    return (sqrt(squares / freedom), freedom) if freedom else None


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
