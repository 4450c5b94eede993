"""A file as rows and columns of texts: its encoding, what separates its cells, where its header is."""

import csv
import io
import re
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from sparkcast.data.margins import Record, with_header, without_margins
from sparkcast.data.problems import TableProblem, refuse
from sparkcast.errors import StudyError
from sparkcast.study.headings import is_unit
from sparkcast.study.paths import no_such_file
from sparkcast.study.spreadsheet import unescaped

_SEPARATORS = {",": "commas", ";": "semicolons", "\t": "tabs", "|": "bars"}
_SAMPLE = 65536  # characters that tell what separates cells
_BOMS = (("utf-8-sig", b"\xef\xbb\xbf"), ("utf-16", b"\xff\xfe"), ("utf-16", b"\xfe\xff"))
_HINT = "it must be a text table: CSV with a header, one run per row"

_DRAWN = 0.8  # of the lines begin like those of a drawn table
_BORDER = re.compile(r"\s*[|+]?[\s|+:=-]*[-=][\s|+:=-]*")
_RULER = re.compile(r"[-+=|\s]*")
_CELL_ENDS = re.compile(r"^\s*\|{1,2}|\|{1,2}\s*$")


@dataclass(frozen=True, slots=True)
class Grid:
    """Cells without the blanks around them, by column."""

    header: tuple[str, ...]
    columns: tuple[Sequence[str], ...]
    rows: Sequence[int]  # the number of each row, as a spreadsheet counts
    separator: str = ","
    notes: tuple[str, ...] = ()  # what was not as in a plain CSV

    def cells(self, name: str) -> Sequence[str]:
        return self.columns[self.header.index(name)]


def read_grid(path: Path) -> Grid:
    """Raises StudyError where a file is no table, with every row that has too many or too few cells."""
    if path.suffix.lower() == ".parquet":
        return _read_parquet(path)
    text, encoding = _decoded(path)
    notes = [f"read as {encoding}"] if encoding else []
    lines = _without_borders(text.lstrip("\ufeff"))
    skipped, comments, separator = 0, [], None
    while lines.lower().startswith(("#", "sep=")):
        line, _, lines = lines.partition("\n")
        skipped += 1
        if line.lower().startswith("sep="):
            separator = line[4:].strip("\r") or None
        else:
            comments.append(line.lstrip("# \t").rstrip("\r"))
    if separator not in _SEPARATORS:
        separator = _separator(lines[:_SAMPLE])
        if spaced := _spaced(lines, separator):
            lines, separator = spaced, "\t"
    records = _records(lines, separator, path, skipped)
    if comments and records and any(map(_is_number, records[0][1])):
        named = next(csv.reader([_aligned(comments[-1], separator)], delimiter=separator), [])
        if len(named) == len(records[0][1]) and names_columns(named):  # as numpy writes a header
            records.insert(0, (skipped, [cell.strip() for cell in named]))
            comments.pop()
    if separator != ",":
        notes.append(f"separated by {_SEPARATORS[separator]}")
    if comments:
        notes.append(f"{len(comments)} comment line{'s' if len(comments) > 1 else ''} above the header")
    return _grid(records, separator, path, notes)


def _grid(records: Sequence[Record], separator: str, path: Path, notes: list[str]) -> Grid:
    titles = _n_titles(records)
    if titles:
        notes.append(f"{titles} title line{'s' if titles > 1 else ''} above the header")
    records, told = with_header(records[titles:])
    notes += [told] if told else []
    header = _header(records, path)
    width = len(header)
    rows = [record for record in records[1:] if not _is_ruler(record[1])]
    body = [record for record in rows if record[1][:width] != records[0][1][:width]]
    if len(body) < len(rows):
        notes.append("the header is repeated among the rows")
    body, told_around = without_margins(body, width)
    notes += told_around
    if not body:
        raise StudyError(f"{path.name} has 0 rows", hint="one row per run, under a header with the names")
    _refuse_ragged(body, width, path)
    if len(body) > 1 and (units := _units(body[0][1], body[1][1])):
        notes.append(f"row {body[0][0]} holds the units")
        header = [f"{name} ({units[place]})" if place in units else name for place, name in enumerate(header)]
        body = body[1:]
    columns = tuple(list(column) for column in zip(*(row[:width] for _, row in body), strict=True))
    named = tuple(name or f"column {place}" for place, name in enumerate(header, start=1))
    return _without_repeated_columns(named, columns, [number for number, _ in body], separator, path, notes)


def _is_ruler(row: Sequence[str]) -> bool:
    """Whether it is the line that a console draws below a header: `-----+------`."""
    return all(_RULER.fullmatch(cell) for cell in row) and "---" in row[0]


def _refuse_ragged(body: Sequence[Record], width: int, path: Path) -> None:
    ragged = [
        TableProblem(number, "", f"{max(len(row), 1)} values, but the header has {width} columns")
        for number, row in body
        if len(row) != width and (len(row) < width or any(row[width:]))
    ]
    refuse(path.name, ragged, hint="check separators and quotes")


def _units(row: Sequence[str], below: Sequence[str]) -> dict[int, str]:
    """The units of columns by their places, where the row under the header holds nothing else."""
    if not all(is_unit(cell) or not cell.strip("-–—#()[] ") for cell in row):
        return {}
    units = {place: cell.strip("()[] ") for place, cell in enumerate(row) if is_unit(cell)}
    return units if all(place < len(below) and any(map(str.isdigit, below[place])) for place in units) else {}


def _without_borders(text: str) -> str:
    """A table as wikis and consoles draw it, without its lines; rows keep their numbers."""
    lines = text.splitlines()
    filled = [line.strip() for line in lines if line.strip()]
    if len(filled) < 3 or sum(line.startswith(("|", "+-")) for line in filled) < _DRAWN * len(filled):
        return text
    return "\n".join("" if _BORDER.fullmatch(line) else _CELL_ENDS.sub("", line).replace("||", "|") for line in lines)


def _spaced(text: str, separator: str) -> str | None:
    """The table with tabs, where blanks alone separate its cells."""
    if _score(list(_sampled(text[:_SAMPLE], separator)))[1] > 1:
        return None
    aligned = [_aligned(line, "\t") for line in text.splitlines()]
    widths = {line.count("\t") for line in aligned if line}
    return "\n".join(aligned) if len(widths) == 1 and widths != {0} else None


def _aligned(line: str, separator: str) -> str:
    return "\t".join(line.split()) if separator == "\t" and "\t" not in line else line


def _n_titles(records: Sequence[Record]) -> int:
    """How many rows of one cell stand above the table."""
    n = 0
    while len(records) > n + 2 and _filled(records[n][1]) <= 1 < max(_filled(row) for _, row in records[n + 1 : n + 5]):
        n += 1
    return n


def _header(records: Sequence[Record], path: Path) -> list[str]:
    """The names of the columns, without empty ones behind them that have no cells."""
    header = [" ".join(name.strip("\ufeff ").split()) for name in records[0][1]] if records else []
    if header and len(records) > 1 and not names_columns(header):
        raise StudyError(
            f"{path.name}: row {records[0][0]} has only numbers where the column names should be",
            hint="put a header above the runs: executors,batch_size,time_s",
        )
    while header and not header[-1] and not any(row[len(header) - 1] for _, row in records if len(row) >= len(header)):
        header.pop()
    return header


def _without_repeated_columns(
    header: tuple[str, ...],
    columns: tuple[list[str], ...],
    rows: list[int],
    separator: str,
    path: Path,
    notes: list[str],
) -> Grid:
    """Two columns of one name are one where all their cells are equal."""
    kept: dict[str, int] = {}
    problems = []
    for place, name in enumerate(header):
        first = kept.setdefault(name, place)
        if first == place:
            continue
        if columns[first] == columns[place]:
            notes.append(f"{name} appears twice, with the same cells")
        else:
            text = f"the name appears twice in the header, above different cells (columns {first + 1} and {place + 1})"
            problems.append(TableProblem(None, name, text))
    refuse(path.name, problems, hint="rename one of them")
    return Grid(tuple(kept), tuple(columns[place] for place in kept.values()), rows, separator, tuple(notes))


def _records(text: str, separator: str, path: Path, skipped: int) -> list[Record]:
    """Rows that are not blank, with their numbers."""
    reader = csv.reader(io.StringIO(text, newline=""), delimiter=separator, skipinitialspace=True)
    try:
        return [
            (number, stripped)
            for number, row in enumerate(reader, start=skipped + 1)
            if any(stripped := [unescaped(cell.strip()) for cell in row])
        ]
    except csv.Error as error:
        raise StudyError(f"cannot read {str(path)!r}: row {reader.line_num}: {error}", hint=_HINT) from error


def _decoded(path: Path) -> tuple[str, str]:
    """The text of a file, and its encoding where that is not UTF-8."""
    try:
        raw = path.read_bytes()
    except FileNotFoundError:
        raise no_such_file(path) from None
    except OSError as error:
        raise StudyError(f"cannot read {str(path)!r}: {error.strerror}", hint=_HINT) from error
    try:
        for encoding, bom in _BOMS:
            if raw.startswith(bom):
                return raw.decode(encoding), "" if encoding == "utf-8-sig" else "UTF-16"
        if raw[1:2] == b"\0" or raw[:1] == b"\0":  # every second byte of a Latin text in UTF-16
            return raw.decode("utf-16-be" if raw[:1] == b"\0" else "utf-16-le"), "UTF-16"
        text, told = _decoded_bytes(raw)
    except UnicodeDecodeError as error:
        raise StudyError(f"cannot read {str(path)!r}: {error.reason}", hint=_HINT) from error
    if "\0" in text:
        raise StudyError(f"cannot read {str(path)!r}: it is not a text file", hint=_HINT)
    return text, told


def _decoded_bytes(raw: bytes) -> tuple[str, str]:
    for encoding, told in (("utf-8", ""), ("cp1252", "Windows-1252 (Latin-1)")):
        try:
            return raw.decode(encoding), told
        except UnicodeDecodeError:
            continue
    return raw.decode("latin-1"), "Latin-1"


def _separator(text: str) -> str:
    """What cuts most rows into as many cells as the header has; of several, what makes most cells."""
    if len(text) == _SAMPLE:
        text = text.rpartition("\n")[0] or text
    scores = {separator: _score(list(_sampled(text, separator))) for separator in _SEPARATORS}
    return max(scores, key=lambda separator: scores[separator])


def _sampled(text: str, separator: str) -> Iterator[int]:
    """How many cells each of the first rows has."""
    reader = csv.reader(io.StringIO(text, newline=""), delimiter=separator, skipinitialspace=True)
    try:
        for row in reader:
            if any(cell.strip() for cell in row):
                yield len(row)
    except csv.Error:
        return


def _score(widths: list[int]) -> tuple[float, int]:
    if not widths:
        return 0.0, 0
    # The commonest width of the rows is the table's: a title above it has another.
    width, count = max(Counter(widths).items(), key=lambda item: (item[1], item[0]))
    return (count / len(widths), width) if width > 1 else (0.0, 1)


def names_columns(header: Sequence[str]) -> bool:
    """Whether these may be names: not all of them are numbers."""
    return not header or any(not _is_number(name) for name in header if name)


def _is_number(text: str) -> bool:
    try:
        float(text.replace(",", "."))
    except ValueError:
        return False
    return True


def _filled(row: Sequence[str]) -> int:
    return sum(cell != "" for cell in row)


def _read_parquet(path: Path) -> Grid:
    try:
        import pyarrow as pa
        import pyarrow.parquet as pq
    except ImportError:
        raise StudyError("Parquet needs pyarrow", hint="pip install 'sparkcast[parquet]', or give a .csv") from None
    try:
        table = pq.read_table(path)
        columns = tuple([as_text(value) for value in column.to_pylist()] for column in table.columns)
    except FileNotFoundError:
        raise no_such_file(path) from None
    except (OSError, ValueError, pa.ArrowException) as error:
        raise StudyError(f"cannot read {str(path)!r}: {error}", hint="it must be a Parquet file") from error
    if not table.num_rows:
        raise StudyError(f"{path.name} has 0 rows", hint="one row per run")
    rows = list(range(1, table.num_rows + 1))
    return _without_repeated_columns(tuple(table.column_names), columns, rows, ",", path, [])


def as_text(value: object) -> str:
    """A cell that was not a text; empty where there is no value."""
    if value is None or (isinstance(value, float) and value != value):
        return ""
    return repr(value) if isinstance(value, float) else str(value).strip()
