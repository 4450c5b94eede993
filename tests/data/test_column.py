"""Cells as people write them, decided for whole columns."""

import math
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from sparkcast.data.cell import is_date, number
from sparkcast.data.column import Column, ColumnHints, read_column, read_columns
from sparkcast.study import Kind, Role
from sparkcast.study.heading_words import measured_kind, role_of_words
from sparkcast.study.headings import plain_name


def column(*cells: str, **words: Any) -> Column:
    return read_column("x", cells, ColumnHints(**words))


def values(*cells: str, **words: Any) -> list[object]:
    found = column(*cells, **words)
    assert not found.problems, found.problems
    return [found.values[cell] for cell in cells]


@pytest.mark.parametrize(
    ("cells", "expected"),
    [
        (["1", "2.5", "-3e2"], [1, 2.5, -300.0]),
        (["1,234.5", "1,000"], [1234.5, 1000]),
        (["1.234,5", "1.000"], [1234.5, 1000]),
        (["0,5", "12,25"], [0.5, 12.25]),
        (["5,000,000", "500,000"], [5_000_000, 500_000]),
        (["1 234,5", "2"], [1234.5, 2]),
        (["1\u202f234,5", "1\u00a0000"], [1234.5, 1000]),
        (["1'234.5", "2’000"], [1234.5, 2000]),
        (["1_000_000", "5"], [1_000_000, 5]),
        (["\u22125,5", "1"], [-5.5, 1]),
        ([".5", "1,5e3"], None),
    ],
)
def test_the_marks_of_a_column_are_told_by_its_cells(cells: list[str], expected: list[float] | None) -> None:
    if expected is None:
        assert column(*cells).problems
    else:
        assert values(*cells) == expected


@pytest.mark.parametrize(
    ("cells", "form", "expected"),
    [
        (["4 GB", "4096 MB", "512m", "1.5 GiB"], "size", [4 * 2**30, 4 * 2**30, 2**29, 1.5 * 2**30]),
        (["12 min", "1h 5m", "90 sec", "1,5 h"], "time", [720, 3900, 90, 5400]),
        (["01:05:00", "0:00:30.5", "1 day, 00:00:01"], "time", [3900, 30.5, 86401]),
        (["1:05:30", "05:30"], "time", [3930, 330]),
        (["2 hours 3 minutes", "45 s"], "time", [7380, 45]),
        (["95 %", "7.5%"], "share", [0.95, 0.075]),
        (["$1.20", "$1,000.50"], "money", [1.2, 1000.5]),
        (["1,20 €", "3 EUR"], "money", [1.2, 3]),
        (["8 nodes", "1 node"], "node", [8, 1]),
        (["12 min", "0"], "time", [720, 0]),
    ],
)
def test_units_are_read_with_their_numbers(cells: list[str], form: str, expected: list[float]) -> None:
    assert column(*cells).form == form
    assert values(*cells) == pytest.approx(expected)


def test_what_an_m_is_depends_on_the_column() -> None:
    assert values("128m", "1g") == [128 * 2**20, 2**30]
    assert values("5m", "1h") == [300, 3600]
    assert values("64m", "128m") == [64 * 2**20, 128 * 2**20]
    assert values("5m", "10m", family="time") == [300, 600]
    assert values("5M", "500k", family="count") == [5_000_000, 500_000]


@pytest.mark.parametrize(
    ("cells", "words"),
    [
        (["1,5", "2.5", "3,5"], "'2.5' has a decimal point, and other cells of the column a decimal comma"),
        (["4 GB", "8 GB", "12 min"], "'12 min' is not a size, as other cells"),
        (["$5", "$6", "7 €"], "'7 €' is not in USD"),
        (["05:30", "06:10"], "may be hours and minutes or minutes and seconds"),
        (["1", "2", "3", "fast"], "'fast' is not a number"),
        (["1", "2", "inf"], "'inf' is not finite"),
        (["1", "2", "~3"], "'~3' is not a number"),
        (["1 Gbps", "10 Gbps", "100 Mbps"], "'100 Mbps' is not in 'gbp'"),
    ],
)
def test_what_is_not_plain_is_a_problem(cells: list[str], words: str) -> None:
    assert words in " ".join(column(*cells).problems.values())


def test_bare_numbers_among_units_are_remembered() -> None:
    assert column("12 min", "5", "0").bare == {"5"}


@pytest.mark.parametrize(
    "cells", [["lenet5", "vgg"], ["m4.large", "r5.2xlarge"], ["3.5.1", "2.4.0"], ["2xlarge", "4xlarge"]]
)
def test_words_stay_words(cells: list[str]) -> None:
    assert column(*cells).form == "text"
    assert values(*cells) == cells


def test_words_for_no_value_are_no_cells() -> None:
    found = column("1", "NA", "n/a", "", "-", "none", "?", "#N/A", "nan")
    assert (found.form, dict(found.values), dict(found.problems)) == ("number", {"1": 1}, {})
    assert column("none", "gzip", "-").values.keys() == {"none", "gzip", "-"}  # words of a column of words
    assert values("1", "2", na={"skipped"}) == [1, 2]
    assert column("1", "Skipped", na={"skipped"}).problems == {}


@pytest.mark.parametrize(
    "text",
    [
        *("2024-03-01", "2024-03-01T10:00:00Z", "2024-03-01 10:00:00.123+01:00", "01.03.2024 10:00", "3/1/2024"),
        *("3/1/24 10:15 AM", "1 Mar 2024", "March 1, 2024", "2024/03/01"),
    ],
)
def test_a_date_is_known(text: str) -> None:
    assert is_date(text)


@pytest.mark.parametrize("text", ["3.5.1", "12:30", "5", "1.5", "r5.2xlarge", "10.0.0.1"])
def test_what_is_no_date_is_not_taken_for_one(text: str) -> None:
    assert not is_date(text)


# ---------------------------------------------------------------- a file has one decimal mark


def both(separator: str = ",", decimal: str | None = None, **cells: list[str]) -> dict[str, Column]:
    return read_columns(cells, {name: ColumnHints(decimal=decimal) for name in cells}, separator)  # type: ignore[arg-type]


def test_a_comma_that_nothing_explains_is_refused() -> None:
    found = both(x=["1,234", "2,345"])["x"]
    assert "'1,234' can be 1234 or 1.234" in found.problems["1,234"]
    assert "`decimal=" in found.hints[0]


def test_another_column_of_the_file_explains_it() -> None:
    assert list(both(x=["1,234", "2,345"], y=["0,5", "1,5"])["x"].values.values()) == [1.234, 2.345]
    assert list(both(x=["1,234", "2,345"], y=["0.5", "1.5"])["x"].values.values()) == [1234, 2345]
    assert list(both(x=["1.234", "2.345"], y=["0,5", "1,5"])["x"].values.values()) == [1234, 2345]
    assert both(x=["1,234"], y=["0,5"], z=["0.5"])["x"].problems


def test_an_option_explains_it() -> None:
    assert list(both(x=["1,234"], decimal=",")["x"].values.values()) == [1.234]
    assert list(both(x=["1,234"], decimal=".")["x"].values.values()) == [1234]
    assert list(both(x=["1.234"], decimal=",")["x"].values.values()) == [1234]


def test_a_point_is_the_usual_mark_but_not_between_semicolons() -> None:
    assert list(both(x=["1.234", "2.345"])["x"].values.values()) == [1.234, 2.345]
    assert both(";", x=["1.234", "2.345"])["x"].problems
    assert not both(";", x=["1.234", "2.345"], y=["0.5", "0.7"])["x"].problems


@given(st.text(max_size=30))
@settings(max_examples=500)
def test_no_cell_breaks_the_reader(text: str) -> None:
    found = column(text.strip(), "1,5", "4 GB")
    assert all(isinstance(value, str) or math.isfinite(value) for value in found.values.values())


@given(st.from_regex(r"[-+]?[0-9.,' ]{1,12}(e[0-9]{1,3})?[a-zA-Z%$]{0,3}", fullmatch=True))
@settings(max_examples=500)
def test_no_number_breaks_the_reader(text: str) -> None:
    for mark in (".", ","):
        found = number(text, mark)
        assert found is None or math.isfinite(found)
    column(text.strip(), "1")


@pytest.mark.parametrize(
    ("heading", "role", "kind"),
    [
        ("Testfehler", None, Kind.OTHER),
        ("trainingsfout", None, Kind.OTHER),
        ("Validierungsverlust", None, Kind.OTHER),
        ("Testgenauigkeit", None, Kind.SHARE),
        ("Kosten pro Lauf", None, Kind.MONEY),
        ("Zeit pro Lauf (s)", None, Kind.TIME),
        ("vCPU je Knoten", Role.CORES, None),
        ("coeurs par noeud", Role.CORES, None),
        ("núcleos por nodo", Role.CORES, None),
        ("Speicher je Executor (GB)", Role.MEMORY, None),
        ("Speicherverbrauch (GB)", None, None),
    ],
)
def test_words_are_known_in_compounds_and_behind_each(heading: str, role: Role | None, kind: Kind | None) -> None:
    plain = plain_name(heading)
    assert (role_of_words(plain), measured_kind(plain)) == (role, kind)
