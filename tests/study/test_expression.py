import math
from typing import Any

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from sparkcast.errors import StudyError
from sparkcast.study import Expression

ATTACKS = [
    "__import__('os').system('true')",
    "().__class__.__bases__",
    "executors.__class__",
    "[x for x in (1, 2)]",
    "lambda: 1",
    "open('/etc/passwd')",
    "eval('1')",
    "exec('1')",
    "f'{executors}'",
    "executors[0]",
    "(y := 3)",
    "max(*[1, 2])",
    "round(executors, ndigits=1)",
    "print",
    "b'x'",
    "executors << 9999999999",
    "executors is 2",
    "executors @ executors",
    "~executors",
    "None == executors",
    "2j == executors",
]


@pytest.mark.parametrize("text", ATTACKS)
def test_an_attempt_to_run_code_is_refused(text: str) -> None:
    with pytest.raises(StudyError):
        Expression(text).evaluate({"executors": 2})


ENDLESS = [
    "9**9**9**9 > executors",
    "4000000**4000000 > executors",
    "round(executors, -9**9)",
    "'%999999999d' % executors",
]


@pytest.mark.parametrize("text", ENDLESS)
def test_what_would_compute_for_hours_or_fill_the_memory_is_refused(text: str) -> None:
    with pytest.raises(StudyError, match="failed at"):
        Expression(text).evaluate({"executors": 2})


@pytest.mark.parametrize("text", ["", "batch_size %", "a b", "x ==", "\x00"])
def test_what_is_no_expression_is_refused_with_an_example(text: str) -> None:
    with pytest.raises(StudyError) as caught:
        Expression(text)
    assert "batch_size % executors" in caught.value.hint


def test_an_unknown_name_gets_the_nearest_one() -> None:
    with pytest.raises(StudyError, match="did you mean 'batch_size'"):
        Expression("batchsize > 1").evaluate({"batch_size": 64})


def test_division_by_zero_names_the_values() -> None:
    with pytest.raises(StudyError, match="cores=0"):
        Expression("executors / cores > 1").evaluate({"executors": 1, "cores": 0})


@given(st.integers(1, 512), st.integers(1, 16), st.integers(1, 8))
def test_a_rule_means_what_python_means(batch: int, executors: int, cores: int) -> None:
    values = {"batch": batch, "executors": executors, "cores": cores}
    assert Expression("batch % (executors * cores) == 0").evaluate(values) == (batch % (executors * cores) == 0)


def test_texts_can_be_compared() -> None:
    assert Expression("network == 'lenet5' or epochs > 1").evaluate({"network": "lenet5", "epochs": 1})


DEEP = {
    "brackets": "(" * 3000 + "executors" + ")" * 3000,
    "signs": "-" * 5000 + "executors",
    "a chain": "+".join(["executors"] * 5000),
    "a short chain": "+".join(["a"] * 900),
    "short signs": "-" * 1900 + "a",
    "powers": "a**" * 600 + "a",
    "comparisons": "a<(" * 150 + "a" + ")" * 150,
    "calls": "abs(" * 150 + "a" + ")" * 150,
    "one number": "9" * 5000,
}


@pytest.mark.parametrize("text", DEEP.values(), ids=DEEP)
def test_what_is_too_long_or_too_deep_is_refused_with_the_limit_in_numbers(text: str) -> None:
    with pytest.raises(StudyError, match=r"more than 2,000|more than 100 levels|too many nested") as caught:
        Expression(text)
    assert caught.value.hint


def test_a_sum_of_a_hundred_settings_is_not_too_deep() -> None:
    names = [f"x{i}" for i in range(100)]
    assert Expression(" + ".join(names)).evaluate(dict.fromkeys(names, 1)) == 100


HUGE = 10**5000
WITHOUT_VALUE: list[tuple[str, dict[str, Any], str]] = [
    ("a < 1", {"a": "vgg"}, "invalid use of a string in a < 1"),
    ("0 < a < 'x'", {"a": 1}, "invalid use of a string"),
    ("a * 3", {"a": "vgg"}, r"a='vgg': invalid use of a string in a \* 3"),
    ("-a", {"a": "vgg"}, "invalid use of a string in -a"),
    ("a in 3", {"a": 1}, "invalid use of a string"),
    ("sqrt(a)", {"a": "vgg"}, "invalid use of a string"),
    ("max(a, 'x')", {"a": 1}, "invalid use of a string"),
    ("round(1, 'x')", {}, "any settings: invalid use of a string"),
    ("round(a, 0.5)", {"a": 1}, "not a finite number"),
    ("round(a, 1e300)", {"a": 1}, "not a finite number"),
    ("a / 0", {"a": 1}, "division by zero in a / 0"),
    ("a // 0", {"a": 1}, "division by zero"),
    ("a % 0", {"a": 1}, "division by zero"),
    ("0 ** -a", {"a": 1}, "not a finite number"),
    ("(-8) ** (a / 3)", {"a": 1}, "not a finite number"),
    ("log(a)", {"a": 0}, r"not a finite number in log\(a\)"),
    ("log(8, a)", {"a": 1}, "not a finite number"),
    ("sqrt(a)", {"a": -1}, "not a finite number"),
    ("exp(a)", {"a": 1000}, "not a finite number"),
    ("a * a * a", {"a": 1e200}, "not a finite number in a"),
    ("a > 1", {"a": math.nan}, "a=nan: not a finite number in a"),
    ("a > 1", {"a": math.inf}, "not a finite number"),
    ("a > 1", {"a": HUGE}, "a huge number.*not a finite number"),
    ("a > 1", {"a": None}, "a=None: not a finite number"),
    ("a > 1", {"a": [1]}, "not a finite number"),
    ("a * 2", {"a": "x" * 500}, "invalid use of a string"),
]


@pytest.mark.parametrize(("text", "values", "words"), WITHOUT_VALUE)
def test_what_has_no_value_is_an_error_that_names_the_expression_and_the_part(
    text: str, values: dict[str, Any], words: str
) -> None:
    with pytest.raises(StudyError, match=f"(?s)failed at.*{words}") as caught:
        Expression(text).evaluate(values)
    assert repr(text) in caught.value.problem
    assert "guard" in caught.value.hint
    assert len(caught.value.problem) < 400


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("max()", "max takes 2 or more"),
        ("max(a)", "max takes 2 or more"),
        ("sqrt()", "sqrt takes 1 argument"),
        ("sqrt(a, a, a)", "sqrt takes 1 argument.*not 3"),
        ("round(a, 1, 2)", "round takes 1 to 2"),
        ("1e999 > a", "too large"),
        (f"{'9' * 400} > a", "too large"),
        ("0x" + "f" * 1000, "too large"),
    ],
)
def test_wrong_calls_and_numbers_are_refused_before_anything_is_evaluated(text: str, words: str) -> None:
    with pytest.raises(StudyError, match=words) as caught:
        Expression(text)
    assert "allowed:" in caught.value.hint


def test_a_setting_may_be_called_like_a_function() -> None:
    assert Expression("log > 1 and log(log) > 0").evaluate({"log": 3})
    with pytest.raises(StudyError, match="unknown name 'max'"):
        Expression("max > 1").evaluate({"cores": 1})


WORDS = st.sampled_from(
    "a b c 'x' 1 0 -1 2.5 1e308 True + - * / // % ** < == in and or not if else ( ) , "
    "max( min( round( log( sqrt( exp( abs( a. [ ] lambda : = := ~ & << is None".split()
)
VALUES = st.one_of(
    st.integers(), st.floats(), st.text(max_size=4), st.booleans(), st.sampled_from([HUGE, -HUGE, 2**63])
)


@settings(max_examples=500)
@given(
    st.one_of(st.text(max_size=40), st.lists(WORDS, max_size=12).map(" ".join), st.lists(WORDS).map("".join)),
    st.fixed_dictionaries({"a": VALUES, "b": VALUES, "c": VALUES}),
)
@example("a if b else", {"a": 1, "b": 1, "c": 1})
def test_whatever_is_written_gives_a_finite_value_or_a_study_error(text: str, values: dict[str, Any]) -> None:
    try:
        value = Expression(text).evaluate(values)
    except StudyError:
        return
    assert isinstance(value, str) or math.isfinite(value)


def parts(smaller: st.SearchStrategy[str]) -> st.SearchStrategy[str]:
    signs = st.sampled_from("+ - * / % // < <= == != > >= and or".split())
    return st.one_of(
        st.tuples(smaller, signs, smaller).map(lambda p: f"({p[0]} {p[1]} {p[2]})"),
        st.tuples(smaller, smaller, smaller).map(lambda p: f"({p[0]} if {p[1]} else {p[2]})"),
        st.tuples(smaller, smaller, smaller).map(lambda p: f"({p[0]} < {p[1]} <= {p[2]})"),
        st.tuples(st.sampled_from(["abs", "floor", "ceil", "round", "-", "not "]), smaller).map(
            lambda p: f"({p[0]}({p[1]}))"
        ),
        st.tuples(smaller, st.sampled_from(["0", "1", "2", "3", "0.5"])).map(lambda p: f"({p[0]} ** {p[1]})"),
        st.tuples(st.sampled_from(["min", "max"]), smaller, smaller).map(lambda p: f"{p[0]}({p[1]}, {p[2]})"),
    )


NUMBERS = st.recursive(st.sampled_from(["a", "b", "0", "1", "2", "7", "0.5", "64"]), parts, max_leaves=8)


@settings(max_examples=300)
@given(NUMBERS, st.integers(-100, 100), st.sampled_from([0, 1, 3, 0.5, -2.25, 128]))
def test_numbers_mean_what_they_mean_in_python(text: str, a: int, b: float) -> None:
    python = {"__builtins__": {"abs": abs, "round": round, "min": min, "max": max}}
    try:
        expected = eval(text, python | {"floor": math.floor, "ceil": math.ceil, "a": float(a), "b": float(b)})
    except (ArithmeticError, ValueError, TypeError):
        expected = math.nan
    if isinstance(expected, complex) or not math.isfinite(expected):
        with pytest.raises(StudyError, match="failed at"):
            Expression(text).evaluate({"a": a, "b": b})
        return
    assert Expression(text).evaluate({"a": a, "b": b}) == expected


def test_a_spark_property_is_a_name_like_any_other() -> None:
    rule = Expression("spark.sql.shuffle.partitions >= 2 * cores")
    assert rule.names == {"spark.sql.shuffle.partitions", "cores"}
    assert rule.evaluate({"spark.sql.shuffle.partitions": 8, "cores": 4})
    with pytest.raises(StudyError, match=r"unknown name 'spark\.sql'"):
        Expression("spark.sql > 1").evaluate({"spark": 1})


@pytest.mark.parametrize("text", ["(1).real", "'a'.upper", "min(1, 2).real", "a.b()", "a.b.c(1)", "a[0].b"])
def test_nothing_is_looked_up_in_anything(text: str) -> None:
    with pytest.raises(StudyError, match="rejected"):
        Expression(text)
