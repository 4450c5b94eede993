"""Shares of which many lie in one heap at the worse end: accuracies of trainings that never learn.

No smooth law leads from such a heap to everything else. Whether the next run falls into it is a question of its own,
answered by a Gaussian process behind logistic odds (Laplace's approximation; Rasmussen and Williams 2006, chapter 3),
whose quantities have the prior of the Bayesian model and are sampled like its own. What a run outside of the heap gives
is learned from those that are outside. A heap at the better end is another matter: trainings that stop at an accuracy
do so one after the other, and how near the others came tells much.
"""

from dataclasses import dataclass, replace

import numpy as np

from sparkcast.arrays import Bools, Floats, Ints
from sparkcast.fitting.law import Inputs, Law, Rows, inputs_of
from sparkcast.fitting.normal import scores_between
from sparkcast.fitting.predictive import Link
from sparkcast.fitting.prior import Terrain, quantities
from sparkcast.fitting.problem import Problem
from sparkcast.fitting.sampling import sample

_WIDTH = 0.3  # of a heap, in log-odds: 0.10 to 0.13, 0.85 to 0.88
_LEAST_SHARE = 1 / 3  # of the configurations
_FEWEST = 4  # configurations in a heap
_FEWEST_OTHERS = 3
_WORSE = 0.1  # of the configurations, at most: those go with the heap
_APART = 3.0  # widths: standard deviation of all; values that are all alike are no heap among others
_SHARPNESS = (3.0, 0.7)  # median, and sd of the logarithm: odds of falling into it, in terms of an effect on a response
_NARROWEST = 0.01
_TURNS = 0.02  # of runs end on the other side than those before them (1 % of TrimTuner's, which were run three times)
_DRAWS = 64
_PARTICLES, _KEPT = 128, 32
_SAMPLED, _LEARNED = 80, 200  # configurations
_STEPS, _LONGEST_STEP, _NEAR = 30, 4.0, 1e-4  # of Newton's method
_NUGGET = 1e-6


@dataclass(frozen=True, slots=True, eq=False)
class Odds:
    """For each particle the logarithm of the odds at the runs, at its most likely."""

    middle: Floats
    pull: Floats  # of each run: the slope of its log-likelihood
    weights: Floats  # and the curvature
    evidence: Floats

    def inverse(self, covariance: Floats) -> Floats:
        """Of the covariance with what each run leaves open added to it."""
        roots = np.sqrt(self.weights)
        solved = np.linalg.solve(_balanced(covariance, roots), _diagonal(roots))
        found: Floats = roots[:, :, None] * solved
        return found


@dataclass(frozen=True, slots=True, eq=False)
class Heap:
    """Where a heap lies, and how likely settings lead there."""

    draws: Floats  # of the next value in it, on the link
    inputs: Inputs
    law: Law
    sharpness: Floats
    rows: Rows
    pull: Floats
    inverse: Floats
    left_out: Floats  # how likely each configuration that was learned from is in it, without its own runs
    x: Floats  # the settings that were run, and
    is_in: Bools  # which of them were in it

    def chance(self, x: Floats) -> Floats:
        """How likely the next run at each row of x falls into it: where there are runs, most likely as they did."""
        same = (x[:, None] == self.x).all(axis=2)
        again = np.where(self.is_in[same.argmax(axis=1)], 1 - _TURNS, _TURNS)
        return np.where(same.any(axis=1), again, self._elsewhere(x))

    def _elsewhere(self, x: Floats) -> Floats:
        rows = self.inputs.rows(x)
        squares = self.sharpness[:, None] ** 2
        with_runs = squares[:, :, None] * self.law.covariance(rows, self.rows)
        middle = self.sharpness[:, None] * self.law.mean(rows) + (with_runs @ self.pull[..., None])[..., 0]
        known = ((with_runs @ self.inverse) * with_runs).sum(axis=2)
        spread = np.maximum(squares * self.law.variance(rows) - known, 0.0)
        found: Floats = _chance(middle, spread).mean(axis=0)
        return found


def heap_in(problem: Problem, link: Link) -> list[int]:
    """The configurations in a heap; none where there is no heap, or too little beside it."""
    if link.kind != "log-odds":
        return []
    values = link.forward(problem.target) * (1 if problem.response.better == "more" else -1)
    ordered, n = np.sort(values), len(values)
    ends = np.searchsorted(ordered, ordered + _WIDTH, side="right")
    first = int(np.argmax(ends - np.arange(n)))
    end = int(ends[first])
    is_heap = end - first >= max(_FEWEST, _LEAST_SHARE * n) and first <= _WORSE * n and n - end >= _FEWEST_OTHERS
    if not is_heap or float(values.std()) < _APART * _WIDTH:
        return []
    found: list[int] = np.flatnonzero(values <= ordered[end - 1]).tolist()
    return found


def learn_heap(problem: Problem, rows: list[int], link: Link, *, seed: int = 0) -> Heap:
    """How settings lead to the heap that these configurations are in."""
    is_in = np.zeros(len(problem), dtype=bool)
    is_in[rows] = True
    learned, few = _some(len(problem), _LEARNED), _some(len(problem), _SAMPLED)
    inputs, terrain = inputs_of(problem)
    terrain = replace(terrain, is_time=False, has_odds=True)
    all_rows = inputs.rows(problem.x)
    unknowns = sample(
        lambda z: _odds(*_process(terrain, z, all_rows.at(few)), is_in[few]).evidence,
        terrain.n_unknown + 1,
        n_particles=_PARTICLES,
        seed=seed,
    )[:: _PARTICLES // _KEPT]
    law, sharpness = _law(terrain, unknowns)
    own = all_rows.at(learned)
    expected, covariance = _process(terrain, unknowns, own)
    odds = _odds(expected, covariance, is_in[learned])
    inverse = odds.inverse(covariance)
    left_out = _left_out(odds, covariance, inverse)
    draws = _draws(link.forward(problem.target[rows]))
    return Heap(draws, inputs, law, sharpness, own, odds.pull, inverse, left_out, problem.x, is_in)


def _some(n: int, most: int) -> Ints:
    """Some of n places, the same each time."""
    return np.sort(np.random.default_rng(n).permutation(n)[:most])


def _draws(values: Floats) -> Floats:
    """What the next value in a heap may be, given those that were seen."""
    from scipy.special import ndtr, stdtrit

    spread = max(float(values.std(ddof=1)) * (1 + 1 / len(values)) ** 0.5, _NARROWEST)
    found: Floats = values.mean() + spread * stdtrit(len(values) - 1, ndtr(scores_between(_DRAWS)))
    return found


def _law(terrain: Terrain, unknowns: Floats) -> tuple[Law, Floats]:
    median, spread = _SHARPNESS
    known = quantities(terrain, unknowns[:, : terrain.n_unknown])
    return Law(terrain, known, 0.0), median * np.exp(spread * unknowns[:, -1])


def _process(terrain: Terrain, unknowns: Floats, rows: Rows) -> tuple[Floats, Floats]:
    """Mean and covariance, for each particle, of the logarithm of the odds."""
    law, sharpness = _law(terrain, unknowns)
    covariance = sharpness[:, None, None] ** 2 * (law.covariance(rows, rows) + _NUGGET * np.eye(len(rows)))
    return sharpness[:, None] * law.mean(rows), covariance


def _odds(expected: Floats, covariance: Floats, is_in: Bools) -> Odds:
    """By Newton's method in steps that are not too long, all particles at once."""
    solution, middle = np.zeros_like(expected), expected.copy()
    for _ in range(_STEPS):
        chances = _logistic(middle)
        weights = np.maximum(chances * (1 - chances), 1e-12)
        roots = np.sqrt(weights)
        wanted = weights * (middle - expected) + is_in - chances
        inner = roots * (covariance @ wanted[..., None])[..., 0]
        solved = np.linalg.solve(_balanced(covariance, roots), inner[..., None])[..., 0]
        step = wanted - roots * solved - solution
        moved = (covariance @ step[..., None])[..., 0]
        longest = np.abs(moved).max(axis=1, keepdims=True)
        share = np.minimum(1.0, _LONGEST_STEP / np.maximum(longest, 1e-12))
        solution, middle = solution + share * step, middle + share * moved
        if float(longest.max()) < _NEAR:
            break
    chances = _logistic(middle)
    weights = np.maximum(chances * (1 - chances), 1e-12)
    _, volume = np.linalg.slogdet(_balanced(covariance, np.sqrt(weights)))
    fits = -np.logaddexp(0.0, np.where(is_in, -middle, middle)).sum(axis=1)
    evidence = fits - (solution * (middle - expected)).sum(axis=1) / 2 - volume / 2
    return Odds(middle, is_in - chances, weights, np.where(np.isfinite(evidence), evidence, -1e300))


def _balanced(covariance: Floats, roots: Floats) -> Floats:
    """One plus the covariance, weighed by the runs: easy to invert however large it is."""
    found: Floats = np.eye(covariance.shape[1]) + roots[:, :, None] * covariance * roots[:, None, :]
    return found


def _diagonal(values: Floats) -> Floats:
    found: Floats = values[:, :, None] * np.eye(values.shape[1])
    return found


def _left_out(odds: Odds, covariance: Floats, inverse: Floats) -> Floats:
    """How likely each configuration is in the heap without its own runs: each is taken out of the normal
    approximation, as Opper and Winther (2000) do."""
    spread = np.diagonal(covariance, axis1=1, axis2=2) - ((covariance @ inverse) * covariance).sum(axis=2)
    without = spread / np.maximum(1 - spread * odds.weights, 1e-6)
    found: Floats = _chance(odds.middle - without * odds.pull, without).mean(axis=0)
    return found


def _chance(middle: Floats, variance: Floats) -> Floats:
    """The mean chance where the logarithm of its odds is normal (MacKay 1992)."""
    return _logistic(middle / np.sqrt(1 + np.pi / 8 * variance))


def _logistic(odds: Floats) -> Floats:
    found: Floats = 1 / (1 + np.exp(-np.clip(odds, -700, 700)))
    return found
