"""Physical terms for the trend, and smooth effects of all factors around it.

    time = (start-up + work) * effects,    log(effects) = sum of smooth functions of one, two, ... factors

The trend is a sum of non-negative terms (see _terms), which says where time goes outside the measured range. Whether
its terms follow each other or overlap is not known, so both are fitted, and the better one counts more.

What the trend leaves unexplained is a ratio that varies smoothly with the settings: kernel regression of its
logarithm, with a product of 1 + share * k over the factors as the kernel, so that effects of single factors and of
their interactions are found together. Outside the measured range effects stay what they are at its edge. How smooth
they are, how much of them is interaction and how much is noise is decided by the errors on left-out configurations,
which kernel regression has in closed form.

How time grows with the amount of work beyond what was measured is open when few amounts were run: besides the trend it
may be proportional to the amount, or go on with the power of it that was measured. The interval spans all three.
"""

from dataclasses import dataclass
from itertools import product

import numpy as np

from sparkcast.arrays import Floats
from sparkcast.fitting.encoding import Axis, Domain
from sparkcast.fitting.problem import Problem
from sparkcast.fitting.relative import require_times
from sparkcast.fitting.terms import NEAR_ZERO, Sums, physical_terms, roles_of, sums_of
from sparkcast.fitting.uncertainty import Forms, LearnedPoints, PointPredictions
from sparkcast.models import MODELS
from sparkcast.models.base import Model

_OVERLAPS = (1.0, 2.0)
_LENGTHS = (0.3, 1.0)  # of the measured range of a factor
_INTERACTIONS = (0.1, 1.0)
_NOISES = (1e-3, 1e-2, 1e-1, 1.0, 10.0)  # relative to the variance of the effects
_MAX_JUDGED = 300  # configurations that decide between these
_MAX_CENTERS = 1000  # configurations that effects are learned from; more of them add little but time
_STEEPEST = 2.0  # power of an amount of work
_EXACT = 1e-12  # a mean squared relative error that is rounding


@dataclass(frozen=True, slots=True)
class Trend:
    """The weighted geometric mean of several sums of terms."""

    sums: tuple[Sums, ...]
    shares: tuple[float, ...]

    def __call__(self, x: Floats) -> Floats:
        return np.exp(sum(share * np.log(sums(x)) for share, sums in zip(self.shares, self.sums, strict=True)))


@dataclass(frozen=True, slots=True)
class Kernel:
    """How much alike the effects at two configurations are."""

    domain: Domain
    length: float
    interaction: float

    def __call__(self, left: Floats, right: Floats) -> Floats:
        alike = np.ones((len(left), len(right)))
        varying = [(j, axis) for j, axis in enumerate(self.domain.axes) if not axis.is_constant]
        for j, axis in varying:
            distance = (_place(axis, left[:, j])[:, None] - _place(axis, right[:, j])) / self.length
            alike *= 1 + self.interaction * (np.exp(-(distance**2) / 2) if axis.is_number else distance == 0)
        return (alike - 1) / ((1 + self.interaction) ** len(varying) - 1)


def _place(axis: Axis, values: Floats) -> Floats:
    """Where values lie in the measured range, from 0 to 1; by their ratios, for positive ones."""
    if axis.numbers is None:
        return values
    low, high = axis.numbers[0], axis.numbers[-1]
    inside = np.clip(values, low, high)
    return np.log(inside / low) / np.log(high / low) if low > 0 else (inside - low) / (high - low)


@dataclass(frozen=True, slots=True)
class Scaled:
    """The trend times the effects around it."""

    trend: Trend
    kernel: Kernel
    centers: Floats
    heights: Floats

    def __call__(self, x: Floats) -> Floats:
        effects: Floats = np.exp(self.kernel(x, self.centers) @ self.heights)
        return self.trend(x) * effects


@dataclass(frozen=True, slots=True)
class Powers:
    """A product of powers."""

    exponents: tuple[tuple[int, float], ...]  # columns of x, and the power of each

    def __call__(self, x: Floats) -> Floats:
        powers = [x[:, j] ** exponent for j, exponent in self.exponents]
        multiplied: Floats = np.prod([np.ones(len(x)), *powers], axis=0)
        return multiplied


@dataclass(frozen=True, slots=True)
class Continued:
    """What `points` say at the edge of the measured range, going on from there like another law."""

    domain: Domain
    points: PointPredictions
    law: PointPredictions

    def __call__(self, x: Floats) -> Floats:
        inside, beyond = x.copy(), x.copy()
        for j, axis in enumerate(self.domain.axes):
            if axis.numbers is not None:
                inside[:, j] = np.clip(x[:, j], axis.numbers[0], axis.numbers[-1])
                if axis.is_positive:
                    beyond[:, j] = np.maximum(x[:, j], axis.numbers[0] * NEAR_ZERO)
        return self.points(inside) * self.law(beyond) / self.law(inside)


@MODELS.register("scaling")
class Scaling(Model):
    """Physical terms (startup, parallel work, waiting) times smooth effects of all factors; built to extrapolate."""

    extrapolates_by_law = 2
    is_usual = True
    auto_from = 3

    def learn(self, problem: Problem) -> LearnedPoints:
        require_times(problem, "scaling")
        points = _with_effects(problem, _trend(problem))
        return LearnedPoints(points, forms=_forms(problem, points))


def _trend(problem: Problem) -> Trend:
    """All ways in which terms may overlap; each counts by its error, corrected for how many numbers it learned."""
    terms, n = physical_terms(problem.domain), len(problem)
    fitted = tuple(sums_of(problem, terms, overlap=overlap) for overlap in _OVERLAPS)
    credits = []
    for sums in fitted:
        error = float((problem.weights * (np.log(sums(problem.x)) - problem.y) ** 2).mean())
        credits.append((1 - min(sums.size, n - 1) / n) ** 2 / (error + _EXACT))
    return Trend(fitted, tuple(credit / sum(credits) for credit in credits))


def _with_effects(problem: Problem, trend: Trend) -> Scaled:
    some, judges = _dealt(problem, _MAX_CENTERS), _dealt(problem, _MAX_JUDGED)
    kernel, noise = _chosen(judges, judges.y - np.log(trend(judges.x)))
    if noise is None:
        return Scaled(trend, kernel, some.x, np.zeros(len(some)))
    alike = kernel(some.x, some.x) + np.diag(noise / some.weights)
    return Scaled(trend, kernel, some.x, np.linalg.solve(alike, some.y - np.log(trend(some.x))))


def _dealt(problem: Problem, n: int) -> Problem:
    return problem.subset(range(0, len(problem), -(-len(problem) // n)))


def _chosen(problem: Problem, left: Floats) -> tuple[Kernel, float | None]:
    """The kernel and noise with the least error on left-out configurations; no noise when no effects do better."""
    roots = np.sqrt(problem.weights)
    best, noise = float(((roots * left) ** 2).mean()), None
    kernel = Kernel(problem.domain, _LENGTHS[0], _INTERACTIONS[0])
    for length, interaction in product(_LENGTHS, _INTERACTIONS):
        candidate = Kernel(problem.domain, length, interaction)
        values, vectors = np.linalg.eigh(roots[:, None] * candidate(problem.x, problem.x) * roots)
        turned = vectors.T @ (roots * left)
        for share in _NOISES:
            shrunk = 1 / (np.maximum(values, 0.0) + share)
            error = float(((vectors @ (shrunk * turned) / (vectors**2 @ shrunk)) ** 2).mean())
            if error < best:
                best, kernel, noise = error, candidate, share
    return kernel, noise


def _forms(problem: Problem, points: Scaled) -> Forms:
    """Terms that all follow each other or all overlap, and two laws of the amounts of work: time is proportional to
    them, or goes on like the powers of them that fit what was measured."""
    roles, slopes = roles_of(problem.domain), _slopes(problem)
    counted = ("size", "steps", "batch") if "steps" in roles else ("size", "passes")
    amounts = tuple(roles[role] for role in counted if role in roles)
    laws: list[PointPredictions] = list(points.trend.sums)
    if amounts:
        laws += [Powers(tuple((j, 1.0) for j in amounts)), Powers(tuple((j, slopes[j]) for j in amounts))]
    # A batch is no mere amount: it also changes how well machines are used, which these laws know nothing of.
    known = tuple(j for j in amounts if j != roles.get("batch"))
    return Forms(tuple(Continued(problem.domain, points, law) for law in laws), known)


def _slopes(problem: Problem) -> dict[int, float]:
    """The power of each positive number in the product of powers that fits best, between none and the steepest."""
    axes = problem.domain.axes
    numbers = [j for j, axis in enumerate(axes) if axis.is_positive and not axis.is_constant]
    categories = [j for j, axis in enumerate(axes) if not axis.is_number and not axis.is_constant]
    levels = [problem.x[:, j] == level for j in categories for level in range(1, len(axes[j].levels))]
    columns = np.column_stack([*(np.log(problem.x[:, j]) for j in numbers), *levels, np.zeros(len(problem))])
    columns = columns - np.average(columns, axis=0, weights=problem.weights)
    roots = np.sqrt(problem.weights)
    # Settings that always changed together share a slope instead of having huge ones that cancel.
    spread = np.maximum(columns.std(axis=0), NEAR_ZERO)
    system = np.vstack([columns / spread * roots[:, None], np.eye(columns.shape[1]) * 1e-2])
    answer = (problem.y - np.average(problem.y, weights=problem.weights)) * roots
    found = np.linalg.lstsq(system, np.concatenate([answer, np.zeros(columns.shape[1])]), rcond=None)[0] / spread
    return dict(zip(numbers, np.clip(found, 0.0, _STEEPEST).tolist(), strict=False))
