"""How many executors: as people write it."""

import pytest

from tests_support import Call


@pytest.mark.parametrize(
    ("executors", "problem", "hint"),
    [
        ("8..1", "counts down", "write it as 1..8"),
        ("1..99999999999", "more than 1000 numbers", "give fewer"),
        ("1,two", "not a list of numbers", "write it as 1,2,4 or 1..8"),
    ],
)
def test_numbers_of_executors_that_make_no_list_are_refused(
    call: Call, executors: str, problem: str, hint: str
) -> None:
    answer = call("whatif", "a.log", "--executors", executors)
    assert answer.code == 2
    assert problem in answer.err
    assert hint in answer.err
