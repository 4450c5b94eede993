"""Settings of a method by the error on configurations that were left out, and the registry of grids to choose from."""

import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from importlib import import_module
from itertools import product
from typing import Any, ClassVar, Protocol

import numpy as np

from sparkcast.errors import NotEnoughDataError, StudyError, UnknownNameError
from sparkcast.models.base import Model, Problem, left_out_predictions
from sparkcast.registry import Registry, did_you_mean

Value = None | bool | int | float | str | tuple[int, ...]
Settings = Mapping[str, Value]
_TRIALS = 50


@dataclass(frozen=True, slots=True)
class Range:
    """Numbers from low to high: where TPE draws from, and in so many steps the values of a grid.

    >>> Range(1, 100, steps=3, is_log=True).values, Range(50, 150, steps=3, is_whole=True).values
    ((1.0, 10.0, 100.0), (50, 100, 150))
    """

    low: float
    high: float
    steps: int = 4
    is_log: bool = False
    is_whole: bool = False

    def __post_init__(self) -> None:
        if not self.low < self.high or self.steps < 2 or (self.is_log and self.low <= 0):
            raise StudyError(
                f"{self} is not a range",
                hint="low must be below high, with at least 2 steps, and positive for logarithms",
            )

    @property
    def values(self) -> tuple[float, ...]:
        shares = [i / (self.steps - 1) for i in range(self.steps)]
        if self.is_log:
            found = [float(f"{self.low * (self.high / self.low) ** share:.12g}") for share in shares]
        else:
            found = [self.low + (self.high - self.low) * share for share in shares]
        return tuple(dict.fromkeys(round(value) for value in found)) if self.is_whole else tuple(found)


Grid = Mapping[str, Sequence[Value] | Range]


@dataclass(frozen=True, slots=True)
class GridPoint:
    settings: Settings
    error: float  # root mean square on the response's scale; infinite where nothing could be fitted


@dataclass(frozen=True, slots=True)
class Found:
    """What a search tried, and the best of it."""

    settings: Settings
    error: float
    trials: tuple[GridPoint, ...]


@dataclass(frozen=True, slots=True)
class MethodGrid:
    """A method, and the settings among which to choose."""

    make: Callable[..., Model]
    grid: Grid

    def model(self, settings: Mapping[str, Any]) -> Model:
        """The method with some of these settings; raises StudyError for others, since a file may claim anything."""
        chosen = {name: tuple(value) if isinstance(value, list) else value for name, value in settings.items()}
        if set(chosen) != set(self.grid) or not all(_has(self.grid[name], value) for name, value in chosen.items()):
            raise StudyError(
                f"{chosen} is not a combination of the grid", hint="search again: `api.fit(DATA, search=...)`"
            )
        return self.make(**chosen)


def _has(values: Sequence[Value] | Range, value: Any) -> bool:
    if isinstance(values, Range):
        return isinstance(value, (int, float)) and values.low <= value <= values.high
    return any(value == own and type(value) is type(own) for own in values)


class Grids(Protocol):
    """What somebody searched, a paper for example: a space for each of some models."""

    spaces: ClassVar[Mapping[str, MethodGrid]]


GRIDS: Registry[Grids] = Registry("grid")


def space_of(grids: str, model: str) -> MethodGrid:
    """What was searched for a model: `search(problem, space.make, space.grid)`."""
    known = GRIDS.get(grids).spaces
    if model not in known:
        raise UnknownNameError(f"{grids} has no grid for {model!r}", hint=did_you_mean(model, tuple(known)))
    return known[model]


def check_method(method: str, n_trials: int | None) -> None:
    """Raise StudyError for a way to search that there is not."""
    if method not in ("grid", "tpe"):
        raise StudyError(f"no search named {method!r}", hint=did_you_mean(method, ("grid", "tpe")))
    if n_trials is not None and n_trials < 1:
        raise StudyError(f"{n_trials} trials are too few", hint="give at least 1")


def search(
    problem: Problem,
    make: Callable[..., Model],
    grid: Grid,
    *,
    method: str = "grid",
    n_trials: int | None = None,
    seed: int = 0,
) -> Found:
    """The settings with which `make(**settings)` misses configurations that it has not seen by least.

    `grid` tries every combination (or `n_trials` of them, drawn at random), `tpe` those that a tree-structured Parzen
    estimator proposes after having seen the others. A combination that cannot be fitted is lost, the search goes on.
    """
    check_method(method, n_trials)
    if not all(values if isinstance(values, Range) else len(values) for values in grid.values()):
        raise StudyError("a parameter of the grid has no values", hint="give at least one")
    evaluator = _Evaluator(problem, make)
    if method == "grid":
        for settings in _combinations(grid, n_trials, seed):
            evaluator.error(settings)
    else:
        _propose(evaluator, grid, _TRIALS if n_trials is None else n_trials, seed)
    return evaluator.best()


class _Evaluator:
    """Evaluates each combination once, and remembers."""

    def __init__(self, problem: Problem, make: Callable[..., Model]) -> None:
        self._problem = problem
        self._make = make
        self._trials: dict[tuple[tuple[str, Value], ...], GridPoint] = {}
        self._reason: Exception | None = None

    def error(self, settings: Settings) -> float:
        key = tuple(settings.items())
        if key not in self._trials:
            self._trials[key] = GridPoint(settings, self._evaluate(settings))
        return self._trials[key].error

    def best(self) -> Found:
        trials = tuple(self._trials.values())
        best = min(trials, key=lambda trial: trial.error)
        if not math.isfinite(best.error):
            raise NotEnoughDataError(
                f"none of {len(trials)} combinations could be fitted; the last one: {self._reason}",
                hint="run more configurations, or try other values",
            )
        return Found(best.settings, best.error, trials)

    def _evaluate(self, settings: Settings) -> float:
        try:
            error = left_out_error(self._problem, self._make(**settings))
        except StudyError:
            raise
        except (NotEnoughDataError, ValueError) as reason:  # scikit-learn's way to say that nothing came out
            self._reason = reason
            return math.inf
        return error if math.isfinite(error) else math.inf


def left_out_error(problem: Problem, model: Model) -> float:
    """Root mean square error on configurations that were left out, on the response's scale."""
    learned = model.learn(problem)
    left_out = left_out_predictions(problem, model.learn) if learned.left_out is None else learned.left_out
    known = np.isfinite(left_out)
    if not known.any():
        return math.inf
    return float(np.sqrt(((problem.scale.forward(left_out[known]) - problem.y[known]) ** 2).mean()))


def _combinations(grid: Grid, n_trials: int | None, seed: int) -> list[Settings]:
    import random

    values = [own.values if isinstance(own, Range) else tuple(own) for own in grid.values()]
    sizes = [len(own) for own in values]
    if n_trials is None or n_trials >= math.prod(sizes):
        return [dict(zip(grid, chosen, strict=True)) for chosen in product(*values)]
    # Drawn by number, since a grid may have more combinations than fit in memory.
    numbers = sorted(random.Random(seed).sample(range(math.prod(sizes)), n_trials))
    return [dict(zip(grid, _combination(number, values), strict=True)) for number in numbers]


def _combination(number: int, values: Sequence[Sequence[Value]]) -> tuple[Value, ...]:
    chosen = []
    for own in reversed(values):
        number, place = divmod(number, len(own))
        chosen.append(own[place])
    return tuple(reversed(chosen))


def _propose(evaluator: _Evaluator, grid: Grid, n_trials: int, seed: int) -> None:
    """Let optuna propose one combination after the other."""
    try:
        optuna = import_module("optuna")
    except ImportError:
        raise StudyError("searching with tpe needs optuna", hint="pip install 'sparkcast[search]'") from None
    with _quiet(optuna):
        study = optuna.create_study(sampler=optuna.samplers.TPESampler(seed=seed))
        for _ in range(n_trials):
            trial = study.ask()
            error = evaluator.error({name: _suggest(trial, name, values) for name, values in grid.items()})
            if math.isfinite(error):
                study.tell(trial, error)
            else:
                study.tell(trial, state=optuna.trial.TrialState.FAIL)


def _suggest(trial: Any, name: str, values: Sequence[Value] | Range) -> Value:
    if not isinstance(values, Range):
        place: int = trial.suggest_categorical(name, range(len(values)))
        return values[place]
    if values.is_whole:
        whole: int = trial.suggest_int(name, int(values.low), int(values.high), log=values.is_log)
        return whole
    number: float = trial.suggest_float(name, values.low, values.high, log=values.is_log)
    return number


@contextmanager
def _quiet(optuna: Any) -> Iterator[None]:
    before = optuna.logging.get_verbosity()
    optuna.logging.set_verbosity(optuna.logging.WARNING)
    try:
        yield
    finally:
        optuna.logging.set_verbosity(before)
