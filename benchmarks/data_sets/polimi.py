"""GPU training times, ResNet inner modules, and K-means on Spark (Polimi, 2019)."""

from collections.abc import Iterator
from pathlib import Path

import pandas as pd

from data_sets._job import Job, job_of
from sparkcast.study import Kind, Response, Role, Setting

FOLDER = "polimi2019"
_DATA_SIZE = (Setting("data_size", role=Role.DATA_SIZE),)
_K_MEANS = (Setting("cores", role=Role.TOTAL_CORES), *_DATA_SIZE)
_STEPS = (Setting("batch_size", role=Role.BATCH), Setting("iterations", role=Role.ITERATIONS))
_TRAINING = (Setting("n_gpus", role=Role.MACHINES), *_STEPS, Setting("cpu_threads"))
_GPU = (Setting("gpu", role=Role.MACHINE_TYPE), *_TRAINING, Setting("disk_MBps"))
_DEPTH = (Setting("inner_modules"),)
_MODULES = (*_DEPTH, *_TRAINING)  # the disk is not known of any run with more than one GPU
_SHORTEST_MODULE_RUN = 141  # iterations; shorter runs exist for one depth only


def jobs(folder: Path) -> Iterator[Job]:
    k_means, time_ms = pd.read_csv(folder / "spark_kmeans_power8.csv"), Response("time_ms", kind=Kind.TIME, unit="ms")
    yield job_of("polimi", "kmeans", k_means, _K_MEANS, time_ms, work=_DATA_SIZE)
    modules = pd.read_csv(folder / "resnet_inner_modules_m60.csv")
    modules = modules[modules["iterations"] >= _SHORTEST_MODULE_RUN]
    yield job_of("polimi", "resnet modules", modules, _MODULES, work=(*_DEPTH, *_STEPS))
    for key, trainings in pd.read_csv(folder / "gpu_training_times.csv").groupby(["network", "framework"]):
        yield job_of("polimi", " ".join(map(str, key)), trainings, _GPU, work=_STEPS)
