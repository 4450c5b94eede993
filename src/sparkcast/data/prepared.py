"""A table before its columns are sorted: the rows that are read, how their runs ended, and how long they took."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from statistics import median

from sparkcast.data.censored import has_times, split_bounds
from sparkcast.data.column import TEXT, Column
from sparkcast.data.grid import Grid
from sparkcast.data.options import TableOptions
from sparkcast.data.outcomes import OWN, Endings, RunEnd, read_endings, read_word, worse
from sparkcast.data.rows import (
    Tracked,
    filled_down,
    lengths,
    only_where,
    picked_rows,
    unit_by_lengths,
    with_lengths,
)
from sparkcast.errors import StudyError
from sparkcast.study import Dataset, Kind, Outcome, Vocabulary
from sparkcast.study.names import (
    is_usually_measured,
    looks_measured,
    names_a_moment,
    unit_in_name,
    usual_kind,
    usual_vocabulary,
)

_LONGEST_S = 100_000  # a day and more: whole numbers of this size are rather milliseconds
_MOST_WORDS = 3  # listed in a question


@dataclass(frozen=True, slots=True)
class Prepared:
    grid: Grid
    ends: Sequence[RunEnd]  # of each row
    ending: tuple[str, ...]  # the columns that say so
    time_units: Mapping[str, str]  # of times whose unit start and end of the runs explain


def prepare(
    grid: Grid, source: str, options: TableOptions, declared: Vocabulary, tracked: Tracked, *, is_ours: bool
) -> Prepared:
    """What `where`, `fill_down` and `outcomes` say is done; `is_ours`: sparkcast wrote the table."""
    grid = filled_down(only_where(grid, options.where), options.fill_down)
    taken = {*options.factors, *options.responses, *options.roles, *options.ignore, *tracked.set_}
    taken |= {name for name in declared.names if name != OWN}
    endings = read_endings(grid, tuple(taken), options.outcomes)
    _ask_about_words(source, endings, grid)
    grid, ends = _without_bounds(grid, endings, declared, tracked)
    grid, ends = _ended(source, grid, ends, endings.columns)
    seconds = None if is_ours else lengths(grid)
    times = [name for name in grid.header if _is_time(name, declared) or has_times(grid.cells(name))]
    if seconds and not any(_has_numbers(grid.cells(name)) for name in times if not names_a_moment(name)):
        return Prepared(with_lengths(grid, seconds), ends, endings.columns, {})
    open_ = [n for n in times if n not in declared.names and not unit_in_name(n) and not has_times(grid.cells(n))]
    return Prepared(grid, ends, endings.columns, _explained(open_, grid, seconds) if seconds else {})


def _ended(source: str, grid: Grid, ends: Sequence[RunEnd], columns: Sequence[str]) -> tuple[Grid, Sequence[RunEnd]]:
    """Without the runs that still go on or never started."""
    has_ended = [i for i, end in enumerate(ends) if end.outcome is not None]
    if not has_ended:
        named = f"; or leave out what says so: `ignore={list(columns)}`" if columns else ""
        raise StudyError(f"no run of {source} has ended", hint=f"try again when one has{named}")
    left = len(ends) - len(has_ended)
    if not left:
        return grid, ends
    told = f"{left} run{'s have' if left > 1 else ' has'} not ended, left out"
    return replace(picked_rows(grid, has_ended), notes=(*grid.notes, told)), [ends[i] for i in has_ended]


def _ask_about_words(source: str, endings: Endings, grid: Grid) -> None:
    for name, words in endings.unknown.items():
        listed = ", ".join(map(repr, words[:_MOST_WORDS]))
        more = f" and {len(words) - _MOST_WORDS} more" if len(words) > _MOST_WORDS else ""
        row = next(grid.rows[i] for i, cell in enumerate(grid.cells(name)) if cell in words)
        raise StudyError(
            f"{source}, row {row}, column {name!r}: unknown outcome {listed}{more}",
            hint=(
                f"say how such runs ended: `outcomes={ {words[0]: 'ok'} }`, or error, oom, timeout or running; "
                f"or leave out the column: `ignore={[name]}`"
            ),
        )


def ask_about_ends(source: str, columns: Mapping[str, Column], left_out: Mapping[str, str], grid: Grid) -> None:
    """Raise StudyError where a text that came out of the runs has a word for failures, and others that nobody knows."""
    for name in (name for name, why in left_out.items() if why.startswith("looks measured")):
        column = columns[name]
        words = {cell: read_word(cell) for cell in column.values} if column.form == TEXT else {}
        if any(end is not None and end.outcome not in (None, Outcome.OK) for end in words.values()):
            unknown = tuple(sorted(cell for cell, end in words.items() if end is None))
            _ask_about_words(source, Endings(unknown={name: unknown} if unknown else {}), grid)


def _without_bounds(
    grid: Grid, endings: Endings, declared: Vocabulary, tracked: Tracked
) -> tuple[Grid, Sequence[RunEnd]]:
    """The numbers of measured columns alone; what stood beside them tells how their runs ended."""
    columns, ends = list(grid.columns), endings.ends
    set_ = {*tracked.set_, *tracked.tags, *endings.columns, *(setting.name for setting in declared.settings)}
    for place, name in enumerate(grid.header):
        if name in set_:
            continue
        cells = columns[place]
        is_time = _is_time(name, declared) or has_times(cells)
        if not (is_time or is_usually_measured(name) or looks_measured(name)):
            continue
        columns[place], said = split_bounds(cells, is_time=is_time)
        ends = [worse(end, said.get(cell)) for end, cell in zip(ends, cells, strict=True)] if said else ends
    return replace(grid, columns=tuple(columns)), ends


def _is_time(name: str, declared: Vocabulary) -> bool:
    return declared.response(name).kind is Kind.TIME or usual_kind(name) is Kind.TIME


def _has_numbers(cells: Sequence[str]) -> bool:
    return any(any(letter.isdigit() for letter in cell) for cell in cells)


def _explained(names: Sequence[str], grid: Grid, seconds: Sequence[float | None]) -> dict[str, str]:
    """The unit of times without one, by start and end of the runs: what one of them counts in, all do."""
    names = [response.name for response in usual_vocabulary([], names).responses]  # the time of a run first
    units = [unit_by_lengths([_number(cell) for cell in grid.cells(name)], seconds) for name in names]
    unit = next(filter(None, units), "")
    return dict.fromkeys(names, unit) if unit else {}


def _number(cell: str) -> float | None:
    try:
        return float(cell)
    except ValueError:
        return None


def ask_about_units(source: str, dataset: Dataset, times: Sequence[str]) -> None:
    """Raise StudyError where one of these times, which have no unit, would be days in seconds."""
    for name in times:
        _ask_about_unit(source, name, [run.responses[name] for run in dataset.successful(name)])


def _ask_about_unit(source: str, name: str, values: Sequence[float]) -> None:
    if values and median(values) >= _LONGEST_S and all(float(value).is_integer() for value in values):
        raise StudyError(
            f"{source}: {name} has no unit, and {values[0]:.0f} s would be more than a day",
            hint="say which it is: `time_unit='ms'`, or `time_unit='s'`",
        )
