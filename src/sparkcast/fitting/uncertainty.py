"""Where the next run falls, for any model: the errors it made on configurations it had not seen, around its point.

All replicates of a configuration are left out together, predicted, and compared; the k-th smallest of the n errors is
taken to cover the next run with probability k / (n + 1). This is the jackknife: errors of models that each lack a
configuration, around the point of the model that has them all. It has no guarantee for finite n: it covers as often as
it says only where the next configuration is exchangeable with these and leaving one out hardly changes the model
(stability); without that, coverage can be anything (Barber, Candes, Ramdas and Tibshirani 2021, "Predictive inference
with the jackknife+", Annals of Statistics 49). Their jackknife+, which puts each error around the point of its own
model, covers at least 1 - 2a where 1 - a is asked for, but would keep all n models. `validate` shows how often runs
fell inside.

Between these steps the quantile is interpolated; beyond the largest error, where so few runs say nothing, it grows like
a Student t distribution with n - 1 degrees of freedom, which keeps intervals wide when n is small. Outside the measured
range errors grow by 1 + overshoot: one whole range further makes the interval twice as wide. A model may name other
laws that the runs cannot tell from its own: along the settings these are about, the overshoot is counted in ratios, and
the 90 % interval reaches what every one of them says.

Errors are ratios (logarithms) for positive responses, so that times stay positive; plain differences for shares such as
accuracy, where the distribution is cut at its bounds. Interval and probability come from the same distribution, so they
never contradict each other.
"""

import math
from collections import defaultdict
from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass
from functools import lru_cache
from typing import Any, Protocol

import numpy as np

from sparkcast.arrays import Floats, Ints
from sparkcast.errors import NotEnoughDataError
from sparkcast.fitting.answering import Answering
from sparkcast.fitting.encoding import Domain
from sparkcast.fitting.problem import Problem, ResponseScale
from sparkcast.study import Response

MAX_LOO = 30  # more configurations than this are left out in _FOLDS groups instead of one by one
_FOLDS = 10
HULL_LEVEL = 0.9
_CERTAIN = 1 - 1e-15  # rounding hides what is beyond, and most of many candidates are far beyond a deadline
_MIN_ERRORS = 3  # with two, a Student t distribution has one degree of freedom: intervals without end


class PointPredictions(Protocol):
    """The point predictions of something learned. A plain object without closures: processes pass it on."""

    def __call__(self, x: Floats) -> Floats:
        """The response at each row of x (see Domain.encode), in its own unit."""
        ...


@dataclass(frozen=True, slots=True)
class Forms:
    """Other laws that fit as well as the model's own, and differ from it outside the measured ranges."""

    laws: tuple[PointPredictions, ...] = ()
    columns: tuple[int, ...] = ()  # of x: settings whose continuation they know

    def hull(self, x: Floats, center: Floats, scale: ResponseScale) -> Floats:
        """How far the law that differs most is from `center`, on the scale."""
        apart = [np.abs(scale.forward(law(x)) - center) for law in self.laws]
        largest: Floats = np.max([np.zeros(len(x)), *apart], axis=0)
        return largest

    def overshoot(self, domain: Domain, x: Floats) -> Floats:
        """How far outside the measured ranges, summed over the factors; in ratios where these laws know the way."""
        far = [domain.axes[j].overshoot(x[:, j]) for j in range(len(domain.axes)) if j not in self.columns]
        ratios = [np.array([domain.axes[j].distance(value) for value in x[:, j].tolist()]) for j in self.columns]
        summed: Floats = np.sum([np.zeros(len(x)), *far, *ratios], axis=0)
        return summed


_NO_FORMS = Forms()


@dataclass(frozen=True, slots=True)
class LearnedPoints:
    """Points, and what a model without a configuration says of it where the method knows that without refitting."""

    points: PointPredictions
    left_out: Floats | None = None
    forms: Forms = _NO_FORMS


Learner = Callable[[Problem], LearnedPoints]


@dataclass(frozen=True, slots=True)
class Errors:
    """Absolute errors on the scale in order, and how much of the probability lies below each."""

    sizes: tuple[float, ...]  # begins with 0
    shares: tuple[float, ...]  # begins with 0, ends at n / (n + 1)
    df: int

    def quantile(self, level: float) -> float:
        """The error that is not exceeded with probability `level`."""
        if level <= self.shares[-1]:
            return float(np.interp(level, self.shares, self.sizes))
        return self.sizes[-1] * self._t(level) / self._t(self.shares[-1])

    def probability_within(self, size: Floats) -> Floats:
        """The probability of an error of at most `size`: the inverse of `quantile`."""
        from scipy.special import stdtr

        levels = np.interp(size, self.sizes, self.shares)
        is_beyond = size > self.sizes[-1]
        if np.any(is_beyond):
            t = self._t(self.shares[-1]) * size[is_beyond] / self.sizes[-1]
            tail, is_open = np.ones_like(t), t < self._t(_CERTAIN)
            tail[is_open] = 2 * stdtr(self.df, t[is_open]) - 1
            levels = np.array(levels)
            levels[is_beyond] = tail
        return levels

    def _t(self, level: float) -> float:
        return _student(level, self.df)


@dataclass(frozen=True, slots=True, eq=False)
class Answers:
    """What a model says of many settings, kept: a question about another level or limit then costs next to nothing."""

    values: Floats
    center: Floats  # on the scale
    width: Floats
    errors: Errors
    scale: ResponseScale

    def interval(self, level: float) -> tuple[Floats, Floats]:
        """Where the next run at each of the settings falls with probability `level`."""
        half = self.errors.quantile(level) * self.width
        return self.scale.back(self.center - half), self.scale.back(self.center + half)

    def probability_below(self, limit: Floats | float) -> Floats:
        """The probability that the next run is at most `limit`: one for all, or one for each."""
        limits = np.broadcast_to(np.asarray(limit, dtype=float), self.center.shape)
        is_within = (self.scale.low <= limits) & (limits < self.scale.high)
        possible = np.where(is_within, limits, self.scale.low if math.isfinite(self.scale.low) else 0.0)
        distance = (self.scale.forward(possible) - self.center) / self.width
        chance = 0.5 + np.sign(distance) * self.errors.probability_within(np.abs(distance)) / 2
        return np.where(is_within, chance, limits >= self.scale.high)

    def take(self, rows: Ints) -> "Answers":
        return Answers(self.values[rows], self.center[rows], self.width[rows], self.errors, self.scale)


@dataclass(frozen=True, slots=True)
class FittedPoints(Answering):
    """A model that has seen data (the Fitted of every built-in model but auto)."""

    points: PointPredictions
    response: Response
    domain: Domain
    scale: ResponseScale
    errors: Errors
    forms: Forms = _NO_FORMS
    left_out_error: float | None = None  # mean of single runs of configurations that it had not seen, in percent

    def answers(self, x: Floats) -> "Answers":
        """What is said of settings that are numbers already, to be asked for levels and limits."""
        values = self._center(x)
        center, width = self._center_and_width(x, values)
        return Answers(values, center, width, self.errors, self.scale)

    def _center(self, x: Floats) -> Floats:
        return self.scale.clip(self.points(x))

    def _center_and_width(self, x: Floats, values: Floats) -> tuple[Floats, Floats]:
        center, overshoot = self.scale.forward(values), self.forms.overshoot(self.domain, x)
        if not self.forms.laws or not overshoot.any():
            return center, 1 + overshoot
        hull = np.where(overshoot > 0, self.forms.hull(x, center, self.scale), 0.0)
        return center, np.maximum(1 + overshoot, hull / self.errors.quantile(HULL_LEVEL))


def _student(level: float, df: int) -> float:
    """What a Student t distribution exceeds in absolute value with probability 1 - level."""
    from scipy.special import stdtrit

    return float(stdtrit(df, 0.5 + level / 2))


def one_thread() -> AbstractContextManager[object]:
    """Matrices of a study are small: more threads wait for each other longer than they compute."""
    limited: AbstractContextManager[object] = _thread_pools().limit(limits=1, user_api="blas")
    return limited


@lru_cache(maxsize=1)
def _thread_pools() -> Any:
    """Looking for the libraries that have pools takes longer than a small fit."""
    import scipy.linalg  # noqa: F401  # so that its library is among them
    from threadpoolctl import ThreadpoolController

    return ThreadpoolController()


def fit(problem: Problem, learn: Learner) -> FittedPoints:
    """Learn from everything, and find the errors by leaving configurations out."""
    with one_thread():
        learned = learn(problem)
        left_out = left_out_predictions(problem, learn) if learned.left_out is None else learned.left_out
    return around(problem, learned.points, left_out, learned.forms)


def around(problem: Problem, points: PointPredictions, left_out: Floats, forms: Forms = _NO_FORMS) -> FittedPoints:
    """Put the distribution around `points`. `left_out`: what a model without it says of each configuration, or NaN."""
    errors = errors_of(problem, left_out)
    missed = problem.run_error(left_out)
    return FittedPoints(points, problem.response, problem.domain, problem.scale, errors, forms, missed)


def errors_of(problem: Problem, left_out: Floats, widths: Floats | None = None) -> Errors:
    """The errors on unseen configurations; each counts once, shared by its replicates.

    `widths` says how much larger than elsewhere the error of each was to be expected; the sizes are without that.
    """
    known = np.flatnonzero(np.isfinite(left_out))
    n = len(known)
    if n < _MIN_ERRORS:
        raise NotEnoughDataError(
            "too few configurations can be held out to estimate the error", hint="run more of them"
        )
    missed: dict[float, float] = defaultdict(float)  # probability by size; equal sizes are one step
    for i in known.tolist():
        distances = problem.scale.forward(np.array(problem.values[i])) - problem.scale.forward(left_out[i])
        for size in np.abs(distances / (1.0 if widths is None else widths[i])).tolist():
            missed[float(f"{size:.12g}")] += 1 / (len(distances) * (n + 1))
    # Exact data would give errors of 0, where no probability is defined.
    floor = 1e-9 * (1.0 if problem.scale.is_log else max(1.0, float(np.abs(problem.y).max())))
    order = sorted(missed)
    sizes = [size + floor for size in order]
    shares = np.cumsum([missed[size] for size in order]).tolist()
    # A few errors may all be small by luck: the largest is not taken for smaller than their spread lets expect.
    spread = math.sqrt(sum(share * (n + 1) * size**2 for size, share in missed.items()) / n * (1 + 1 / n))
    sizes[-1] = max(sizes[-1], spread * _student(shares[-1], n - 1))
    return Errors((0.0, *sizes), (0.0, *shares), n - 1)


def left_out_predictions(problem: Problem, learn: Learner, folds: Sequence[Sequence[int]] | None = None) -> Floats:
    """For each configuration, what is predicted from the others; NaN where that is refused."""
    predicted = np.full(len(problem), np.nan)
    for fold in folds_of(len(problem)) if folds is None else folds:
        predicted[list(fold)] = predictions_for(problem, learn, fold)
    return predicted


def folds_of(n: int, folds: int = _FOLDS) -> list[list[int]]:
    # Neighbors in a design resemble each other; dealing them out like cards puts them in different folds.
    return [[i] for i in range(n)] if n <= MAX_LOO else [list(range(k, n, folds)) for k in range(folds)]


def predictions_for(
    problem: Problem, learn: Learner, test: Sequence[int], train: Sequence[int] | None = None
) -> Floats:
    """What is said of the configurations `test` by a model that learned from `train` (all others); NaN if nothing."""
    rows = list(test)
    try:
        points = learn(problem.without(rows) if train is None else problem.subset(train)).points
    except NotEnoughDataError:
        return np.full(len(rows), np.nan)
    try:
        return points(problem.x[rows])
    except NotEnoughDataError:
        return np.array([_one(points, problem.x[[i]]) for i in rows])


def _one(points: PointPredictions, x: Floats) -> float:
    try:
        return float(points(x)[0])
    except NotEnoughDataError:
        return float("nan")
