"""TPC-DS for the workload `tpcds`: tables and queries of DuckDB's extension, its answers, and how Spark's compare.

DuckDB is needed to prepare, not to run: what a run needs of a query is in one file, its `Answer`.
"""

import json
import math
import re
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from datetime import date
from decimal import Decimal
from functools import partial
from importlib.resources import files
from itertools import islice
from pathlib import Path
from typing import Any

from sparkcast.errors import RunError, StudyError
from sparkcast.workloads.base import generate_once

Cell = str | float | None
Row = tuple[Cell, ...]

# Measured at scale 1: 390 MB of Parquet files, made from a database of 330 MB.
_BYTES_PER_SCALE = 800_000_000
_LEAST_BYTES = 20_000_000
# Spark's averages of decimals have six digits, DuckDB's all those of a double.
_RELATIVE, _ABSOLUTE = 1e-6, 1e-5
_LIMIT = re.compile(r"\bLIMIT\s+(\d+)\s*$", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class Answer:
    """A query, and what DuckDB makes of it.

    `rows` has every row that may be among the first `limit`: with ties, these are more. `keys` are the columns that the
    rows are sorted by, as far as the query names columns.
    """

    query: str  # as Spark takes it
    tables: tuple[str, ...]
    keys: tuple[int, ...]
    limit: int | None
    rows: tuple[Row, ...]

    def write(self, path: Path) -> None:
        draft = path.with_suffix(".partial")
        draft.write_text(json.dumps(asdict(self)), encoding="utf-8")
        draft.replace(path)

    @classmethod
    def read(cls, path: Path) -> "Answer":
        plain = json.loads(path.read_text(encoding="utf-8"))
        rows = tuple(map(tuple, plain.pop("rows")))
        return cls(**{**plain, "tables": tuple(plain["tables"]), "keys": tuple(plain["keys"])}, rows=rows)

    def difference(self, found: Sequence[Sequence[object]]) -> str:
        """How rows of Spark differ from these, or "" when they do not.

        Rows that tie may come in any order, and any of them may be cut off by the limit.
        """
        rows = [comparable(row) for row in found]
        expected = len(self.rows) if self.limit is None else min(self.limit, len(self.rows))
        if len(rows) != expected:
            return f"{len(rows)} rows instead of {expected}"
        for number, (row, other) in enumerate(zip(rows, self.rows, strict=False), start=1):
            if not all(_is_same(row[key], other[key]) for key in self.keys):
                return f"row {number} is {row}, and should sort like {other}"
        left = list(self.rows)
        for number, row in enumerate(rows, start=1):
            match = next((i for i, other in enumerate(left) if _are_same(row, other)), None)
            if match is None:
                return f"row {number} is {row}, which is not in the answer"
            del left[match]
        return ""


def comparable(row: Sequence[object]) -> Row:
    """A row with numbers as floats and dates as texts, whichever engine it comes from."""
    return tuple(_comparable(cell) for cell in row)


def generate_tables(folder: Path, scale: float) -> None:
    """Write the 24 tables as Parquet files, unless they are there."""
    needs_bytes = max(_LEAST_BYTES, round(_BYTES_PER_SCALE * scale))
    generate_once(folder, partial(_fill, scale=scale), needs_bytes=needs_bytes)


def find_answer(query: str, tables: Path) -> None:
    """Have DuckDB answer a query, q1 to q99, about the tables of a folder, unless it did before."""
    path = _answer_path(query, tables)
    if not path.is_file():
        _ask_duckdb(int(query.removeprefix("q")), tables).write(path)


def read_answer(query: str, tables: Path) -> Answer:
    return Answer.read(_answer_path(query, tables))


def _answer_path(query: str, tables: Path) -> Path:
    return tables.with_name(f"{tables.name}-{query}.json")


def _ask_duckdb(number: int, tables: Path) -> Answer:
    with _duckdb(":memory:") as connection:
        names = [path.stem for path in sorted(tables.glob("*.parquet"))]
        for name in names:
            connection.execute(f"CREATE VIEW {name} AS FROM read_parquet('{_quoted(tables / name)}.parquet')")
        # As Spark sorts them: first where the order is ascending, last where it is descending.
        connection.execute("SET default_null_order = 'nulls_first_on_asc_last_on_desc'")
        [text] = connection.execute("SELECT query FROM tpcds_queries() WHERE query_nr = ?", [number]).fetchone()
        query = text.strip().removesuffix(";").strip()
        limited = _LIMIT.search(query)
        limit = int(limited[1]) if limited else None
        result = connection.execute(_LIMIT.sub("", query))
        keys = sort_columns(query, [column[0] for column in result.description])
        rows = _first(map(comparable, iter(result.fetchone, None)), limit, keys)
    used = tuple(name for name in names if re.search(rf"\b{name}\b", query))
    return Answer(for_spark(query), used, keys, limit, rows)


def for_spark(query: str) -> str:
    """The query with names in Spark's quotes: that is the only difference of the dialects that any of the 99 meets."""
    return query.replace('"', "`")


def sort_columns(query: str, columns: Sequence[str]) -> tuple[int, ...]:
    """The places of the columns that the query sorts its rows by, up to the first that is not among `columns`.

    >>> sort_columns("SELECT a, b FROM t ORDER BY b DESC NULLS LAST, t.a, a + b, 1 LIMIT 5", ["a", "b"])
    (1, 0)
    """
    places = {name.lower(): place for place, name in reversed(list(enumerate(columns)))}
    found: list[int] = []
    for item in _sort_items(query):
        name = re.sub(r"\s+(ASC|DESC)\b|\s+NULLS\s+(FIRST|LAST)\b", "", item, flags=re.IGNORECASE).strip()
        if name.isdecimal():
            found.append(int(name) - 1)
        elif (place := places.get(name.rpartition(".")[2].strip('"').lower())) is not None:
            found.append(place)
        else:
            break
    return tuple(found)


def _sort_items(query: str) -> list[str]:
    """What stands after the last ORDER BY, unless that is inside of parentheses."""
    _, *others = re.split(r"\bORDER\s+BY\b", _LIMIT.sub("", query), flags=re.IGNORECASE)
    if not others or _depth(others[-1]) != 0:
        return []
    end = others[-1]
    items, start = [], 0
    for place, character in enumerate(end):
        if character == "," and _depth(end[:place]) == 0:
            items.append(end[start:place])
            start = place + 1
    return [*items, end[start:]]


def _depth(text: str) -> int:
    return text.count("(") - text.count(")")


def _first(rows: Iterator[Row], limit: int | None, keys: tuple[int, ...]) -> tuple[Row, ...]:
    """The first `limit` rows, and those after them that sort like the last of them."""
    if limit is None:
        return tuple(rows)
    kept = list(islice(rows, limit))
    for row in rows:
        if not all(_is_same(row[key], kept[-1][key]) for key in keys):
            break
        kept.append(row)
    return tuple(kept)


def _fill(folder: Path, scale: float) -> None:
    database = folder / "tables.duckdb"  # on the disk: it may be larger than the memory
    with _duckdb(str(database)) as connection:
        connection.execute(f"CALL dsdgen(sf = {scale})")
        for [table] in connection.execute("SELECT table_name FROM duckdb_tables()").fetchall():
            connection.execute(f"COPY {table} TO '{_quoted(folder / table)}.parquet' (FORMAT parquet)")
    database.unlink()


@contextmanager
def _duckdb(database: str) -> Iterator[Any]:
    """A connection to DuckDB with its TPC-DS; what goes wrong there becomes an error of ours."""
    import duckdb

    # Loaded by its path: DuckDB would look for it on the network.
    place = f"extensions/v{duckdb.__version__}/tpcds.duckdb_extension"
    extension = files("duckdb_extension_tpcds") / place
    if not extension.is_file():
        raise StudyError(
            f"duckdb-extension-tpcds is not made for DuckDB {duckdb.__version__}",
            hint=f"pip install 'duckdb-extension-tpcds=={duckdb.__version__}'",
        )
    try:
        with duckdb.connect(database) as connection:
            connection.execute(f"LOAD '{_quoted(Path(str(extension)))}'")
            yield connection
    except duckdb.Error as error:
        raise RunError(f"DuckDB failed: {error}", hint="is there room on the disk, and are the data whole?") from error


def _quoted(path: Path) -> str:
    return str(path).replace("'", "''")


def _comparable(cell: object) -> Cell:
    if cell is None or isinstance(cell, str):
        return cell
    if isinstance(cell, date):
        return cell.isoformat()
    if isinstance(cell, (int, float, Decimal)):
        return float(cell)
    return str(cell)


def _is_same(cell: Cell, other: Cell) -> bool:
    if isinstance(cell, float) and isinstance(other, float):
        both_nan = math.isnan(cell) and math.isnan(other)
        return both_nan or math.isclose(cell, other, rel_tol=_RELATIVE, abs_tol=_ABSOLUTE)
    return cell == other


def _are_same(row: Row, other: Row) -> bool:
    return len(row) == len(other) and all(map(_is_same, row, other))
