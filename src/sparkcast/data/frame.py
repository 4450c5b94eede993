"""A pandas DataFrame as rows and columns of texts, so that it is understood like a table file."""

import sys
from typing import TYPE_CHECKING, TypeGuard

from sparkcast.data.grid import Grid, as_text, names_columns
from sparkcast.errors import StudyError

if TYPE_CHECKING:
    from pandas import DataFrame

NAME = "DataFrame"  # in messages, where a file has its name


def is_frame(source: object) -> "TypeGuard[DataFrame]":
    """Whether this is a DataFrame. Nobody who has one has not imported pandas."""
    pandas = sys.modules.get("pandas")
    return pandas is not None and isinstance(source, pandas.DataFrame)


def grid_of(frame: "DataFrame") -> Grid:
    """The cells of a DataFrame; an index with a name is a column, as in a file that pandas writes.

    Raises StudyError where it has no rows, or two columns of one name.
    """
    index = [place for place, name in enumerate(frame.index.names) if name is not None]
    names = (*(frame.index.names[place] for place in index), *frame.columns)
    header = tuple(" ".join(str(name).split()) or f"column {place}" for place, name in enumerate(names, start=1))
    if not names_columns(header):
        raise StudyError(
            f"{NAME} has only numbers where the column names should be",
            hint="name its columns: frame.columns = ['executors', 'batch_size', 'time_s']",
        )
    if repeated := next((name for name in header if header.count(name) > 1), None):
        raise StudyError(f"{NAME} has two columns named {repeated!r}", hint="rename or drop one of them")
    cells = [frame.index.get_level_values(place).tolist() for place in index]
    cells += [frame.iloc[:, place].tolist() for place in range(frame.shape[1])]
    columns = [[_cell(value) for value in column] for column in cells]
    kept = [place for place, row in enumerate(zip(*columns, strict=True)) if any(row)]
    if not kept:
        raise StudyError(f"{NAME} has 0 rows", hint="one row per run")
    return Grid(header, tuple([column[i] for i in kept] for column in columns), [place + 1 for place in kept])


def _cell(value: object) -> str:
    """Empty for NaN, None, NaT and NA; durations in seconds."""
    import pandas as pd

    if value is None or value is pd.NA or value is pd.NaT:
        return ""
    if isinstance(value, pd.Timedelta):
        return f"{value.total_seconds()} s"
    item = getattr(value, "item", None)  # a number of numpy among objects
    return as_text(item() if callable(item) else value)
