"""What verbs are asked about: a path, a DataFrame, data that were loaded, or a model."""

from pathlib import Path
from typing import TYPE_CHECKING, TypeGuard

from sparkcast.data.frame import is_frame
from sparkcast.data.options import TableOptions
from sparkcast.data.sources import Data, Source, file_behind, is_model_file, is_tracking, load_data
from sparkcast.errors import StudyError

if TYPE_CHECKING:
    from pandas import DataFrame

    from sparkcast.learned.knowledge import Knowledge
    from sparkcast.learned.saved import SavedModel

    Runs = Data | Source | DataFrame
    Known = Runs | Knowledge


def data_of(source: "Runs", table: TableOptions | None = None, *, response: str | None = None) -> Data:
    """The runs that are meant. `response` is one that a table must have, or a formula of it."""
    if _is_knowledge(source):
        raise StudyError("this question needs runs, and a model has none", hint="pass the study, store or table")
    if isinstance(source, Data):
        _refuse_options(table)
        return source
    return load_data(_readable(source), table=_with_response(table, response))


def source_of(source: "Known", table: TableOptions | None = None, *, response: str | None = None) -> "Data | Knowledge":
    """The runs or the model that is meant."""
    if isinstance(source, Data) or _is_knowledge(source):
        _refuse_options(table)
        return source
    return load_data_or_model(_readable(source), table=_with_response(table, response))


def is_log(source: object) -> bool:
    """Whether it is a Spark event log: a file, the folder of a rolling log, or a folder of logs."""
    from sparkcast.observe.recognize import is_event_log

    return isinstance(source, str | Path) and "://" not in str(source) and is_event_log(Path(source))


def response_name(response: str) -> str:
    """The name of a response that may be given with its formula: `cost = time_s / accuracy`."""
    return response.partition("=")[0].strip()


def _with_response(table: TableOptions | None, response: str | None) -> TableOptions:
    table = table or TableOptions()
    return table if response is None else table.with_responses(response)


def _is_knowledge(source: object) -> "TypeGuard[Knowledge]":
    return hasattr(source, "model_of")


def _readable(source: object) -> "Source | DataFrame":
    if isinstance(source, str | Path) or is_frame(source):
        return source
    raise StudyError(
        f"an object of type {type(source).__name__} is neither runs nor a model",
        hint="give a path, a pandas DataFrame, or what load_data, load_model or fit(...).model returned",
    )


def _refuse_options(table: TableOptions | None) -> None:
    if table is not None and table != TableOptions():
        raise StudyError(
            "options for tables apply when a table is read, and these data were loaded before",
            hint="give them to load_data, or pass the path or the DataFrame",
        )


def load_data_or_model(
    source: "Source | DataFrame", *, table: TableOptions | None = None, study: str | None = None
) -> "Data | SavedModel":
    """Load whatever `load_data` takes, or a model file, recognized by its content.

    Args:
        source: A study file, table, DataFrame, store, MLflow runs, or a model file.
        table: As in `load_data`; of a model file, only names of responses.
        study: As in `load_data`; not for a model file.

    Returns:
        DATA or MODEL.

    Raises:
        StudyError: The file cannot be read, or an option does not apply to a model file.
        NotEnoughDataError: The study has no results yet.

    >>> type(load_data_or_model("runs.csv")).__name__
    'Data'
    """
    if not isinstance(source, str | Path) or is_tracking(source):
        return load_data(source, table=table, study=study)
    source = file_behind(source)
    if not is_model_file(Path(source)):
        return load_data(source, table=table, study=study)
    given = table or TableOptions()
    plain = TableOptions(responses=[name for name in given.responses if "=" not in name])
    if study is not None or given != plain:
        raise StudyError(
            f"{Path(source).name} is a model file: its factors, roles and responses were fixed when it was fitted",
            hint="leave out `factors=`, `roles=`, `study=`, formulas and options for tables, or pass the data instead",
        )
    return load_model(source)


def load_model(path: Source) -> "SavedModel":
    """Load a model file written by `save_model`. Nothing in it is executed.

    Args:
        path: The file.

    Returns:
        A model that `predict` and `recommend` take in place of DATA.

    Raises:
        StudyError: The file is damaged, newer, or older than this sparkcast reads.

    >>> save_model(fit(load_data("runs.csv"), model="ridge").model, "ridge.sparkcast", force=True)
    >>> load_model("ridge.sparkcast").about.factors
    ('executors', 'batch_size')
    """
    from sparkcast.learned.saved import load

    return load(Path(path))
