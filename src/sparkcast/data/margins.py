"""What stands around the runs of a table: names of groups of columns above it, comments, totals and sources below."""

import math
import re
from collections.abc import Sequence
from statistics import fmean

from sparkcast.study.headings import fold

Record = tuple[int, list[str]]  # a row with its number

_SUMMARIES = frozenset(
    "total totals sum average avg mean median count std stdev min max overall summe gesamt mittelwert durchschnitt "
    "somme moyenne promedio media suma totale 合計 合计 总计 總計 平均 平均值 小计 小計".split()
)
_GRAND = re.compile(r"(grand|sub|overall)[ -]?(total)|gesamtsumme|total general")
_DITTO = frozenset(('"', "''", "\u2033", "\u3003", "\u201d", "do.", "ditto", "dito", "idem", "id.", "\u540c\u4e0a"))
_CLOSE = 0.01  # a mean that was rounded


def with_header(records: Sequence[Record]) -> tuple[list[Record], str]:
    """The rows from the header on, where merged cells above it name groups of columns; and what to say of it.

    A name that several groups have is told apart by its group: `cold time`, `warm time`.
    """
    if len(records) < 3:
        return list(records), ""
    (_, groups), (number, names), (_, below) = records[:3]
    filled = [cell for cell in groups if cell]
    is_grouped = (
        len(groups) == len(names) == len(below)
        and len(filled) > 1
        and len(set(filled)) < len(groups)
        and all(names)
        and not any(map(_as_number_or_none, names))
        and not any(_has_digits(cell) and _starts_as_number(cell) for cell in (*filled, *names))
        and any(_starts_as_number(cell) for cell in below)
        and any(_is_of_numbers(place, records[2:]) for place in range(len(names)))
    )
    if not is_grouped:
        return list(records), ""
    group, full = "", []
    for cell, name in zip(groups, names, strict=True):
        group = cell or group
        full.append(f"{group} {name}".strip() if names.count(name) > 1 else name)
    return [(number, full), *records[2:]], "names of groups of columns above the header"


def _is_of_numbers(place: int, rows: Sequence[Record]) -> bool:
    cells = [row[place] for _, row in rows if len(row) > place and row[place]]
    return len(cells) > 1 and all(map(_starts_as_number, cells))


def without_margins(body: Sequence[Record], width: int) -> tuple[list[Record], list[str]]:
    """The rows of runs alone, and what was left out."""
    body, notes = _without_ditto_marks(body)
    kept = [(number, row) for number, row in body if not _is_comment(row, width)]
    if n := len(body) - len(kept):
        notes.append(f"{n} comment line{'s' if n > 1 else ''} among the rows")
    n_all = len(kept)
    while len(kept) > 1 and _is_footnote(kept[-1][1], width):
        kept.pop()
    if n := n_all - len(kept):
        notes.append(f"{n} line{'s' if n > 1 else ''} of text below the rows")
    runs = list(kept)
    while len(runs) > 2 and (label := _summary_label(runs[-1][1])) and len(runs[-1][1]) == width:
        runs.pop()
        if any(_summary_label(row) == label for _, row in runs):
            return kept, notes  # a level of a setting: `mean` among `max` and `median`
    summaries = kept[len(runs) :]
    if summaries and all(_summarizes(row, [run for _, run in runs]) for _, row in summaries):
        rows = " and ".join(str(number) for number, _ in summaries)
        notes.append(f"row{'s' if len(summaries) > 1 else ''} {rows} left out: totals of the others")
        return runs, notes
    return kept, notes


def _without_ditto_marks(body: Sequence[Record]) -> tuple[list[Record], list[str]]:
    """The rows with what `"` stands for, and what to say of it."""
    full: list[Record] = []
    n = 0
    for number, row in body:
        above = full[-1][1] if full else []
        is_ditto = [cell in _DITTO and place < len(above) for place, cell in enumerate(row)]
        n += sum(is_ditto)
        full.append((number, [above[place] if same else row[place] for place, same in enumerate(is_ditto)]))
    return full, [f"{n} ditto mark{'s' if n > 1 else ''} read as the value above"] if n else []


def _is_comment(row: Sequence[str], width: int) -> bool:
    """Whether a row begins like a comment and has not the cells of a run: `#12` may number one."""
    return re.match(r"#|//\s", row[0]) is not None and (len(row) != width or not any(row[1:]))


def _is_footnote(row: Sequence[str], width: int) -> bool:
    """Whether a row is a text behind which nothing stands: no run has only one word."""
    is_alone = bool(row[0]) and not any(row[1:])
    return width > 1 and is_alone and len(row[0].split()) > 1 and not _starts_as_number(row[0])


def _summary_label(row: Sequence[str]) -> str:
    words = (fold(cell).rstrip(": ") for cell in row[:2])
    return next((word for word in words if word in _SUMMARIES or _GRAND.fullmatch(word)), "")


def _summarizes(row: Sequence[str], runs: Sequence[Sequence[str]]) -> bool:
    """Whether cells are empty that runs fill, or all numbers are the sum or the mean of what stands above them."""
    if any(not cell and all(len(run) > place and run[place] for run in runs) for place, cell in enumerate(row)):
        return True
    told = [_adds_up(cell, [run[place] for run in runs]) for place, cell in enumerate(row)]
    known = [adds_up for adds_up in told if adds_up is not None]
    return bool(known) and all(known)


def _adds_up(cell: str, above: Sequence[str]) -> bool | None:
    """None where the cell is no number, or those above it are none or all equal."""
    value, numbers = _as_number_or_none(cell), [_as_number_or_none(each) for each in above]
    known = [each for each in numbers if each is not None]
    if value is None or len(known) < len(above) or len(set(known)) < 2:
        return None
    return any(math.isclose(value, told, rel_tol=_CLOSE) for told in (math.fsum(known), fmean(known)))


def _starts_as_number(cell: str) -> bool:
    return re.match(r"[$€£¥<>~]?\s*[+-]?[\d.,]*\d", cell) is not None


def _has_digits(cell: str) -> bool:
    return any(map(str.isdigit, cell))


def _as_number_or_none(cell: str) -> float | None:
    try:
        return float(cell.strip("$€£¥% ").replace(",", ""))
    except ValueError:
        return None
