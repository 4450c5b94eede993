"""The Bayesian model given the runs: particles, each a Gaussian process around its own law (see `prior`).

Given a particle's serial part and powers' spreads, the logarithm of what is left of each time is one Gaussian process:
powers, offsets and the smooth remainder integrate out in closed form, and only a few quantities per particle are left
to sample. Each particle predicts a distribution; together they are the answer.
"""

from dataclasses import dataclass, replace
from typing import Protocol

import numpy as np

from sparkcast.arrays import Floats
from sparkcast.fitting.normal import scores_between
from sparkcast.fitting.predictive import Link, Quantiles, link_of, quantiles_of
from sparkcast.fitting.prior import Quantities, Terrain, quantities
from sparkcast.fitting.problem import LowerBounds, Problem
from sparkcast.fitting.sampling import sample
from sparkcast.study import Kind, Role
from sparkcast.study.setting import PASSES, SIZES

_LEVEL = 1.5  # standard deviation of the level of the whole job
_DOUBT = 1.1  # the latent part is a little less sure than the model thinks: no law is quite right
# On more machines than were tried a time wanders off its law: they begin to wait for each other in ways that fewer did
# not show. A random walk, with this standard deviation after one e-fold (`benchmarks/small_studies.py`, beyond).
_WALK = 0.1
_NUGGET = 1e-8
_STEEP = 0.03  # e-folds of memory within which a jump happens
_MOST_STRETCHED = 1.5
_LEAST_LEFT = 1e-3  # of a time, beside the serial part; a measured one has at least 2 %
_HANGS = 0.02  # of runs that were stopped, for no reason in their settings
_HELD_UP = 0.12  # prior runs that were, beside as many others as make one run
_KEPT = 64  # particles that answer
_DRAWS = 16  # of each of them
_ROWS = 1000  # answered at a time, to bound memory
_NEAR_ZERO = 1e-3  # of the smallest number: no setting goes below it
_SAMPLED = 80  # configurations by which quantities are sampled, and
_STOPPED = 40  # configurations of which a run was stopped, and
_LEARNED = 500  # those that are learned from: more of them add little but time


@dataclass(frozen=True, slots=True, eq=False)
class Rows:
    """Settings of some configurations, as the model sees them."""

    numbers: Floats  # centered; logarithms of positive ones, others in terms of their range
    amounts: Floats  # relative to their mean
    categories: Floats

    def __len__(self) -> int:
        return len(self.numbers)

    def take(self, some: slice) -> "Rows":
        return Rows(self.numbers[some], self.amounts[some], self.categories[some])


@dataclass(frozen=True, slots=True)
class Inputs:
    """From columns of settings to what the model sees."""

    numbers: tuple[int, ...]  # columns of x
    are_logs: tuple[bool, ...]
    lowest: tuple[float, ...]
    centers: tuple[float, ...]
    units: tuple[float, ...]
    categories: tuple[int, ...]

    def rows(self, x: Floats) -> Rows:
        raw = _raw(x, self.numbers, self.are_logs, self.lowest)
        centered = (raw - np.array(self.centers)) / np.array(self.units)
        columns = [
            np.exp(centered[:, k]) if is_log else _above(raw[:, k], self.lowest[k], self.centers[k])
            for k, is_log in enumerate(self.are_logs)
        ]
        amounts = np.array(columns, dtype=float).reshape(len(columns), len(x)).T
        return Rows(centered, amounts, x[:, list(self.categories)])


def _above(values: Floats, lowest: float, center: float) -> Floats:
    """Numbers that may be 0, as multiples of their mean."""
    start = min(lowest, 0.0)
    return np.maximum(values - start, 0.0) / max(center - start, 1e-12)


def _raw(x: Floats, numbers: tuple[int, ...], are_logs: tuple[bool, ...], lowest: tuple[float, ...]) -> Floats:
    columns = [
        np.log(np.maximum(x[:, j], low * _NEAR_ZERO)) if is_log else x[:, j]
        for j, is_log, low in zip(numbers, are_logs, lowest, strict=True)
    ]
    return np.array(columns, dtype=float).reshape(len(columns), len(x)).T


def inputs_of(problem: Problem) -> tuple[Inputs, Terrain]:
    axes = problem.domain.axes
    numbers = tuple(j for j, axis in enumerate(axes) if axis.is_number and not axis.is_constant)
    are_logs = tuple(axes[j].is_positive for j in numbers)
    lowest = tuple((axes[j].numbers or (0.0,))[0] for j in numbers)
    categories = tuple(j for j, axis in enumerate(axes) if not axis.is_number and not axis.is_constant)
    raw = _raw(problem.x, numbers, are_logs, lowest)
    centers = tuple(float(raw[:, k].mean()) for k in range(len(numbers)))
    units = tuple(
        1.0 if is_log else float(raw[:, k].max() - raw[:, k].min()) or 1.0 for k, is_log in enumerate(are_logs)
    )
    is_time = problem.response.kind is Kind.TIME and problem.scale.is_log
    has_odds = problem.response.kind is Kind.SHARE and not problem.scale.is_log
    has_repeats = any(len(set(values)) > 1 for values in problem.values)
    roles = tuple(axes[j].role for j in numbers)
    terrain = Terrain(roles, are_logs, len(categories), is_time, has_odds, has_repeats)
    return Inputs(numbers, are_logs, lowest, centers, units, categories), terrain


@dataclass(frozen=True, slots=True, eq=False)
class RunData:
    """The runs, as the model sees them."""

    rows: Rows
    y: Floats  # on the link, the mean of replicates
    replicates: Floats
    freedom: float  # of replicates around their means: how much they say about the noise
    squares: float
    n_measured: int  # those after them were stopped: their `y` is where

    @property
    def center(self) -> float:
        return float(self.y[: self.n_measured].mean())

    @property
    def n_stopped(self) -> int:
        return len(self.y) - self.n_measured


def _seen(problem: Problem, inputs: Inputs, link: Link) -> RunData:
    # Real runs differ; rows that agree in every digit are one run that was copied.
    groups = [link.forward(np.array(sorted(set(values)))) for values in problem.values]
    stopped = problem.stopped or LowerBounds(np.empty((0, problem.x.shape[1])), np.empty(0))
    some = _spread(len(stopped), _STOPPED)
    return RunData(
        inputs.rows(np.concatenate([problem.x, stopped.x[some]])),
        np.concatenate([[group.mean() for group in groups], link.forward(stopped.values[some])]),
        np.array([float(len(group)) for group in groups] + [1.0] * len(some)),
        float(sum(len(group) - 1 for group in groups)),
        float(sum(((group - group.mean()) ** 2).sum() for group in groups)),
        len(groups),
    )


@dataclass(frozen=True, slots=True, eq=False)
class Law:
    """What particles say before the remainder is looked at."""

    terrain: Terrain
    known: Quantities
    center: float

    def serial(self, rows: Rows) -> Floats:
        """The serial part at each of the rows, up to a factor."""
        found = np.ones((len(self.known.growth), len(rows)))
        if machines := self.terrain.places(Role.TOTAL_CORES, Role.MACHINES):
            found *= np.exp(self.known.growth[:, None] * rows.numbers[:, machines[0]])
        for j in range(len(self.terrain.roles)):
            share = self.known.proportion[:, [j]]
            if share.any():
                found *= 1 - share + share * rows.amounts[:, j]
        return np.maximum(found, 1e-9)

    def mean(self, rows: Rows) -> Floats:
        """The logarithm of the shared part that is expected at each of the rows."""
        expected: Floats = self.center + self.known.power_means @ rows.numbers.T
        known = self.known
        if known.cliff.any():
            missing = self._missing(rows, known.need, known.need_growth)
            expected = expected + known.cliff[:, None] * np.maximum(missing, 0.0)
        if known.jump.any():
            missing = self._missing(rows, known.jump_need, known.jump_growth)
            expected = expected + known.jump[:, None] / (1 + np.exp(np.clip(-missing / _STEEP, -700, 700)))
        return expected

    def _missing(self, rows: Rows, need: Floats, growth: Floats) -> Floats:
        """How much memory is missing at each of the rows, in e-folds; below 0 where there is enough."""
        places = [*self.terrain.places(Role.MEMORY), *self.terrain.places(Role.MACHINES)[:1]]
        data = rows.numbers[:, self.terrain.places(*SIZES, *PASSES)].sum(axis=1)
        missing: Floats = need[:, None] + growth[:, None] * data - rows.numbers[:, places].sum(axis=1)
        return missing

    def covariance(self, left: Rows, right: Rows) -> Floats:
        known, shape = self.known, (-1, len(left), len(right))
        apart = (left.numbers[:, None] - right.numbers).reshape(len(left) * len(right), -1)
        products = (left.numbers[:, None] * right.numbers).reshape(len(left) * len(right), -1)
        squares = ((1 / known.lengths**2) @ (apart**2).T).reshape(shape)
        found: Floats = (known.power_spreads**2 @ products.T).reshape(shape)
        found += _LEVEL**2
        remainder = known.remainder[:, None, None] ** 2
        if self.terrain.n_categories:
            same = (left.categories[:, None] == right.categories).reshape(len(left) * len(right), -1) * 1.0
            found += (known.offsets**2 @ same.T).reshape(shape)
            # What numbers do in one category they partly do in all, and partly in categories that are alike.
            differ = (known.closeness**2 @ (1 - same).T).reshape(shape)
            apart_by = known.distance[:, None, None] ** 2 * differ
            common = known.common[:, None, None]
            found += (1 - common) * remainder * _matern(squares + apart_by)
            remainder = common * remainder
        found += remainder * _matern(squares)
        return found

    def variance(self, rows: Rows) -> Floats:
        """The diagonal of `covariance`."""
        known = self.known
        fixed = _LEVEL**2 + (known.offsets**2).sum(axis=1) + known.remainder**2
        found: Floats = known.power_spreads**2 @ (rows.numbers**2).T + fixed[:, None]
        return found

    def remains(self, seen: RunData) -> tuple[Floats, Floats, Floats]:
        """Serial part (a factor per particle), what is left of each run on the link, and by how much that stretches
        errors. Of a run that was stopped it may be all, and is then next to nothing."""
        if not self.terrain.is_time:
            like = np.ones((len(self.known.noise), len(seen.y)))
            return np.zeros(len(like)), like * seen.y, like
        times = np.exp(seen.y)
        serial = self.serial(seen.rows)
        factor = self.known.serial * (times / serial)[:, : seen.n_measured].min(axis=1)
        left = np.maximum(times - factor[:, None] * serial, _LEAST_LEFT * times)
        return factor, np.log(left), times / left

    def covariance_of_runs(self, seen: RunData, stretch: Floats) -> Floats:
        """Of what was measured: the process, and each run's own deviation from it."""
        found, diagonal = self.covariance(seen.rows, seen.rows), np.arange(len(seen.y))
        single = self.known.noise[:, None] ** 2 / seen.replicates + self.known.between[:, None] ** 2
        # Where the serial part is nearly all of a run, what is left of it can be much less than it seems but hardly
        # more: a run that was measured is never as good as unobserved.
        found[:, diagonal, diagonal] += np.minimum(stretch, _MOST_STRETCHED) ** 2 * single + _NUGGET
        return found


def _matern(squares: Floats) -> Floats:
    """Matern's kernel of smoothness 5/2 in place of the squared distances: memory fetched anew takes longer."""
    squares *= 5
    distance = np.sqrt(squares)
    squares /= 3
    squares += distance
    squares += 1
    np.negative(distance, out=distance)
    squares *= np.exp(distance, out=distance)
    return squares


@dataclass(frozen=True, slots=True, eq=False)
class Posterior:
    """What the runs say: particles, and for each of them the Gaussian process given the runs."""

    inputs: Inputs
    law: Law
    link: Link
    rows: Rows
    inverse: Floats  # of the covariance of the runs
    heights: Floats
    factor: Floats  # of the serial part
    left_out: Floats  # the median that the others predict for each configuration, in the response's unit

    def __call__(self, x: Floats) -> Floats:
        return self.quantiles(x).values

    def quantiles(self, x: Floats) -> Quantiles:
        """Where the next run falls at each row of x."""
        parts = [self._part(self.inputs.rows(x[k : k + _ROWS])) for k in range(0, len(x), _ROWS)]
        return Quantiles(np.concatenate([part.table for part in parts]), self.link, self._held_up)

    @property
    def _held_up(self) -> float:
        """The share of runs that may be held up for hours, where no repeats show that they are not."""
        terrain = self.law.terrain
        return _HELD_UP / (len(self.rows) + 1) if terrain.is_time and not terrain.has_repeats else 0.0

    def _part(self, rows: Rows) -> Quantiles:
        with_runs = self.law.covariance(rows, self.rows)
        mean = self.law.mean(rows) + (with_runs @ self.heights[..., None])[..., 0]
        known = ((with_runs @ self.inverse) * with_runs).sum(axis=2)
        spread = _DOUBT * np.sqrt(np.maximum(self.law.variance(rows) - known, 0.0))
        latent, noise = _normal_draws(len(mean))
        draws = mean[:, :, None] + spread[:, :, None] * latent[:, None]
        if self.law.terrain.is_time:
            serial = self.factor[:, None] * self.law.serial(rows)
            draws = np.log(serial[:, :, None] + np.exp(np.minimum(draws, 700.0)))
        draws += self._scatter(rows)[:, :, None] * noise[:, None]
        return quantiles_of(draws.transpose(1, 0, 2).reshape(len(rows), -1), self.link)

    def _scatter(self, rows: Rows) -> Floats:
        """How far runs stray from each particle's law: by their noise, and on more machines than were tried."""
        known, terrain = self.law.known, self.law.terrain
        variance = (known.noise**2 + known.between**2)[:, None]
        if terrain.is_time and (places := terrain.places(Role.MACHINES, Role.TOTAL_CORES)):
            above = (rows.numbers - self.rows.numbers.max(axis=0))[:, places]
            variance = variance + _WALK**2 * above.max(axis=1).clip(0.0)
        scatter: Floats = np.sqrt(variance)
        return scatter


def _normal_draws(n: int) -> tuple[Floats, Floats]:
    """For each particle the same spread of normal numbers twice, shuffled: few draws that stand for all."""
    spread = np.tile(scores_between(_DRAWS), (n, 1))
    random = np.random.default_rng(0)
    return random.permuted(spread, axis=1), random.permuted(spread, axis=1)


class PosteriorSampler(Protocol):
    """`posterior_of`, or what remembers its answers."""

    def __call__(self, problem: Problem, *, seed: int = 0) -> Posterior:
        """What the runs of the problem say."""
        ...


def posterior_of(problem: Problem, *, seed: int = 0) -> Posterior:
    """Sample the quantities, then condition each particle's process on the runs."""
    some = _at_most(_LEARNED, problem)
    few = _at_most(_SAMPLED, some)
    inputs, terrain = inputs_of(some)
    link = link_of(problem.response, problem.scale, problem.target)
    seen = _seen(few, inputs, link)
    n_particles, n_moves = int(np.clip(5000 / len(few), 64, 256)), 3
    if terrain.has_many:  # which of them act is hard to find out
        n_particles, n_moves = 2 * n_particles, 6
    unknowns = sample(
        lambda rows: _explained(terrain, rows, seen)[2],
        terrain.n_unknown + seen.n_stopped,
        n_particles=n_particles,
        n_moves=n_moves,
        seed=seed,
    )
    kept = _KEPT if len(some) <= _SAMPLED else _KEPT // 4
    unknowns = unknowns[:: max(1, n_particles // kept)]
    law, reached, _ = _explained(terrain, unknowns, seen)
    return _conditioned(inputs, law, link, _seen(some, inputs, link), reached)


def _at_most(n: int, problem: Problem) -> Problem:
    """A sample of the configurations that ended, beside all that were stopped."""
    if len(problem) <= n:
        return problem
    return replace(problem.subset(_spread(len(problem), n)), stopped=problem.stopped)


def _spread(n: int, some: int) -> list[int]:
    """Some of n places, the same each time."""
    return sorted(np.random.default_rng(n).permutation(n)[:some].tolist())


def _explained(terrain: Terrain, unknowns: Floats, seen: RunData) -> tuple[Law, Floats, Floats]:
    """What each row of unknowns means: its law, what would have been left of the runs that were stopped had they gone
    on, and the logarithm of how likely the runs are."""
    law = Law(terrain, quantities(terrain, unknowns[:, : terrain.n_unknown]), seen.center)
    _, left, stretch = law.remains(seen)
    expected, n = law.mean(seen.rows), seen.n_measured
    factor: Floats = np.linalg.cholesky(law.covariance_of_runs(seen, stretch)).astype(float, copy=False)
    white: Floats = np.linalg.solve(factor[:, :n, :n], (left - expected)[:, :n, None])[..., 0].astype(float, copy=False)
    found = -(white**2).sum(axis=1) / 2 - np.log(np.diagonal(factor[:, :n, :n], axis1=1, axis2=2)).sum(axis=1)
    found += np.log(stretch[:, :n]).sum(axis=1)  # of the change from times to what is left of them
    found -= seen.freedom * np.log(law.known.noise) + seen.squares / (2 * law.known.noise**2)
    reached, chance = _gone_on(factor, white, expected, left, unknowns[:, terrain.n_unknown :])
    return law, reached, np.where(np.isfinite(found), found + chance, -1e300)


def _gone_on(factor: Floats, white: Floats, expected: Floats, left: Floats, unknowns: Floats) -> tuple[Floats, Floats]:
    """One after the other, where each run that was stopped would have ended given those before it, and how likely it
    was to take longer than it was allowed (Geweke, Hajivassiliou and Keane).

    `factor` is the Cholesky factor of all runs, `white` what it leaves of the measured ones. The unknown of each run
    says how far beyond its limit it would have come; a few would have ended before, and hung.
    """
    from scipy.special import ndtr, ndtri

    n, reached, chance = white.shape[1], np.empty_like(unknowns), np.zeros(len(unknowns))
    for k, place in enumerate(range(n, n + unknowns.shape[1])):
        mean = expected[:, place] + (factor[:, place, :place] * white).sum(axis=1)
        spread = factor[:, place, place]
        longer = ndtr((mean - left[:, place]) / spread)
        all_ = longer + _HANGS * (1 - longer)
        share = all_ * ndtr(unknowns[:, k])  # of what lies above where it ended
        above = np.where(share < longer, share, longer + (share - longer) / _HANGS)
        score = -ndtri(np.clip(above, 1e-300, 1 - 1e-16))
        chance += np.log(all_)
        reached[:, k] = mean + spread * score
        white = np.column_stack([white, score])
    return reached, chance


def _conditioned(inputs: Inputs, law: Law, link: Link, seen: RunData, reached: Floats) -> Posterior:
    factor, left, stretch = law.remains(seen)
    n = seen.n_measured
    left[:, n:] = reached
    inverse: Floats = np.linalg.inv(law.covariance_of_runs(seen, stretch)).astype(float)
    heights = (inverse @ (left - law.mean(seen.rows))[..., None])[..., 0]
    left_out = link.back(_left_out(law, seen, left, stretch, factor, inverse, heights)[:n])
    return Posterior(inputs, law, link, seen.rows, inverse, heights, factor, left_out)


def _left_out(
    law: Law, seen: RunData, left: Floats, stretch: Floats, factor: Floats, inverse: Floats, heights: Floats
) -> Floats:
    """What is said of each configuration without it, on the link.

    Leaving one row out of a Gaussian process has a closed form (Rasmussen and Williams 2006, equation 5.12). The
    particles know the row too: those that say it is likely count less, by importance sampling with weights cut as
    Ionides (2008) does.
    """
    precision = np.diagonal(inverse, axis1=1, axis2=2)
    missed = heights / precision
    log_density = np.log(precision) / 2 - missed**2 * precision / 2 + np.log(stretch)
    weights = np.exp(-(log_density - log_density.min(axis=0)))
    weights = np.minimum(weights, weights.mean(axis=0) * np.sqrt(len(weights)))
    said = left - missed
    if law.terrain.is_time:
        said = np.log(factor[:, None] * law.serial(seen.rows) + np.exp(np.minimum(said, 700.0)))
    found: Floats = (weights * said).sum(axis=0) / weights.sum(axis=0)
    return found
