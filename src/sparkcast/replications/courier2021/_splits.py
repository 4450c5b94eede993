"""Runs to learn from and runs to ask, and how far off an answer is."""

import dataclasses
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from statistics import median
from typing import Any

from sparkcast.study import Configuration, Dataset

AUTHORS_SEED = 42
SEEDS = tuple(range(50))
_SHARE = 0.2

# Learns from runs, and says how long others take.
Technique = Callable[[Dataset, Sequence[Configuration]], Any]


@dataclass(frozen=True, slots=True)
class Split:
    train: Dataset
    test: Dataset


@dataclass(frozen=True, slots=True)
class Score:
    mse: float  # seconds squared
    r2: float
    mape: float  # percent


def by_rows(runs: Dataset, seed: int) -> Split:
    """As the authors split: replicates of a setting may stand on both sides."""
    return _split(runs, set(asked_rows(len(runs.observations), seed)))


def by_settings(runs: Dataset, seed: int) -> Split:
    """All replicates of a setting on one side; the same split as by rows where nothing was run twice."""
    different = list(dict.fromkeys(runs.key(run) for run in runs.observations))
    asked = {different[place] for place in asked_rows(len(different), seed)}
    return _split(runs, {place for place, run in enumerate(runs.observations) if runs.key(run) in asked})


def asked_rows(count: int, seed: int) -> list[int]:
    """A fifth of so many, drawn as the authors' library draws them."""
    from sklearn.model_selection import train_test_split

    _, asked = train_test_split(range(count), test_size=_SHARE, random_state=seed)
    return [int(row) for row in asked]


def times(runs: Dataset) -> Any:
    import numpy as np

    return np.array([run.responses["time_s"] for run in runs.observations])


def settings(runs: Dataset) -> list[Configuration]:
    return [run.configuration for run in runs.observations]


def ask(technique: Technique, split: Split) -> Score:
    return score(technique(split.train, settings(split.test)), times(split.test))


def score(predicted: Any, actual: Any) -> Score:
    import numpy as np

    mse = float(np.mean((predicted - actual) ** 2))
    return Score(mse, 1 - mse / float(np.var(actual)), 100 * float(np.mean(np.abs(predicted / actual - 1))))


def scores(
    techniques: Mapping[str, Technique], runs: Dataset, seeds: Sequence[int] = SEEDS
) -> dict[str, tuple[Score, ...]]:
    """What each technique reaches on the same splits by setting."""
    splits = [by_settings(runs, seed) for seed in seeds]
    return {name: tuple(ask(technique, split) for split in splits) for name, technique in techniques.items()}


def typical(found: Sequence[Score]) -> Score:
    """The median of each number: a few splits are far off."""
    return Score(*(median(getattr(score, field.name) for score in found) for field in dataclasses.fields(Score)))


def _split(runs: Dataset, asked: set[int]) -> Split:
    train, test = (
        tuple(run for place, run in enumerate(runs.observations) if (place in asked) == wanted)
        for wanted in (False, True)
    )
    return Split(dataclasses.replace(runs, observations=train), dataclasses.replace(runs, observations=test))
