"""The runs to work on: from a file that the user names, or generated."""

from pathlib import Path

from sparkcast.arrays import Floats
from sparkcast.data import read_csv
from sparkcast.errors import StudyError
from sparkcast.replications import data_file
from sparkcast.study import Configuration, Dataset, Observation
from sparkcast_papers.myung2020._generate import Runs, generate, tasks
from sparkcast_papers.myung2020._tables import CNNS, LEVELS

FILE = "synthetic_1260.csv"
# The columns of the file, in the order of LEVELS.
_COLUMNS = ("SR", "E_mem", "E_num", "C_num", "P_size")
_HEADER = ("cnn", *_COLUMNS, "n_tasks", "CT_min", "avg_task_s", "synthetic")


def runs(data: Path | None) -> tuple[Runs, ...]:
    """The runs of each network: those in the folder, else generated with seed 0."""
    return generate() if data is None else _read(data)


def write_runs(found: tuple[Runs, ...], path: Path) -> None:
    """A file that --data takes, with its column `synthetic`."""
    lines = [",".join(_HEADER)]
    for network in found:
        columns = [getattr(network, name) for name in LEVELS]
        count = tasks(network.sampling_rate, network.partition_size)
        task_s = network.minutes * 60 * network.executors * network.cores / count
        for row in zip(*columns, count, network.minutes, task_s, strict=True):
            settings, (n_tasks, minutes, seconds) = row[:5], row[5:]
            words = [network.cnn, *(f"{value:g}" for value in (*settings, n_tasks))]
            lines.append(",".join([*words, repr(float(minutes)), f"{seconds:.4f}", str(network.is_synthetic)]))
    path.write_text("\n".join(lines) + "\n")


def as_dataset(network: Runs) -> Dataset:
    """Aggregated runs as every model of sparkcast takes them, in seconds."""
    rows = zip(network.executors, network.cores, network.sampling_rate, network.minutes, strict=True)
    observations = tuple(
        Observation(
            Configuration({"executors": int(e), "cores": int(c), "sampling_rate": int(s)}),
            {"time_s": 60 * float(m)},
            position=i,
        )
        for i, (e, c, s, m) in enumerate(rows, start=1)
    )
    return Dataset(("executors", "cores", "sampling_rate"), observations, network.cnn, ("time_s",))


def _read(data: Path) -> tuple[Runs, ...]:
    inside = data / "myung2020"
    path = data_file(inside if inside.is_dir() else data, FILE)
    found = read_csv(path, ("cnn", *_COLUMNS, "synthetic"), ("CT_min",)).successful("CT_min")
    return tuple(_network(path, cnn, [run for run in found if run.configuration["cnn"] == cnn]) for cnn in CNNS)


def _network(path: Path, cnn: str, found: list[Observation]) -> Runs:
    import numpy as np

    expected = int(np.prod([len(levels) for levels in LEVELS.values()]))
    if len(found) != expected:
        raise StudyError(
            f"{path.name} has {len(found)} runs of {cnn}, the study has {expected}",
            hint="one row per combination of Table 9",
        )
    columns: dict[str, Floats] = {}
    for name, column in zip(LEVELS, _COLUMNS, strict=True):
        values = [run.configuration[column] for run in found]
        if {*values} != {*LEVELS[name]}:
            raise StudyError(f"{path.name}: {column} of {cnn} is not {LEVELS[name]}", hint="the levels of Table 9")
        columns[name] = np.array(values, dtype=float)
    if len({tuple(run.configuration.values()) for run in found}) < expected:
        raise StudyError(f"{path.name} has a combination of {cnn} twice", hint="one row per combination of Table 9")
    is_synthetic = all(str(run.configuration["synthetic"]) == "True" for run in found)
    origin = f"{'SYNTHETIC' if is_synthetic else 'not said to be synthetic'}, {path.name}"
    minutes = np.array([run.responses["CT_min"] for run in found])
    return Runs(cnn, **columns, minutes=minutes, origin=origin, is_synthetic=is_synthetic)
