"""Settings without a value in some rows: merged cells, two kinds of jobs in one table, or simply missing."""

from collections.abc import Mapping, Sequence

from sparkcast.data.column import TEXT, Column
from sparkcast.data.grid import Grid
from sparkcast.data.meaning import Sorted
from sparkcast.data.rows import empty_where, looks_merged
from sparkcast.errors import StudyError


def ask_about_gaps(source: str, columns: Mapping[str, Column], sorted_: Sorted) -> Sorted:
    """Raise StudyError with the question where an option must say what empty cells are; else what is to be told."""
    left_out = dict(sorted_.left_out)
    half_empty = [name for name, why in left_out.items() if why.startswith("empty in")]
    words = {n: c.cells for n, c in columns.items() if c.form == TEXT and n in (*sorted_.settings, *half_empty)}
    for name in (*sorted_.settings, *half_empty):
        cells = columns[name].cells
        if all(cells):
            continue
        if looks_merged(cells):
            raise StudyError(
                f"{source}: {name} is empty below each of its values, as merged cells are",
                hint=f"repeat the values: `fill_down={[name]}`, or leave out the column: `ignore={[name]}`",
            )
        found = empty_where(cells, {n: c for n, c in words.items() if n != name})
        if found is None:
            continue
        job, with_value = found
        without = sorted({word for cell, word in zip(cells, columns[job].cells, strict=True) if not cell})
        told = f"empty exactly where {job} is {' or '.join(without)}"
        if name in sorted_.settings:
            raise StudyError(
                f"{source}: {name} is {told}, so the table holds several jobs",
                hint=f"read one: `where={ {job: with_value[0]} }`, or leave out the column: `ignore={[name]}`",
            )
        left_out[name] = f"{told}; read one job: `where={ {job: with_value[0]} }`"
    return Sorted(sorted_.settings, sorted_.responses, sorted_.metrics, left_out)


def complete(columns: Mapping[str, Column], settings: Sequence[str], rows: Sequence[int]) -> list[int]:
    """The rows in which every setting has a value."""
    return [i for i in rows if all(columns[name].cells[i] in columns[name].values for name in settings)]


def gap_notes(grid: Grid, kept: int, before: int) -> list[str]:
    left = before - kept
    return [f"{left} of {len(grid.rows)} rows left out: a setting has no value there"] if left else []
