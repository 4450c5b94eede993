"""Learning time and accuracy from the same runs: the paper's forest and boosting, and models of sparkcast."""

import dataclasses
import os
from collections.abc import Iterator, Mapping, Sequence
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass
from functools import partial
from multiprocessing import get_context

from sparkcast.arrays import Floats
from sparkcast.learned.knowledge import Knowledge
from sparkcast.study import Configuration, Dataset
from sparkcast_papers.courier2021._techniques import FEWER_TREES, FIVE, THREE, columns, standardized

RESPONSES = ("time_s", "accuracy")
_SEED = 42
_ACCURACY_TREES = 150  # Table 7


# Whose predictions; the first three are the paper's techniques.
COURIERS, BOOSTED_3, BOOSTED_5, OURS = "forest", "boosting, 3 features", "boosting, 5 features", "ours"


@dataclass(frozen=True, slots=True)
class Said:
    """What is predicted of each setting."""

    times_s: list[float]
    accuracies: list[float]


@dataclass(frozen=True, slots=True)
class Task:
    """Runs to learn from, and settings to be asked about afterwards."""

    train: Dataset
    questions: tuple[tuple[Configuration, ...], ...]
    model: str
    trees: int
    beside: str | None = None  # another model of sparkcast


@dataclass(frozen=True, slots=True)
class Answers:
    model: Knowledge
    beside: Knowledge | None
    said: tuple[Mapping[str, Said], ...]  # for each question by whom


def both_responses(runs: Dataset) -> Dataset:
    """Time and accuracy where it is known, without what else the files have of a run."""
    observations = tuple(
        dataclasses.replace(run, responses={name: run.responses[name] for name in RESPONSES if name in run.responses})
        for run in runs.observations
    )
    return dataclasses.replace(runs, observations=observations)


def forest(train: Dataset, at: Sequence[Configuration], *, trees: int = FEWER_TREES) -> Said:
    """Courier's models, with the settings of Table 7 but for the number of trees for the time."""
    from sklearn.ensemble import RandomForestRegressor

    grown = partial(RandomForestRegressor, criterion="absolute_error", random_state=_SEED, n_jobs=1)
    models = {
        "time_s": grown(n_estimators=trees, max_depth=6),
        "accuracy": grown(n_estimators=min(trees, _ACCURACY_TREES), max_depth=9),
    }
    found = []
    for response, model in models.items():
        known, values = _known(train, response)
        x, asked = standardized(known, at, FIVE)
        found.append(model.fit(x, values).predict(asked).tolist())
    return Said(*found)


def boosting(train: Dataset, at: Sequence[Configuration], *, names: Sequence[str] = THREE) -> Said:
    """With the settings of Table 10."""
    from sklearn.ensemble import GradientBoostingRegressor

    found = []
    for response, loss in zip(RESPONSES, ("absolute_error", "squared_error"), strict=True):
        known, values = _known(train, response)
        model = GradientBoostingRegressor(n_estimators=50, max_depth=3, loss=loss, random_state=_SEED)
        found.append(model.fit(columns(known, names), values).predict(columns(at, names)).tolist())
    return Said(*found)


def ours(model: Knowledge, at: Sequence[Configuration]) -> Said:
    return Said(*(model.model_of(response)[1].predict(at) for response in RESPONSES))


def _known(train: Dataset, response: str) -> tuple[list[Configuration], Floats]:
    import numpy as np

    runs = train.successful(response)
    return [run.configuration for run in runs], np.array([run.responses[response] for run in runs])


def learn(train: Dataset, model: str) -> Knowledge:
    """Both responses by a model of sparkcast, in the form that `recommend` takes instead of runs."""
    learned = Knowledge(train, model)
    for response in RESPONSES:
        learned.model_of(response)  # here, and not in the process that asks
    return learned


def answer(task: Task) -> Answers:
    at = [configuration for question in task.questions for configuration in question]
    mine = learn(task.train, task.model)
    said = {
        COURIERS: forest(task.train, at, trees=task.trees),
        BOOSTED_3: boosting(task.train, at),
        BOOSTED_5: boosting(task.train, at, names=FIVE),
        OURS: ours(mine, at),
    }
    beside = None if task.beside is None else learn(task.train, task.beside)
    return Answers(mine, beside, tuple(_by_question(said, task.questions)))


def _by_question(said: Mapping[str, Said], questions: Sequence[Sequence[Configuration]]) -> Iterator[dict[str, Said]]:
    start = 0
    for question in questions:
        own = slice(start, start + len(question))
        yield {name: Said(each.times_s[own], each.accuracies[own]) for name, each in said.items()}
        start = own.stop


def answer_all(tasks: Sequence[Task], workers: int | None = None) -> list[Answers]:
    """On as many processes as there are cores, unless told."""
    workers = min(workers or os.cpu_count() or 1, len(tasks))
    if workers == 1:
        return [answer(task) for task in tasks]
    with ProcessPoolExecutor(workers, get_context("spawn"), _one_thread) as pool:
        return list(pool.map(answer, tasks))


def _one_thread() -> None:
    """A process per core leaves none for the threads of linear algebra."""
    from threadpoolctl import threadpool_limits

    threadpool_limits(1)
