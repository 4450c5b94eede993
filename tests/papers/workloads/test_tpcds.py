"""Tables, queries and answers of the workload `tpcds`; no Spark here. It is run in test_mllib_runs.py."""

import importlib.util
import random
from datetime import date
from decimal import Decimal
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sparkcast import api
from sparkcast.errors import RunError, StudyError
from sparkcast.study import Level
from sparkcast.workloads import WORKLOADS, complete
from sparkcast_papers.workloads._tpcds import (
    Answer,
    comparable,
    find_answer,
    for_spark,
    generate_tables,
    read_answer,
    sort_columns,
)
from tests_support import Call

TPCDS = WORKLOADS.get("tpcds")()


@pytest.fixture(scope="module")
def tables(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("data") / "tpcds-0.01"
    generate_tables(folder, 0.01)
    return folder


def answer(*rows: tuple[str | float | None, ...], keys: tuple[int, ...] = (0,), limit: int | None = None) -> Answer:
    return Answer("SELECT 1", ("item",), keys, limit, rows)


def test_all_24_tables_are_there_and_nothing_else(tables: Path) -> None:
    names = {path.name for path in tables.iterdir()}
    assert {"store_sales.parquet", "date_dim.parquet", "web_site.parquet"} < names
    assert len([name for name in names if name.endswith(".parquet")]) == 24
    assert "tables.duckdb" not in names


def test_an_answer_is_found_once_and_read_again(tables: Path) -> None:
    find_answer("q26", tables)
    found = read_answer("q26", tables)
    assert found.tables == ("catalog_sales", "customer_demographics", "date_dim", "item", "promotion")
    assert (found.keys, found.limit) == ((0,), 100)
    assert 0 < len(found.rows) <= 100
    assert len(found.rows[0]) == 5
    path = tables.with_name("tpcds-0.01-q26.json")
    written = path.stat().st_mtime_ns
    find_answer("q26", tables)
    assert path.stat().st_mtime_ns == written


def test_rows_that_tie_with_the_last_one_are_part_of_the_answer(tables: Path) -> None:
    find_answer("q59", tables)
    found = read_answer("q59", tables)
    assert found.limit == 100
    assert len(found.rows) > 100
    assert {row[:3] for row in found.rows[100:]} == {found.rows[99][:3]}


def test_a_damaged_table_is_an_error_with_a_hint(tmp_path: Path) -> None:
    (tmp_path / "item.parquet").write_bytes(b"PAR1, but not really")
    with pytest.raises(RunError, match="DuckDB failed") as caught:
        find_answer("q52", tmp_path)
    assert caught.value.hint


@given(st.randoms(use_true_random=False), st.integers(1, 12))
def test_rows_that_tie_may_come_in_any_order_and_any_may_be_cut_off(chance: random.Random, limit: int) -> None:
    rows = [(float(number // 3), f"row {number}") for number in range(limit)]
    tied = [(rows[-1][0], f"other {number}") for number in range(3)]
    found = sorted(chance.sample([*rows, *tied], limit + 3), key=lambda row: row[0])[:limit]
    assert answer(*rows, *tied, limit=limit).difference(found) == ""


@pytest.mark.parametrize(
    ("found", "problem"),
    [
        ([("a", 1.0)], "1 rows instead of 2"),
        ([("a", 1.0), ("b", 2.0), ("c", 3.0)], "3 rows instead of 2"),
        ([("b", 2.0), ("a", 1.0)], "row 1 is ('b', 2.0), and should sort like ('a', 1.0)"),
        ([("a", 1.0), ("b", 2.1)], "row 2 is ('b', 2.1), which is not in the answer"),
        ([("a", 1.0), ("b", None)], "row 2 is ('b', None), which is not in the answer"),
        ([("a", 1.0), ("b", 2.0, "")], "which is not in the answer"),
    ],
)
def test_a_wrong_answer_says_what_is_wrong(found: list[tuple[object, ...]], problem: str) -> None:
    assert problem in answer(("a", 1.0), ("b", 2.0)).difference(found)


def test_a_row_counts_as_often_as_it_is_there() -> None:
    twice = answer(("a", 1.0), ("a", 1.0), ("a", 2.0))
    assert twice.difference([("a", 2.0), ("a", 1.0), ("a", 1.0)]) == ""
    assert "not in the answer" in twice.difference([("a", 2.0), ("a", 2.0), ("a", 1.0)])


def test_numbers_of_spark_and_duckdb_are_the_same_up_to_rounding() -> None:
    assert comparable((Decimal("1.50"), 3, date(2000, 3, 11), None, "x")) == (1.5, 3.0, "2000-03-11", None, "x")
    assert answer((1.23456749, "x")).difference([(Decimal("1.234567"), "x")]) == ""
    assert answer((float("nan"),)).difference([(float("nan"),)]) == ""
    assert answer((100.0, "x")).difference([(100.01, "x")]) != ""


@pytest.mark.parametrize(
    ("end", "columns"),
    [
        ("", ()),
        ("LIMIT 10", ()),
        ("ORDER BY b, a", (1, 0)),
        ("order by 2 desc, t.A NULLS FIRST limit 10", (1, 0)),
        ("ORDER BY a, sum(b), b", (0,)),
        ("ORDER BY coalesce(a, 1), b", ()),
        ('ORDER BY "b"', (1,)),
        (", (SELECT c FROM u ORDER BY a LIMIT 1)", ()),
    ],
)
def test_columns_are_found_that_a_query_sorts_by(end: str, columns: tuple[int, ...]) -> None:
    assert sort_columns(f"SELECT a, b FROM t {end}", ["a", "b"]) == columns


def test_names_get_the_quotes_of_spark() -> None:
    assert for_spark("""SELECT 'x' AS "order count" """) == "SELECT 'x' AS `order count` "


@pytest.mark.parametrize(
    ("settings", "problem"),
    [
        ({"query": "q100"}, "query = 'q100' is not a query of TPC-DS"),
        ({"query": "q0"}, "is not a query"),
        ({"query": "abc"}, "is not a query"),
        ({"query": "26"}, "is not a query"),
        ({"scale": 1e6}, "scale = 1e\\+06 is more than TPC-DS defines"),
        ({"scale": float("nan")}, "scale = nan"),
    ],
)
def test_settings_that_cannot_work_are_refused_with_a_hint(settings: dict[str, Level], problem: str) -> None:
    with pytest.raises(StudyError, match=problem) as caught:
        TPCDS.check(complete(TPCDS, settings))
    assert caught.value.hint


@pytest.mark.parametrize("line", ["query: 26", "scale: 0", "scale: -1", "scale: small", "shuffle_partitions: 0"])
def test_levels_out_of_range_are_bad_usage_that_names_the_line(call: Call, tmp_path: Path, line: str) -> None:
    (tmp_path / "s.yaml").write_text(f"study: s\nworkload: tpcds\nsettings:\n  {line}\n")
    answered = call("design", "s.yaml")
    assert answered.code == 2
    assert "s.yaml line 4: " in answered.err


def test_the_example_can_be_planned() -> None:
    assert api.plan(Path(__file__).parents[3] / "examples" / "tpcds.yaml").trials


def test_a_scale_that_does_not_fit_on_the_disk_is_told_before_anything_starts(call: Call, tmp_path: Path) -> None:
    (tmp_path / "s.yaml").write_text("study: s\nworkload: tpcds\nsettings: {scale: 100000}\n")
    answered = call("run", "s.yaml")
    assert answered.code == 2
    assert "needs about 72.8 TiB while it is generated" in answered.err


def test_without_duckdb_a_study_is_designed_but_a_run_says_what_to_install(
    call: Call, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "s.yaml").write_text("study: s\nworkload: tpcds\nsettings: {query: [q26, q52]}\n")
    found = importlib.util.find_spec
    monkeypatch.setattr("sparkcast.workloads.extras.find_spec", lambda name: None if "duckdb" in name else found(name))
    assert "tpcds" in call("list", "workloads").out
    assert call("design", "s.yaml").code == 0
    answered = call("run", "s.yaml")
    assert answered.code == 2
    assert "needs duckdb and duckdb_extension_tpcds, which are not installed" in answered.err
    assert "pip install 'sparkcast[tpcds]'" in answered.err
