import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sparkcast.errors import StudyError
from sparkcast.study.formula import read_formula, term_label

FACTORS = ("executors", "batch-size", "net", "C")
IS_NUMBER = {"executors": True, "batch-size": True, "net": False, "C": True}
WORDS = st.sampled_from([*FACTORS, "C(net)", "+", "-", ":", "*", "(", ")", "**2", "1", "open", "'", "[", ".", "~", " "])


@given(text=st.one_of(st.text(max_size=30), st.lists(WORDS, max_size=8).map(" ".join), st.lists(WORDS).map("".join)))
def test_whatever_is_written_only_internal_names_reach_the_formula_library(text: str) -> None:
    try:
        internal = read_formula(text, "time_s", FACTORS, IS_NUMBER).internal
    except StudyError:
        return
    assert set(re.findall(r"[^\W\d]\w*", internal)) <= {
        *(f"{kind}_{i}" for kind in ("levels", "number", "curve") for i in range(len(FACTORS))),
    }
    assert set(re.sub(r"\w", "", internal)) <= set("+-:*(), ")
    assert not re.search(r"[\w)]\s+[\w(]", internal)  # two operands in a row would run as Python


@pytest.mark.parametrize(
    ("text", "internal"),
    [
        ("executors", "number_0"),
        ("time_s ~ C( executors )", "levels_0"),
        ("executors*batch-size", "number_0 * number_1"),
        ("batch-size - net", "number_1 - levels_2"),
        ("C + C(C)", "number_3 + levels_3"),
        ("(executors + net)**2", "( number_0 + levels_2 ) **2"),
    ],
)
def test_names_become_internal_columns(text: str, internal: str) -> None:
    assert read_formula(text, "time_s", FACTORS, IS_NUMBER).internal == internal


def test_a_term_is_shown_by_the_names_of_its_factors() -> None:
    assert term_label("levels_2:number_1", FACTORS) == "net:batch-size"
