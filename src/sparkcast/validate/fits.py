"""Fitting for a validation, without learning the same thing twice.

A model finds its errors by learning without each configuration in turn. To leave out one configuration as a test, and
another one inside that to find the errors, teaches the model what it learns the other way round; and when it learns
from all runs, for figures, it leaves out what was tested before. A model that is tested may also be one that `auto`
listens to. So what was said of left-out configurations is kept: one number each, not the models, which are large. Two
models begin with the same posterior, which is kept until the second has asked for it. The same problem gives the same
answer, so nothing changes but the time.
"""

import time
from collections.abc import Callable, Hashable, Sequence
from dataclasses import dataclass, field, replace

import numpy as np

from sparkcast.arrays import Floats
from sparkcast.errors import NotEnoughDataError, StudyError
from sparkcast.fitting.posterior import Posterior, posterior_of
from sparkcast.models import MODELS, Fitted
from sparkcast.models.auto import Auto
from sparkcast.models.base import FEW, LearnedPoints, Model, PointPredictions, Problem
from sparkcast.models.bayesian import Bayesian
from sparkcast.study import Dataset
from sparkcast.study.configuration import Levels

Learn = Callable[[Problem], LearnedPoints]


@dataclass(frozen=True, slots=True)
class _Kept:
    """What was said of configurations by a model that learned from a problem."""

    seconds: float  # that learning took
    values: dict[bytes, float] = field(default_factory=dict)  # by row

    def noting(self, points: PointPredictions) -> PointPredictions:
        """The points, which are remembered when asked for."""

        def noted(x: Floats) -> Floats:
            values = points(x)
            if len(x) == 1:
                self.values[x[0].tobytes()] = float(values[0])
            return values

        return noted


@dataclass(frozen=True, slots=True)
class FitCache:
    """Fits models, and remembers what their parts said of the configurations that were tested."""

    _kept: dict[Hashable, _Kept] = field(default_factory=dict)
    _posteriors: dict[Hashable, tuple[Posterior, float]] = field(default_factory=dict)  # with the seconds it took

    def fit(self, name: str, data: Dataset, response: str, tested: Sequence[Levels] = ()) -> tuple[Fitted, float]:
        """The model, and the seconds that fitting takes when nothing is remembered."""
        model, begun = MODELS.get(name)(), time.perf_counter()
        different = list(dict.fromkeys(map(_frozen, tested)))
        used: list[_Remembering] = []
        sampler = _SharedSampler(self._posteriors)

        def remembering(method: str, learn: Learn) -> Learn:
            used.append(_Remembering(method, learn, self._kept, tested[0] if len(different) == 1 else None))
            return used[-1]

        if isinstance(model, Bayesian):
            model = Bayesian(sampler=sampler)
        elif isinstance(model, Auto):  # whose voices may be among the tested models themselves
            model = Auto(remembering=remembering, sampler=sampler)
        elif isinstance(model, Model):
            object.__setattr__(model, "learn", remembering(name, model.learn))  # it may be frozen
        fitted = model.fit(data, response)
        return fitted, time.perf_counter() - begun + sampler.saved_s + sum(learn.saved_s for learn in used)


def fit_points(name: str, data: Dataset, response: str) -> Fitted:
    """A model to be asked for nothing but points: its errors are not looked for, which would take most of the time."""
    model = MODELS.get(name)()
    if not isinstance(model, Model):
        return model.fit(data, response)
    learn = model.learn
    object.__setattr__(model, "learn", lambda problem: replace(learn(problem), left_out=problem.target))
    return model.fit(data, response)


def _frozen(settings: Levels) -> Hashable:
    return frozenset(settings.items())


@dataclass(slots=True)
class _Remembering:
    """Learns as a model does; what it learned before to leave a configuration out is not learned again."""

    name: str
    learn: Learn
    kept: dict[Hashable, _Kept]
    tested: Levels | None
    saved_s: float = 0.0
    _has_begun: bool = False

    def __call__(self, problem: Problem) -> LearnedPoints:
        is_whole, self._has_begun = not self._has_begun, True
        key = _key(self.name, problem)
        if not is_whole and key in self.kept:
            self.saved_s += self.kept[key].seconds
            return LearnedPoints(_Said(self.kept[key], lambda: self._again(problem, self.kept[key])))
        begun = time.perf_counter()
        learned = self.learn(problem)
        if learned.left_out is None:  # else nobody learns without a configuration to hear of it
            self._keep(key, problem, learned.points, time.perf_counter() - begun)
        if is_whole or key not in self.kept:
            return learned
        return replace(learned, points=self.kept[key].noting(learned.points))

    def _keep(self, key: Hashable, problem: Problem, points: PointPredictions, seconds: float) -> None:
        if self.tested is None or key in self.kept:
            return
        try:
            kept = _Kept(seconds)
            kept.noting(points)(problem.domain.encode([self.tested]))
            self.kept[key] = kept
        except (NotEnoughDataError, StudyError):  # a category that it does not know: nothing to remember
            return

    def _again(self, problem: Problem, kept: _Kept) -> PointPredictions:
        self.saved_s -= kept.seconds
        return kept.noting(self.learn(problem).points)


@dataclass(slots=True)
class _SharedSampler:
    """Samples a posterior; what one of the two models that need it has sampled, the other takes."""

    kept: dict[Hashable, tuple[Posterior, float]]
    saved_s: float = 0.0

    def __call__(self, problem: Problem, *, seed: int = 0) -> Posterior:
        key = (_key("posterior", problem), seed)
        if key in self.kept:
            posterior, seconds = self.kept.pop(key)  # posteriors are large, and nobody else asks
            self.saved_s += seconds
            return posterior
        begun = time.perf_counter()
        posterior = posterior_of(problem, seed=seed)
        if len(problem) <= FEW:  # of more, `auto` does not need one
            self.kept[key] = (posterior, time.perf_counter() - begun)
        return posterior


@dataclass(frozen=True, slots=True)
class _Said:
    """Points that are known at some configurations; asked for another, the model learns after all."""

    kept: _Kept
    learn: Callable[[], PointPredictions]

    def __call__(self, x: Floats) -> Floats:
        known = self.kept.values.get(x[0].tobytes()) if len(x) == 1 else None
        return self.learn()(x) if known is None else np.array([known])


def _key(name: str, problem: Problem) -> Hashable:
    """All that a model can see of a problem."""
    metrics = None if problem.metrics is None else problem.metrics.tobytes()
    domain = problem.domain.narrowed(problem.x)  # with numbers in their order, not in that of the runs
    seen = (problem.response, domain, problem.scale, problem.configurations, problem.values)
    stopped = None if problem.stopped is None else (problem.stopped.x.tobytes(), problem.stopped.values.tobytes())
    return (name, *seen, metrics, problem.metric_names, stopped)
