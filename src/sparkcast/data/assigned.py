"""What the columns of a table are and mean: what options and the table itself declare, and what has to be guessed."""

import re
from collections.abc import Collection, Mapping, Sequence, Set
from dataclasses import replace

from sparkcast.data.cell import COUNT, SHARE, SIZE, TIME, parse_level
from sparkcast.data.column import EMPTY, NUMBER, Column, ColumnHints, read_columns
from sparkcast.data.grid import Grid
from sparkcast.data.meaning import BOOKKEEPING, Meaning, Sorted, sort_columns
from sparkcast.data.options import TableOptions
from sparkcast.data.rows import Tracked
from sparkcast.study import Kind, Role, Setting, Vocabulary
from sparkcast.study.heading_words import role_of_words
from sparkcast.study.headings import heading_clock, plain_name
from sparkcast.study.names import (
    counts_things,
    is_usually_measured,
    names_a_hash,
    unit_in_name,
    usual_role,
    usual_vocabulary,
)
from sparkcast.units import BYTES, SECONDS

_LEAST_BYTES, _LEAST_MIB = 2**20, 256  # what a memory without a unit may count


def read_cells(grid: Grid, written: Meaning, declared: Vocabulary, options: TableOptions) -> dict[str, Column]:
    na = {word.casefold() for word in options.na}
    as_written = {s.name for s in written.vocabulary.settings} if grid.separator == "," else set()
    cells = {
        name: _in_cores(name, grid.cells(name)) for name in grid.header if name not in (*as_written, *options.ignore)
    }
    words = {
        name: ColumnHints(
            *(na, options.mark, _family(name, declared), options.time_unit or heading_clock(name)),
            is_hash=names_a_hash(name) and _look_like_hashes(cells[name]),
        )
        for name in cells
    }
    found = read_columns(cells, words, grid.separator)
    for name in as_written:  # settings of a table that sparkcast wrote are read as it writes them
        levels = {cell: parse_level(cell) for cell in set(grid.cells(name)) if cell and cell.casefold() not in na}
        found[name] = Column(name, grid.cells(name), NUMBER if levels else EMPTY, levels)
    for name in options.ignore:
        found[name] = Column(name, grid.cells(name), EMPTY)
    return {name: found[name] for name in grid.header}


def _look_like_hashes(cells: Sequence[str]) -> bool:
    return all(re.fullmatch(r"[0-9a-f]{4,64}|", cell) for cell in cells) and any(re.search("[a-f]", c) for c in cells)


def _in_cores(name: str, cells: Sequence[str]) -> Sequence[str]:
    """Thousandths of cores as Kubernetes writes them: 500m."""
    is_milli = [re.fullmatch(r"\d+m", cell) is not None for cell in cells]
    if not any(is_milli) or usual_role(name) not in (Role.CORES, Role.TOTAL_CORES):
        return cells
    return [f"{int(cell[:-1]) / 1000:g}" if milli else cell for cell, milli in zip(cells, is_milli, strict=True)]


def _family(name: str, declared: Vocabulary) -> str | None:
    """What an m or a k under this name is."""
    usual = usual_vocabulary([], [name]).response(name)
    if declared.response(name).kind is Kind.TIME or usual.kind is Kind.TIME:
        return TIME
    return COUNT if counts_things(name) else None


def sorted_columns(
    columns: Mapping[str, Column],
    written: Meaning,
    declared: Vocabulary,
    options: TableOptions,
    yielded: Sequence[str],
    tracked: Tracked,
) -> Sorted:
    set_ = {s.name for s in declared.settings}
    measured = {*options.responses, *yielded, *(r.name for r in declared.responses)} - set_
    told = options.factors or (
        *(n for n in written.factors if n in columns and n not in measured),
        *(n for n in columns if n in set_ and n not in written.vocabulary.names and _varies(columns[n])),
    )
    # What the table does not speak of, such as a column that was added, is guessed as in any other table.
    open_ = {n: c for n, c in columns.items() if n in (*told, *measured) or n not in (*set_, *written.vocabulary.names)}
    ignored = (*options.ignore, *tracked.tags)
    guessed = sort_columns(open_, settings=told, responses=tuple(measured), ignored=ignored, set_=tracked.set_)
    return _around_factors(open_, guessed, measured, options) if options.factors else guessed


def _around_factors(
    columns: Mapping[str, Column], guessed: Sorted, measured: Set[str], options: TableOptions
) -> Sorted:
    """Where the factors are given: what is known to be a response, and numbers that were measured beside them."""
    candidates = {*guessed.responses, *guessed.settings}.difference(options.factors)
    responses = tuple(n for n in columns if n in candidates and (n in measured or is_usually_measured(n)))
    others = [n for n in columns if n not in (*options.factors, *responses, *BOOKKEEPING, *options.ignore)]
    metrics = tuple(n for n in others if columns[n].is_number and not columns[n].problems and not columns[n].bare)
    left_out = {n: why for n, why in guessed.left_out.items() if n not in (*metrics, *responses)}
    left_out |= {n: "not among `factors=`" for n in others if n not in metrics and n not in left_out}
    return Sorted(tuple(options.factors), responses, metrics, left_out)


def named_by(responses: tuple[str, ...], written: Meaning) -> tuple[str, ...]:
    """Those that the table itself names; all where it names none."""
    return tuple(name for name in responses if name in written.responses) or responses


def _varies(column: Column) -> bool:
    return len({column.values.get(cell) for cell in set(column.cells)}) > 1 or bool(column.problems)


def table_vocabulary(
    columns: Mapping[str, Column],
    declared: Vocabulary,
    settings: Sequence[str],
    responses: Sequence[str],
    options: TableOptions,
) -> Vocabulary:
    """What the names mean, and what the units of their cells say beyond that."""
    usual = usual_vocabulary(settings, responses)
    told = []
    for response in usual.responses:
        column = columns[response.name]
        if column.form == TIME:
            told.append(replace(response, kind=Kind.TIME, unit=in_name(response.name, SECONDS) or "s"))
        elif response.kind is Kind.TIME and not unit_in_name(response.name) and options.time_unit:
            told.append(replace(response, unit=options.time_unit))
        elif column.currency:
            told.append(replace(response, kind=Kind.MONEY, unit=column.currency))
        elif column.form == SHARE and response.kind is Kind.OTHER:
            told.append(replace(response, unit="share"))
        elif column.form == SIZE:
            told.append(replace(response, unit=in_name(response.name, BYTES) or "bytes"))
        else:
            told.append(response)
    settings_ = tuple(_with_size(setting, columns[setting.name]) for setting in usual.settings)
    return replace(usual, settings=settings_, responses=tuple(told)).declaring(declared)


def _with_size(setting: Setting, column: Column) -> Setting:
    """A memory whose numbers have no unit: nobody has so few bytes. Gibibytes where they are few, else mebibytes.

    A size of something that is read is a data size, though its name tells no unit: an `Input` of 10 GB. Likewise 10 %.
    """
    if setting.role is Role.OTHER and column.form in (SIZE, SHARE):
        ending = "bytes" if column.form == SIZE else "fraction"
        return replace(setting, role=role_of_words(f"{plain_name(setting.name)}_{ending}") or Role.OTHER)
    values = [value for value in column.values.values() if not isinstance(value, str)]
    is_open = setting.role is Role.MEMORY and setting.unit == "bytes" and column.form == NUMBER and values
    if not is_open or unit_in_name(setting.name) == "bytes" or max(values) >= _LEAST_BYTES:
        return setting
    if max(values) < _LEAST_MIB:
        return replace(setting, unit="gib")
    return replace(setting, unit="mib") if min(values) >= _LEAST_MIB else setting


def in_name(name: str, units: Collection[str]) -> str:
    """The unit that a name ends in, if it is one of these."""
    unit = unit_in_name(name)
    return unit if unit in units else ""
