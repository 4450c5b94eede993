import itertools

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sparkcast.designs import DESIGNS, make_plan
from sparkcast.errors import StudyError
from sparkcast.study import DesignChoice, Expression, Factor, Level, Study


@st.composite
def studies(draw: st.DrawFn) -> Study:
    counts = draw(st.lists(st.integers(2, 4), min_size=1, max_size=4))
    factors = tuple(Factor(f"f{i}", tuple(range(1, n + 1))) for i, n in enumerate(counts))
    design = DesignChoice(draw(st.sampled_from(DESIGNS.names())), draw(st.integers(1, 3)), draw(st.integers(0, 99)))
    return Study("s", "pi", factors, {"fixed": "x"}, design=design)


@given(studies())
def test_each_replicate_runs_every_combination_once(study: Study) -> None:
    plan = make_plan(study)
    combinations = {tuple(t.configuration.items()) for t in plan.trials}
    for replicate in range(1, study.design.replicates + 1):
        block = [tuple(t.configuration.items()) for t in plan.trials if t.replicate == replicate]
        assert set(block) == combinations
        assert len(block) == len(combinations)


@given(studies())
def test_positions_count_up_and_keys_are_unique(study: Study) -> None:
    trials = make_plan(study).trials
    assert [t.position for t in trials] == list(range(1, len(trials) + 1))
    assert len({t.key for t in trials}) == len(trials)


@given(studies())
def test_the_same_seed_gives_the_same_order(study: Study) -> None:
    assert make_plan(study) == make_plan(study)


@given(studies())
def test_every_pair_of_factors_is_balanced(study: Study) -> None:
    trials = make_plan(study).trials
    for a, b in itertools.combinations([f.name for f in study.factors], 2):
        counts: dict[tuple[Level, Level], int] = {}
        for trial in trials:
            pair = (trial.configuration[a], trial.configuration[b])
            counts[pair] = counts.get(pair, 0) + 1
        assert len(set(counts.values())) == 1


@given(studies(), st.integers(1, 12))
def test_a_combination_that_a_rule_excludes_is_never_run(study: Study, most: int) -> None:
    total = " + ".join(f.name for f in study.factors)
    ruled = Study("s", "pi", study.factors, rules=(Expression(f"{total} <= {most}"),), design=study.design)
    if not any(ruled.allows(c) for c in DESIGNS.get(ruled.design.kind)().combinations(ruled)):
        with pytest.raises(StudyError, match="exclude all"):
            make_plan(ruled)
        return
    plan = make_plan(ruled)
    assert all(sum(int(v) for v in t.configuration.values()) <= most for t in plan.trials)
    assert all(sum(int(v) for v in c.values()) > most for c in plan.excluded)


def test_two_level_takes_the_extremes_whatever_their_order() -> None:
    factors = (Factor("memory", ("4g", "512m", "1g")), Factor("network", ("lenet5", "simplenet")))
    plan = make_plan(Study("s", "pi", factors, design=DesignChoice("two-level")))
    assert {t.configuration["memory"] for t in plan.trials} == {"512m", "4g"}
    assert len(plan.trials) == 4


def test_two_level_refuses_to_choose_between_three_categories() -> None:
    study = Study("s", "pi", (Factor("network", ("a", "b", "c")),), design=DesignChoice("two-level"))
    with pytest.raises(StudyError, match="list two of them"):
        make_plan(study)
