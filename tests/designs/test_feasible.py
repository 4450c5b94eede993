"""What designs and searches choose from, where there is too much to list."""

from typing import Any

import pytest

from sparkcast.designs import make_plan
from sparkcast.designs.feasible import feasible
from sparkcast.errors import StudyError
from sparkcast.study import Configuration, DesignChoice, Expression, Factor, Study

LEVELS = tuple(range(10))


def study(*rules: str, kind: str = "full", factors: int = 8, **options: Any) -> Study:
    made = tuple(Factor(f"x{i}", LEVELS) for i in range(factors))
    texts = tuple(Expression(rule) for rule in rules)
    return Study("s", "pi", made, Configuration({"epochs": 3}), texts, DesignChoice(kind, options=options))


SAME = [f"x{i} == x{i + 1}" for i in range(7)]  # of 10**8 combinations ten


def test_a_full_design_of_many_combinations_names_how_many_the_rules_exclude() -> None:
    plan = make_plan(study(*SAME))
    assert sorted(int(t.configuration["x3"]) for t in plan.trials) == list(LEVELS)
    assert all(t.configuration["epochs"] == 3 for t in plan.trials)
    assert (plan.excluded, plan.n_excluded) == ((), 10**8 - 10)
    assert any("the rules remove 99999990 of 100000000 combinations from the design" in note for note in plan.notes)


def test_a_small_full_design_lists_what_the_rules_exclude() -> None:
    plan = make_plan(study("x0 < x1", "x1 > 0 and 9 / x1 < 5", factors=2))
    assert len(plan.trials) + len(plan.excluded) == 100
    assert plan.n_excluded == len(plan.excluded) == 100 - sum(min(x, 10) for x in LEVELS if x > 1)


@pytest.mark.parametrize("kind", ["full", "optimal", "random"])
def test_rules_that_exclude_all_of_many_combinations_are_named(kind: str) -> None:
    with pytest.raises(StudyError, match=r"the rules exclude all 100000000 combinations: x0 == x1;.*x0 != x7"):
        make_plan(study(*SAME, "x0 != x7", kind=kind))


def test_few_allowed_of_very_many_are_all_found() -> None:
    found = feasible(study(*SAME))
    assert [c["x7"] for c in found.configurations] == list(LEVELS)
    assert found.is_complete
    assert found.notes == ("the rules exclude 99,999,990 of 100,000,000 combinations",)


def test_too_many_to_list_are_sampled_and_all_allowed() -> None:
    asked = study("x0 < x1", "x2 + x3 != 5", kind="random", runs=12, method="uniform")
    found = feasible(asked, most=300)
    assert (len(found.configurations), found.is_complete) == (300, False)
    assert found.notes == ("searched a random sample of 300 of 100,000,000 combinations",)
    assert all(asked.allows(configuration) for configuration in found.configurations)
    assert found == feasible(asked, most=300)
    assert len(make_plan(asked).trials) == 12
