import itertools
from collections import Counter

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from sparkcast.designs import make_plan
from sparkcast.errors import StudyError
from sparkcast.study import DesignChoice, Expression, Factor, Plan, Study

FACTORS = (Factor("a", (1, 2, 3, 4, 5)), Factor("b", (1, 2, 4, 8)), Factor("n", ("x", "y", "z")))


def plan(runs: int, method: str = "maximin", rules: tuple[str, ...] = (), seed: int = 0) -> Plan:
    design = DesignChoice("random", seed=seed, options={"runs": runs, "method": method})
    return make_plan(Study("s", "pi", FACTORS, rules=tuple(map(Expression, rules)), design=design))


def nearest(made: Plan) -> float:
    """The smallest distance of two runs, levels by rank."""
    points = [
        (FACTORS[0].levels.index(t.configuration["a"]) / 4, FACTORS[1].levels.index(t.configuration["b"]) / 3, t)
        for t in made.trials
    ]
    return min(
        abs(p[0] - q[0]) + abs(p[1] - q[1]) + (p[2].configuration["n"] != q[2].configuration["n"])
        for p, q in itertools.combinations(points, 2)
    )


@given(st.integers(2, 40), st.sampled_from(["maximin", "latin-hypercube"]), st.integers(0, 99))
@settings(max_examples=25)
def test_every_level_of_a_factor_is_run_equally_often_or_once_more(runs: int, method: str, seed: int) -> None:
    made = plan(runs, method, seed=seed)
    assert len({str(t.configuration) for t in made.trials}) == len(made.trials) == runs
    for factor in FACTORS:
        counts = Counter(t.configuration[factor.name] for t in made.trials)
        assert {counts[level] for level in factor.levels} <= {
            runs // len(factor.levels),
            -(-runs // len(factor.levels)),
        }


@given(st.integers(2, 30), st.sampled_from(["maximin", "latin-hypercube", "uniform"]), st.integers(0, 99))
@settings(max_examples=25)
def test_rules_are_never_violated_and_runs_are_different(runs: int, method: str, seed: int) -> None:
    made = plan(runs, method, ("a * b >= 4", "n != 'z' or b < 8"), seed)
    assert len({str(t.configuration) for t in made.trials}) == len(made.trials) == runs
    assert all(int(t.configuration["a"]) * int(t.configuration["b"]) >= 4 for t in made.trials)


def test_maximin_spreads_runs_further_than_chance() -> None:
    spread = np.mean([nearest(plan(12, seed=seed)) for seed in range(8)])
    chance = np.mean([nearest(plan(12, "latin-hypercube", seed=seed)) for seed in range(8)])
    assert spread > 1.5 * chance


def test_more_runs_than_there_are_combinations_are_all_of_them_with_a_note() -> None:
    made = plan(100, rules=("a < 3",))
    assert len(made.trials) == 24
    assert "100 runs were requested, but the rules allow only 24" in made.notes[0]


def test_spaces_too_large_to_list_are_sampled() -> None:
    factors = tuple(Factor(f"f{i}", tuple(range(5))) for i in range(12))
    design = DesignChoice("random", options={"runs": 30})
    made = make_plan(Study("s", "pi", factors, rules=(Expression("f0 <= f1"),), design=design))
    assert len(made.trials) == 30
    assert all(int(t.configuration["f0"]) <= int(t.configuration["f1"]) for t in made.trials)


def test_rules_that_exclude_everything_are_named() -> None:
    with pytest.raises(StudyError, match="exclude all 60 combinations"):
        plan(10, rules=("a > 9",))
