"""Time and accuracy by epoch, so that another number of epochs can be asked for than the runs had.

Each configuration's curve is two numbers, its height at the last epoch and its shape, and either is learned over the
settings: by the Bayesian model, since studies with curves are small, or by ridge where there are very many. Time is a
start and equal epochs: its shape is the share of the start. Accuracy saturates: its log-odds are a straight line over
the logarithm of the epoch, whose slope is the shape. Errors come from leaving out configurations, each with all epochs
of all its runs; those of an accuracy are errors of its log-odds. A configuration that was run goes on as it did.
"""

from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import Literal

import numpy as np
from numpy.polynomial.polynomial import polyval
from scipy.optimize import nnls

from sparkcast.analysis.runs import usable_runs
from sparkcast.arrays import Bools, Floats, Ints
from sparkcast.errors import NotEnoughDataError, StudyError
from sparkcast.fitting.encoding import Axis, Domain
from sparkcast.fitting.problem import MIN_CONFIGURATIONS, ODDS_FLOOR, Problem, ResponseScale, log_odds, pose
from sparkcast.fitting.uncertainty import (
    Errors,
    FittedPoints,
    PointPredictions,
    errors_of,
    left_out_predictions,
    one_thread,
)
from sparkcast.models.base import Model
from sparkcast.models.bayesian import Bayesian
from sparkcast.models.median import Median
from sparkcast.models.ridge import Ridge
from sparkcast.study import Configuration, Dataset, Kind, Observation, Response, Role, Vocabulary
from sparkcast.study.names import EPOCHS

Law = Literal["time", "share"]


@dataclass(frozen=True, slots=True)
class Curve:
    """The points: settings and, in the last column, the epoch."""

    law: Law
    height: PointPredictions  # at epoch `last`
    shape: PointPredictions
    last: float
    top: float  # of a share: 1, or 100 when written as percent

    def __call__(self, x: Floats) -> Floats:
        return _value(self.law, self.height(x[:, :-1]), self.shape(x[:, :-1]), x[:, -1] / self.last, self.top)


@dataclass(frozen=True, slots=True)
class RunCurve:
    """One run's curve: epochs and what was reached by their ends."""

    epochs: Floats
    values: Floats


def has_curves(data: Dataset, response: str) -> bool:
    """Whether runs tell `response` by epoch, for a number of epochs that is not among the factors."""
    if epochs_of(data.vocabulary) in data.factors or not _can_have(data, response):
        return False
    meaning = data.vocabulary.response(response)
    return any(len(_curve(run, meaning)) > 1 for run in data.observations if run.ok)


def epochs_of(words: Vocabulary) -> str:
    """The setting that counts epochs; what it is usually called where the runs have none."""
    return words.first(Role.EPOCHS) or EPOCHS


def _can_have(data: Dataset, response: str) -> bool:
    """Runs tell their time by epoch, and whatever their workload reports with each."""
    return response == data.vocabulary.time or data.vocabulary.response(response).kind is Kind.SHARE


def fit_curve(data: Dataset, response: str) -> FittedPoints:
    """Learn `response` over the factors and the number of epochs from the curves of the runs."""
    if not _can_have(data, response):
        raise StudyError(f"runs do not report {response} per epoch", hint="choose a time or a share")
    problem, runs = _posed(data, response)
    with one_thread():
        curve, left_out = _learn(problem, runs)
    domain = _domain(problem.domain, epochs_of(data.vocabulary), runs)
    # A share that is off by a tenth in its middle is off by far less near to its ends: errors are those of its odds.
    scale = problem.scale if problem.scale.is_log else replace(problem.scale, has_odds=True)
    errors = _errors(problem, runs, curve, left_out, scale)
    if curve.law == "time":
        return FittedPoints(curve, problem.response, domain, scale, errors)
    ends = np.array([max(run.epochs.max() for run in group) for group in runs])
    own = OwnCurves(problem.x, ends, *_own(runs, curve, left_out))
    return FittedShares(curve, problem.response, domain, scale, errors, own=own)


@dataclass(frozen=True, slots=True, eq=False)
class OwnCurves:
    """The configurations that were run, each with its own curve, and how much errors grow beyond the last epoch.

    `growth` and `spread` are polynomials a + b d + c d^2 of how many e-folds beyond: the mean square error of
    configurations that were not run, and beyond its own last epoch of one that was, over that of the former at the
    last epoch of all.
    """

    x: Floats
    ends: Floats  # the last epoch of each
    height: Floats  # log-odds at the last epoch
    slope: Floats
    growth: Floats
    spread: Floats

    def places(self, x: Floats) -> Ints:
        """Which of them each row is; -1 for none."""
        same = (x[:, None] == self.x).all(axis=2)
        return np.where(same.any(axis=1), same.argmax(axis=1), -1)


@dataclass(frozen=True, slots=True)
class FittedShares(FittedPoints):
    """Shares by epoch: a configuration that was run goes on as it did."""

    own: OwnCurves = field(kw_only=True)

    def _center(self, x: Floats) -> Floats:
        place, is_own, _ = self._squares(x)
        said = self.scale.back(self.own.height[place] + self.own.slope[place] * np.log(self._relative(x)))
        return np.where(is_own, said, self.scale.clip(self.points(x)))

    def _center_and_width(self, x: Floats, values: Floats) -> tuple[Floats, Floats]:
        others = replace(self.domain, axes=self.domain.axes[:-1])
        return self.scale.forward(values), (1 + self.forms.overshoot(others, x)) * np.sqrt(self._squares(x)[2])

    def _squares(self, x: Floats) -> tuple[Ints, Bools, Floats]:
        """Which configuration that was run each row is, whether its own curve is surer, and how wrong the surer is."""
        place, own = self.own.places(x[:, :-1]), self.own
        others = np.maximum(polyval(np.log(np.maximum(self._relative(x), 1.0)), own.growth), 1.0)
        itself = polyval(np.log(np.maximum(x[:, -1] / own.ends[place], 1.0)), own.spread)
        is_own = (place >= 0) & (itself < others)
        return place, is_own, np.where(is_own, itself, others)

    def _relative(self, x: Floats) -> Floats:
        """Epochs in terms of the last."""
        assert isinstance(self.points, Curve)
        relative: Floats = np.maximum(x[:, -1] / self.points.last, 1e-6)
        return relative


def _posed(data: Dataset, response: str) -> tuple[Problem, list[list[RunCurve]]]:
    """The problem at the end of the runs that have a curve, and the curves by configuration in the same order."""
    meaning = data.vocabulary.response(response)
    told = [run for run in usable_runs(data, response) if len(_curve(run, meaning)) > 1]
    groups: dict[Configuration, list[RunCurve]] = defaultdict(list)
    for run in told:
        groups[data.key(run)].append(_run(run, meaning))
    if len(groups) < MIN_CONFIGURATIONS:
        raise NotEnoughDataError(
            f"{len(groups)} configurations with {response} per epoch are too few to predict another number of epochs",
            hint=f"run at least {MIN_CONFIGURATIONS} configurations for two epochs or more",
        )
    problem = pose(replace(data, observations=tuple(told)), response)
    return problem, list(groups.values())


def _curve(run: Observation, response: Response) -> list[tuple[int, float]]:
    if response.kind is Kind.TIME:
        return [(epoch.number, epoch.time_s) for epoch in run.curve if epoch.time_s > 0]
    return [(epoch.number, epoch.values[response.name]) for epoch in run.curve if response.name in epoch.values]


def _run(run: Observation, response: Response) -> RunCurve:
    epochs, values = np.array(_curve(run, response), dtype=float).T
    if response.kind is Kind.TIME:
        # The response also counts what comes after the last epoch, and is the mean of jobs that ran at once.
        values = values * (run.responses[response.name] / values[-1])
    return RunCurve(epochs, values)


def _domain(domain: Domain, name: str, runs: Sequence[Sequence[RunCurve]]) -> Domain:
    numbers = sorted({float(epoch) for group in runs for run in group for epoch in run.epochs.tolist()})
    axis = Axis(name, tuple(int(number) for number in numbers), tuple(numbers), Role.EPOCHS)
    fixed = tuple((other, value) for other, value in domain.fixed if other != name)
    return replace(domain, axes=(*domain.axes, axis), fixed=fixed, known=tuple(dict.fromkeys((*domain.known, name))))


def _learn(problem: Problem, runs: Sequence[Sequence[RunCurve]]) -> tuple[Curve, Floats]:
    """The curve, and for each configuration the height and the shape that the others let expect."""
    law: Law = "time" if problem.scale.is_log else "share"
    top = problem.scale.high if law == "share" else 1.0
    last = float(max(run.epochs.max() for group in runs for run in group))
    heights, shapes = np.array([_height_and_shape(law, group, last, top) for group in runs]).T
    height, height_left_out = _learn_one(_of_one_run_each(problem, problem.scale, heights))
    neither = replace(
        problem, response=Response("shape")
    )  # no time and no accuracy: what is known of these is not of it
    shape, shape_left_out = _learn_one(_of_one_run_each(neither, _shape_scale(law), shapes))
    return Curve(law, height, shape, last, top), np.column_stack([height_left_out, shape_left_out])


def _of_one_run_each(problem: Problem, scale: ResponseScale, numbers: Floats) -> Problem:
    values = tuple((float(number),) for number in numbers)
    return replace(problem, scale=scale, y=scale.forward(numbers), values=values)


def _learn_one(problem: Problem) -> tuple[PointPredictions, Floats]:
    """Points over the settings, and what is said of each configuration without it."""
    model = _model_for(problem)
    learned = model.learn(problem)
    left_out = left_out_predictions(problem, model.learn) if learned.left_out is None else learned.left_out
    return learned.points, left_out


def _model_for(problem: Problem) -> Model:
    if np.ptp(problem.target) == 0:  # of shapes that are all alike: there is nothing to learn
        return Median()
    return Bayesian() if len(problem) <= Bayesian.auto_up_to else Ridge()


def _shape_scale(law: Law) -> ResponseScale:
    return ResponseScale(is_log=False, low=0.0, high=1.0) if law == "time" else ResponseScale(is_log=False, low=0.0)


def _height_and_shape(law: Law, runs: Sequence[RunCurve], last: float, top: float) -> tuple[float, float]:
    """Of one configuration: the curve nearest to all epochs of its runs, in ratios of times or log-odds of shares."""
    epochs = np.concatenate([run.epochs for run in runs]) / last
    values = np.concatenate([run.values for run in runs])
    if law == "time":
        start, rest = nnls(np.column_stack([np.ones_like(epochs), epochs]) / values[:, None], np.ones_like(values))[0]
        return float(start + rest), float(start / (start + rest))
    slope, at_last = np.polyfit(np.log(epochs), _log_odds(values / top), 1)
    if slope < 0:  # it learns nothing more; a curve that falls for ever would say that it forgets everything
        slope, at_last = 0.0, float(np.mean(_log_odds(values / top)))
    return float(top / (1 + np.exp(-at_last))), float(slope)


def _value(law: Law, height: Floats, shape: Floats, epochs: Floats, top: float) -> Floats:
    """The curve at `epochs`, which are relative to the last one."""
    if law == "time":
        return height * (shape + (1 - shape) * epochs)
    # No epoch at all is not on the curve; very few are a guess like a random one.
    odds: Floats = _log_odds(height / top) + shape * np.log(np.maximum(epochs, 1e-6))
    return top / (1 + np.exp(-odds))


def _log_odds(shares: Floats) -> Floats:
    return log_odds(np.clip(shares, ODDS_FLOOR, 1 - ODDS_FLOOR))


def _errors(
    problem: Problem, runs: Sequence[Sequence[RunCurve]], curve: Curve, left_out: Floats, scale: ResponseScale
) -> Errors:
    """Errors on unseen configurations, each counted once: over all epochs of all its runs."""
    missed = [
        tuple(float(miss) for run in group for miss in _missed(curve, height_and_shape, run, scale))
        for group, height_and_shape in zip(runs, left_out, strict=True)
    ]
    # As if the unseen prediction were always 1 (or 0): what is left are the ratios (or differences) to it.
    around = ResponseScale(scale.is_log, 5e-324) if scale.is_log else ResponseScale(is_log=False)
    values = tuple(tuple(np.exp(group).tolist()) if scale.is_log else group for group in missed)
    return errors_of(replace(problem, scale=around, values=values), np.full(len(runs), 1.0 if scale.is_log else 0.0))


def _own(runs: Sequence[Sequence[RunCurve]], curve: Curve, left_out: Floats) -> tuple[Floats, Floats, Floats, Floats]:
    """Heights and slopes of `OwnCurves`, its growth and its spread.

    A configuration that was left out is wrong in its height and in its slope; one that was run is off by what its
    epochs scatter around its curve. To both comes how far runs leave the line through their first half within the
    second: no curve is quite straight in its odds.
    """
    actual = np.array([_height_and_shape("share", group, curve.last, curve.top) for group in runs])
    height, slope = _log_odds(actual[:, 0] / curve.top), actual[:, 1]
    of_height, of_slope = _log_odds(left_out[:, 0] / curve.top) - height, left_out[:, 1] - slope
    scatter = [
        _log_odds(run.values / curve.top) - height[k] - slope[k] * np.log(run.epochs / curve.last)
        for k, group in enumerate(runs)
        for run in group
    ]
    freedom = sum(len(missed) for missed in scatter) - 2 * len(runs)
    bends = [bend for group in runs for run in group if (bend := _bend(run, curve.top)) is not None]
    bent = float(np.mean(np.square(bends))) if bends else float(np.mean(of_slope**2))
    square = max(float((of_height**2).mean()), 1e-9)
    beyond = 2 * float((of_height * of_slope).mean()) / square, (float((of_slope**2).mean()) + bent) / square
    # Two epochs are on any line: they do not tell how far runs are from their own.
    noise = sum(float((missed**2).sum()) for missed in scatter) / freedom / square if freedom > 0 else 1.0
    return height, slope, np.array([1.0, *beyond]), np.array([max(noise, 1e-6), 0.0, bent / square])


def _bend(run: RunCurve, top: float) -> float | None:
    """How far the end of a run is from the line through its first half, per e-fold of epochs."""
    half = run.epochs <= run.epochs[-1] / 2
    if half.sum() < 2:
        return None
    ends = np.log(run.epochs)
    slope, start = np.polyfit(ends[half], _log_odds(run.values[half] / top), 1)
    said = start + max(slope, 0.0) * ends[-1]
    return float((_log_odds(run.values / top)[-1] - said) / (ends[-1] - ends[half][-1]))


def _missed(curve: Curve, height_and_shape: Floats, run: RunCurve, scale: ResponseScale) -> Floats:
    height, shape = (np.full(len(run.epochs), number) for number in height_and_shape)
    said = _value(curve.law, height, shape, run.epochs / curve.last, curve.top)
    return scale.forward(run.values) - scale.forward(scale.clip(said))
