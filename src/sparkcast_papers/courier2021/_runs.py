"""The measurements that could be recovered from the outputs of the authors' notebooks."""

import csv
import dataclasses
from pathlib import Path

from sparkcast.data import read_csv
from sparkcast.errors import StudyError
from sparkcast.replications import data_file
from sparkcast.study import Dataset, Fingerprint, Observation

FACTORS = ("cpu", "batch", "njobs", "network")
REPLICATE_1, CELLS = "fullfact_rep1.csv", "fullfact_cells_time_3reps_n6.csv"
EVALUATION = "courier_eval_5jobs_3reps.csv"
_FLAG = "time_equals_previous_row"
# Times of simplenet were recovered as twice a cell's mean less the time of lenet5, each known to 1e-4.
RECOVERY_S = 2e-4
# What the authors' models said of each run of the final evaluation: asked as in the paper and asked right.
COURIER, COURIER_WRONG = "rf_time_paper_table9", "rf_time_bug_all_simplenet"
BOOSTING, BOOSTING_WRONG = "gb_time_correct_network", "gb_time_bug_all_simplenet"
COURIER_ACCURACY, BOOSTING_ACCURACY = "rf_acc_paper_table9", "gb_acc_correct_network"
_EVALUATED = ("time_s", "slo_s", "accuracy", COURIER, COURIER_WRONG, BOOSTING, BOOSTING_WRONG)


def replicate_1(data: Path) -> Dataset:
    """96 runs, one of each setting, in the order in which they were made."""
    return read_csv(data_file(data, REPLICATE_1), FACTORS, ("time_s",))


def times_only(runs: Dataset) -> Dataset:
    """Without what else the file has of each run: models would take it for something measured beside the time."""
    observations = tuple(
        dataclasses.replace(run, responses={"time_s": run.responses["time_s"]}) for run in runs.successful("time_s")
    )
    return dataclasses.replace(runs, observations=observations)


def evaluation(data: Path) -> Dataset:
    """The 15 runs of the final evaluation, 5 jobs three times each, with what the authors' models said of them."""
    path = data_file(data, EVALUATION)
    needed = (*_EVALUATED, COURIER_ACCURACY, BOOSTING_ACCURACY)
    found = read_csv(path, FACTORS, needed)
    for run in found.observations:
        missing = [name for name in needed if name not in run.responses]
        if missing:
            raise StudyError(f"{path.name}: row {run.position} has no {missing[0]}", hint="complete it")
    return found


def flagged_rows(data: Path) -> tuple[int, ...]:
    """The rows (from 1) whose time the authors' parser took over from the row before."""
    path = data_file(data, REPLICATE_1)
    with path.open(newline="", encoding="utf-8") as file:
        rows = list(csv.DictReader(file))
    if _FLAG not in rows[0]:
        raise StudyError(f"{path.name} has no column {_FLAG!r}", hint="True where a time repeats the previous row")
    return tuple(number for number, row in enumerate(rows, start=1) if row[_FLAG] == "True")


def without_rows(runs: Dataset, rows: tuple[int, ...]) -> Dataset:
    kept = tuple(run for run in runs.observations if run.position not in rows)
    return dataclasses.replace(runs, observations=kept)


def undo_recovery(runs: Dataset) -> Dataset:
    """Times that differ from the row before by no more than the recovery's error become equal to it again."""
    observations: list[Observation] = []
    for run in runs.observations:
        before = observations[-1].responses["time_s"] if observations else None
        if before is not None and abs(run.responses["time_s"] - before) <= RECOVERY_S:
            run = dataclasses.replace(run, responses={"time_s": before})
        observations.append(run)
    return dataclasses.replace(runs, observations=tuple(observations))


def on_two_clusters(runs: Dataset) -> Dataset:
    """The same runs with a made-up fingerprint each, for the paper kept none: another cluster for each network."""
    unknown = Fingerprint("", 0, 0, "", "", "", "", "")
    observations = tuple(
        dataclasses.replace(
            run, fingerprint=dataclasses.replace(unknown, cluster=f"cluster of {run.configuration['network']}")
        )
        for run in runs.observations
    )
    return dataclasses.replace(runs, observations=observations)


def from_cells(data: Path) -> Dataset:
    """288 runs with exactly the mean and standard deviation of each cell: all that an F test of cells can see."""
    path = data_file(data, CELLS)
    cells = read_csv(path, FACTORS[:3], ("N", "time_mean", "time_sd")).observations
    observations: list[Observation] = []
    for cell in cells:
        given = cell.responses
        if not {"N", "time_mean", "time_sd"} <= given.keys() or given["N"] < 2:
            raise StudyError(f"{path.name}: row {cell.position} has no N of 2 or more, mean and sd", hint="complete it")
        for replicate, z in enumerate(_spread(int(given["N"])), start=1):
            time = {"time_s": given["time_mean"] + z * given["time_sd"]}
            position = len(observations) + 1
            observations.append(Observation(cell.configuration, time, replicate=replicate, position=position))
    return Dataset(FACTORS[:3], tuple(observations), path.stem, ("time_s",))


def _spread(n: int) -> list[float]:
    """n evenly spaced numbers with mean 0 and standard deviation 1.

    >>> [round(z, 3) for z in _spread(3)]
    [-1.0, 0.0, 1.0]
    """
    steps = [i - (n - 1) / 2 for i in range(n)]
    sd = (sum(step**2 for step in steps) / (n - 1)) ** 0.5
    return [step / sd for step in steps]
