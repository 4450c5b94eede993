"""A column of a table: whether it holds numbers, times, sizes, dates or words, decided for all of its cells at once."""

import math
import re
from collections import Counter
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace

from sparkcast.data.cell import (
    COUNT,
    MONEY,
    SHARE,
    SIMPLE,
    SIZE,
    TIME,
    Cell,
    Clock,
    Family,
    Mark,
    Quantity,
    currency_of,
    factor,
    is_date,
    is_true,
    number,
    read_cell,
)
from sparkcast.data.problems import shown
from sparkcast.study import Level

DATE, TEXT, EMPTY, NUMBER = "date", "text", "empty", "number"
_NO_VALUE = {"", "na", "n/a", "#n/a", "<na>", "nan", "null", "#div/0!", "#value!", "#ref!", "#null!", "#num!"}
_NO_NUMBER = {*"- -- --- – — ? none n.a. nil missing unknown tbd .".split()}  # none: a category
_HOURS_OF_A_DAY = 24
_HASH = re.compile(r"[0-9a-f]+|[0-9A-F]+")
_SHORTEST_HASH = 6
_MOST_WORDS = 0.5  # a column with more words than that is one of words


@dataclass(frozen=True, slots=True)
class Column:
    """`values` and `problems` are by the text of the cell, each of which occurs in many rows."""

    name: str
    cells: Sequence[str]
    form: Family  # number, time, size, share, money, count, date, text, empty, or the word behind its numbers
    values: Mapping[str, Level] = field(default_factory=dict)  # of a time seconds, of a size bytes
    problems: Mapping[str, str] = field(default_factory=dict)
    bare: frozenset[str] = frozenset()  # cells without a unit among others with one
    currency: str = ""
    mark: Mark | None = None  # what its decimals follow, where it has a mark at all
    doubt: bool = False  # whether the mark could be the other, for all that the column tells
    hints: tuple[str, ...] = ()

    @property
    def is_number(self) -> bool:
        return self.form not in (DATE, TEXT, EMPTY)

    @property
    def n_values(self) -> int:
        return len(set(self.values.values()))

    @property
    def n_filled(self) -> int:
        """How many cells have a value, or should have one."""
        if len(self.values) + len(self.problems) == len(set(self.cells)):
            return len(self.cells)
        return sum(cell in self.values or cell in self.problems for cell in self.cells)


@dataclass(frozen=True, slots=True)
class ColumnHints:
    """What an option or the name of a column says about it before its cells are read."""

    na: Collection[str] = ()  # words for no value, in lower case
    decimal: Mark | None = None
    family: Family | None = None  # of several that a unit may mean: the m of 5m
    clock_unit: str = ""  # min or h: what 05:30 starts with
    is_hash: bool = False  # names a commit: `1e10` is no number


def read_columns(
    cells: Mapping[str, Sequence[str]], words: Mapping[str, ColumnHints], separator: str
) -> dict[str, Column]:
    """All columns of a file. A file has one decimal mark: a column that does not tell its own takes that of others."""
    found = {name: read_column(name, column, words[name]) for name, column in cells.items()}
    marks = {column.mark for column in found.values() if column.mark and not column.doubt}
    settled = {
        name: _settled(column, marks, words[name], separator) if column.doubt else column
        for name, column in found.items()
    }
    number.cache_clear()
    return settled


def _settled(column: Column, marks: set[Mark], words: ColumnHints, separator: str) -> Column:
    if words.decimal is not None:
        return column  # it was read so
    others = marks if len(marks) == 1 else set()
    # A point is the usual mark of a file; not where lists are separated by semicolons because commas are taken.
    usual: set[Mark] = {"."} if column.mark == "." and not marks and separator != ";" else set()
    if not (others or usual):
        cell = next(cell for cell in column.values if ({",", "."} & set(cell)))
        told = f"{shown(cell)} can be {_both(cell)}, and nothing in the file says which"
        hint = "set the decimal mark: `decimal='point'` or `decimal='comma'`"
        return replace(column, problems={cell: told}, hints=(hint,))
    mark = next(iter(others or usual))
    return replace(read_column(column.name, column.cells, replace(words, decimal=mark)), doubt=False)


def _both(cell: str) -> str:
    part = read_cell(cell)
    core = part.parts[0][0] if isinstance(part, Quantity) else cell
    return " or ".join(f"{number(core, mark):g}" for mark in (".", ","))


def read_column(name: str, cells: Sequence[str], words: ColumnHints) -> Column:
    counts = Counter(cells)
    filled = _filled(counts, words)
    if not filled:
        return Column(name, cells, EMPTY)
    if words.is_hash or _are_hashes(filled):
        return Column(name, cells, TEXT, dict(zip(filled, filled, strict=True)))
    if plain := _plain_numbers(filled, words):
        values, is_doubtful = plain
        mark: Mark | None = "." if is_doubtful or any("." in cell for cell in filled) else None
        return Column(name, cells, NUMBER, values, mark=mark, doubt=is_doubtful)
    if uniform := _uniform(name, cells, filled, words):
        return uniform
    if flags := _flags(filled):
        return Column(name, cells, TEXT, flags)
    read = {cell: read_cell(cell) for cell in filled if cell.casefold() not in _NO_NUMBER}
    if read and all(map(is_date, read)):
        return Column(name, cells, DATE, dict(zip(filled, filled, strict=True)))
    n_all = sum(counts[cell] for cell in read)
    words_in_it = [cell for cell, parsed in read.items() if not _could_be_number(parsed)]
    if not read or sum(counts[cell] for cell in words_in_it) > _MOST_WORDS * n_all:
        return Column(name, cells, TEXT, dict(zip(filled, filled, strict=True)))
    return _quantities(name, cells, read, words_in_it, counts, words)


def _are_hashes(cells: Sequence[str]) -> bool:
    """Whether they are hashes of one length, though some look like numbers: 5e42030b, 91e10aa2, 44103380."""
    is_one_length = len({len(cell) for cell in cells}) == 1 and len(cells[0]) >= _SHORTEST_HASH
    if not is_one_length or not all(map(_HASH.fullmatch, cells)):
        return False
    read = map(read_cell, cells)
    return any(not isinstance(cell, Quantity) or number(cell.parts[0][0], ".") is None for cell in read)


def _filled(cells: Iterable[str], words: ColumnHints) -> list[str]:
    """Those that are not a word for no value."""
    filled = [cell for cell in cells if cell and (cell[0].isdigit() or cell.casefold() not in _NO_VALUE)]
    return [cell for cell in filled if cell.casefold() not in words.na] if words.na else filled


def _plain_numbers(cells: Sequence[str], words: ColumnHints) -> tuple[dict[str, Level], bool] | None:
    """The values where every cell is as a program writes it, and whether the points might separate thousands."""
    if words.decimal == ",":
        return None
    try:
        numbers = list(map(float, cells))
    except ValueError:
        return None
    if not all(map(math.isfinite, numbers)):
        return None
    values: dict[str, Level] = dict(zip(cells, numbers, strict=True))
    pointed = [cell for cell in cells if "." in cell]
    return values, bool(pointed) and all(number(cell, ",") is not None for cell in pointed)


def _uniform(name: str, cells: Sequence[str], filled: Sequence[str], words: ColumnHints) -> Column | None:
    """The commonest of the other columns, read quickly: one unit or none in all cells, and no thousands."""
    first = read_cell(filled[0])
    if not isinstance(first, Quantity) or len(first.parts) > 1 or not filled[0].startswith(first.parts[0][0]):
        return None
    end = filled[0][len(first.parts[0][0]) :]
    if not all(cell.endswith(end) for cell in filled):
        return None
    cores = [cell.removesuffix(end) for cell in filled]
    marks: tuple[tuple[Mark, Mark], ...] = ((".", ","), (",", "."))
    for mark, other in marks:
        is_simple = words.decimal in (None, mark) and all(map(SIMPLE[mark].fullmatch, cores))
        if is_simple and any(number(core, other) is None for core in cores):
            family = _family({filled[0]: first}, {filled[0]: 1}, words)
            scale = factor(first.unit, family) if first.unit else 1.0
            whole = 100 if family == SHARE else 1
            numbers = [float(core.replace(",", ".")) * scale / whole for core in cores]
            currency = currency_of(first.unit) if family == MONEY else ""
            values: dict[str, Level] = dict(zip(filled, numbers, strict=True))
            return Column(name, cells, family, values, currency=currency, mark=mark)
    return None


def _flags(cells: Sequence[str]) -> dict[str, Level] | None:
    """Yes and no where the column spells them in several ways: TRUE beside 1 and true."""
    said = {cell: is_true(cell) for cell in cells}
    if None in said.values() or set(said.values()) != {True, False} or len(said) < 3:
        return None
    return {cell: "true" if yes else "false" for cell, yes in said.items()}


def _could_be_number(cell: Cell) -> bool:
    if isinstance(cell, Quantity):
        return all(number(core, ".") is not None or number(core, ",") is not None for core, _ in cell.parts)
    return cell is not None


def _no_number(cell: str) -> str:
    is_infinite = cell.casefold().lstrip("+-") in ("inf", "infinity", "∞")
    return f"{shown(cell)} is not {'finite' if is_infinite else 'a number'}"


@dataclass(frozen=True, slots=True)
class _Wrong:
    """Cells that cannot be read, why, and how to mend them."""

    problems: dict[str, str] = field(default_factory=dict)
    hints: dict[str, None] = field(default_factory=dict)  # each once, in order

    def add(self, problems: Mapping[str, str], hint: str) -> None:
        self.problems.update(problems)
        if problems:
            self.hints[hint] = None

    def without(self, cells: Mapping[str, Cell]) -> dict[str, Cell]:
        return {cell: parsed for cell, parsed in cells.items() if cell not in self.problems}


def _quantities(
    name: str,
    cells: Sequence[str],
    read: Mapping[str, Cell],
    words_in_it: Sequence[str],
    counts: Mapping[str, int],
    words: ColumnHints,
) -> Column:
    wrong = _Wrong()
    not_numbers = {cell: _no_number(cell) for cell in words_in_it}
    wrong.add(not_numbers, "correct the cell, drop the row, or mark it as missing: `na=[WORD]`")
    good = wrong.without(read)
    family = _family(good, counts, words)
    bare = {cell for cell, parsed in good.items() if not _families(parsed)}
    others = [cell for cell, parsed in good.items() if cell not in bare and family not in _families(parsed)]
    unlike = {cell: f"{shown(cell)} is not {_in(family)}, as other cells of the column are" for cell in others}
    wrong.add(unlike, "write the whole column in one unit")
    mark, doubt, misfits = _mark(wrong.without(good), counts, words)
    own, usual = ("point", "comma") if mark == "," else ("comma", "point")
    marked = {c: f"{shown(c)} has a decimal {own}, and other cells of the column a decimal {usual}" for c in misfits}
    wrong.add(marked, "use one decimal mark per column")
    kept = wrong.without(good)
    currency, foreign = _currency(kept, counts) if family == MONEY else ("", {})
    wrong.add(foreign, "write the whole column in one currency")
    starts_with_hours = _starts_with_hours(kept, words)
    if starts_with_hours is None:
        clocks = [cell for cell, parsed in kept.items() if isinstance(parsed, Clock)]
        unclear = {cell: f"{shown(cell)} may be hours and minutes or minutes and seconds" for cell in clocks}
        wrong.add(unclear, "say which: `time_unit='h'` or `time_unit='min'`")
    way = (family, mark or ".", bool(starts_with_hours))
    values = {cell: _value(parsed, *way) for cell, parsed in wrong.without(kept).items()}
    plain = bare if family in (NUMBER, MONEY) else {cell for cell in bare if values.get(cell) == 0}
    return Column(
        *(name, cells, family, values, wrong.problems),
        bare=frozenset(bare - plain),  # a number among amounts of money is one too
        currency=currency,
        mark=mark,
        doubt=doubt,
        hints=tuple(wrong.hints),
    )


def _families(cell: Cell) -> frozenset[Family]:
    return frozenset({TIME}) if isinstance(cell, Clock) else cell.families if cell else frozenset()


def _family(cells: Mapping[str, Cell], counts: Mapping[str, int], words: ColumnHints) -> Family:
    """What the units of most rows have in common."""
    with_units = [(_families(parsed), counts[cell]) for cell, parsed in cells.items() if _families(parsed)]
    if not with_units:
        return NUMBER
    votes: Counter[Family] = Counter()
    for families, count in with_units:
        for family in families:
            votes[family] += count
    most = max(votes.values())
    best = [family for family, count in votes.items() if count == most]
    order = [words.family, SIZE, TIME, COUNT]  # 128m is a size, as Spark writes it, where nothing says otherwise
    return next((family for family in order if family in best), best[0])


def _in(family: Family) -> str:
    known = {TIME: "a time", SIZE: "a size", COUNT: "a number", MONEY: "an amount of money", NUMBER: "a bare number"}
    return known.get(family, "in %" if family == SHARE else f"in {family!r}")


def _mark(
    cells: Mapping[str, Cell], counts: Mapping[str, int], words: ColumnHints
) -> tuple[Mark | None, bool, tuple[str, ...]]:
    """What stands before decimals, whether it could be the other too, and the cells that have another."""
    marked = _marked(cells)
    if not marked:
        return None, False, ()
    fits: dict[Mark, set[str]] = {
        mark: {c for c, found in marked.items() if all(number(core, mark) is not None for core in found)}
        for mark in (".", ",")
    }
    if words.decimal is not None and len(fits[words.decimal]) == len(marked):
        return words.decimal, False, ()
    if len(fits["."]) == len(fits[","]) == len(marked):
        return "," if any("," in cell for cell in marked) else ".", True, ()
    weight = {mark: sum(counts[cell] for cell in found) for mark, found in fits.items()}
    best: Mark = "." if weight["."] >= weight[","] else ","
    return best, False, tuple(cell for cell in marked if cell not in fits[best])


def _marked(cells: Mapping[str, Cell]) -> dict[str, list[str]]:
    """The numbers of each cell with a comma or a point."""
    cores = {c: [core for core, _ in p.parts] for c, p in cells.items() if isinstance(p, Quantity)}
    return {c: found for c, found in cores.items() if any("," in core or "." in core for core in found)}


def _currency(cells: Mapping[str, Cell], counts: Mapping[str, int]) -> tuple[str, dict[str, str]]:
    """The currency of most rows, and what is wrong with the amounts in others."""
    amounts = {c: currency_of(p.unit) for c, p in cells.items() if isinstance(p, Quantity) and p.families}
    votes: Counter[str] = Counter()
    for cell, currency in amounts.items():
        votes[currency] += counts[cell]
    most = max(votes, key=lambda currency: votes[currency], default="")
    others = [cell for cell, currency in amounts.items() if currency != most]
    return most, {cell: f"{shown(cell)} is not in {most}, as other cells of the column are" for cell in others}


def _starts_with_hours(cells: Mapping[str, Cell], words: ColumnHints) -> bool | None:
    """Of `05:30`: minutes where another cell is `1:05:30`, else what --time-unit says; None where nothing tells."""
    clocks = [parsed for parsed in cells.values() if isinstance(parsed, Clock)]
    short = [clock for clock in clocks if clock.third is None]
    are_minutes = any(clock.first > _HOURS_OF_A_DAY or clock.fraction for clock in short)  # of a second
    if not short or len(short) < len(clocks) or are_minutes:
        return False
    return {"h": True, "min": False}.get(words.clock_unit)


def _value(cell: Cell, family: Family, mark: Mark, starts_with_hours: bool) -> Level:
    if isinstance(cell, Clock):
        return cell.seconds(starts_with_hours=starts_with_hours)
    assert cell is not None
    found: int | float = 0
    for core, unit in cell.parts:
        digits = number(core, mark)
        assert digits is not None
        scale = factor(unit, family) if unit else 1.0
        found = digits if len(cell.parts) == 1 and scale == 1 else float(found) + digits * scale
    return found / 100 if family == SHARE and cell.unit else found
