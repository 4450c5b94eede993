"""Fitting for a validation, without learning the same thing twice.

A model finds its errors by learning without each configuration in turn. To leave out one configuration as a test, and
another one inside that to find the errors, teaches the model what it learns the other way round; and when it learns
from all runs, for figures, it leaves out what was tested before. So what was said of the tested configuration is kept:
one number each, not the models, which are large. The same problem gives the same answer, so nothing changes but the
time.
"""

import time
from collections.abc import Callable, Hashable, Sequence
from dataclasses import dataclass, field, replace

from sparkcast.arrays import Floats
from sparkcast.errors import NotEnoughDataError, StudyError
from sparkcast.models import MODELS, Fitted
from sparkcast.models.base import Learned, Model, Points, Problem
from sparkcast.study import Dataset
from sparkcast.study.configuration import Levels

Learn = Callable[[Problem], Learned]


@dataclass(frozen=True, slots=True)
class _Kept:
    """What was said of one configuration by a model that learned from a problem."""

    row: bytes
    value: float
    seconds: float  # that learning took


@dataclass(frozen=True, slots=True)
class Fits:
    """Fits models, and remembers what their parts said of the configurations that were tested."""

    _kept: dict[Hashable, _Kept] = field(default_factory=dict)

    def fit(self, name: str, data: Dataset, response: str, tested: Sequence[Levels] = ()) -> tuple[Fitted, float]:
        """The model, and the seconds that fitting takes when nothing is remembered."""
        model, begun = MODELS.get(name)(), time.perf_counter()
        if not isinstance(model, Model):
            fitted = model.fit(data, response)
            return fitted, time.perf_counter() - begun
        different = list(dict.fromkeys(map(_frozen, tested)))
        learn = _Remembering(name, model.learn, self._kept, tested[0] if len(different) == 1 else None)
        object.__setattr__(model, "learn", learn)  # it may be frozen
        fitted = model.fit(data, response)
        return fitted, time.perf_counter() - begun + learn.saved_s


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

    def __call__(self, problem: Problem) -> Learned:
        is_whole, self._has_begun = not self._has_begun, True
        key = _key(self.name, problem)
        if not is_whole and key in self.kept:
            self.saved_s += self.kept[key].seconds
            return Learned(_Said(self.kept[key], lambda: self._again(problem, self.kept[key])))
        begun = time.perf_counter()
        learned = self.learn(problem)
        self._keep(key, problem, learned.points, time.perf_counter() - begun)
        return learned

    def _keep(self, key: Hashable, problem: Problem, points: Points, seconds: float) -> None:
        if self.tested is None or key in self.kept:
            return
        try:
            row = problem.domain.encode([self.tested])
            self.kept[key] = _Kept(row[0].tobytes(), float(points(row)[0]), seconds)
        except (NotEnoughDataError, StudyError):  # a category that it does not know: nothing to remember
            return

    def _again(self, problem: Problem, kept: _Kept) -> Points:
        self.saved_s -= kept.seconds
        return self.learn(problem).points


@dataclass(frozen=True, slots=True)
class _Said:
    """Points that are known at one configuration; asked for another, the model learns after all."""

    kept: _Kept
    learn: Callable[[], Points]

    def __call__(self, x: Floats) -> Floats:
        import numpy as np

        if len(x) == 1 and x[0].tobytes() == self.kept.row:
            return np.array([self.kept.value])
        return self.learn()(x)


def _key(name: str, problem: Problem) -> Hashable:
    """All that a model can see of a problem."""
    metrics = None if problem.metrics is None else problem.metrics.tobytes()
    domain = problem.domain.narrowed(problem.x)  # with numbers in their order, not in that of the runs
    seen = (problem.response, domain, problem.scale, problem.configurations, problem.values)
    return (name, *seen, metrics, problem.metric_names)
