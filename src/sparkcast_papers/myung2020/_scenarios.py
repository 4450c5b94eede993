"""Table 8: what each scenario learns from, and how."""

import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Literal

from sparkcast.arrays import Floats
from sparkcast_papers.myung2020._generate import Runs
from sparkcast_papers.myung2020._techniques import (
    TECHNIQUES,
    Point,
    Predict,
    Searched,
    Technique,
    best,
    search_all,
)

Level2 = Literal["none", "columns", "product"]
LINES: tuple[Technique, ...] = ("lasso", "ridge")


@dataclass(frozen=True, slots=True)
class Scenario:
    """One row of Table 8, as sections 4 and 5 of the paper complete it."""

    name: str
    rates: tuple[int, ...]  # sampling rates that are learned from
    features: tuple[str, ...]
    level_2: Level2 = "none"
    is_aggregated: bool = True

    @property
    def is_tested_at_full_data(self) -> bool:
        """Otherwise the accuracy is that of leaving out one row."""
        return 100 not in self.rates


_FULL, _SAMPLES = (100,), (1, 10)
SCENARIOS: tuple[Scenario, ...] = (
    Scenario("baseline", _FULL, ("cores", "1/executors")),
    Scenario("1", _SAMPLES, ("cores", "1/executors", "memory", "partition_size", "sampling_rate"), is_aggregated=False),
    Scenario("2", _SAMPLES, ("cores", "1/executors", "sampling_rate")),
    Scenario("3-1", _FULL, ("1/cores", "1/executors"), "columns"),
    Scenario("3-2", _FULL, ("1/cores", "1/executors"), "product"),
    Scenario("4-1", _SAMPLES, ("1/cores", "1/executors", "sampling_rate"), "columns"),
    Scenario("4-2", _SAMPLES, ("1/cores", "1/executors", "sampling_rate"), "product"),
)


@dataclass(frozen=True, slots=True)
class Outcome:
    """A scenario of one network."""

    scenario: Scenario
    cnn: str
    n: int  # rows that were learned from
    accuracies: Mapping[Technique, float]  # of the last level, as the paper measures them
    points: Mapping[Technique, Point]  # the best of each grid
    errors: Mapping[Technique, float]  # mean squared, of leaving out one row
    level_1: Mapping[str, Point]
    t1_min: float
    t2_s: float

    @property
    def by_accuracy(self) -> Technique:
        """The technique that reports best, which for tests at full data is a choice by the test."""
        return max(self.accuracies, key=lambda technique: self.accuracies[technique])

    @property
    def by_error(self) -> Technique:
        """The technique that leave-one-out picks."""
        return min(self.errors, key=lambda technique: self.errors[technique])


def column(runs: Runs, feature: str) -> Floats:
    """`cores`, or `1/cores`."""
    inverse, _, name = feature.rpartition("/")
    values: Floats = getattr(runs, name)
    return 1 / values if inverse else values


def matrix(runs: Runs, features: tuple[str, ...]) -> Floats:
    import numpy as np

    return np.column_stack([column(runs, feature) for feature in features])


def scaled(runs: Runs, feature: str, ceiling: Runs | None = None) -> Floats:
    """Each time over the longest of the runs that differ in this feature only; those of `ceiling` when it is given."""
    import numpy as np

    keys, ceiling_keys = _others(runs, feature), _others(ceiling or runs, feature)
    times = (ceiling or runs).minutes
    longest = {key: times[[k == key for k in ceiling_keys]].max() for key in set(keys)}
    ceilings: Floats = np.array([longest[key] for key in keys])
    return runs.minutes / ceilings


def groups(runs: Runs, feature: str) -> int:
    """How many groups share a longest time."""
    return len(set(_others(runs, feature)))


def _others(runs: Runs, feature: str) -> list[tuple[float, ...]]:
    names = [name for name in ("sampling_rate", "executors", "cores") if not feature.endswith(name)]
    return list(zip(*(getattr(runs, name).tolist() for name in names), strict=True))


def accuracy(actual: Floats, predicted: Floats) -> float:
    """100 - MAPE, in percent; below zero where errors exceed the times themselves."""
    import numpy as np

    return float(100 - 100 * np.abs((actual - predicted) / actual).mean())


def combined(level_1: Mapping[str, Predict], runs: Runs, level_2: Level2) -> Floats:
    """What the second level sees: the outputs of the first, or their product."""
    import numpy as np

    columns = np.column_stack([predict(column(runs, feature)[:, None]) for feature, predict in level_1.items()])
    return columns.prod(axis=1, keepdims=True) if level_2 == "product" else columns


def training_runs(runs: Runs, scenario: Scenario) -> Runs:
    chosen = runs.at(*scenario.rates)
    return chosen.aggregated() if scenario.is_aggregated else chosen


class Study:
    """The scenarios of one network; a first level that two scenarios share is learned once."""

    def __init__(self, runs: Runs, techniques: Sequence[Technique] = TECHNIQUES) -> None:
        self.runs = runs
        self._techniques = techniques
        self._first: dict[tuple[int, ...], tuple[dict[str, Searched], float]] = {}

    def outcome(self, scenario: Scenario) -> Outcome:
        """The paper's way: the first level learns from all training rows, the last is judged by leaving out one."""
        train = training_runs(self.runs, scenario)
        level_1, spent = ({}, 0.0) if scenario.level_2 == "none" else self.level_1(scenario)
        begun = time.perf_counter()
        see = _eyes(scenario, level_1)
        searched = search_all(see(train), train.minutes, self._techniques)
        spent += time.perf_counter() - begun
        return Outcome(
            scenario,
            self.runs.cnn,
            len(train),
            self._accuracies(scenario, train, searched, see),
            {name: found.point for name, found in searched.items()},
            {name: found.error for name, found in searched.items()},
            {feature: found.point for feature, found in level_1.items()},
            float(train.minutes.sum()),
            spent,
        )

    def level_1(self, scenario: Scenario) -> tuple[dict[str, Searched], float]:
        """One model per feature, the best of four techniques, and the seconds it took."""
        if scenario.rates not in self._first:
            train = training_runs(self.runs, scenario)
            begun = time.perf_counter()
            found = {feature: self._first_model(train, feature) for feature in scenario.features}
            self._first[scenario.rates] = found, time.perf_counter() - begun
        return self._first[scenario.rates]

    def _first_model(self, train: Runs, feature: str) -> Searched:
        searched = search_all(column(train, feature)[:, None], scaled(train, feature), self._techniques)
        if feature == "sampling_rate":
            # The paper reports a line here; leave-one-out cannot tell it from a forest, see `mistakes`.
            return best({name: searched[name] for name in LINES})
        return best(searched)

    def _accuracies(
        self, scenario: Scenario, train: Runs, searched: Mapping[Technique, Searched], see: Callable[[Runs], Floats]
    ) -> dict[Technique, float]:
        if not scenario.is_tested_at_full_data:
            return {name: accuracy(train.minutes, found.left_out) for name, found in searched.items()}
        test = self.runs.at(100).aggregated() if scenario.is_aggregated else self.runs.at(100)
        return {name: accuracy(test.minutes, found.predict(see(test))) for name, found in searched.items()}


def _eyes(scenario: Scenario, level_1: Mapping[str, Searched]) -> Callable[[Runs], Floats]:
    """Runs as the last level sees them."""
    if scenario.level_2 == "none":
        return lambda runs: matrix(runs, scenario.features)
    predicts = {feature: found.predict for feature, found in level_1.items()}
    return lambda runs: combined(predicts, runs, scenario.level_2)
