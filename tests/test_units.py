import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sparkcast.errors import StudyError
from sparkcast.units import as_number, parse_bytes, parse_seconds, show_money, show_seconds


@pytest.mark.parametrize(
    ("text", "size"), [("512m", 512 * 2**20), ("4g", 4 * 2**30), ("1.5k", 1536), (7, 7), ("2GB", 2**31)]
)
def test_sizes_are_read_as_spark_reads_them(text: str | int, size: int) -> None:
    assert parse_bytes(text) == size


@pytest.mark.parametrize(
    ("text", "seconds"), [("30s", 30), ("5m", 300), ("2h", 7200), ("500ms", 0.5), (12, 12), ("1d", 86400)]
)
def test_durations_are_read_as_people_write_them(text: str | int, seconds: float) -> None:
    assert parse_seconds(text) == seconds


@pytest.mark.parametrize("text", ["", "fast", "-3s", "3 parsecs", "nan", "inf", "1:30", True])
def test_what_is_no_duration_is_refused_with_an_example(text: str) -> None:
    with pytest.raises(StudyError) as caught:
        parse_seconds(text)
    assert repr(text) in caught.value.problem
    assert "30s" in caught.value.hint


@given(st.floats(min_value=0, max_value=1e9))
def test_a_bare_number_of_seconds_is_itself(seconds: float) -> None:
    assert parse_seconds(seconds) == pytest.approx(seconds)


def test_the_number_behind_a_level_is_found_and_categories_have_none() -> None:
    assert [as_number(v) for v in (4, "4", "1g", "lenet5", 0.5)] == [4.0, 4.0, 2.0**30, None, 0.5]


def test_numbers_beyond_all_floats_are_infinite_or_refused() -> None:
    assert (as_number(10**400), as_number(-(10**400))) == (math.inf, -math.inf)
    for read in (parse_bytes, as_number):
        with pytest.raises(StudyError, match="too large"):
            read("1e400g")


@given(st.floats(min_value=0, max_value=1e7))
def test_shown_durations_name_a_unit(seconds: float) -> None:
    assert show_seconds(seconds).endswith(("s", "min"))


@pytest.mark.parametrize(
    ("amount", "currency", "shown"),
    [
        (8.606e-05, "USD", "0.00861¢"),
        (0.0009, "EUR", "0.09 ct EUR"),
        (0.05, "EUR", "5 ct EUR"),
        (0.25, "EUR", "0.25 EUR"),
        (12.5, "EUR", "12.50 EUR"),
        (1234567.8, "USD", "1,234,568 USD"),
        (0.00012, "JPY", "0.00012 JPY"),
        (0.00008606, "", "0.00008606"),
        (0.0, "EUR", "0 EUR"),
        (-0.0009, "EUR", "-0.09 ct EUR"),
    ],
)
def test_money_is_shown_with_its_currency_and_never_with_an_exponent(amount: float, currency: str, shown: str) -> None:
    assert show_money(amount, currency) == shown


@given(st.floats(1e-6, 1e9))
def test_a_budget_that_is_written_down_is_never_below_the_one_that_is_needed(amount: float) -> None:
    written = float(show_money(amount, up=True).replace(",", ""))
    assert amount * (1 - 1e-6) <= written <= amount * 1.02
