"""What was measured is believed, also where it is unlike everything else."""

import math
import random

import numpy as np

from sparkcast.models.auto import Auto
from sparkcast.models.bayesian import Bayesian
from sparkcast.study import Configuration, Dataset, Kind, Observation, Response, Role, Setting, Vocabulary

# Trainings of a network, until 85 % or for ten minutes: one of them learned at once.
_NAMES = ("n_workers", "cores", "synchronism", "batch_size", "learning_rate")
_TRAININGS = (
    (64, 1, "sync", 16, 0.0001, 621.0),
    (16, 4, "async", 256, 1e-05, 98.9),
    (24, 2, "async", 256, 1e-05, 108.2),
    (96, 1, "sync", 16, 0.001, 665.6),
    (14, 8, "async", 16, 1e-05, 189.3),
    (28, 4, "async", 256, 1e-05, 99.0),
    (48, 2, "async", 16, 0.0001, 346.2),
    (6, 8, "sync", 16, 1e-05, 600.1),
    (8, 4, "async", 256, 1e-05, 98.9),
    (2, 8, "sync", 16, 0.001, 31.5),
    (16, 1, "async", 16, 1e-05, 637.8),
    (24, 2, "sync", 16, 0.0001, 630.7),
    (16, 4, "async", 256, 0.001, 166.8),
    (28, 4, "async", 256, 0.0001, 98.8),
    (2, 8, "sync", 256, 1e-05, 315.3),
)
_WORDS = Vocabulary(
    (
        Setting("n_workers", role=Role.MACHINES),
        Setting("cores", role=Role.CORES),
        Setting("synchronism"),
        Setting("batch_size", role=Role.BATCH),
        Setting("learning_rate"),
    ),
    (Response("time_s", kind=Kind.TIME),),
)


def trainings() -> Dataset:
    runs = [Observation(dict(zip(_NAMES, row[:-1], strict=True)), {"time_s": row[-1]}) for row in _TRAININGS]
    return Dataset(_NAMES, tuple(runs), "training", ("time_s",), _WORDS)


def test_a_measured_run_is_not_explained_away() -> None:
    data = trainings()
    fitted = Auto().fit(data, "time_s")
    at = [Configuration(run.configuration) for run in data.observations]
    measured = np.array([run.responses["time_s"] for run in data.observations])
    low, high = np.array(fitted.interval(at, level=0.9)).T
    predicted = np.array(fitted.predict(at))
    fastest = int(measured.argmin())
    assert low[fastest] <= 31.5 <= high[fastest]
    assert predicted[fastest] < 60
    assert np.mean((low <= measured) & (measured <= high)) >= 0.9
    assert np.abs(np.log(predicted / measured)).max() < math.log(1.5)


def _memory_job(jump: float) -> Dataset:
    """Twelve clusters; with less memory in all than the data need, each run takes `jump` times as long."""
    draw = random.Random(3)
    runs = []
    for nodes, memory in [(n, m) for n in (2, 4, 8, 16) for m in (4, 8, 16)]:
        time = 40 + 2000 / nodes * (jump if nodes * memory < 50 else 1.0) * math.exp(draw.gauss(0, 0.02))
        runs.append(Observation({"nodes": nodes, "memory": memory}, {"time_s": time}))
    words = Vocabulary(
        (Setting("nodes", role=Role.MACHINES), Setting("memory", role=Role.MEMORY, unit="gib")),
        (Response("time_s", kind=Kind.TIME),),
    )
    return Dataset(("nodes", "memory"), tuple(runs), "job", ("time_s",), words)


def test_a_cliff_of_memory_is_a_step_and_not_a_ramp() -> None:
    fitted = Bayesian().fit(_memory_job(6.0), "time_s")
    below, above = Configuration({"nodes": 3, "memory": 12}), Configuration({"nodes": 5, "memory": 14})
    slow, quick = fitted.predict([below, above])
    assert 40 + 6 * 2000 / 3 > slow > 0.6 * (40 + 6 * 2000 / 3)
    assert quick < 1.5 * (40 + 2000 / 5)


def test_what_numbers_do_in_one_category_teaches_about_another() -> None:
    """Six levels of a number in one category show a bend that two levels in the other could not."""

    def time(x: float, kind: str) -> float:
        return (3.0 if kind == "b" else 1.0) * 100 * (1 + 0.8 * math.exp(-(math.log(x / 8) ** 2)))

    levels = [(x, "a") for x in (1, 2, 4, 8, 16, 32, 64)] + [(1, "b"), (64, "b"), (2, "b")]
    runs = tuple(Observation({"x": x, "kind": kind}, {"time_s": time(x, kind)}) for x, kind in levels)
    words = Vocabulary((Setting("x"), Setting("kind")), (Response("time_s", kind=Kind.TIME),))
    fitted = Bayesian().fit(Dataset(("x", "kind"), runs, "job", ("time_s",), words), "time_s")
    (predicted,) = fitted.predict([Configuration({"x": 8, "kind": "b"})])
    assert abs(math.log(predicted / time(8, "b"))) < math.log(1.25)
