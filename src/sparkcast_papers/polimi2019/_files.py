"""The four public tables of measurements."""

from dataclasses import replace
from pathlib import Path
from typing import Any

from sparkcast.data import read_table
from sparkcast.errors import StudyError
from sparkcast.registry import did_you_mean
from sparkcast.replications import NeedsMeasurements, data_file
from sparkcast.study import Configuration, Dataset

GPU, POWER, MODULES, K_MEANS = (
    "gpu_training_times.csv",
    "gpu_power_extrapolation.csv",
    "resnet_inner_modules_m60.csv",
    "spark_kmeans_power8_full.csv",
)
RESPONSE = "applicationCompletionTime"  # of K-means, in milliseconds
_GPU_COLUMNS = "gflops n_gpus batch_size iterations cpu_threads time_s".split()
_COLUMNS = {
    GPU: ("network", "framework", "gpu", *_GPU_COLUMNS),
    POWER: ("network", "framework", "gpu", *_GPU_COLUMNS),
    MODULES: ("inner_modules", *_GPU_COLUMNS[1:]),
}
_K_MEANS_FACTORS = {"dataSize": "data_size", "nContainers": "cores"}


def require(data: Path | None, *names: str) -> Path:
    """The folder with the measurements; the slides print none."""
    if data is None:
        raise NeedsMeasurements(
            "the slides print errors of predictions but no measurements, so these are needed",
            hint=f"`data=DIR` with {', '.join(names)}, tables of what the authors published with their library",
        )
    for name in names:
        data_file(data, name)
    return data


def gpu_table(data: Path, name: str) -> Any:
    """A table of CNN trainings, one run a row."""
    import pandas as pd

    runs = pd.read_csv(data_file(data, name))
    for column in _COLUMNS[name]:
        if column not in runs:
            raise StudyError(f"{name} has no column {column!r}", hint=did_you_mean(column, runs.columns.tolist()))
    return runs


def k_means(data: Path) -> Dataset:
    """The runs of K-means by data_size and cores, with the times of their jobs and stages as metrics."""
    in_milliseconds = {RESPONSE: "time:ms"}
    runs, _ = read_table(data_file(data, K_MEANS), tuple(_K_MEANS_FACTORS), (RESPONSE,), in_milliseconds)
    renamed = (
        replace(
            run, configuration=Configuration((new, run.configuration[old]) for old, new in _K_MEANS_FACTORS.items())
        )
        for run in runs.observations
    )
    return replace(runs, factors=tuple(_K_MEANS_FACTORS.values()), observations=tuple(renamed))
