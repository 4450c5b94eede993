"""Tables that are not one run per row: levels or repeats side by side, or one number per row."""

import re
from collections.abc import Mapping, Sequence
from pathlib import Path

from sparkcast.data.cell import Quantity, read_cell
from sparkcast.data.column import TEXT, Column
from sparkcast.data.options import TableOptions
from sparkcast.errors import StudyError
from sparkcast.study.headings import plain_name

_LONGEST = 60  # letters of a cell that is quoted
_NUMBERS = r"\d+(?:\.\d+)?"
_MOST = 5  # names that are listed
# `run 1 (s)`, `t2`, `rep_3`: the same was measured several times.
_REPEAT = re.compile(
    r"(run|rep|repeat|repetition|replicate|trial|attempt|round|test|measurement|t|time|run_time|duration|elapsed"
    r"|wall_time|walltime|exec|execution|seconds)_?0*(\d+)(_\w+)?"
)
_NAMES = re.compile(r"metrics?|measures?|measurement|variable|param(eter)?|key|attribute|statistic|quantity|kpi")
_VALUES = re.compile(r"values?|val|wert|valor|valeur|valore|waarde|amount")


def ask_about_repeats(path: Path, columns: Mapping[str, Column], options: TableOptions, *, is_ours: bool) -> None:
    """Raise StudyError where several runs stand side by side in a row, unless the response or the factors are named."""
    if is_ours or options.responses or options.factors:
        return
    found = {name: match for name in columns if (match := _REPEAT.fullmatch(plain_name(name)))}
    for first in found.values():
        alike = [n for n, m in found.items() if (m[1], m[3]) == (first[1], first[3]) and columns[n].is_number]
        numbers = [int(found[name][2]) for name in alike]
        if len(alike) > 1 and numbers in (list(range(len(alike))), list(range(1, len(alike) + 1))):
            raise StudyError(
                f"{_listed(alike)} of {path.name} look like repeats of one run, side by side",
                hint="write one run per row, with the same settings in each, or choose the column that counts: "
                f"`response={alike[0]!r}`",
            )


def ask_about_composites(path: Path, columns: Mapping[str, Column], left_out: Mapping[str, str]) -> None:
    """Raise StudyError where a text that tells runs apart holds settings: `4x m5.large`, `--num-executors 4`."""
    for name in (name for name, why in left_out.items() if why == "identifier"):
        cells = columns[name].cells
        varied = _varied_numbers(cells)
        others = [_as_numbers(column.cells) for other, column in columns.items() if other != name]
        if len(varied) > 1 and not all(numbers in others for numbers in varied):
            raise StudyError(
                f"each row of {name} in {path.name} holds several settings: {cells[0][:_LONGEST]}",
                hint="write each into a column of its own, take them as one with "
                f"`roles={ {name: 'other'} }`, or leave them out: `ignore={[name]}`",
            )


def _varied_numbers(cells: Sequence[str]) -> list[tuple[float, ...]]:
    """The numbers in texts of one form, place by place, where they repeat as levels of settings do."""
    if len({re.sub(_NUMBERS, "0", cell) for cell in cells}) > 1:
        return []
    places = zip(*(map(float, re.findall(_NUMBERS, cell)) for cell in cells), strict=True)
    return [place for place in places if 1 < len(set(place)) <= len(cells) / 2]


def _as_numbers(cells: Sequence[str]) -> tuple[float, ...]:
    found = [re.fullmatch(rf"({_NUMBERS})\D*", cell) for cell in cells]
    return tuple(float(match[1]) if match else float("nan") for match in found)


def no_response(path: Path, times: Sequence[str] = (), columns: Mapping[str, Column] | None = None) -> StudyError:
    """No column is what the runs yielded: what the table may be instead."""
    columns = columns or {}
    amounts = [name for name in columns if isinstance(cell := read_cell(name), Quantity) and cell.parts]
    if len(amounts) > 1:
        return StudyError(
            f"the columns {_listed(amounts)} of {path.name} look like levels of one setting",
            hint="write one run per row: a column for that setting, and one for the time",
        )
    if len(times) > 1:
        return StudyError(
            f"{_listed(times)} of {path.name} look like times, and none like that of the whole run",
            hint=f"choose the time of a run: `roles={ {times[0]: 'time'} }`, or `response={times[0]!r}`",
        )
    if names := _names_of_values(columns):
        listed = _listed(sorted(columns[names].values))
        return StudyError(
            f"{path.name} has one number per row, and {names} says what it is",
            hint=f"write one run per row, with a column for each of {listed}",
        )
    return StudyError(
        f"no column of {path.name} is known to be a response",
        hint="declare one with `roles={NAME: 'time'}` (or money, share, count), or `response=NAME`",
    )


def _names_of_values(columns: Mapping[str, Column]) -> str:
    """The column that names what each row holds, if there is one beside a column of values."""
    if not any(_VALUES.fullmatch(plain_name(name)) for name in columns):
        return ""
    named = (n for n, column in columns.items() if column.form == TEXT and _NAMES.fullmatch(plain_name(n)))
    return next((name for name in named if columns[name].n_values > 1), "")


def _listed(names: Sequence[str]) -> str:
    return ", ".join(names[:_MOST])
