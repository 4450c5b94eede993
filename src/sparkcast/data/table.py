"""Observations as flat tables: CSV and Parquet, in and out."""

import csv
import json
import re
from collections.abc import Collection, Container, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, TypeVar

from sparkcast.data.assigned import in_name, named_by, read_cells, sorted_columns, table_vocabulary
from sparkcast.data.cell import COUNT, MONEY, SHARE, SIZE, TIME, factor
from sparkcast.data.censored import longest_tie
from sparkcast.data.column import DATE, EMPTY, NUMBER, TEXT, Column
from sparkcast.data.gaps import ask_about_gaps, complete, gap_notes
from sparkcast.data.grid import Grid, read_grid
from sparkcast.data.meaning import BOOKKEEPING, Meaning, Sorted
from sparkcast.data.options import TableOptions
from sparkcast.data.outcomes import OWN, RunEnd
from sparkcast.data.prepared import ask_about_ends, ask_about_units, prepare
from sparkcast.data.problems import TableProblem, refuse, shown
from sparkcast.data.rows import Tracked, without_prefixes
from sparkcast.data.shapes import ask_about_composites, ask_about_repeats, no_response
from sparkcast.data.understood import Understood, told_responses, told_settings
from sparkcast.errors import StudyError
from sparkcast.plain import from_plain
from sparkcast.registry import did_you_mean
from sparkcast.study import Configuration, Dataset, Kind, Level, Observation, Outcome, Role, Vocabulary
from sparkcast.study.configuration import normal_level
from sparkcast.study.names import completed, unit_in_name, usual_vocabulary
from sparkcast.study.spreadsheet import escaped
from sparkcast.units import BYTES, SECONDS, shortest_size

# The last column of a table that sparkcast wrote: one of its cells says what all others are.
MEANING = "sparkcast"
_TELLING_DIGITS = 8  # two responses measured to so many together are not equal by chance
_MOST_ROWS = 5  # listed in a note
_LEAST_BESIDE_ZERO = 10  # a time of 0 among smaller ones was rounded
_NINES, _FAR = re.compile("9{4,}"), 5  # times the next: numbers that stand for none
_TIME_HINT = "declare it: `roles={NAME: 'time'}`"


def read_csv(path: Path, factors: Sequence[str] = (), responses: Sequence[str] = ()) -> Dataset:
    """See `read_table`."""
    return read_table(path, factors, responses)[0]


def read_table(
    path: Path, factors: Sequence[str] = (), responses: Sequence[str] = (), roles: Mapping[str, str] | None = None
) -> tuple[Dataset, Vocabulary]:
    """A table with a header, one run a row; and what was declared of its columns, by `roles` or by the table itself."""
    found = understand(read_grid(path), path, TableOptions(tuple(factors), tuple(responses), roles or {}))
    return found.dataset, found.declared


@dataclass(frozen=True, slots=True)
class Table:
    """Runs, and how their table was understood."""

    dataset: Dataset
    declared: Vocabulary
    understood: Understood
    rows: tuple[int, ...]  # of each observation, from 0: those of the grid that were kept


def understand(grid: Grid, path: Path, options: TableOptions, *, yielded: Sequence[str] = ()) -> Table:
    """Runs of a table. `yielded` are columns that are known to be responses.

    Without `factors`: every column that varies and was not measured, less what tells runs apart. With `factors`, the
    remaining columns of numbers are what else the runs showed (times of stages, bytes). Every observation has them
    among its responses, where models find them; `Dataset.responses` does not name them.
    """
    original = grid.rows
    grid, written = _written_meaning(grid, path)
    is_ours = bool(written.factors or yielded)
    grid, tracked = (grid, Tracked()) if is_ours else without_prefixes(grid)
    _require_columns(options.names, grid, path)
    declared = written.vocabulary.assigning(options.meanings)
    ready = prepare(grid, path.name, options, declared, tracked, is_ours=is_ours)
    grid = ready.grid
    declared = declared.assigning({name: f"time:{unit}" for name, unit in ready.time_units.items()})
    cells = read_cells(grid, written, declared, options)
    columns = {name: column for name, column in cells.items() if name not in ready.ending}
    yielded = (*yielded, *tracked.measured)
    sorted_ = sorted_columns(columns, written, declared, options, yielded, tracked)
    if not options.factors:
        ask_about_composites(path, columns, sorted_.left_out)
        ask_about_ends(path.name, columns, sorted_.left_out, grid)
    _require_settings(sorted_, grid, path)
    ask_about_repeats(path, columns, options, is_ours=is_ours)
    if not options.complete_rows:
        sorted_ = ask_about_gaps(path.name, columns, sorted_)
    fixed = _constants(columns, written, sorted_)
    metrics = [name for name in sorted_.metrics if name not in fixed]
    words = table_vocabulary(columns, declared, (*sorted_.settings, *fixed), (*sorted_.responses, *metrics), options)
    table = _Reader(grid, path, columns, words, options, ready.time_units)
    sorted_, words = table.readable(sorted_, words)
    named = options.responses or named_by(sorted_.responses, written)
    repeated = {} if written.factors else table.repeated(sorted_, yielded)
    unique = [i for i in range(len(grid.rows)) if i not in repeated]
    kept = complete(columns, sorted_.settings, unique) if options.complete_rows else unique
    table.refuse_problems(sorted_.settings, sorted_.responses, kept)
    observations = table.observations((*sorted_.settings, *fixed), sorted_.responses, metrics, ready.ends, kept)
    table.require_response(named)
    dataset = Dataset(sorted_.settings, observations, path.stem, tuple(named), words)
    ask_about_units(path.name, dataset, table.assumed(named))
    notes = grid.notes
    told = {*declared.names, *fixed} >= {*sorted_.settings, *sorted_.responses}
    if not (told and written.factors):  # else it was written with what is missing
        on_rows = table.notes(sorted_, repeated, ready.ending, kept)
        notes += (*on_rows, *gap_notes(grid, len(kept), len(unique)), *_notes_on_ends(dataset, ready.ending))
    understood = Understood(
        source=path.name,
        runs=len(observations),
        settings=told_settings(dataset, table.units, table.assumed_sizes),
        responses=told_responses(dataset, table.assumed(named)),
        left_out=tuple(sorted_.left_out.items()),
        notes=notes,
        is_declared=told and not notes and not sorted_.left_out,
    )
    return Table(dataset, declared, understood, _places(original, [grid.rows[i] for i in kept]))


def _require_settings(sorted_: Sorted, grid: Grid, path: Path) -> None:
    if not sorted_.settings:
        only = "one row shows nothing that varies; " if len(grid.rows) == 1 else ""
        raise StudyError(
            f"{path.name} has no column that could be a factor", hint=f"{only}list them: `factors=['a', 'b']`"
        )


def _constants(columns: Mapping[str, Column], written: Meaning, sorted_: Sorted) -> list[str]:
    """Settings that the table itself names and that no run varied."""
    named = {setting.name for setting in written.vocabulary.settings}
    constants = named.difference(sorted_.settings, sorted_.responses)
    return [name for name in columns if name in constants]


def _places(original: Sequence[int], rows: Sequence[int]) -> tuple[int, ...]:
    places = {row: place for place, row in enumerate(original)}
    return tuple(places[row] for row in rows)


def _notes_on_ends(dataset: Dataset, ending: Sequence[str]) -> Iterator[str]:
    failed = [run for run in dataset.observations if not run.ok]
    if ending and ending != (OWN,):
        yield f"{' and '.join(ending)} {'say' if len(ending) > 1 else 'says'} how runs ended: {len(failed)} failed"
    elif failed and not ending:
        yield f"{len(failed)} run{'s' if len(failed) > 1 else ''} failed, by what their cells say"
    time = dataset.vocabulary.time
    if time is None:
        return
    response = dataset.vocabulary.response(time)
    if stopped := [run for run in failed if run.was_stopped and time in run.responses]:
        yield f"the {time} of {len(stopped)} stopped run{'s' if len(stopped) > 1 else ''} is only a lower bound"
    times = {place: run.responses[time] for place, run in enumerate(dataset.successful(time))}
    if tie := longest_tie(times):
        shown_time = f"{response.seconds(tie[1]):g}s"
        yield (
            f"{tie[0]} runs took exactly {tie[1]:g} {response.unit}, the longest time: if a limit stopped them, add "
            f"`time_limit={shown_time!r}`"
        )


def _require_columns(names: Iterable[str], grid: Grid, path: Path) -> None:
    for name in names:
        if name not in grid.header:
            raise StudyError(f"{path.name} has no column {name!r}", hint=did_you_mean(name, grid.header))


# ---------------------------------------------------------------- what cells are


T = TypeVar("T")


class _Reader:
    """The cells of a table whose columns are understood."""

    def __init__(
        self,
        grid: Grid,
        path: Path,
        columns: Mapping[str, Column],
        words: Vocabulary,
        options: TableOptions,
        explained: Collection[str],
    ) -> None:
        self.grid, self.path, self.columns, self.words, self.options = grid, path, columns, words, options
        self.explained = explained  # times whose unit start and end of the runs tell
        self.units: dict[str, str] = {}
        self._require_use_of_time_unit()

    def assumed(self, responses: Sequence[str]) -> tuple[str, ...]:
        """Times of which nothing tells the unit."""
        declared = {*self.explained, *(name for name, text in self.options.meanings.items() if ":" in text)}
        return tuple(name for name in responses if name not in declared and self._has_no_unit(name))

    @property
    def assumed_sizes(self) -> tuple[str, ...]:
        """Memories whose unit only their numbers tell."""
        settings = [s for s in self.words.settings if s.role is Role.MEMORY and s.name in self.columns]
        named = usual_vocabulary([s.name for s in settings], [])
        return tuple(
            s.name
            for s in settings
            if s.name not in self.options.meanings and s.unit in ("gib", "mib") and s.unit != named.setting(s.name).unit
        )

    def require_response(self, named: Sequence[str]) -> None:
        """Where the factors are given, the response may be asked for later."""
        if not named and not self.options.factors:
            times = [r.name for r in self.words.responses if r.kind is Kind.TIME]
            raise no_response(self.path, times, self.columns)

    def readable(self, sorted_: Sorted, words: Vocabulary) -> tuple[Sorted, Vocabulary]:
        """Without responses that nobody asked for and that cannot be read."""
        asked = {*self.options.responses, *self.options.roles, words.time}
        wrong = {name: self._wrong(name, True) for name in sorted_.responses if name not in asked}
        spoiled = {name: f"cannot be read: {next(iter(found.values()))}" for name, found in wrong.items() if found}
        responses = tuple(name for name in sorted_.responses if name not in spoiled)
        if not spoiled or not responses:
            return sorted_, words
        left = replace(sorted_, responses=responses, left_out={**sorted_.left_out, **spoiled})
        self.words = words.only(words.names.difference(spoiled))
        return left, self.words

    def _has_no_unit(self, name: str) -> bool:
        column = self.columns.get(name)
        if column is None or self.options.time_unit or self.words.response(name).kind is not Kind.TIME:
            return False
        return column.form == NUMBER and not unit_in_name(name)

    def _require_use_of_time_unit(self) -> None:
        unit = self.options.time_unit
        if unit is None:
            return
        times = [response.name for response in self.words.responses if response.kind is Kind.TIME]
        forms = {name: self.columns[name].form for name in times}
        if not any(forms[n] == TIME or not unit_in_name(n) for n in times):
            told = ", ".join(f"{n} ({unit_in_name(n)})" for n in times) or "there are none"
            raise StudyError(
                f"`time_unit={unit!r}` is for times without a unit, and in {self.path.name} {told}",
                hint=f"to override a name: `roles={{NAME: 'time:{unit}'}}`",
            )

    # ------------------------------------------------------------ problems

    def refuse_problems(self, settings: Sequence[str], responses: Sequence[str], kept: Sequence[int]) -> None:
        problems: list[TableProblem] = []
        hints: list[str] = []
        for name in (*settings, *responses):
            wrong = self._wrong(name, name in responses)
            if not wrong:
                continue
            cells = self.columns[name].cells
            found = [TableProblem(self.grid.rows[i], name, wrong[cells[i]]) for i in kept if cells[i] in wrong]
            problems += found
            if found:
                hints += [*self.columns[name].hints, *self._hints(name, wrong)]
        refuse(self.path.name, problems, hint="; ".join(dict.fromkeys(hints)))

    def _hints(self, name: str, wrong: Mapping[str, str]) -> list[str]:
        """How to mend what the column alone did not know to be wrong."""
        column, hints = self.columns[name], []
        if column.bare & wrong.keys():
            units = ", or set it: `time_unit='min'`" if column.form == TIME else ""
            hints.append(f"write the unit into the cell{units}")
        if any(cell not in column.values and cell not in column.problems for cell in wrong):
            is_named = name in self.options.factors
            hints.append(
                "fill it in or drop the row: `complete_rows=True`"
                + ("" if is_named else f", or leave out the column: `ignore={[name]}`")
            )
        if unknown := self._unknown_unit(name):
            hints.append(f"write {unknown} as s, min or h, or take it out of the cells and set `time_unit='min'`")
        if any(cell in self._impossible(name) for cell in wrong):
            hints.append(f"correct it, drop the row, or say that it marks a missing value: `na={sorted(wrong)[:1]}`")
        return hints or ([] if column.hints else ["correct the cell or drop the row"])

    def _wrong(self, name: str, is_response: bool) -> dict[str, str]:
        """Cells that cannot be used, and why."""
        column = self.columns[name]
        wrong = dict(column.problems)
        unit = self._unit(name)
        if not unit:
            wrong |= {c: f"{c!r} has no unit, but other cells of the column have one" for c in column.bare}
        if is_response and self._unknown_unit(name):
            return {
                cell: f"{shown(cell)} has a unit that is not known as one of time" for cell in column.values
            } | wrong
        if is_response:
            words = (cell for cell, value in column.values.items() if isinstance(value, str))
            return {cell: f"{shown(cell)} is not a number" for cell in words} | self._impossible(name) | wrong
        empty = set(column.cells).difference(column.values, wrong)
        return wrong | dict.fromkeys(empty, "a setting has no value here")

    def _unknown_unit(self, name: str) -> str:
        """The word behind the numbers of a time, which may be minutes: `5 мин`."""
        form = self.columns[name].form
        is_time = self.words.response(name).kind is Kind.TIME
        return form if is_time and form not in (NUMBER, TIME, COUNT, SIZE, SHARE, MONEY, DATE, TEXT, EMPTY) else ""

    def _impossible(self, name: str) -> dict[str, str]:
        """Times below 0, as clocks that were set back leave them, and numbers that stand for no time: 0, 99999."""
        if self.words.response(name).kind is not Kind.TIME:
            return {}
        values = {cell: v for cell, v in self.columns[name].values.items() if not isinstance(v, str)}
        wrong = {cell: f"{shown(cell)} is negative, and a time cannot be" for cell, v in values.items() if v < 0}
        positive = sorted(value for value in values.values() if value > 0)
        if positive and positive[0] >= _LEAST_BESIDE_ZERO:
            wrong |= {cell: f"{shown(cell)} is no time that a run takes" for cell, v in values.items() if v == 0}
        if len(positive) > 1 and positive[-1] >= _FAR * positive[-2]:
            far = (cell for cell, value in values.items() if value == positive[-1] and _NINES.fullmatch(cell))
            wrong |= {cell: f"{shown(cell)} looks like no time" for cell in far}
        return wrong

    # ------------------------------------------------------------ values

    def _unit(self, name: str) -> str:
        """The unit of bare numbers: what the role, the name, or for times an option says."""
        column = self.columns[name]
        if column.form == TIME:
            response = self.words.response(name)
            declared = response.unit if name in self.options.meanings and response.kind is Kind.TIME else ""
            return declared or in_name(name, SECONDS) or self.options.time_unit or ""
        if column.form == SIZE:
            setting = self.words.setting(name)
            told = setting.unit if setting.role is Role.MEMORY and setting.unit != "bytes" else ""
            return in_name(name, BYTES) or (told if told in BYTES else "")
        return in_name(name, ("%",)) if column.form == SHARE else ""

    def _converted(self, name: str, is_response: bool) -> dict[str, Level]:
        """What each text of a column stands for, in the unit that its name tells, else in ours."""
        column, unit = self.columns[name], self._unit(name)
        if column.form == TIME:
            return self._times(column, unit, is_response)
        if column.form == SIZE:
            return self._sizes(column, unit, is_response)
        if column.form == SHARE and unit == "%":
            return {cell: value if cell in column.bare else float(value) * 100 for cell, value in column.values.items()}
        if column.form not in (NUMBER, SHARE, COUNT, "text", "date") and not column.currency:
            self.units[name] = column.form  # the word behind its numbers
        return dict(column.values)

    def _times(self, column: Column, unit: str, is_response: bool) -> dict[str, Level]:
        response = self.words.response(column.name)
        target = response.unit if is_response and response.kind is Kind.TIME else in_name(column.name, SECONDS) or "s"
        self.units[column.name] = target
        bare, whole = SECONDS[unit or "s"], SECONDS[target]
        return {c: float(v) * (bare if c in column.bare else 1.0) / whole for c, v in column.values.items()}

    def _sizes(self, column: Column, unit: str, is_response: bool) -> dict[str, Level]:
        if unit or is_response:
            self.units[column.name] = unit or "bytes"
            own = factor(unit, SIZE) if unit else 1.0
            values = {c: float(v) if c in column.bare else float(v) / own for c, v in column.values.items()}
            return {cell: int(v) if v.is_integer() else v for cell, v in values.items()}
        self.units[column.name] = "size"
        return {cell: shortest_size(round(float(value))) for cell, value in column.values.items()}

    def observations(
        self,
        settings: Sequence[str],
        responses: Sequence[str],
        metrics: Sequence[str],
        ends: Sequence[RunEnd],
        kept: Sequence[int],
    ) -> tuple[Observation, ...]:
        levels = {name: self._levels(name, kept) for name in settings}
        numbers = {name: self._numbers(name, kept) for name in (*responses, *metrics)}
        ended = self._stopped_at_limit([ends[i] for i in kept], numbers)
        seen: dict[tuple[Level | None, ...], int] = {}
        made: dict[tuple[Level | None, ...], Configuration] = {}  # replicates share one
        found, names = [], tuple(numbers)
        is_full = all(None not in column for column in numbers.values())
        values = zip(*numbers.values(), strict=True) if numbers else (() for _ in kept)
        rows = zip(zip(*levels.values(), strict=True), values, ended, strict=True)
        beside = self._labels((*settings, *responses), metrics, kept)
        for place, (row, value, end) in enumerate(rows, start=1):
            seen[row] = seen.get(row, 0) + 1
            if row not in made:
                given = {name: level for name, level in zip(levels, row, strict=True) if level is not None}
                made[row] = Configuration.of_normal(given)
            pairs = zip(names, value, strict=True)
            measured_here = dict(pairs) if is_full else {name: number for name, number in pairs if number is not None}
            labels = {name: cells[place - 1] for name, cells in beside.items()}
            outcome = end.outcome or Outcome.OK
            found.append(
                Observation(
                    made[row],
                    measured_here,
                    outcome,
                    end.cause,
                    replicate=seen[row],
                    position=place,
                    labels=labels,
                )
            )
        return tuple(found)

    def _labels(self, used: Container[str], numbers: Container[str], kept: Sequence[int]) -> dict[str, list[str]]:
        """Columns beside settings and responses, as written: those that vary, of numbers those that group the runs."""
        beside = {name: _picked(list(self.grid.cells(name)), kept) for name in self.columns if name not in used}
        counts = {name: len(set(cells)) for name, cells in beside.items()}
        most = {name: len(kept) / 3 if name in numbers else len(kept) for name in beside}
        return {name: cells for name, cells in beside.items() if 1 < counts[name] <= most[name]}

    def _stopped_at_limit(self, ends: list[RunEnd], numbers: Mapping[str, Sequence[float | None]]) -> list[RunEnd]:
        """With the runs that took as long as `time_limit` or longer as stopped by it."""
        limit_s, time = self.options.limit_s, self.words.time
        if limit_s is None:
            return ends
        if time is None or time not in numbers:
            raise StudyError(f"`time_limit=` needs a time, and {self.path.name} has none", hint=_TIME_HINT)
        seconds = self.words.response(time).seconds
        return [
            RunEnd(Outcome.TIMEOUT, f"stopped at {self.options.time_limit}")
            if end.outcome is Outcome.OK and value is not None and seconds(value) >= limit_s
            else end
            for end, value in zip(ends, numbers[time], strict=True)
        ]

    def _levels(self, name: str, kept: Sequence[int]) -> list[Level | None]:
        levels = {cell: normal_level(level) for cell, level in self._converted(name, False).items()}
        cells = self.columns[name].cells
        return _picked(list(map(levels.get, cells)), kept)

    def _numbers(self, name: str, kept: Sequence[int]) -> list[float | None]:
        values = {c: float(v) for c, v in self._converted(name, True).items() if not isinstance(v, str)}
        cells = self.columns[name].cells
        return _picked(list(map(values.get, cells)), kept)

    # ------------------------------------------------------------ rows

    def repeated(self, sorted_: Sorted, yielded: Sequence[str]) -> dict[int, int]:
        """Rows that are copies of earlier ones, by place: no two runs are equal in everything."""
        if yielded:
            return {}
        telling = [name for name in self.grid.header if name in BOOKKEEPING and name not in (OWN, "cause")]
        telling += [name for name, why in sorted_.left_out.items() if why in ("identifier", "dates")]
        told_apart = any(any(self.grid.cells(name)) for name in telling)
        first: dict[tuple[str, ...], int] = {}
        found = {}
        for place, row in enumerate(zip(*self.grid.columns, strict=True)):
            earlier = first.setdefault(row, place)
            if earlier != place and (told_apart or self._has_telling_digits(sorted_.responses, place)):
                found[place] = earlier
        return found

    def _has_telling_digits(self, responses: Sequence[str], place: int) -> bool:
        digits = [len(re.sub(r"\D", "", self.columns[name].cells[place]).strip("0")) for name in responses]
        return sum(n > 0 for n in digits) > 1 and sum(digits) >= _TELLING_DIGITS

    def notes(
        self, sorted_: Sorted, repeated: Mapping[int, int], ending: Sequence[str], kept: Sequence[int]
    ) -> list[str]:
        found = []
        columns = [self.columns[name] for name in (*sorted_.settings, *sorted_.responses)]
        if any(column.mark == "," for column in columns):
            found.append("decimal commas")
        thousands = [c.name for c in columns if c.mark == "." and any("," in cell for cell in c.values)]
        if thousands:
            found.append(f"commas between thousands in {', '.join(thousands)}")
        if repeated:
            rows = [self.grid.rows[place] for place in repeated]
            found.append(f"{_rows(rows)} repeat{'s an earlier one' if len(rows) == 1 else ' earlier ones'}, left out")
        return found + list(self._missing(sorted_.responses, kept, len(kept) / 2 if ending else len(kept)))

    def _missing(self, responses: Sequence[str], kept: Sequence[int], most: float) -> Iterator[str]:
        """Responses without a value in some rows; where more miss it, it is no accident."""
        for name in responses:
            column = self.columns[name]
            missing = [self.grid.rows[i] for i in kept if column.cells[i] not in column.values]
            if 0 < len(missing) < most:
                yield f"no {name} in {_rows(missing)}"


def _picked(values: list[T], kept: Sequence[int]) -> list[T]:
    return values if len(kept) == len(values) else [values[i] for i in kept]


def _rows(rows: Sequence[int]) -> str:
    shown = ", ".join(map(str, rows[:_MOST_ROWS]))
    more = f" and {len(rows) - _MOST_ROWS} more" if len(rows) > _MOST_ROWS else ""
    return f"row{'s' if len(rows) > 1 else ''} {shown}{more}"


# ---------------------------------------------------------------- tables that say what their columns are


def _written_meaning(grid: Grid, path: Path) -> tuple[Grid, Meaning]:
    if MEANING not in grid.header:
        return grid, Meaning((), (), Vocabulary())
    try:
        plain = json.loads(next((cell for cell in grid.cells(MEANING) if cell), ""))  # rows may have been sorted
        found = from_plain(Meaning, plain)
    except (ValueError, KeyError, TypeError) as error:
        raise StudyError(
            f"{path.name}: the column {MEANING!r} does not describe the other columns", hint="remove that column"
        ) from error
    kept = [place for place, name in enumerate(grid.header) if name != MEANING]
    header = tuple(grid.header[place] for place in kept)
    rest = replace(grid, header=header, columns=tuple(grid.columns[place] for place in kept))
    return rest, replace(found, vocabulary=found.vocabulary.only(header))


def write_table(data: Dataset, path: Path) -> None:
    """Write one row per observation to a .csv or .parquet file."""
    rows = [observation.row() for observation in data.observations]
    columns = list(dict.fromkeys(name for row in rows for name in row))
    if rows:
        rows[0][MEANING] = json.dumps(meaning_of(data, columns))
    write_rows(rows, [*columns, MEANING], path)


def write_rows(rows: Sequence[Mapping[str, Level]], columns: Sequence[str], path: Path) -> None:
    """Write rows to a .csv or .parquet file; what a row does not have is empty."""
    if path.suffix.lower() == ".parquet":
        _write_parquet(rows, columns, path)
        return
    if path.suffix.lower() != ".csv":
        raise StudyError(f"cannot write {path.name!r}: unknown file type {path.suffix!r}", hint="use .csv or .parquet")
    with path.open("w", newline="", encoding="utf-8") as file:
        writer = csv.writer(file)
        writer.writerow(map(escaped, columns))
        writer.writerows([escaped(row.get(name, "")) for name in columns] for row in rows)


def meaning_of(data: Dataset, columns: Sequence[str]) -> dict[str, Any]:
    settings = dict.fromkeys(name for run in data.observations for name in run.configuration)
    measured = [name for name in columns if name not in settings and name not in BOOKKEEPING]
    words = completed(data.vocabulary, settings, measured).only(columns)
    return {"factors": data.factors, "responses": data.responses, "vocabulary": words.as_plain()}


def _write_parquet(rows: Sequence[Mapping[str, Level]], columns: Sequence[str], path: Path) -> None:
    try:
        import pyarrow as pa
        import pyarrow.parquet as pq
    except ImportError:
        raise StudyError("Parquet needs pyarrow", hint="pip install 'sparkcast[parquet]', or write a .csv") from None
    pq.write_table(pa.table({name: [row.get(name) for row in rows] for name in columns}), path)
