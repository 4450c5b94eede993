"""The runs of the study: as the paper prints them, or as the authors kept them."""

from collections.abc import Sequence
from pathlib import Path

from sparkcast.data import read_csv
from sparkcast.errors import StudyError
from sparkcast.replications import data_file
from sparkcast.study import Configuration, Dataset, Observation
from sparkcast_papers.marinos2020._tables import FACTORS, TABLE_II

FORMULA = "nodes + executors + cores + epochs*lr*batch"
DROPPED = (2, 3)  # the rows of Table II that the paper's analysis left out without a word
_COLUMNS = ("N_nodes", "N_Executors", "NumberExecutorCores", "Max_epochs", "learning_rate", "Batch_Size")


def table_runs(*, without: tuple[int, ...] = ()) -> Dataset:
    """Table II, three decimals; `without` some of its rows (from 1)."""
    kept = [row for number, row in enumerate(TABLE_II, start=1) if number not in without]
    return _dataset("Table II", [(Configuration(zip(FACTORS, levels, strict=True)), costs) for levels, costs in kept])


def authors_runs(data: Path) -> Dataset:
    """results.csv: one setting a row, its replicates a comma-separated list."""
    path = data_file(data, "results.csv")
    rows = []
    for run in read_csv(path, factors=(*_COLUMNS, "Cost")).observations:
        levels = Configuration((n, run.configuration[column]) for n, column in zip(FACTORS, _COLUMNS, strict=True))
        rows.append((levels, _costs(str(run.configuration["Cost"]), path, run.position + 1)))
    return _dataset("results.csv", rows)


def _costs(text: str, path: Path, line: int) -> tuple[float, ...]:
    try:
        return tuple(float(cost) for cost in text.split(","))
    except ValueError:
        raise StudyError(
            f"{path.name} line {line}: Cost = {text[:30]!r} is not a list of numbers", hint="0.044,0.019,... in quotes"
        ) from None


def _dataset(name: str, rows: Sequence[tuple[Configuration, tuple[float, ...]]]) -> Dataset:
    observations: list[Observation] = []
    for configuration, costs in rows:
        for replicate, cost in enumerate(costs, start=1):
            position = len(observations) + 1
            observations.append(Observation(configuration, {"cost": cost}, replicate=replicate, position=position))
    return Dataset(FACTORS, tuple(observations), name, ("cost",))
