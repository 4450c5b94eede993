"""One table, written in every way that spreadsheets write it, reads back with the same values."""

import csv
import io
import tempfile
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from sparkcast.data.grid import read_grid
from sparkcast.data.options import TableOptions
from sparkcast.data.table import Table, understand
from sparkcast.errors import StudyError


@dataclass(frozen=True)
class Dialect:
    separator: str
    decimal: str
    thousands: str
    encoding: str
    newline: str
    title: str = ""

    def number(self, value: float) -> str:
        text = f"{value:,.10f}".rstrip("0").rstrip(".")
        return text.replace(",", "\0").replace(".", self.decimal).replace("\0", self.thousands)

    def write(self, header: list[str], rows: list[list[str]], path: Path) -> None:
        file = io.StringIO()
        writer = csv.writer(file, delimiter=self.separator, lineterminator=self.newline)
        writer.writerow(header)
        writer.writerows(rows)
        path.write_bytes((self.title + file.getvalue()).encode(self.encoding))


dialects = st.builds(
    Dialect,
    separator=st.sampled_from([",", ";", "\t", "|"]),
    decimal=st.sampled_from([".", ","]),
    thousands=st.sampled_from(["", " ", "\u00a0", "\u202f", "'", "’", ".", ","]),
    encoding=st.sampled_from(["utf-8", "utf-8-sig", "utf-16", "cp1252"]),
    newline=st.sampled_from(["\n", "\r\n", "\r"]),
    title=st.sampled_from(["", "Läufe im März\n", "# exported\n", "sep=;\n"]),
).filter(
    lambda d: (
        d.thousands != d.decimal
        and not (d.encoding == "cp1252" and d.thousands == "\u202f")
        and (d.title != "sep=;\n" or d.separator == ";")
        and not (d.title and d.newline == "\r")
    )
)

SECONDS: dict[str, tuple[float, Callable[[Dialect, float], str]]] = {
    "plain": (1, lambda d, v: d.number(v)),
    "min": (60, lambda d, v: f"{d.number(v)} min"),
    "h": (3600, lambda d, v: f"{d.number(v)}h"),
    "hm": (1, lambda d, v: f"{int(v) // 3600}h {int(v) % 3600 // 60}m {int(v) % 60}s"),
    "clock": (1, lambda d, v: f"{int(v) // 3600}:{int(v) % 3600 // 60:02d}:{int(v) % 60:02d}"),
}


def read(path: Path, **options: object) -> Table:
    return understand(read_grid(path), path, TableOptions(**options))  # type: ignore[arg-type]


@given(
    dialects,
    st.sampled_from(list(SECONDS)),
    st.lists(
        st.tuples(
            st.sampled_from([1, 2, 4, 8]),
            st.sampled_from([1, 2, 4, 16]),
            st.integers(1, 10**8),
            st.decimals(1, 100_000, places=2).map(float),
        ),
        min_size=2,
        max_size=12,
    ),
)
@settings(max_examples=300)
def test_any_dialect_gives_the_values_that_were_written(
    dialect: Dialect, unit: str, rows: list[tuple[int, int, int, float]]
) -> None:
    factor, write = SECONDS[unit]
    assume(len({row[0] for row in rows}) > 1)
    # Something in the file must tell its decimal mark: here a fraction that no thousands look like.
    times = [0.25 if unit in ("plain", "min", "h") else 61.0, *(row[3] for row in rows[1:])]
    times = times if unit in ("plain", "min", "h") else [float(int(time)) for time in times]
    header = ["executors", "Executor Memory", "zeilen", "time_s", "loss"]
    cells = [
        [str(e), f"{m} GB", dialect.number(z), write(dialect, time), dialect.number(0.5 + i)]
        for i, ((e, m, z, _), time) in enumerate(zip(rows, times, strict=True))
    ]
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "runs.csv"
        dialect.write(header, cells, path)
        found = read(path, factors=("executors", "Executor Memory", "zeilen")).dataset.observations
    assert [run.configuration["executors"] for run in found] == [row[0] for row in rows]
    assert [run.configuration["Executor Memory"] for run in found] == [f"{row[1]}g" for row in rows]
    assert [run.configuration["zeilen"] for run in found] == [row[2] for row in rows]
    assert [run.responses["time_s"] for run in found] == pytest.approx([t * factor for t in times], rel=1e-12)


@given(st.binary(max_size=400))
@settings(max_examples=400)
def test_no_bytes_break_the_reader(raw: bytes) -> None:
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "runs.csv"
        path.write_bytes(raw)
        with suppress(StudyError):
            read(path)


CELLS = st.sampled_from(
    [
        "",
        "1",
        "2.5",
        "1,234",
        "4 GB",
        "12 min",
        "05:30",
        "95 %",
        "$3",
        "3 €",
        "x",
        "NA",
        "inf",
        "2024-01-01",
        "1e400",
        '"',
        "ok",
    ]
)


@given(
    st.lists(
        st.sampled_from(["executors", "time_s", "a", "b", "", "memory_gb", "outcome", "sparkcast", "time"]), max_size=6
    ),
    st.lists(st.lists(CELLS, max_size=6), max_size=12),
    st.sampled_from([",", ";"]),
    st.sampled_from([{}, {"factors": ("a",)}, {"responses": ("b",)}, {"time_unit": "min"}, {"roles": {"a": "time"}}]),
)
@settings(max_examples=500)
def test_no_table_breaks_the_reader(
    header: list[str], rows: list[list[str]], separator: str, options: dict[str, object]
) -> None:
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "runs.csv"
        path.write_text("\n".join(separator.join(row) for row in [header, *rows]))
        with suppress(StudyError):
            table = read(path, **options)
            assert len(table.dataset.observations) == len(table.rows) == table.understood.runs
            assert table.understood.lines() or table.understood.is_declared
