import pytest
from hypothesis import given
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
