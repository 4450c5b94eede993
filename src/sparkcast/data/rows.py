"""Rows and columns of a table before it is understood: which are read, what merged cells hold, how long runs took."""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from itertools import groupby
from statistics import median

from sparkcast.data.cell import is_true, read_cell
from sparkcast.data.grid import Grid
from sparkcast.errors import StudyError
from sparkcast.study.application import TIME
from sparkcast.study.headings import fold, plain_name

_SET, _MEASURED, _TAG = "set", "measured", "tag"
# How tools that track runs call their columns when they export them.
_PREFIXES = {
    **dict.fromkeys(("params.", "params_", "config.", "config/"), _SET),
    **dict.fromkeys(("metrics.", "summary.", "summary/"), _MEASURED),
    "tags.": _TAG,
}
_STARTS = ("start", "started", "begin", "submit", "submitted")
_ENDS = ("end", "ended", "finish", "finished", "completed")
_MOMENTS = ("", "_time", "_date", "_at", "_on", "time", "_timestamp", "_ts", "_datetime", "_epoch", "_s", "_ms")
_CLOCK, _DAY_S = re.compile(r"([01]?\d|2[0-3]):([0-5]\d)(?::([0-5]\d(?:\.\d+)?))?"), 86400.0
_EPOCH_MS = 1e11  # a number of this size is milliseconds since 1970, not seconds
_FACTORS = {"s": 1.0, "ms": 1e-3, "min": 60.0, "h": 3600.0}


@dataclass(frozen=True, slots=True)
class Tracked:
    """The columns of an exported table that their prefixes explain, by their names without them."""

    set_: tuple[str, ...] = ()
    measured: tuple[str, ...] = ()
    tags: tuple[str, ...] = ()


def without_prefixes(grid: Grid) -> tuple[Grid, Tracked]:
    """Of a table with `params.x` and `metrics.y`, as MLflow, Optuna, Ray Tune and others export it."""
    kinds = {n: (p, kind) for n in grid.header for p, kind in _PREFIXES.items() if n.startswith(p) and n != p}
    if _SET not in {kind for _, kind in kinds.values()} or len(kinds) < 2:
        return grid, Tracked()
    short = {name: name.removeprefix(kinds[name][0]) for name in kinds if kinds[name][1] != _TAG}
    taken = [name for name in grid.header if name not in short] + list(short.values())
    names = {name: short[name] if name in short and taken.count(short[name]) == 1 else name for name in grid.header}
    of = {kind: tuple(names[n] for n in kinds if kinds[n][1] == kind) for kind in (_SET, _MEASURED, _TAG)}
    return replace(grid, header=tuple(names.values())), Tracked(of[_SET], of[_MEASURED], of[_TAG])


def only_where(grid: Grid, where: Mapping[str, str]) -> Grid:
    """The rows that have these values; raises StudyError where none has."""
    if not where:
        return grid
    kept = list(range(len(grid.rows)))
    for name, value in where.items():
        cells = grid.cells(name)
        found = [i for i in kept if _is_same(cells[i], value)]
        if not found:
            known = ", ".join(dict.fromkeys(cells[i] or "(empty)" for i in kept))
            raise StudyError(f"no row has {name}={value}", hint=f"{name} is one of: {known[:200]}")
        kept = found
    told = ", ".join(f"{name}={value}" for name, value in where.items())
    picked = picked_rows(grid, kept)
    return replace(picked, notes=(*grid.notes, f"{len(kept)} of {len(grid.rows)} rows have {told}"))


def picked_rows(grid: Grid, kept: Sequence[int]) -> Grid:
    columns = tuple([column[i] for i in kept] for column in grid.columns)
    return replace(grid, columns=columns, rows=[grid.rows[i] for i in kept])


def _is_same(cell: str, value: str) -> bool:
    if fold(cell) == fold(value):
        return True
    try:
        return float(cell) == float(value)
    except ValueError:
        return is_true(cell) is not None and is_true(cell) is is_true(value)


def filled_down(grid: Grid, names: Sequence[str]) -> Grid:
    """With the value of a merged cell in every row that it covers."""
    columns = list(grid.columns)
    for name in names:
        place, last, full = grid.header.index(name), "", []
        for cell in columns[place]:
            last = cell or last
            full.append(last)
        columns[place] = full
    return replace(grid, columns=tuple(columns))


def looks_merged(cells: Sequence[str]) -> bool:
    """Whether empty cells stand only below filled ones, several below each, as where a spreadsheet merged cells."""
    blocks = [len(list(block)) for _, block in groupby(_numbered(cells))]
    return bool(cells) and cells[0] != "" and "" in cells and len(blocks) > 1 and min(blocks) > 1


def _numbered(cells: Sequence[str]) -> list[int]:
    number, found = 0, []
    for cell in cells:
        number += cell != ""
        found.append(number)
    return found


def empty_where(cells: Sequence[str], others: Mapping[str, Sequence[str]]) -> tuple[str, tuple[str, ...]] | None:
    """The column of words whose values say where these cells are empty, and those values: rows of two kinds of jobs."""
    for name, words in others.items():
        empty = {word for cell, word in zip(cells, words, strict=True) if not cell}
        full = {word for cell, word in zip(cells, words, strict=True) if cell}
        if empty and full and not empty & full and "" not in empty | full and 2 * len(empty | full) <= len(cells):
            return name, tuple(sorted(full))
    return None


# ---------------------------------------------------------------- moments


def lengths(grid: Grid) -> list[float | None] | None:
    """Seconds from start to end of each row, where two columns tell the moments."""
    start = _moments(grid, _STARTS)
    end = _moments(grid, _ENDS)
    if start is None or end is None:
        return None
    found = [None if a is None or b is None else _length(a, b) for a, b in zip(start, end, strict=True)]
    return found if any(found) else None


def _length(start: float, end: float) -> float | None:
    """None where it ended before it started, unless both are times of day: then it went on over midnight."""
    if end < start < 0:
        return end - start + _DAY_S
    return end - start if end >= start else None


def with_lengths(grid: Grid, seconds: Sequence[float | None]) -> Grid:
    cells = ["" if length is None else repr(length) for length in seconds]
    notes = (*grid.notes, f"{TIME} is from start to end")
    return replace(grid, header=(*grid.header, TIME), columns=(*grid.columns, cells), notes=notes)


def unit_by_lengths(values: Sequence[float | None], seconds: Sequence[float | None]) -> str:
    """The unit of times that start and end explain; "" where they do not."""
    ratios = [s / v for v, s in zip(values, seconds, strict=True) if v and s]
    middle = median(ratios) if ratios else 0.0
    return next((unit for unit, factor in _FACTORS.items() if 0.9 < middle / factor < 1.1), "")


def _moments(grid: Grid, words: Sequence[str]) -> list[float | None] | None:
    names = [word + ending for word in words for ending in _MOMENTS]
    for name in sorted(grid.header, key=lambda n: names.index(plain_name(n)) if plain_name(n) in names else len(names)):
        if plain_name(name) not in names:
            return None
        moments = {cell: _moment(cell) for cell in grid.cells(name) if cell}
        if moments and None not in moments.values():
            return [moments.get(cell) for cell in grid.cells(name)]
    return None


def _moment(cell: str) -> float | None:
    """Seconds since 1970; without a time zone those of any zone, as only differences count.

    A time of day counts from the end of the day, so that it is below 0 as no other moment is.
    """
    if clock := _CLOCK.fullmatch(cell):
        hours, minutes, seconds = (float(part or 0) for part in clock.groups())
        return hours * 3600 + minutes * 60 + seconds - _DAY_S
    try:
        number = float(cell)
    except ValueError:
        try:
            moment = datetime.fromisoformat(cell)
        except ValueError:
            return None
        return moment.timestamp() if moment.tzinfo else (moment - datetime(1970, 1, 1)).total_seconds()
    if number <= 0 or read_cell(cell) is None:
        return None
    return number / 1000 if number > _EPOCH_MS else number
