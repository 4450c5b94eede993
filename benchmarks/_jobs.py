"""Every job that was measured in public often enough to learn it from a few runs: one data set per job.

The function takes the folder that holds c3o, bell, scout, courier2021 and polimi2019. Roles and units are declared, as
a user who knows the job would declare them; a total over all machines has no role of its own unless it counts cores.
Repeats of a configuration stay repeats. A setting that a job never varies is no factor of it.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pandas as pd

from sparkcast.study import Dataset, Kind, Observation, Response, Role, Setting, Vocabulary

DATA_SETS = ("c3o", "bell", "scout", "courier", "polimi")
FEWEST = 9  # configurations, so that a few remain to be asked about: drops the 7 of c3o/ernest_rcv1.csv

_SECONDS = Response("time_s", kind=Kind.TIME)
_C3O_MACHINES = (
    Setting("instance_count", role=Role.MACHINES),
    Setting("machine_type", role=Role.MACHINE_TYPE),
    Setting("slots_total", role=Role.TOTAL_CORES),
    Setting("memory_total_mb", unit="mb"),
)
_C3O_DATA = (Setting("data_size_mb", role=Role.DATA_SIZE, unit="mb"),)
_C3O = {
    "grep": (Setting("lines", role=Role.DATA_SIZE), Setting("p_occurrence")),
    "kmeans": (Setting("features"), Setting("observations", role=Role.DATA_SIZE), Setting("k")),
    "sgd": (
        Setting("features"),
        Setting("observations", role=Role.DATA_SIZE),
        Setting("iterations", role=Role.ITERATIONS),
    ),
}
_BELL = (Setting("nodes", role=Role.MACHINES),)
_SCOUT = (
    Setting("nodes", role=Role.MACHINES),
    Setting("vcpu_per_vm", role=Role.CORES),
    Setting("mem_gib_per_vm", role=Role.MEMORY, unit="gib"),
)
_NETWORK = (Setting("network"),)
_COURIER = (
    Setting("cpu", role=Role.TOTAL_CORES),
    Setting("batch", role=Role.BATCH),
    Setting("njobs", role=Role.JOBS),
    *_NETWORK,
)
_DATA_SIZE = (Setting("data_size", role=Role.DATA_SIZE),)
_K_MEANS = (Setting("cores", role=Role.TOTAL_CORES), *_DATA_SIZE)
_STEPS = (Setting("batch_size", role=Role.BATCH), Setting("iterations", role=Role.ITERATIONS))
_TRAINING = (Setting("n_gpus", role=Role.MACHINES), *_STEPS, Setting("cpu_threads"))
_GPU = (Setting("gpu", role=Role.MACHINE_TYPE), *_TRAINING, Setting("disk_MBps"))
_DEPTH = (Setting("inner_modules"),)
_MODULES = (*_DEPTH, *_TRAINING)  # the disk is not known of any run with more than one GPU
_SHORTEST_MODULE_RUN = 141  # iterations; shorter runs exist for one depth only


@dataclass(frozen=True, slots=True)
class Job:
    data_set: str
    name: str
    data: Dataset
    response: str
    work: tuple[str, ...] = ()  # factors that say what is to be done; the others say by what means

    @property
    def label(self) -> str:
        return f"{self.data_set} {self.name}"


def jobs(folder: Path) -> list[Job]:
    """All jobs, the data sets in the order of `DATA_SETS`."""
    sources = (
        _c3o(folder / "c3o"),
        _bell(folder / "bell"),
        _scout(folder / "scout"),
        _courier(folder / "courier2021"),
        _polimi(folder / "polimi2019"),
    )
    found = [job for source in sources for job in source]
    return [job for job in found if len({job.data.key(run) for run in job.data.observations}) >= FEWEST]


def _c3o(folder: Path) -> Iterator[Job]:
    for name, parameters in _C3O.items():
        runs = pd.read_csv(folder / f"{name}.csv").rename(columns={"gross_runtime_s": "time_s"})
        yield _job("c3o", name, runs, (*_C3O_MACHINES, *_C3O_DATA, *parameters), work=(*_C3O_DATA, *parameters))


def _bell(folder: Path) -> Iterator[Job]:
    for path in sorted(folder.glob("*.csv")):
        yield _job("bell", path.stem, pd.read_csv(path), _BELL)


def _scout(folder: Path) -> Iterator[Job]:
    """What a run took that did not complete is no run time."""
    runs = pd.read_csv(folder / "multiple_nodes.csv").rename(columns={"elapsed_s": "time_s"})
    runs = runs[runs["completed"] == 1]
    for key, of_workload in runs.groupby(["workload", "framework", "datasize"]):
        yield _job("scout", " ".join(map(str, key)), of_workload, _SCOUT)


def _courier(folder: Path) -> Iterator[Job]:
    """Without the rows whose time was left over from the run before them."""
    runs = pd.read_csv(folder / "fullfact_rep1.csv")
    yield _job("courier", "training", runs[~runs["time_equals_previous_row"].astype(bool)], _COURIER, work=_NETWORK)


def _polimi(folder: Path) -> Iterator[Job]:
    k_means, time_ms = pd.read_csv(folder / "spark_kmeans_power8.csv"), Response("time_ms", kind=Kind.TIME, unit="ms")
    yield _job("polimi", "kmeans", k_means, _K_MEANS, time_ms, work=_DATA_SIZE)
    modules = pd.read_csv(folder / "resnet_inner_modules_m60.csv")
    modules = modules[modules["iterations"] >= _SHORTEST_MODULE_RUN]
    yield _job("polimi", "resnet modules", modules, _MODULES, work=(*_DEPTH, *_STEPS))
    for key, trainings in pd.read_csv(folder / "gpu_training_times.csv").groupby(["network", "framework"]):
        yield _job("polimi", " ".join(map(str, key)), trainings, _GPU, work=_STEPS)


def _job(
    data_set: str,
    name: str,
    runs: Any,
    settings: Sequence[Setting],
    response: Response = _SECONDS,
    *,
    work: Sequence[Setting] = (),
) -> Job:
    varied = [setting for setting in settings if runs[setting.name].nunique() > 1]
    factors = tuple(setting.name for setting in varied)
    observations = tuple(
        Observation(dict(zip(factors, levels, strict=True)), {response.name: float(value)})
        for *levels, value in runs[[*factors, response.name]].to_numpy(dtype=object).tolist()
    )
    words = Vocabulary(tuple(varied), (response,))
    data = Dataset(factors, observations, f"{data_set} {name}", (response.name,), words)
    return Job(data_set, name, data, response.name, tuple(s.name for s in work if s in varied))
