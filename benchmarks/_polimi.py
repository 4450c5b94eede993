"""The extrapolations of polimi2019's GPU measurements as pairs of data sets: what is learned from, and what is asked.

Each function takes the folder that holds `gpu_training_times.csv` and `resnet_inner_modules_m60.csv`. A setting that
the training runs do not vary is no factor of its cell: nothing could be learned about it.
"""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

from sparkcast.study import Dataset, Observation

Cell = tuple[str, Dataset, Dataset]

_GPU_FACTORS = ("n_gpus", "batch_size", "iterations", "cpu_threads", "disk_MBps")
_MODULE_FACTORS = ("inner_modules", "batch_size", "iterations", "cpu_threads", "disk_MBps")
_SHORTEST_RUN = 141  # iterations; shorter runs exist for one depth only
_DEEPEST_TRAINED = (4, 5, 6, 8)


def gpu_number_cells(folder: Path) -> Iterator[Cell]:
    """Per network, framework and card: from fewer GPUs to the most."""
    for key, runs in _gpu_runs(folder).groupby(["network", "framework", "gpu"]):
        is_test = runs["n_gpus"] == runs["n_gpus"].max()
        if runs.loc[~is_test, "n_gpus"].nunique() > 1:
            yield _cell(" ".join(map(str, key)), runs, is_test, _GPU_FACTORS)


def batch_size_cells(folder: Path) -> Iterator[Cell]:
    """Per network, framework, card and number of GPUs: from smaller batches to the largest."""
    for key, runs in _gpu_runs(folder).groupby(["network", "framework", "gpu", "n_gpus"]):
        is_test = runs["batch_size"] == runs["batch_size"].max()
        if runs.loc[~is_test, "batch_size"].nunique() > 1:
            yield _cell(" ".join(map(str, key)), runs, is_test, _GPU_FACTORS)


def inner_module_cells(folder: Path) -> Iterator[Cell]:
    """Per number of GPUs and deepest network learned from: from shallower networks to deeper ones."""
    import pandas as pd

    runs = pd.read_csv(folder / "resnet_inner_modules_m60.csv")
    runs = runs[runs["iterations"] >= _SHORTEST_RUN]
    for n_gpus, of_size in runs.groupby("n_gpus"):
        for deepest in _DEEPEST_TRAINED:
            is_test = of_size["inner_modules"] > deepest
            yield _cell(f"{n_gpus} GPUs, {deepest} modules", of_size, is_test, _MODULE_FACTORS)


def _gpu_runs(folder: Path) -> Any:
    """The image networks, which the slides are about; the file has a speech network too."""
    import pandas as pd

    runs = pd.read_csv(folder / "gpu_training_times.csv")
    return runs[runs["network"] != "deepspeech"]


def _cell(name: str, runs: Any, is_test: Any, factors: tuple[str, ...]) -> Cell:
    train, test = runs[~is_test], runs[is_test]
    varied = tuple(factor for factor in factors if train[factor].nunique() > 1)
    return name, _dataset(train, varied), _dataset(test, varied)


def _dataset(runs: Any, factors: tuple[str, ...]) -> Dataset:
    return Dataset(
        factors,
        tuple(
            Observation({factor: float(run[factor]) for factor in factors}, {"time_s": float(run["time_s"])})
            for run in runs.to_dict("records")
        ),
    )
