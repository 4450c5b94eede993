"""One job followed run by run: what is believed of its time, and whether it has changed.

Under each law (see `laws`) the logarithm of the time is a level plus the law's offset plus noise. Level and noise have
conjugate priors, so that each run takes a few operations on arrays, and the evidence for "the level is another since
run i" has a closed form.
"""

from dataclasses import dataclass
from math import exp, inf, lgamma, log, pi, sqrt

import numpy as np

from sparkcast.arrays import Array, Floats
from sparkcast.history.mixture import StudentMixture, log_sum
from sparkcast.history.prior import FleetPrior

_MOST_LEVEL_RUNS = 60.0  # the level forgets what is older, as jobs drift
_MOST_NOISE_RUNS = 120.0
_CLIP = 3.5  # standard deviations: a run further off teaches as if it were this far
_LAST = 30  # runs among which a change is looked for
_BEFORE = 5  # runs of a job that come before any change of it
_FEWEST = 2  # runs since a change
_SUSPICION = 1.8  # standard errors of the mean of the last runs, from which on a change is thought of
_ODDS = 6.0  # for a change, from which on it is told
_MIXED = 0.03  # a change less likely than this is left out of forecasts


@dataclass(frozen=True, slots=True)
class Belief:
    """Under each law: level, noise and weight. `runs` and `shape` are the same for all."""

    log_weight: Floats
    mean: Floats
    rate: Floats
    runs: float  # that the level is worth
    shape: float

    def mixture(self, offset: Floats, tail: float, *, extra: float = 0.0) -> StudentMixture:
        """Where the next run falls; `extra` is a variance beside those of noise and level."""
        weight = np.exp(self.log_weight - log_sum(self.log_weight))
        spread = np.sqrt(self.rate / self.shape * (1 + 1 / self.runs) + extra)
        return StudentMixture(self.mean + offset, spread, weight, min(2 * self.shape, tail))

    def log_density(self, value: float, offset: Floats) -> Floats:
        """Of one run, under each law."""
        square = self.rate / self.shape * (1 + 1 / self.runs)
        df = 2 * self.shape
        apart = (value - offset - self.mean) ** 2 / square
        constant = lgamma((df + 1) / 2) - lgamma(df / 2) - 0.5 * log(df * pi)
        found: Floats = constant - 0.5 * np.log(square) - (df + 1) / 2 * np.log1p(apart / df)
        return found

    def after(self, value: float, offset: Floats, densities: Floats) -> "Belief":
        residual = value - offset
        runs = min(self.runs, _MOST_LEVEL_RUNS)
        gain = residual - self.mean
        rate = self.rate + 0.5 * runs / (runs + 1) * gain**2
        shape = self.shape + 0.5
        if shape > _MOST_NOISE_RUNS / 2:
            rate, shape = rate * (_MOST_NOISE_RUNS / 2 / shape), _MOST_NOISE_RUNS / 2
        weight = self.log_weight + densities
        return Belief(weight - log_sum(weight), self.mean + gain / (runs + 1), rate, runs + 1, shape)

    def with_level(self, sd: float) -> "Belief":
        """The same with a level that may have moved by so much."""
        return Belief(self.log_weight, self.mean, self.rate, self.changed_runs(sd), self.shape)

    def changed_runs(self, sd: float) -> float:
        """What a level that may have moved is worth in runs."""
        noise = float(np.exp(self.log_weight - log_sum(self.log_weight)) @ self.rate) / self.shape
        return noise / (sd * sd + noise / self.runs)


def first_belief(prior: FleetPrior, level: float | None = None, level_sd: float | None = None) -> Belief:
    sd = prior.level_sd if level_sd is None else level_sd
    weights = prior.log_weights
    n = len(weights)
    mean = np.full(n, prior.level if level is None else level)
    return Belief(weights, mean, np.full(n, prior.rate), prior.noise**2 / sd**2, prior.shape)


@dataclass(frozen=True, slots=True)
class ShiftFound:
    """The level is another since run `place`. `log_ratio` is the change of the logarithm of the time."""

    place: int
    found: int  # the run with which it showed
    log_ratio: float
    sd: float
    odds: float


@dataclass(slots=True)
class _Seen:
    value: float  # clipped
    raw: float
    offset: Floats
    before: Belief
    evidence: float  # logarithm, of all runs before
    score: float
    rate: float  # with which a change comes here


class Follower:
    """Takes the runs of one job in their order."""

    def __init__(self, prior: FleetPrior, *, level: float | None = None, level_sd: float | None = None) -> None:
        self.prior = prior
        self.belief = first_belief(prior, level, level_sd)
        self.n_seen = 0
        self._seen: list[_Seen] = []  # since the last change
        self._first = 0  # the place of the first of these
        self._pending: tuple[float, Belief] | None = None  # a change that is likely, but not told: chance, belief

    def forecast(self, offset: Floats, *, is_changed: bool = False) -> StudentMixture:
        """Where the next run falls. `is_changed`: with settings that no run had whose time is known."""
        extra = 0.0
        if is_changed and self.n_seen:
            extra = self.prior.setting_rate * self.prior.change_sd**2
        found = self.belief.mixture(offset, self.prior.tail, extra=extra)
        if self._pending is not None:
            chance, belief = self._pending
            found = found.with_other(belief.mixture(offset, self.prior.tail, extra=extra), chance)
        return found

    def add(self, value: float, offset: Floats, *, is_changed: bool = False) -> ShiftFound | None:
        """One more run; the change that it shows, if any."""
        shift = self._take(value, offset, is_changed=is_changed)
        self.n_seen += 1
        return shift

    def _take(self, value: float, offset: Floats, *, is_changed: bool) -> ShiftFound | None:
        expected = self.belief.mixture(offset, inf)
        center, sd = expected.mean, expected.sd
        clipped = min(max(value, center - _CLIP * sd), center + _CLIP * sd) if self.belief.runs > 1 else value
        densities = self.belief.log_density(clipped, offset)
        evidence = log_sum(self.belief.log_weight + densities) - log_sum(self.belief.log_weight)
        rate = self.prior.setting_rate if is_changed else self.prior.change_rate
        before = self._seen[-1].evidence if self._seen else 0.0
        score = (clipped - center) / sd
        self._seen.append(_Seen(clipped, value, offset, self.belief, before + evidence, score, rate))
        self.belief = self.belief.after(clipped, offset, densities)
        self._pending = None
        return self._look()

    # ------------------------------------------------------------ changes

    def _look(self) -> ShiftFound | None:
        n = len(self._seen)
        before = _BEFORE if self._first == 0 else _FEWEST
        lengths = np.arange(_FEWEST, min(_LAST, n - before) + 1)
        if not len(lengths) or not self._is_suspicious(int(lengths[-1])):
            return None
        log_odds = self._log_odds(lengths)
        total = log_sum(log_odds)
        best = int(lengths[int(np.argmax(log_odds))])
        odds = exp(min(total, 50.0))
        if odds < _ODDS:
            chance = odds / (1 + odds)
            if chance > _MIXED:
                self._pending = (chance, self._since(best))
            return None
        return self._accept(best, odds)

    def _is_suspicious(self, most: int) -> bool:
        scores = np.array([one.score for one in self._seen[-most:]])[::-1]
        means = np.abs(np.cumsum(scores)) / np.sqrt(np.arange(1, most + 1))
        return bool(means[1:].max(initial=0.0) > _SUSPICION)

    def _log_odds(self, lengths: Array) -> Floats:
        """For a change before the last so many runs, against none."""
        n, most = len(self._seen), int(lengths[-1])
        last = self._seen[n - most :]
        residuals = np.array([one.value - one.offset for one in last])[::-1]
        sums, squares = np.cumsum(residuals, axis=0), np.cumsum(residuals**2, axis=0)
        rows = lengths - 1
        states = [last[most - int(m)].before for m in lengths]
        mean = np.array([one.mean for one in states])
        rate = np.array([one.rate for one in states])
        weight = np.array([one.log_weight for one in states])
        shape = np.array([one.shape for one in states])
        worth = np.array([one.changed_runs(self.prior.change_sd) for one in states])
        m = lengths.astype(float)
        average = sums[rows] / m[:, None]
        within = squares[rows] - sums[rows] * average
        factor = (worth * m / (worth + m))[:, None]
        after = rate + 0.5 * (within + factor * (average - mean) ** 2)
        constants = np.array(
            [lgamma(a + k / 2) - lgamma(a) + 0.5 * log(w / (w + k)) - k / 2 * log(2 * pi)
             for a, k, w in zip(shape.tolist(), m.tolist(), worth.tolist(), strict=True)]
        )  # fmt: skip
        density = constants[:, None] + shape[:, None] * np.log(rate) - (shape + m / 2)[:, None] * np.log(after)
        joint = weight + density
        top = joint.max(axis=1)
        changed = top + np.log(np.exp(joint - top[:, None]).sum(axis=1))
        evidence = [last[most - int(k) - 1].evidence if k < most else self._evidence_before(n - most) for k in lengths]
        same = self._seen[-1].evidence - np.array(evidence)
        rates = np.array([last[most - int(k)].rate for k in lengths])
        found: Floats = changed - same + np.log(rates / (1 - rates))
        return found

    def _evidence_before(self, place: int) -> float:
        return self._seen[place - 1].evidence if place else 0.0

    def _since(self, length: int) -> Belief:
        """What is believed when the level is another since the last so many runs."""
        last = self._seen[-length:]
        belief = last[0].before.with_level(self.prior.change_sd)
        for one in last:
            belief = belief.after(one.raw, one.offset, belief.log_density(one.raw, one.offset))
        return belief

    def _accept(self, length: int, odds: float) -> ShiftFound:
        last = self._seen[-length:]
        before = last[0].before
        first, found = self._first + len(self._seen) - length, self._first + len(self._seen) - 1
        self._first, self._seen = first, []
        self.belief = before.with_level(self.prior.change_sd)
        for one in last:
            self._restart(one)
        log_ratio, sd = _moved(before, self.belief)
        return ShiftFound(first, found, log_ratio, sd, odds)

    def _restart(self, one: _Seen) -> None:
        """A run since the change, once more, with the new level."""
        densities = self.belief.log_density(one.raw, one.offset)
        evidence = log_sum(self.belief.log_weight + densities) - log_sum(self.belief.log_weight)
        expected = self.belief.mixture(one.offset, inf)
        before = self._seen[-1].evidence if self._seen else 0.0
        score = (one.raw - expected.mean) / expected.sd
        self._seen.append(_Seen(one.raw, one.raw, one.offset, self.belief, before + evidence, score, one.rate))
        self.belief = self.belief.after(one.raw, one.offset, densities)


def _moved(before: Belief, after: Belief) -> tuple[float, float]:
    """The change of the level, and its standard deviation, over the laws."""
    weight = np.exp(after.log_weight - log_sum(after.log_weight))
    moved = after.mean - before.mean
    mean = float(weight @ moved)
    noise = after.rate / after.shape
    square = noise * (1 / after.runs + 1 / before.runs) + (moved - mean) ** 2
    return mean, sqrt(float(weight @ square))
