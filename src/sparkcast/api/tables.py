"""Runs and what was sampled during them, in and out."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from sparkcast.api.models import load_model
from sparkcast.data.sources import Data, Source, load_data
from sparkcast.errors import StudyError

if TYPE_CHECKING:
    from sparkcast.data.samples import By, SampledRun
    from sparkcast.learned.saved import SavedModel


def export(data: Data, target: Source) -> int:
    """Write the observations to a table with typed columns, or to MLflow.

    Args:
        data: Observations.
        target: A .csv or .parquet file, of which an existing one is replaced; or "mlflow:" and a tracking folder or
            URL, where they become the runs of a new experiment.

    Returns:
        How many observations were written.

    Raises:
        StudyError: The file type is not supported, a package is missing, or the experiment already has runs.

    >>> export(load_data("runs.csv"), "copy.csv")
    16
    """
    from sparkcast.data.sources import MLFLOW
    from sparkcast.data.table import write_table

    if str(target).startswith(MLFLOW):
        from sparkcast.data.tracking import write_runs

        write_runs(data.dataset, str(target))
    else:
        write_table(data.dataset, Path(target))
    return len(data.dataset.observations)


def samples(data: Data) -> "tuple[SampledRun, ...]":
    """What was sampled each second on the machines of runs, and how busy they were during each stage.

    Args:
        data: Observations of a study or a store; a table has no samples.

    Returns:
        The runs that have samples, each with the counters of its machines (`series.hosts`), the times of its stages
        (`series.stages`), and the means of each machine over each stage (`stages`).

    Raises:
        StoreError: The samples cannot be read.

    >>> samples(load_data("runs.csv"))
    ()
    """
    from sparkcast.data.samples import sampled_runs

    return sampled_runs(data)


def export_samples(data: Data, target: Source, *, by: "By" = "sample") -> int:
    """Write what was sampled on the machines of runs to a table.

    Args:
        data: Observations of a study or a store.
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

    return write_samples(data, Path(target), by)


def load_data_or_model(
    source: Source,
    *,
    factors: Sequence[str] = (),
    responses: Sequence[str] = (),
    study: str | None = None,
    roles: Mapping[str, str] | None = None,
    ignore: Sequence[str] = (),
    na: Sequence[str] = (),
    time_unit: str | None = None,
    decimal: str | None = None,
) -> "Data | SavedModel":
    """Load whatever `load_data` takes, or a model file, recognized by its content.

    Args:
        source: A study file, table, store, MLflow runs, or a model file.
        factors: As in `load_data`; like the other options, not for a model file.
        responses: As in `load_data`.
        study: As in `load_data`.
        roles: As in `load_data`.
        ignore: As in `load_data`.
        na: As in `load_data`.
        time_unit: As in `load_data`.
        decimal: As in `load_data`.

    Returns:
        DATA or MODEL.

    Raises:
        StudyError: The file cannot be read, or an option does not apply to a model file.
        NotEnoughDataError: The study has no results yet.

    >>> type(load_data_or_model("runs.csv")).__name__
    'Data'
    """
    from sparkcast.data.sources import is_model_file, is_tracking

    if is_tracking(source) or not is_model_file(Path(source)):
        return load_data(
            source,
            factors=factors,
            responses=responses,
            study=study,
            roles=roles,
            ignore=ignore,
            na=na,
            time_unit=time_unit,
            decimal=decimal,
        )
    of_tables = (factors, study, roles, ignore, na, time_unit, decimal)
    if any(of_tables) or any("=" in response for response in responses):
        raise StudyError(
            f"{Path(source).name} is a model file: its factors, roles and responses were fixed when it was fitted",
            hint="leave out --factors, --role, --study, formulas and options for tables, or pass the data instead",
        )
    return load_model(source)
