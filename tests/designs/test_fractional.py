import itertools
from math import prod
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from sparkcast.designs import make_plan
from sparkcast.designs._generators import _search, generators_for, runs_of
from sparkcast.designs._regular import find_fraction
from sparkcast.designs.describe import describe
from sparkcast.designs.fractional import require_fraction
from sparkcast.errors import SparkcastError, StudyError
from sparkcast.study import DesignChoice, Expression, Factor, Plan, Study

NAMES = "ABCDEFGHJKLMNOPQRSTU"


def study(k: int, **options: object) -> Study:
    factors = tuple(Factor(name, (1, 3)) for name in NAMES[:k])
    return Study("s", "pi", factors, design=DesignChoice("fractional", options=options))


def columns(plan: Plan, k: int) -> dict[str, Any]:
    return {n: np.array([int(t.configuration[n]) - 2 for t in plan.trials]) for n in NAMES[:k]}


def brute_force_resolution(signs: dict[str, Any]) -> int | None:
    """The smallest number of columns whose product is constant, by trying all."""
    for order in range(1, len(signs) + 1):
        for names in itertools.combinations(signs, order):
            if abs(int(np.prod([signs[n] for n in names], axis=0).sum())) == len(signs[names[0]]):
                return order
    return None


# Box, Hunter & Hunter, Statistics for Experimenters, table 12.15; Montgomery, Design and Analysis of Experiments,
# table 8.14; NIST/SEMATECH e-Handbook, table 3.17: factors, runs, resolution.
TABLE = [
    *((3, 4, 3), (4, 8, 4), (5, 8, 3), (5, 16, 5), (6, 8, 3), (6, 16, 4), (6, 32, 6), (7, 8, 3), (7, 16, 4)),
    *((7, 32, 4), (7, 64, 7), (8, 16, 4), (8, 32, 4), (8, 64, 5), (8, 128, 8), (9, 16, 3), (9, 32, 4), (9, 64, 4)),
    *((9, 128, 6), (10, 16, 3), (10, 32, 4), (10, 64, 4), (10, 128, 5), (11, 16, 3), (11, 32, 4), (11, 64, 4)),
    (11, 128, 5),
]


@pytest.mark.parametrize(("k", "runs", "resolution"), TABLE)
def test_the_published_table_is_met(k: int, runs: int, resolution: int) -> None:
    made = study(k, runs=runs)
    plan = make_plan(made)
    assert len(plan.trials) == runs
    assert describe(made, plan).resolution == resolution
    if runs <= 64:
        assert brute_force_resolution(columns(plan, k)) == resolution


@pytest.mark.parametrize(("k", "runs", "resolution"), [row for row in TABLE if 2 * row[1] < 2 ** row[0]])
def test_the_search_finds_fractions_as_good_as_those_of_the_table(k: int, runs: int, resolution: int) -> None:
    m = runs.bit_length() - 1
    found, published = _search(k, m, resolution), generators_for(k, m)
    assert found is not None
    assert published is not None
    made = [find_fraction(runs_of(words, m), k) for words in (found, published)]
    lengths = [fraction.word_lengths() for fraction in made if not isinstance(fraction, str)]
    assert lengths[0] == lengths[1]


@pytest.mark.parametrize(
    ("k", "resolution", "runs"),
    # The smallest fractions by pydoe's audit of its own (pydoe pull request 157), FrF2's catalogue and Montgomery.
    [
        *((7, 3, 8), (4, 4, 8), (5, 4, 16), (8, 4, 16), (9, 4, 32), (15, 4, 32), (5, 5, 16), (6, 5, 32), (8, 5, 64)),
        *((11, 5, 128), (12, 5, 256), (15, 5, 256), (17, 5, 256), (15, 3, 16), (31, 3, 32), (16, 4, 32), (17, 4, 64)),
    ],
)
def test_a_resolution_takes_the_fewest_runs_known(k: int, resolution: int, runs: int) -> None:
    factors = tuple(Factor(f"f{i}", (0, 1)) for i in range(k))
    made = Study("s", "pi", factors, design=DesignChoice("fractional", options={"resolution": resolution}))
    assert len(make_plan(made).trials) == runs


@given(st.integers(3, 8), st.integers(3, 8), st.integers(0, 9))
@settings(max_examples=25)
def test_columns_are_balanced_orthogonal_and_of_the_stated_resolution(k: int, resolution: int, seed: int) -> None:
    made = study(k, resolution=min(k, resolution))
    plan = make_plan(made)
    signs = columns(plan, k)
    assert all(column.sum() == 0 for column in signs.values())
    assert all((signs[a] * signs[b]).sum() == 0 for a, b in itertools.combinations(signs, 2))
    stated = describe(made, plan).resolution
    assert stated == brute_force_resolution(signs)
    assert stated is not None
    assert stated >= min(k, resolution)


def test_six_factors_at_resolution_vi_are_the_half_fraction_of_the_paper() -> None:
    made = study(6, resolution="VI")
    plan = make_plan(made)
    description = describe(made, plan)
    assert len(plan.trials) == 32
    assert (description.resolution, description.defining_relation) == (6, ("A:B:C:D:E:F",))
    assert description.generators == ("F = A*B*C*D*E",)


@pytest.mark.parametrize(("k", "runs"), [(3, 4), (4, 8), (5, 16), (6, 32), (7, 64), (8, 64), (9, 32), (16, 32)])
def test_without_options_pairs_are_kept_apart_while_that_takes_64_runs_at_most(k: int, runs: int) -> None:
    assert len(make_plan(study(k)).trials) == runs


@pytest.mark.parametrize(
    "generators", [["E=ABC", "F=BCD"], ["E = A*B*C", "F = B*C*D"], ["F = B:C:D", "E = A*B*C"], ["E=ABC", "F=-A*E*D"]]
)
def test_generators_may_be_names_letters_signs_and_chains(generators: list[str]) -> None:
    made = study(6, generators=generators)
    plan = make_plan(made)
    signs = columns(plan, 6)
    assert len(plan.trials) == 16
    assert (signs["E"] == signs["A"] * signs["B"] * signs["C"]).all()
    last = -signs["A"] * signs["E"] * signs["D"] if "-" in generators[1] else signs["B"] * signs["C"] * signs["D"]
    assert (signs["F"] == last).all()


def test_letters_stand_for_factors_in_order_when_factors_have_names() -> None:
    factors = tuple(Factor(n, (1, 2)) for n in ("executors", "cores", "epochs", "jobs"))
    made = Study("s", "pi", factors, design=DesignChoice("fractional", options={"generators": ["D=ABC"]}))
    assert describe(made, make_plan(made)).generators == ("jobs = executors*cores*epochs",)


@pytest.mark.parametrize(
    ("k", "options", "words"),
    [
        (2, {}, ["at least three factors", "two-level"]),
        (4, {"resolution": 5}, ["resolution IV at most, not V", "takes 8 runs"]),
        (4, {"runs": 16}, ["16 combinations", "not a fraction"]),
        (9, {"runs": 8}, ["at most 7 two-level factors, not 9", "runs: 16"]),
        (7, {"runs": 16, "resolution": 5}, ["have resolution IV, not V", "runs: 64"]),
        (6, {"generators": ["F = A*B*Z"]}, ["uses 'Z', which is not a factor"]),
        (6, {"generators": ["F = ABZ"]}, ["the letter Z", "A to F", "skipping I"]),
        (6, {"generators": ["F = A*E", "E = B*F"]}, ["E are circular"]),
        (6, {"generators": ["F = A*B", "F = A*C"]}, ["there are two generators for F"]),
        (6, {"generators": ["F = A"]}, ["always change together"]),
        (6, {"generators": ["E = A*B", "F = A*B"]}, ["always change together"]),
        (6, {"generators": ["nonsense"]}, ["is not a generator", "F = A*B*C"]),
        (6, {"generators": ["F = A*B*C"], "resolution": 5}, ["have resolution IV, not V"]),
        (20, {"resolution": 12}, ["more than 4096 runs"]),
    ],
)
def test_what_cannot_be_is_refused_with_what_can(k: int, options: dict[str, object], words: list[str]) -> None:
    with pytest.raises(StudyError) as caught:
        make_plan(study(k, **options))
    for word in words:
        assert word in str(caught.value)


def test_a_factor_of_three_levels_is_refused_with_its_extremes_and_an_optimal_design() -> None:
    factors = (Factor("a", (1, 2, 4)), Factor("b", (1, 2)), Factor("c", (1, 2)))
    with pytest.raises(StudyError) as caught:
        make_plan(Study("s", "pi", factors, design=DesignChoice("fractional")))
    assert "a has 3" in str(caught.value)
    assert "a: [1, 4], or use design: {kind: optimal, runs: 13}" in str(caught.value)


def test_rules_that_break_the_balance_say_what_that_costs() -> None:
    made = study(5, resolution=5)
    ruled = Study("s", "pi", made.factors, rules=(Expression("A + B < 6"),), design=made.design)
    plan = make_plan(ruled)
    assert len(plan.trials) == 12
    assert len(plan.excluded) == 4
    [note] = plan.notes
    assert "x 1.60 on average and x 2.00 at most" in note
    assert "kind: optimal, runs: 12" in note
    assert not describe(ruled, plan).is_regular


def test_twenty_factors_are_planned_and_described() -> None:
    made = study(20, resolution="IV")
    description = describe(made, make_plan(made))
    assert (description.runs, description.resolution, description.n_words) == (64, 4, 2**14 - 1)
    assert sum(description.word_lengths) == 2**14 - 1


# ---------------------------------------------------------------- designs that other libraries got wrong


def runs_of_words(words: str) -> tuple[list[int], int]:
    """The runs that pyDOE's `fracfact` makes of such a text: each word is a product of base factors."""
    names = words.split()
    base = sorted({letter for name in names for letter in name})
    runs = []
    for values in itertools.product((-1, 1), repeat=len(base)):
        value = dict(zip(base, values, strict=True))
        runs.append(sum(1 << i for i, n in enumerate(names) if prod(value[letter] for letter in n) > 0))
    return runs, len(names)


@pytest.mark.parametrize(
    ("words", "claimed", "true"),
    [
        # pyDOE2's fracfact_by_res(7, 5): base factors, then products of four in the order of the alphabet.
        ("a b c d e abcd abce", 5, 4),
        # fracfact_by_res(9, 5), (10, 5) and (11, 5) claimed V in 128 runs; pydoe pull request 157 found IV.
        ("a b c d e f g abcd abce", 5, 4),
        ("a b c d e f g abcd abce abcf", 5, 4),
        ("a b c d e f g abcd abce abcf abcg", 5, 4),
        # fracfact_by_res(11, 5) in 32 runs, pydoe issue 83.
        ("a b c d e abcd abce abde acde bcde abcde", 5, 3),
    ],
)
def test_wrong_fractions_of_other_libraries_are_found_out(words: str, claimed: int, true: int) -> None:
    runs, k = runs_of_words(words)
    fraction = find_fraction(runs, k)
    assert not isinstance(fraction, str)
    assert fraction.resolution() == true
    require_fraction(runs, k, true)
    with pytest.raises(SparkcastError, match="internal error"):
        require_fraction(runs, k, claimed)


def test_a_plackett_burman_design_is_not_taken_for_a_regular_fraction() -> None:
    # Plackett & Burman (1946): 12 runs, the first row and its cyclic shifts, then all low.
    first = [1, 1, 0, 1, 1, 1, 0, 0, 0, 1, 0]
    rows = [first[i:] + first[:i] for i in range(11)] + [[0] * 11]
    runs = [sum(bit << i for i, bit in enumerate(row)) for row in rows]
    assert find_fraction(runs, 11) == "its 12 combinations are not a 2^k or 2^(k-p) fraction"
    with pytest.raises(SparkcastError, match="internal error"):
        require_fraction(runs, 11, 3)
