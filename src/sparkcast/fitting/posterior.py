"""The Bayesian model given the runs: particles, each a Gaussian process around its own law (see `prior`).

Given a particle's serial part and powers' spreads, the logarithm of what is left of each time is one Gaussian process:
powers, offsets and the smooth remainder integrate out in closed form, and only a few quantities per particle are left
to sample. Each particle predicts a distribution; together they are the answer.
"""

from dataclasses import dataclass, replace
from typing import Protocol

import numpy as np

from sparkcast.arrays import Floats
from sparkcast.fitting.heaps import Heap, heap_in, learn_heap
from sparkcast.fitting.law import Inputs, Law, Rows, RunData, inputs_of
from sparkcast.fitting.normal import scores_between
from sparkcast.fitting.predictive import Link, Quantiles, link_of, mixed_quantiles, quantiles_of
from sparkcast.fitting.prior import Terrain, quantities
from sparkcast.fitting.problem import LowerBounds, Problem
from sparkcast.fitting.sampling import sample
from sparkcast.study import Role

_DOUBT = 1.1  # the latent part is a little less sure than the model thinks: no law is quite right
# On more machines than were tried a time wanders off its law: they begin to wait for each other in ways that fewer did
# not show. A random walk, with this standard deviation after one e-fold (`benchmarks/small_studies.py`, beyond).
_WALK = 0.1
_HANGS = 0.02  # of runs that were stopped, for no reason in their settings
_HELD_UP = 0.12  # prior runs that were, beside as many others as make one run
_EVEN = 0.5  # chances
_KEPT = 64  # particles that answer
_DRAWS = 16  # of each of them
_ROWS = 1000  # answered at a time, to bound memory
_SAMPLED = 80  # configurations by which quantities are sampled, and
_STOPPED = 40  # configurations of which a run was stopped, and
_LEARNED = 500  # those that are learned from: more of them add little but time


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
    heap: Heap | None = None  # into which runs fall or not, and then the rest is about those that do not

    def __call__(self, x: Floats) -> Floats:
        return self.quantiles(x).values

    def quantiles(self, x: Floats) -> Quantiles:
        """Where the next run falls at each row of x."""
        parts = [self._part(x[k : k + _ROWS]) for k in range(0, len(x), _ROWS)]
        return Quantiles(np.concatenate([part.table for part in parts]), self.link, self._held_up)

    @property
    def _held_up(self) -> float:
        """The share of runs that may be held up for hours, where no repeats show that they are not."""
        terrain = self.law.terrain
        return _HELD_UP / (len(self.rows) + 1) if terrain.is_time and not terrain.has_repeats else 0.0

    def _part(self, x: Floats) -> Quantiles:
        draws = self._draws(self.inputs.rows(x))
        if self.heap is None:
            return quantiles_of(draws, self.link)
        return mixed_quantiles(draws, self.heap.draws, self.heap.chance(x), self.link)

    def _draws(self, rows: Rows) -> Floats:
        """Of the next run at each of the rows, all equally likely."""
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
        found: Floats = draws.transpose(1, 0, 2).reshape(len(rows), -1)
        return found

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
    """What the runs say. Where many of them lie in a heap, the law is that of the others."""
    link = link_of(problem.response, problem.scale, problem.target)
    in_heap = heap_in(problem, link)
    if not in_heap:
        return _smooth(problem, seed)
    heap, others = learn_heap(problem, in_heap, link, seed=seed), _smooth(problem.without(in_heap), seed)
    if len(heap.left_out) < len(problem):  # then nobody asks for what is said of those left out
        return replace(others, heap=heap)
    rest = np.delete(np.arange(len(problem)), in_heap)
    left_out = others(problem.x)
    left_out[rest[: len(others.left_out)]] = others.left_out
    left_out = np.where(heap.left_out > _EVEN, link.back(np.full(1, np.median(heap.draws))), left_out)
    return replace(others, heap=heap, left_out=left_out)


def _smooth(problem: Problem, seed: int) -> Posterior:
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
