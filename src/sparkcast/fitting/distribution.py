"""The distribution of the next run: every prediction is one, whatever model it comes from."""

from dataclasses import dataclass
from functools import lru_cache
from html import escape
from math import inf, nextafter

import numpy as np

from sparkcast.arrays import Floats
from sparkcast.errors import StudyError
from sparkcast.fitting.answering import AnswerTable, check_level
from sparkcast.fitting.normal import probabilities

_SHOWN = (0.01, 0.05, 0.1, 0.25, 0.5, 0.75, 0.9, 0.95, 0.99)  # quantiles that stand for the whole
_TAIL = 4.5  # standard deviations of a normal distribution up to which samples are drawn
_KNOTS = 901  # of the quantile function that samples are drawn from; lines in between are straight


@dataclass(frozen=True, slots=True, eq=False)
class Distribution:
    """Where the next run falls. Quantiles, probabilities and samples agree with each other."""

    table: AnswerTable  # of one configuration

    @property
    def median(self) -> float:
        return float(self.table.values[0])

    def quantile(self, share: float) -> float:
        """The value that the next run stays below with probability `share`."""
        check_level(share)
        if share == 0.5:
            return self.median
        low, high = self.interval(abs(2 * share - 1))
        return high if share > 0.5 else low

    def interval(self, level: float = 0.9) -> tuple[float, float]:
        """Where the next run falls with probability `level`, as likely below as above."""
        check_level(level)
        low, high = self.table.interval(level)
        return float(low[0]), float(high[0])

    def probability(self, *, at_most: float | None = None, at_least: float | None = None) -> float:
        """That the next run is within these bounds, one of which must be given."""
        if at_most is None and at_least is None:
            raise StudyError("no bound is given", hint="give at_most, at_least or both")
        below = 1.0 if at_most is None else self._below(at_most)
        # What lies exactly on a bound counts: a share may be 1 with a probability of its own.
        return max(0.0, below - (0.0 if at_least is None else self._below(nextafter(at_least, -inf))))

    def _below(self, limit: float) -> float:
        return float(self.table.probability_below(limit)[0])

    def sample(self, n: int, *, seed: int = 0) -> Floats:
        """So many runs as the next may be."""
        shares = _knots()
        values = np.array([self.quantile(share) for share in shares])
        draws = np.random.default_rng(seed).random(n)
        return np.asarray(np.interp(draws, shares, values))

    def as_plain(self) -> dict[str, float]:
        """Some quantiles by their share, for documents."""
        return {f"{share:g}": self.quantile(share) for share in _SHOWN}

    def _repr_html_(self) -> str:
        cells = "".join(f"<td>{value:.4g}</td>" for value in self.as_plain().values())
        heads = "".join(f"<th>{100 * share:g}%</th>" for share in _SHOWN)
        return f"<table><tr><th>share of runs below</th>{heads}</tr><tr><th>value</th>{cells}</tr></table>"

    def html(self, title: str) -> str:
        """With a line above it."""
        return f"<p>{escape(title)}</p>{self._repr_html_()}"


@lru_cache(maxsize=1)
def _knots() -> tuple[float, ...]:
    return tuple(probabilities(np.array(np.linspace(-_TAIL, _TAIL, _KNOTS), dtype=float)).tolist())
