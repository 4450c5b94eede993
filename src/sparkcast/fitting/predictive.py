"""Where the next run falls at each of many settings, told by quantiles instead of errors around a point."""

from dataclasses import dataclass, replace
from typing import Literal

import numpy as np

from sparkcast.arrays import Floats, Ints
from sparkcast.fitting.normal import probabilities, probability_of, score_at, score_of
from sparkcast.fitting.problem import ResponseScale, log_odds
from sparkcast.study import Kind, Response

_SCORES = tuple(step / 4 for step in range(-12, 13))  # of a standard normal distribution: from 0.1 % to 99.9 %
_MIDDLE = len(_SCORES) // 2
_ALL = 0.999  # of what lies beyond the rest nothing can be told
_SURE = 1e-4  # a share this near to its bound has no larger odds


@dataclass(frozen=True, slots=True)
class Link:
    """The scale on which a response is learned: logarithms, log-odds, or differences in terms of the spread."""

    kind: Literal["log", "log-odds", "plain"]
    low: float
    high: float
    center: float = 0.0
    unit: float = 1.0

    def forward(self, values: Floats) -> Floats:
        if self.kind == "plain":
            return (values - self.center) / self.unit
        if self.kind == "log":
            logarithms: Floats = np.log(np.maximum(values, self.low))
            return logarithms
        return log_odds(np.clip(values / self.high, _SURE, 1 - _SURE))

    def back(self, values: Floats) -> Floats:
        if self.kind == "plain":
            return np.clip(self.center + self.unit * values, self.low, self.high)
        odds: Floats = np.exp(np.clip(values, -700.0, 700.0))  # beyond 700 a float overflows
        return np.clip(odds, self.low, self.high) if self.kind == "log" else self.high * odds / (1 + odds)


def link_of(response: Response, scale: ResponseScale, values: Floats) -> Link:
    if scale.is_log:
        return Link("log", scale.low, scale.high)
    if response.kind is Kind.SHARE and scale.low == 0 and scale.high > 0:
        return Link("log-odds", scale.low, scale.high)
    return Link("plain", scale.low, scale.high, float(values.mean()), 2 * float(np.std(values)) or 1.0)


@dataclass(frozen=True, slots=True, eq=False)
class Quantiles:
    """Answers for many settings, kept: a question about another level or limit then costs next to nothing."""

    table: Floats  # a row for each of the settings, on the link; increasing
    link: Link
    above: float = 0.0  # probability that the next run is beyond all of them

    @property
    def values(self) -> Floats:
        return self.link.back(self.table[:, _MIDDLE])

    def interval(self, level: float) -> tuple[Floats, Floats]:
        """Where the next run at each of the settings falls with probability `level`."""
        score = score_of(level)
        return self.link.back(self._at(-score)), self.link.back(self._at(score))

    def probability_below(self, limit: Floats | float) -> Floats:
        """The probability that the next run is at most `limit`: one for all, or one for each."""
        limits = np.broadcast_to(np.asarray(limit, dtype=float), len(self.table))
        lowest = self.link.low if self.link.kind != "plain" else -np.inf
        is_within = (limits > lowest) & (limits < self.link.high)
        inside = np.where(is_within, limits, self.values)
        chance = probabilities(self._score(self._forward(inside)))
        return np.where(is_within, (1 - self.above) * chance, limits >= self.link.high)

    def take(self, rows: Ints) -> "Quantiles":
        return replace(self, table=self.table[rows])

    def shifted(self, by: Floats) -> "Quantiles":
        """The same spread around another middle."""
        return replace(self, table=self.table + by[:, None])

    def clip(self, values: Floats, level: float) -> Floats:
        """Values on the link, no further from the middle than the interval."""
        score = score_of(level)
        return np.clip(values, self._at(-score), self._at(score))

    def _forward(self, values: Floats) -> Floats:
        """Like the link's, but without its limit to odds: a bound is a question, no measurement."""
        return log_odds(values / self.link.high) if self.link.kind == "log-odds" else self.link.forward(values)

    def _at(self, score: float) -> Floats:
        """Straight between two scores, and beyond the last like a normal distribution."""
        if self.above:
            score = score_at(min(probability_of(score) / (1 - self.above), _ALL))
        right = int(np.clip(np.searchsorted(_SCORES, score), 1, len(_SCORES) - 1))
        share = (score - _SCORES[right - 1]) / (_SCORES[right] - _SCORES[right - 1])
        return (1 - share) * self.table[:, right - 1] + share * self.table[:, right]

    def _score(self, values: Floats) -> Floats:
        """The inverse of `_at`, for one value per row."""
        rows, scores = np.arange(len(values)), np.array(_SCORES)
        right = np.clip((self.table < values[:, None]).sum(axis=1), 1, len(_SCORES) - 1)
        below, above = self.table[rows, right - 1], self.table[rows, right]
        share = (values - below) / (above - below)
        found: Floats = scores[right - 1] + share * (scores[right] - scores[right - 1])
        return found


def quantiles_of(draws: Floats, link: Link) -> Quantiles:
    """The quantiles of equally likely draws, one row for each of the settings."""
    n = draws.shape[1]
    places = np.clip(n * probabilities(np.array(_SCORES)) - 0.5, 0, n - 1)  # of the k-th of n draws: (k + 0.5) / n
    left = np.minimum(places.astype(int), n - 2)
    ordered = np.sort(draws, axis=1)
    table = ordered[:, left] + (places - left) * (ordered[:, left + 1] - ordered[:, left])
    return Quantiles(table + _apart(), link)


def mixed_quantiles(draws: Floats, others: Floats, share: Floats, link: Link) -> Quantiles:
    """Like `quantiles_of`, where with the probability `share`, one for each row, one of `others` comes instead."""
    n, values = draws.shape[1], np.concatenate([draws, np.tile(others, (len(draws), 1))], axis=1)
    weights = np.where(np.arange(values.shape[1]) < n, (1 - share[:, None]) / n, share[:, None] / len(others))
    order = np.argsort(values, axis=1)
    values, weights = np.take_along_axis(values, order, axis=1), np.take_along_axis(weights, order, axis=1)
    places, reached = probabilities(np.array(_SCORES)), np.cumsum(weights, axis=1)
    which = np.array([np.searchsorted(row / row[-1], places) for row in reached])  # no steps between the two
    return Quantiles(np.take_along_axis(values, which, axis=1) + _apart(), link)


def _apart() -> Floats:
    """Equal quantiles would have no inverse."""
    return 1e-9 * np.arange(len(_SCORES), dtype=float)
