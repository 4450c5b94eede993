"""Runs to learn from and runs to ask, and how far off an answer is."""

import dataclasses
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from statistics import median

from sparkcast.arrays import Floats
from sparkcast.study import Configuration, Dataset, Observation

AUTHORS_SEED = 42
SEEDS = tuple(range(50))
_SHARE = 0.2

# Learns from runs, and says how long others take.
Technique = Callable[[Dataset, Sequence[Configuration]], Floats]


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
    learned, asked = draw(len(runs.observations), seed)
    return Split(*(_chosen(runs, [runs.observations[row] for row in rows]) for rows in (learned, asked)))


def by_settings(runs: Dataset, seed: int) -> Split:
    """All replicates of a setting on one side; the same split as by rows where nothing was run twice."""
    groups: dict[object, list[Observation]] = {}
    for run in runs.observations:
        groups.setdefault(runs.key(run), []).append(run)
    different = list(groups.values())
    sides = draw(len(different), seed)
    return Split(*(_chosen(runs, [run for place in side for run in different[place]]) for side in sides))


def draw(count: int, seed: int) -> tuple[list[int], list[int]]:
    """Four fifths of so many to learn from and one to ask, drawn as the authors drew them.

    Their order is part of the draw: a forest draws its trees' rows by place.
    """
    from sklearn.model_selection import train_test_split

    learned, asked = train_test_split(range(count), test_size=_SHARE, random_state=seed)
    return list(learned), list(asked)


def times(runs: Dataset) -> Floats:
    import numpy as np

    return np.array([run.responses["time_s"] for run in runs.observations])


def settings(runs: Dataset) -> list[Configuration]:
    return [run.configuration for run in runs.observations]


def ask(technique: Technique, split: Split) -> Score:
    return score(technique(split.train, settings(split.test)), times(split.test))


def score(predicted: Floats, actual: Floats) -> Score:
    import numpy as np

    mse = float(np.mean((predicted - actual) ** 2))
    return Score(mse, 1 - mse / float(np.var(actual)), 100 * float(np.mean(np.abs(predicted / actual - 1))))


def scores(
    techniques: Mapping[str, Technique], runs: Dataset, seeds: Sequence[int] = SEEDS
) -> dict[str, tuple[Score, ...]]:
    """What each technique reaches on the same splits by configuration."""
    splits = [by_settings(runs, seed) for seed in seeds]
    return {name: tuple(ask(technique, split) for split in splits) for name, technique in techniques.items()}


def typical(found: Sequence[Score]) -> Score:
    """The median of each number: a few splits are far off."""
    return Score(*(median(getattr(score, field.name) for score in found) for field in dataclasses.fields(Score)))


def _chosen(runs: Dataset, observations: Sequence[Observation]) -> Dataset:
    return dataclasses.replace(runs, observations=tuple(observations))
