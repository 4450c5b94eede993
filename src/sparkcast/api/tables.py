"""Runs and what was sampled during them, in and out."""

from pathlib import Path
from typing import TYPE_CHECKING

from sparkcast.api.sources import data_of
from sparkcast.data.options import TableOptions
from sparkcast.data.sources import Source

if TYPE_CHECKING:
    from sparkcast.api.sources import Runs
    from sparkcast.data.samples import By, SampledRun


def export(data: "Runs", target: Source, *, table: TableOptions | None = None) -> int:
    """Write the observations to a table with typed columns, or to MLflow.

    Args:
        data: Runs.
        target: A .csv or .parquet file, of which an existing one is replaced; or "mlflow:" and a tracking folder or
            URL, where they become the runs of a new experiment.
        table: As in `load_data`.

    Returns:
        How many observations were written.

    Raises:
        StudyError: The file type is not supported, a package is missing, or the experiment already has runs.

    >>> export(load_data("runs.csv"), "copy.csv")
    16
    """
    from sparkcast.data.sources import MLFLOW
    from sparkcast.data.table import write_table

    dataset = data_of(data, table).dataset
    if str(target).startswith(MLFLOW):
        from sparkcast.data.tracking import write_runs

        write_runs(dataset, str(target))
    else:
        write_table(dataset, Path(target))
    return len(dataset.observations)


def samples(data: "Runs") -> "tuple[SampledRun, ...]":
    """What was sampled each second on the machines of runs, and how busy they were during each stage.

    Args:
        data: Runs of a study or a store; a table has no samples.

    Returns:
        The runs that have samples, each with the counters of its machines (`series.hosts`), the times of its stages
        (`series.stages`), and the means of each machine over each stage (`stages`).

    Raises:
        StoreError: The samples cannot be read.

    >>> samples(load_data("runs.csv"))
    ()
    """
    from sparkcast.data.samples import sampled_runs

    return sampled_runs(data_of(data))


def export_samples(data: "Runs", target: Source, *, by: "By" = "sample") -> int:
    """Write what was sampled on the machines of runs to a table.

    Args:
        data: Runs of a study or a store.
        target: A .csv or .parquet file; an existing one is replaced.
        by: One row per "sample", or per "stage" with the means over it; of each machine of each run.

    Returns:
        How many runs have samples.

    Raises:
        NotEnoughDataError: None has.
        StudyError: The file type is not supported, or a package is missing.

    >>> export_samples(load_data("runs.csv"), "samples.csv")
    Traceback (most recent call last):
    sparkcast.errors.NotEnoughDataError: no sample of a machine is stored with these runs
      hint: samples are taken by `sparkcast run` and stay in the store: give the study, not a table
    """
    from sparkcast.data.samples import write_samples

    return write_samples(data_of(data), Path(target), by)
