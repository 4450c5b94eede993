import itertools
from math import prod
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from sparkcast.designs import make_plan
from sparkcast.designs.describe import describe
from sparkcast.study import DesignChoice, Expression, Factor, Level, Study

NAMES = "ABCDEFGH"


def study(k: int, kind: str = "fractional", **options: object) -> Study:
    factors = tuple(Factor(name, (1, 3)) for name in NAMES[:k])
    return Study("s", "pi", factors, design=DesignChoice(kind, options=options))


@given(st.sampled_from([(4, 8), (5, 8), (6, 16), (6, 32), (7, 16), (7, 8), (8, 16)]), st.integers(0, 5))
@settings(max_examples=15)
def test_alias_sets_are_exactly_the_products_of_columns_that_are_equal(size: tuple[int, int], seed: int) -> None:
    k, runs = size
    made = study(k, runs=runs)
    plan = make_plan(made)
    column = {n: np.array([int(t.configuration[n]) - 2 for t in plan.trials]) for n in NAMES[:k]}

    def of(effect: str) -> Any:
        return prod((column[n] for n in effect.lstrip("-").split(":")), start=np.array(-1 if effect[0] == "-" else 1))

    described = describe(made, plan)
    together = set()
    for chain in described.aliases:
        assert all((of(effect) == of(chain[0])).all() for effect in chain)
        low = [e.lstrip("-") for e in chain if e.count(":") < 3]
        together |= {frozenset(pair) for pair in itertools.combinations(low, 2)}
    effects = [":".join(n) for order in (1, 2, 3) for n in itertools.combinations(NAMES[:k], order)]
    constant = {e for e in effects if abs(of(e).sum()) == runs}
    for a, b in itertools.combinations([e for e in effects if e not in constant], 2):
        assert (abs(int((of(a) * of(b)).sum())) == runs) == (frozenset((a, b)) in together)


def test_the_half_fraction_of_four_factors_is_described_as_in_the_books() -> None:
    made = study(4, resolution=4)
    described = describe(made, make_plan(made))
    # Montgomery, table 8.10: 2^(4-1) with I = ABCD.
    assert described.resolution_text == "resolution IV: a 2^(4-1) fraction"
    assert described.defining_relation == ("A:B:C:D",)
    assert ("A:B", "C:D") in described.aliases
    assert ("A", "B:C:D") in described.aliases
    assert described.clear == ("A", "B", "C", "D")
    assert described.word_lengths == (0, 0, 0, 1)
    assert described.largest is not None
    assert described.largest.value == 1.0
    assert set(described.variance_inflation.values()) == {1.0}
    assert described.d_efficiency == pytest.approx(1.0)


def test_a_full_design_has_no_aliases() -> None:
    made = study(3, "full")
    described = describe(made, make_plan(made))
    assert described.is_regular
    assert (described.resolution, described.aliases, described.n_words) == (None, (), 0)
    assert described.resolution_text == "full 2^3: nothing is aliased"
    assert described.largest is not None
    assert described.largest.value == 0.0


def test_a_negative_generator_gives_negative_words_and_aliases() -> None:
    made = study(4, generators=["D = -A*B*C"])
    described = describe(made, make_plan(made))
    assert described.defining_relation == ("-A:B:C:D",)
    assert described.generators == ("D = -A*B*C",)
    assert ("A", "-B:C:D") in described.aliases


@pytest.mark.parametrize("seed", range(8))
def test_the_signs_of_aliases_of_categories_take_the_level_listed_first_as_low(seed: int) -> None:
    """Whichever level happens to be run first: the columns are coded here from the study file's own order."""
    levels: dict[str, tuple[Level, ...]] = {
        "format": ("parquet", "json"),
        "codec": ("zstd", "lz4"),
        "cores": (4, 1),
        "network": ("a", "b"),
    }
    factors = tuple(Factor(name, own) for name, own in levels.items())
    design = DesignChoice("fractional", seed=seed, options={"generators": ["network = -format*codec*cores"]})
    made = Study("s", "pi", factors, design=design)
    plan = make_plan(made)
    low = {"format": "parquet", "codec": "zstd", "cores": 1, "network": "a"}
    column = {n: np.array([-1 if t.configuration[n] == low[n] else 1 for t in plan.trials]) for n in levels}
    described = describe(made, plan)
    assert described.generators == ("network = -format*codec*cores",)
    assert described.defining_relation == ("-format:codec:cores:network",)
    assert described.aliases
    for chain in described.aliases:
        products = [prod((column[n] for n in e.lstrip("-").split(":")), start=np.array(1)) for e in chain]
        signs = [-1 if effect.startswith("-") else 1 for effect in chain]
        assert all((sign * own == products[0]).all() for sign, own in zip(signs, products, strict=True))


def test_more_than_two_levels_are_said_to_be_why_there_is_no_resolution() -> None:
    factors = (Factor("a", (1, 2, 3)), Factor("n", ("x", "y", "z")))
    made = Study("s", "pi", factors)
    described = describe(made, make_plan(made))
    assert not described.is_regular
    assert described.resolution is None
    assert "a takes 3 levels" in described.not_regular_because
    assert described.partial_aliases == ()


def test_rules_make_partial_aliases_that_equal_the_correlation_of_columns() -> None:
    factors = (Factor("a", (0, 1, 2)), Factor("b", (0, 1, 2)))
    made = Study("s", "pi", factors, rules=(Expression("a + b <= 3"),))
    plan = make_plan(made)
    described = describe(made, plan)
    a, b = (np.array([float(t.configuration[n]) - 1 for t in plan.trials]) for n in "ab")
    expected = {
        ("a", "b"): abs(np.corrcoef(a, b)[0, 1]),
        ("a", "a:b"): abs(np.corrcoef(a, a * b)[0, 1]),
        ("b", "a:b"): abs(np.corrcoef(b, a * b)[0, 1]),
    }
    found = {(p.a, p.b): p.value for p in described.partial_aliases}
    assert found == pytest.approx({pair: value for pair, value in expected.items() if value >= 0.2}, abs=1e-6)
    # With two factors the variance inflation of each is 1 / (1 - r^2).
    assert described.variance_inflation["a"] == pytest.approx(1 / (1 - expected["a", "b"] ** 2), abs=1e-5)


def test_replicates_and_center_points_leave_the_resolution_as_it_is() -> None:
    made = Study(
        "s",
        "pi",
        study(5).factors,
        design=DesignChoice("fractional", replicates=2, center_points=3, options={"resolution": "V"}),
    )
    described = describe(made, make_plan(made))
    assert (described.resolution, described.runs, described.combinations, described.center_points) == (5, 38, 16, 6)


def test_many_effects_are_compared_with_main_effects_only() -> None:
    factors = tuple(Factor(f"f{i}", (0, 1)) for i in range(12))
    made = Study("s", "pi", factors, design=DesignChoice("fractional", options={"resolution": 4}))
    described = describe(made, make_plan(made))
    assert (len(described.effects), len(described.compared_with)) == (78, 12)
    assert {len(row) for row in described.correlations} == {12}
