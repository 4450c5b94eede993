"""How wrong a replay is, in logarithms of time: a prior for one log, and what several logs of a job show."""

from collections.abc import Sequence
from dataclasses import dataclass
from math import exp, log, log2, sqrt
from typing import Protocol

from sparkcast.units import show_percent

LEVEL = 0.9
_Z = 1.645  # of the normal distribution, at both ends of LEVEL
# Half of the interval: what repeats of a run differ by, and what is wrong about each doubling of slots.
_RUN, _DOUBLING, _DATA = 0.05, 0.02, 0.075
_BELIEF = 3.0  # pairs of logs that the prior is worth
_SAME = 0.1  # doublings of slots: two logs of one size
_LEAST = 0.25  # of the prior's variance: few logs do not show that a replay is exact


class _PairOfLogs(Protocol):
    @property
    def error(self) -> float: ...
    @property
    def distance(self) -> float: ...


@dataclass(frozen=True, slots=True)
class ReplaySpread:
    """How many times the prior's widths the errors are, of repeats and of other slots; `slope`: per doubling."""

    slope: float = 0.0
    noise: float = 1.0
    bias: float = 1.0
    n_pairs: int = 0
    n_repeats: int = 0  # pairs on equally many slots

    def at(self, logs_s: Sequence[float], distances: Sequence[float], data: float) -> tuple[float, float]:
        """The center and the standard deviation of the logarithm of the time, from one replay per log."""
        weights = [1 / _prior_sd(distance, data) ** 2 for distance in distances]
        centers = [one + self.slope * distance for one, distance in zip(logs_s, distances, strict=True)]
        center = sum(w * c for w, c in zip(weights, centers, strict=True)) / sum(weights)
        between = sum(w * (c - center) ** 2 for w, c in zip(weights, centers, strict=True)) / sum(weights)
        # Half of what two runs of one cluster differ by is the noise of the next run, and the mean of logs has less of
        # the other half. What is wrong about other slots is the same in all of them, and what logs differ by beyond
        # noise is theirs too.
        noise = (self.noise * _REPEATS) ** 2 / 2
        wrong = min(_bias(distance, data) for distance in distances) * self.bias**2
        return center, sqrt(noise * (1 + 1 / len(weights)) + wrong + max(between - noise, 0.0))


def _prior_sd(distance: float, data: float) -> float:
    return (log(1 + _RUN + _DOUBLING * abs(distance)) + _DATA * abs(log2(data))) / _Z


_REPEATS = _prior_sd(0.0, 1.0)


def _bias(distance: float, data: float = 1.0) -> float:
    """The variance beyond that of repeats."""
    return _prior_sd(distance, data) ** 2 - _REPEATS**2


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
    repeats = [e for d, e in found if abs(d) < _SAME]
    others = [(_bias(d), e - slope * d) for d, e in found if abs(d) >= _SAME]
    noise = (sum(e * e for e in repeats) + _BELIEF * _REPEATS**2) / (len(repeats) + _BELIEF)
    believed = _BELIEF * _bias(1.0)
    bias = (sum(e * e - noise for _, e in others) + believed) / (sum(b for b, _ in others) + believed)
    return ReplaySpread(slope, sqrt(noise) / _REPEATS, sqrt(max(bias, _LEAST)), len(found), len(repeats))


def interval_text(n_logs: int, spread: ReplaySpread | None, data: float) -> str:
    """Where the width of the intervals is from."""
    used = spread or prior_spread()
    repeats = exp(used.noise * _REPEATS * _Z * sqrt((1 + 1 / n_logs) / 2)) - 1
    told = f"{show_percent(repeats)} plus {show_percent(used.bias * _DOUBLING)} per doubling of slots"
    if data != 1:
        told += f" and {show_percent(used.bias * _DATA)} per doubling of the data"
    if spread is None or not spread.n_pairs:
        return f"assumed from one log: {told}"
    if spread.n_repeats == spread.n_pairs:
        return f"from {n_logs} runs of one size: {told}, which is assumed"
    return f"from {n_logs} logs, each replayed as the others: {told}"
