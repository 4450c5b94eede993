"""How wrong a replay is, in logarithms of time: a prior for one log, and what several logs of a job show."""

from collections.abc import Sequence
from dataclasses import dataclass
from math import log, log2, sqrt
from typing import Protocol

from sparkcast.units import show_percent

LEVEL = 0.9
_Z = 1.645  # of the normal distribution, at both ends of LEVEL
# Half of the interval: what repeats of a run differ by, and what is wrong about each doubling of slots.
_RUN, _DOUBLING, _DATA = 0.05, 0.02, 0.075
_BELIEF = 3.0  # pairs of logs that the prior is worth


class _PairOfLogs(Protocol):
    @property
    def error(self) -> float: ...
    @property
    def distance(self) -> float: ...


@dataclass(frozen=True, slots=True)
class ReplaySpread:
    """`slope` is the error per doubling of slots; `excess` is how many times the prior's width the errors are."""

    slope: float = 0.0
    excess: float = 1.0
    n_pairs: int = 0

    def at(self, logs_s: Sequence[float], distances: Sequence[float], data: float) -> tuple[float, float]:
        """The center and the standard deviation of the logarithm of the time, from one replay per log."""
        widths = [_prior_sd(distance, data) for distance in distances]
        weights = [1 / width**2 for width in widths]
        centers = [one + self.slope * distance for one, distance in zip(logs_s, distances, strict=True)]
        center = sum(w * c for w, c in zip(weights, centers, strict=True)) / sum(weights)
        between = sum(w * (c - center) ** 2 for w, c in zip(weights, centers, strict=True)) / sum(weights)
        return center, sqrt((min(widths) * self.excess) ** 2 + between)


def _prior_sd(distance: float, data: float) -> float:
    return (log(1 + _RUN + _DOUBLING * abs(distance)) + _DATA * abs(log2(data))) / _Z


def prior_spread() -> ReplaySpread:
    return ReplaySpread()


def measured_spread(pairs: Sequence[_PairOfLogs]) -> ReplaySpread:
    """From the replay of each log as the others were run. Few logs say little: the prior counts as some pairs more."""
    found = [(pair.distance, pair.error) for pair in pairs]
    n_logs = round((1 + sqrt(1 + 4 * len(found))) / 2)
    # Each log is in many pairs, which are not that many observations.
    worth = 1 / max(n_logs - 1, 1)
    steep = sum(d * d for d, _ in found) * worth + (_RUN / _DOUBLING) ** 2
    slope = sum(d * e for d, e in found) * worth / steep
    squares = [((e - slope * d) / _prior_sd(d, 1.0)) ** 2 for d, e in found]
    excess = sqrt((sum(squares) + _BELIEF) / (len(squares) + _BELIEF))
    return ReplaySpread(slope, excess, len(found))


def interval_text(n_logs: int, spread: ReplaySpread | None, data: float) -> str:
    """Where the width of the intervals is from."""
    told = f"{show_percent(_RUN)} plus {show_percent(_DOUBLING)} per doubling of slots"
    if data != 1:
        told += f" and {show_percent(_DATA)} per doubling of the data"
    if spread is None or not spread.n_pairs:
        return f"assumed from one log: {told}"
    return f"from {n_logs} logs, each replayed as the others: {spread.excess:.2g} times ({told})"
