"""Optuna's samplers as searchers, for those who have it installed: `pip install optuna` (and torch for the GP).

A sampler is given each number as its place in the unit interval (ratios count) and each category as one. What it
suggests is taken to be the nearest candidate that was not run yet. It stops only when every candidate was run.
"""

import warnings
from collections.abc import Callable
from importlib.util import find_spec
from typing import TYPE_CHECKING, Any

from sparkcast.search.base import Evaluation, Search
from sparkcast.search.chooser import Chooser
from sparkcast.search.points import CandidateMeans

if TYPE_CHECKING:
    from optuna.samplers import BaseSampler

STARTS = 3  # random runs first, as many as CherryPick's; Optuna's own 10 would be random search here


class Sampled(Chooser):
    """One of Optuna's samplers; each question is asked of a study that knows all runs so far."""

    warnings: tuple[str, ...] = ()

    def __init__(self, search: Search, make_sampler: "Callable[[int], BaseSampler]") -> None:
        super().__init__(search)
        self._make_sampler = make_sampler
        self._told: list[Evaluation] = []

    def tell(self, evaluation: Evaluation) -> None:
        super().tell(evaluation)
        self._told.append(evaluation)

    def _next(self, known: CandidateMeans, left: list[int]) -> int:
        import numpy as np

        asked = self._study().ask(self._distributions()).params
        at = np.array([self._distance(asked, place) for place in left])
        at += np.random.default_rng(self._search.seed).uniform(
            0, 1e-9, len(at)
        )  # names are equally far from each other
        return left[int(np.argmin(at))]

    def _study(self) -> Any:
        import optuna

        optuna.logging.set_verbosity(optuna.logging.ERROR)
        seed = 1000 * self._search.seed + len(self._told)  # else each of its random runs would be the same
        study = optuna.create_study(sampler=self._make_sampler(seed))
        for one in self._told:
            study.add_trial(self._trial(one))
        return study

    def _trial(self, one: Evaluation) -> Any:
        import math

        import optuna

        place = self._points.place(one.configuration)
        assert place is not None
        return optuna.trial.create_trial(
            params=self._params(place),
            distributions=self._distributions(),
            value=None if one.value is None else math.log(one.value),
            state=optuna.trial.TrialState.FAIL if one.value is None else optuna.trial.TrialState.COMPLETE,
        )

    def _distributions(self) -> dict[str, Any]:
        from optuna.distributions import CategoricalDistribution, FloatDistribution

        return {
            axis.name: FloatDistribution(0.0, 1.0) if axis.is_number else CategoricalDistribution(axis.levels)
            for axis in self._points.domain.axes
            if not axis.is_constant
        }

    def _params(self, place: int) -> dict[str, Any]:
        import math

        found: dict[str, Any] = {}
        for axis in self._points.domain.axes:
            level = self._points.candidates[place][axis.name]
            if axis.numbers is None:
                found[axis.name] = level
            elif not axis.is_constant:
                low, high = axis.numbers[0], axis.numbers[-1]
                found[axis.name] = math.log(axis.encode(level) / low) / math.log(high / low)
        return found

    def _distance(self, asked: dict[str, Any], place: int) -> float:
        return sum(
            (asked[name] - value) ** 2 if isinstance(value, float) else float(asked[name] != value)
            for name, value in self._params(place).items()
        )


def _tpe(seed: int) -> "BaseSampler":
    import optuna

    return optuna.samplers.TPESampler(n_startup_trials=STARTS, seed=seed)


def _gp(seed: int) -> "BaseSampler":
    import optuna

    with warnings.catch_warnings():
        warnings.simplefilter("ignore", optuna.exceptions.ExperimentalWarning)
        return optuna.samplers.GPSampler(n_startup_trials=STARTS, seed=seed, deterministic_objective=True)


def peers() -> dict[str, Callable[[Search], Sampled]]:
    """Those that can be run here, by name."""
    found: dict[str, Callable[[Search], Sampled]] = {}
    if find_spec("optuna"):
        found["optuna-tpe"] = lambda search: Sampled(search, _tpe)
        if find_spec("torch"):
            found["optuna-gp"] = lambda search: Sampled(search, _gp)
    return found
