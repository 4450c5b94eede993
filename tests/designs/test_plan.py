"""Center points, blocks and rules: what every plan may have."""

import itertools
from collections import Counter
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from sparkcast.designs import make_plan
from sparkcast.designs.describe import describe
from sparkcast.errors import StudyError
from sparkcast.study import DesignChoice, Expression, Factor, Plan, Study
from sparkcast.workloads import resolve


def study(k: int, **choice: object) -> Study:
    factors = tuple(Factor(name, (1, 3)) for name in "ABCDEFGH"[:k])
    return Study("s", "pi", factors, design=DesignChoice(**choice))  # type: ignore[arg-type]


def column(plan: Plan, effect: str) -> Any:
    return np.prod([[int(t.configuration[n]) - 2 for t in plan.trials] for n in effect.split(":")], axis=0)


# ---------------------------------------------------------------- center points


def test_center_points_are_the_middle_of_numbers_at_each_combination_of_categories() -> None:
    factors = (Factor("rate", (0.1, 0.5)), Factor("memory", ("1g", "4g")), Factor("n", ("x", "y")))
    plan = make_plan(Study("s", "pi", factors, design=DesignChoice(center_points=2)))
    center = [t for t in plan.trials if t.kind == "center"]
    assert Counter((t.configuration["rate"], t.configuration["memory"], t.configuration["n"]) for t in center) == {
        (0.3, "2560m", "x"): 2,
        (0.3, "2560m", "y"): 2,
    }
    assert [t.replicate for t in center if t.configuration["n"] == "x"] == [1, 2]
    assert plan.notes == ()


def test_whole_numbers_stay_whole_numbers_with_a_note() -> None:
    plan = make_plan(Study("s", "pi", (Factor("a", (1, 4)),), design=DesignChoice(center_points=1)))
    assert {t.configuration["a"] for t in plan.trials} == {1, 3, 4}
    assert plan.notes == ("the center of a is 3, the integer closest to 2.5",)


def test_whole_numbers_of_a_setting_that_takes_fractions_have_their_own_middle() -> None:
    rates = (Factor("learning_rate", (1.0, 4.0)),)
    plan = make_plan(resolve(Study("s", "mnist-training", rates, design=DesignChoice(center_points=1))))
    assert {t.configuration["learning_rate"] for t in plan.trials} == {1, 2.5, 4}
    assert plan.notes == ()


def test_a_number_without_a_middle_is_run_at_each_of_its_levels() -> None:
    factors = (Factor("a", (1, 2)), Factor("b", (1, 3)))
    plan = make_plan(Study("s", "pi", factors, design=DesignChoice(center_points=1)))
    assert {t.configuration["a"] for t in plan.trials if t.kind == "center"} == {1, 2}
    assert "a has nothing between 1 and 2" in plan.notes[0]


def test_center_points_of_categories_alone_are_refused() -> None:
    factors = (Factor("n", ("x", "y")), Factor("m", ("u", "v")))
    with pytest.raises(StudyError, match=r"n, m have none\n  hint: use replicates"):
        make_plan(Study("s", "pi", factors, design=DesignChoice(center_points=1)))


def test_a_center_point_that_a_rule_excludes_is_left_out_with_a_note() -> None:
    made = study(2, center_points=3)
    plan = make_plan(Study("s", "pi", made.factors, rules=(Expression("A != 2"),), design=made.design))
    assert all(t.kind == "factorial" for t in plan.trials)
    assert "exclude 1 of 1 center points: A=2, B=2" in plan.notes[0]


def test_a_center_that_the_design_runs_as_well_gets_its_own_trials_and_leaves_the_others_as_they_were() -> None:
    factors = (Factor("a", (1, 2, 3)), Factor("b", (1, 2, 3)))
    plain = make_plan(Study("s", "pi", factors, design=DesignChoice(replicates=2)))
    plan = make_plan(Study("s", "pi", factors, design=DesignChoice(replicates=2, center_points=2)))
    keys = {t.key for t in plan.trials}
    assert len(keys) == len(plan.trials) == 18 + 4
    assert {t.key for t in plain.trials} < keys


# ---------------------------------------------------------------- blocks


@given(st.sampled_from([(3, 2), (4, 2), (4, 4), (5, 4), (6, 8)]), st.integers(1, 2), st.integers(0, 9))
@settings(max_examples=15)
def test_blocks_of_a_two_level_design_are_told_apart_by_the_effects_that_are_named(
    size: tuple[int, int], replicates: int, seed: int
) -> None:
    k, blocks = size
    made = study(k, replicates=replicates, seed=seed, blocks=blocks)
    plan = make_plan(made)
    assert [t.block for t in plan.trials] == sorted(t.block for t in plan.trials)
    assert set(Counter(t.block for t in plan.trials).values()) == {2**k // blocks}
    block = np.array([t.block for t in plan.trials])
    effects = [":".join(n) for order in range(1, k + 1) for n in itertools.combinations("ABCDEFGH"[:k], order)]
    constant = {e for e in effects if all(len(set(column(plan, e)[block == b])) == 1 for b in set(block))}
    assert constant == set(plan.confounded)
    assert all(":" in effect for effect in constant)
    assert describe(made, plan).confounded_with_blocks == plan.confounded


def test_two_blocks_stand_for_the_highest_interaction() -> None:
    assert make_plan(study(4, blocks=2)).confounded == ("A:B:C:D",)


def test_blocks_of_other_designs_are_balanced() -> None:
    factors = (Factor("a", (1, 2, 3)), Factor("b", (1, 2, 3)), Factor("n", ("x", "y")))
    plan = make_plan(Study("s", "pi", factors, design=DesignChoice(blocks=3)))
    for name, levels in (("a", 3), ("b", 3), ("n", 2)):
        counts = Counter((t.block, t.configuration[name]) for t in plan.trials)
        assert set(counts.values()) == {6 // levels}
    assert plan.notes == ()


@pytest.mark.parametrize(
    ("choice", "words"),
    [
        ({"blocks": 3}, ["2, 4, 8, ... blocks, not 3", "blocks: 2 or blocks: 4"]),
        ({"blocks": 16}, ["cannot be divided into 16 blocks", "blocks: 4"]),
        ({"kind": "fractional", "blocks": 2}, ["confounded with the effect of a factor"]),
    ],
)
def test_blocks_that_are_not_possible_are_refused(choice: dict[str, object], words: list[str]) -> None:
    with pytest.raises(StudyError) as caught:
        make_plan(study(3, **choice))
    for word in words:
        assert word in str(caught.value)


def test_center_points_are_shared_by_blocks() -> None:
    plan = make_plan(study(3, blocks=2, center_points=4))
    assert Counter(t.block for t in plan.trials if t.kind == "center") == {1: 2, 2: 2}


# ---------------------------------------------------------------- rules


def test_rules_say_what_they_cost_in_variance() -> None:
    factors = (Factor("a", (0, 1)), Factor("b", (0, 1)))
    [note] = make_plan(Study("s", "pi", factors, rules=(Expression("a + b < 2"),))).notes
    # Three runs of a 2^2 estimate each effect with variance 1/2 instead of 1/4.
    assert "remove 1 of 4 combinations" in note
    assert "x 2.00 on average and x 2.00 at most" in note
    assert "design: {kind: optimal, runs: 3}" in note


def test_rules_that_tie_factors_together_say_so() -> None:
    factors = (Factor("a", (0, 1)), Factor("b", (0, 1)))
    [note] = make_plan(Study("s", "pi", factors, rules=(Expression("a == b"),))).notes
    assert "can no longer be separated" in note
