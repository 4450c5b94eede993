"""Expressions over columns mean what they mean row by row."""

import math
from typing import Any

import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from sparkcast.errors import StudyError
from sparkcast.study import Expression

WHOLE, REAL, TEXT, MIXED = "cores", "rate", "network", "mixed"
NUMBERS = st.one_of(st.integers(-4, 9), st.sampled_from([0.5, -1.5, 2.5, 1e300, 0.1, -0.0]))
WHOLES = st.one_of(st.integers(-3, 9), st.sampled_from([2**31, 2**53, -(2**60), 2**70]))
REALS = st.one_of(st.sampled_from([0.0, -0.0, 0.5, 2.5, -7.25, 1e200, math.inf, -math.inf, math.nan]), st.floats())
TEXTS = st.sampled_from(["lenet5", "vgg", "", "1g"])
MIXTURES = st.one_of(NUMBERS, TEXTS, st.just(math.nan))
LEAVES = st.one_of(
    st.sampled_from([WHOLE, WHOLE, REAL, TEXT, MIXED, "fixed", "2**53", "'vgg'", "True"]),
    NUMBERS.map(lambda number: f"({number!r})"),
)


def larger(parts: st.SearchStrategy[str]) -> st.SearchStrategy[str]:
    def written(form: str, *operands: st.SearchStrategy[str]) -> st.SearchStrategy[str]:
        return st.tuples(*operands).map(lambda values: form.format(*values))

    signs = st.sampled_from("+ - * / % // < <= == != > >= and or in".split())
    powers = st.sampled_from(["(-2)", "(-1)", "0", "0.5", "2", "3", "4000001"])
    return st.one_of(
        written("({} {} {})", parts, signs, parts),
        written("({} {} {})", parts, signs, parts),
        written("({} < {} <= {})", parts, parts, parts),
        written("({} and {} or not {})", parts, parts, parts),
        written("({} if {} else {})", parts, parts, parts),
        written("({} ** {})", parts, powers),
        written("(-{})", parts),
        written("(not {})", parts),
        written("{}({}, {})", st.sampled_from("min max round".split()), parts, parts),
        written("{}({}, {}, {})", st.sampled_from("min max".split()), parts, parts, parts),
        written("{}({})", st.sampled_from("abs ceil floor round sqrt exp log log2".split()), parts),
    )


EXPRESSIONS = st.recursive(LEAVES, larger, max_leaves=7)
ROWS = st.lists(
    st.fixed_dictionaries({WHOLE: WHOLES, REAL: REALS, TEXT: TEXTS, MIXED: MIXTURES}),
    min_size=1,
    max_size=7,
)


def columns_of(rows: list[dict[str, Any]]) -> dict[str, Any]:
    made: dict[str, Any] = {name: np.empty(len(rows), dtype=object) for name in rows[0]}
    for name, column in made.items():
        column[:] = [row[name] for row in rows]
    return made


def same(left: Any, right: Any) -> bool:
    return type(left) is type(right) and repr(left) == repr(right)  # nan is nan, and -0.0 is not 0.0


def outcome(rule: Expression, row: dict[str, Any]) -> tuple[Any, str]:
    try:
        return rule.evaluate(row), ""
    except StudyError as error:
        return None, str(error)


@settings(max_examples=300)
@given(EXPRESSIONS, ROWS, st.sampled_from([3, 0, 0.25, "vgg"]))
@example("cores * cores * cores", [{WHOLE: 2**31, REAL: 0.0, TEXT: "", MIXED: 1}], 3)
@example("mixed == mixed", [{WHOLE: 1, REAL: 0.0, TEXT: "", MIXED: value} for value in (math.nan, "vgg")], 3)
@example("(cores and rate) + 1", [{WHOLE: w, REAL: 2.5, TEXT: "", MIXED: 1} for w in (0, 7)], 3)
def test_columns_give_exactly_what_rows_give(text: str, rows: list[dict[str, Any]], fixed: Any) -> None:
    rule = Expression(text)
    expected = [outcome(rule, {**row, "fixed": fixed}) for row in rows]
    columns = {**columns_of(rows), "fixed": fixed}
    holds, fails = rule.verdicts(columns, len(rows))
    assert fails.tolist() == [bool(problem) for _, problem in expected]
    assert holds.tolist() == [not problem and bool(value) for value, problem in expected]
    if problems := {problem for _, problem in expected if problem}:
        with pytest.raises(StudyError) as caught:
            rule.evaluate_columns(columns)
        assert str(caught.value) in problems
        return
    values = rule.evaluate_columns(columns).tolist()
    assert all(same(got, value) for got, (value, _) in zip(values, expected, strict=True)), (values, expected)


@given(st.lists(st.tuples(st.integers(-50, 50), st.integers(-9, 9)), min_size=1))
def test_a_remainder_of_negative_numbers_is_pythons(pairs: list[tuple[int, int]]) -> None:
    left, right = (np.array(column) for column in zip(*pairs, strict=True))
    found = Expression("0 if b == 0 else a % b").evaluate_columns({"a": left, "b": right})
    assert found.tolist() == [0 if b == 0 else a % b for a, b in pairs]


def test_the_right_side_is_computed_only_in_the_rows_that_need_it() -> None:
    cores = np.array([0, 4, 16])
    assert Expression("cores > 0 and 8 / cores > 1").evaluate_columns({"cores": cores}).tolist() == [False, True, False]
    assert Expression("cores == 0 or 8 / cores > 1").evaluate_columns({"cores": cores}).tolist() == [True, True, False]
    assert Expression("0 < cores < 64 / cores").evaluate_columns({"cores": cores}).tolist() == [False, True, False]
    assert Expression("8 / cores if cores else 0").evaluate_columns({"cores": cores}).tolist() == [0, 2.0, 0.5]


def test_a_division_by_zero_is_the_error_of_the_first_row_that_has_one() -> None:
    with pytest.raises(StudyError, match="failed at cores=0, executors=3: division by zero"):
        Expression("executors / cores > 1").evaluate_columns(
            {"executors": np.arange(5), "cores": np.array([9, 1, 2, 0, 0])}
        )


def test_texts_are_compared_in_columns() -> None:
    networks = np.array(["lenet5", "vgg", "lenet5"])
    assert Expression("network == 'lenet5'").evaluate_columns({"network": networks}).tolist() == [True, False, True]
    assert Expression("'net' in network").evaluate_columns({"network": networks}).tolist() == [True, False, True]


def test_scalars_alone_give_a_scalar_and_a_constant_fills_a_column() -> None:
    assert Expression("cores * 2").evaluate_columns({"cores": 4}) == 8
    assert Expression("1 < 2").evaluate_columns({"cores": np.arange(3)}).tolist() == [True] * 3
    assert Expression("cores > 1").evaluate_columns({"cores": np.arange(0)}).tolist() == []


def test_an_unknown_name_in_columns_gets_the_nearest_one() -> None:
    with pytest.raises(StudyError, match="did you mean 'batch_size'"):
        Expression("batchsize > 1").evaluate_columns({"batch_size": np.array([64])})


def test_columns_of_different_lengths_are_refused() -> None:
    with pytest.raises(ValueError, match="different lengths"):
        Expression("a + b").evaluate_columns({"a": np.arange(3), "b": np.arange(4)})


@pytest.mark.parametrize("kind", ["int8", "uint16", "float32", "bool", "uint64"])
def test_narrow_numbers_do_not_overflow(kind: str) -> None:
    column = np.array([0, 1, 100], dtype=kind)
    found = Expression("a * 1000 + a").evaluate_columns({"a": column}).tolist()
    assert found == [a * 1000 + a for a in column.tolist()]
