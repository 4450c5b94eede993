"""Where the next run falls, for any model: a Student t distribution around the point prediction.

Its scale comes from configurations the model had not seen: all replicates of a configuration are left out together,
predicted, and compared. With C such configurations of mean squared residual s^2, the next run is

    prediction + t(C - 1) * s * sqrt(1 + 1/C) * (1 + overshoot)

where the t distribution keeps intervals honest when C is small, and `overshoot` is how far the asked settings lie
outside the measured range, in multiples of that range and summed over the factors: one whole range further makes the
interval twice as wide. Residuals are ratios (logarithms) for positive responses, so that
times stay positive; plain differences for shares such as accuracy, where the distribution is cut at its bounds.
Interval and probability come from the same distribution, so they never contradict each other.
"""

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from sparkcast.errors import NotEnoughDataError, StudyError
from sparkcast.models._encoding import Domain, Samples, collect, domain_of
from sparkcast.study import Configuration, Dataset

MIN_CONFIGURATIONS = 3
_MAX_REFITS = 30  # more configurations than this are left out in _FOLDS groups instead of one by one
_FOLDS = 10
_SHARES = ("accuracy",)

Points = Callable[[Sequence[Configuration]], list[float]]  # the point prediction at each configuration


@dataclass(frozen=True, slots=True)
class Scale:
    """How a response is compared: as ratios or as differences, and between which bounds it lies."""

    is_log: bool
    low: float = -math.inf
    high: float = math.inf

    def forward(self, value: float) -> float:
        return math.log(self.clip(value)) if self.is_log else value

    def back(self, value: float) -> float:
        return self.clip(math.exp(min(value, 700.0)) if self.is_log else value)  # beyond 700 a float overflows

    def clip(self, value: float) -> float:
        return min(max(value, self.low), self.high)


@dataclass(frozen=True, slots=True)
class Problem:
    """What a model learns from: one response by configuration, its scale, and the settings it may be asked about."""

    response: str
    samples: Samples
    domain: Domain
    scale: Scale


Learner = Callable[[Samples], Points]


@dataclass(frozen=True, slots=True)
class Distribution:
    """A model that has seen data (the Fitted of every built-in model)."""

    points: Points
    problem: Problem
    spread: float
    df: int

    def predict(self, at: Sequence[Configuration]) -> list[float]:
        return [self.problem.scale.clip(value) for value in self._checked_points(at)]

    def interval(self, at: Sequence[Configuration], *, level: float = 0.9) -> list[tuple[float, float]]:
        from scipy.stats import t

        if not 0 < level < 1:
            raise StudyError(f"level {level} is not between 0 and 1", hint="write 0.9 for 90 %")
        reach = float(t.ppf(0.5 + level / 2, self.df))
        scale = self.problem.scale
        return [
            (scale.back(centre - reach * width), scale.back(centre + reach * width))
            for centre, width in self._centres_and_widths(at)
        ]

    def probability_below(self, at: Sequence[Configuration], limit: float) -> list[float]:
        from scipy.stats import t

        scale = self.problem.scale
        if not scale.low <= limit < scale.high:
            return [float(limit >= scale.high)] * len(self._checked_points(at))
        target = scale.forward(limit)
        return [float(t.cdf((target - centre) / width, self.df)) for centre, width in self._centres_and_widths(at)]

    def _checked_points(self, at: Sequence[Configuration]) -> list[float]:
        for configuration in at:
            self.problem.domain.check(configuration)
        return self.points(at) if at else []

    def _centres_and_widths(self, at: Sequence[Configuration]) -> list[tuple[float, float]]:
        centres = map(self.problem.scale.forward, self.predict(at))
        return [
            (centre, self.spread * (1 + self.problem.domain.overshoot(configuration)))
            for centre, configuration in zip(centres, at, strict=True)
        ]


def pose(data: Dataset, response: str) -> Problem:
    """The learning problem behind `data`; refuses data from which no error can be estimated."""
    samples = collect(data, response)
    if len(samples.values) < MIN_CONFIGURATIONS:
        raise NotEnoughDataError(
            f"{len(samples.values)} different configurations with {response} are too few to predict from",
            hint=f"run at least {MIN_CONFIGURATIONS}; more replicates of the same ones do not help",
        )
    return Problem(response, samples, domain_of(data, samples), scale_of(response, samples.all_values()))


def scale_of(response: str, values: Sequence[float]) -> Scale:
    if response in _SHARES and min(values) >= 0 and max(values) <= 100:
        return Scale(is_log=False, low=0.0, high=1.0 if max(values) <= 1 else 100.0)  # some write shares as percent
    return Scale(is_log=True, low=5e-324) if min(values) > 0 else Scale(is_log=False)


def learn(problem: Problem, learner: Learner) -> Distribution:
    """Fit `learner` to everything, and find its error by leaving configurations out."""
    return with_residuals(problem, learner(problem.samples), left_out_predictions(problem.samples, learner))


def with_residuals(problem: Problem, points: Points, unseen: Sequence[float | None]) -> Distribution:
    """Put the distribution around `points`. `unseen` holds each configuration's prediction by a model without it."""
    scale = problem.scale
    squares = [
        sum((scale.forward(value) - scale.forward(predicted)) ** 2 for value in values) / len(values)
        for values, predicted in zip(problem.samples.values, unseen, strict=True)
        if predicted is not None
    ]
    if len(squares) < 2:
        raise NotEnoughDataError(
            "too few configurations can be left out to estimate the error", hint="run more of them"
        )
    n = len(squares)
    spread = math.sqrt(sum(squares) / n * (1 + 1 / n))
    # Exact data would give a width of 0, where no probability is defined.
    floor = 1e-9 * (1.0 if scale.is_log else max(1.0, *map(abs, problem.samples.all_values())))
    return Distribution(points, problem, max(spread, floor), n - 1)


def left_out_predictions(samples: Samples, learner: Learner) -> list[float | None]:
    """For each configuration, what `learner` predicts from the others; None where it refuses."""
    n = len(samples.values)
    predicted: list[float | None] = [None] * n
    # Neighbours in a design resemble each other; dealing them out like cards puts them in different folds.
    folds = [[i] for i in range(n)] if n <= _MAX_REFITS else [list(range(k, n, _FOLDS)) for k in range(_FOLDS)]
    for fold in folds:
        points = learner(samples.without(fold))
        for i in fold:
            try:
                predicted[i] = points([samples.configurations[i]])[0]
            except NotEnoughDataError:
                continue
    return predicted
