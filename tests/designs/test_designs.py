"""What holds for every design, those of other packages included."""

import itertools

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from sparkcast.designs import DESIGNS, make_design, make_plan
from sparkcast.errors import NotEnoughDataError, StudyError
from sparkcast.study import Configuration, DesignChoice, Expression, Factor, Level, Study


@st.composite
def studies(draw: st.DrawFn, kinds: tuple[str, ...] = DESIGNS.names()) -> Study:
    """Three to five factors; of two levels where the design takes no others."""
    kind = draw(st.sampled_from(kinds))
    most = 2 if kind == "fractional" else 3
    counts = draw(st.lists(st.integers(2, most), min_size=3, max_size=5))
    factors = tuple(Factor(f"f{i}", tuple(range(1, n + 1))) for i, n in enumerate(counts))
    design = DesignChoice(kind, draw(st.integers(1, 3)), draw(st.integers(0, 99)))
    return Study("s", "pi", factors, Configuration({"fixed": "x"}), design=design)


@given(studies())
@settings(max_examples=40)
def test_positions_count_up_and_keys_are_unique(study: Study) -> None:
    trials = make_plan(study).trials
    assert [t.position for t in trials] == list(range(1, len(trials) + 1))
    assert len({t.key for t in trials}) == len(trials)
    assert all(t.configuration["fixed"] == "x" for t in trials)


@given(studies())
@settings(max_examples=25)
def test_the_same_seed_gives_the_same_plan(study: Study) -> None:
    assert make_plan(study) == make_plan(study)


@given(studies())
@settings(max_examples=25)
def test_each_replicate_is_a_block_of_the_same_runs(study: Study) -> None:
    trials = make_plan(study).trials
    blocks = [sorted(str(t.configuration) for t in group) for _, group in itertools.groupby(trials, lambda t: t.block)]
    assert len(blocks) == study.design.replicates
    assert all(block == blocks[0] for block in blocks)


@given(studies(), st.integers(5, 12))
@settings(max_examples=40)
def test_a_combination_that_a_rule_excludes_is_never_run(study: Study, most: int) -> None:
    total = " + ".join(f.name for f in study.factors)
    ruled = Study("s", "pi", study.factors, rules=(Expression(f"{total} <= {most}"),), design=study.design)
    try:
        plan = make_plan(ruled)
    except (StudyError, NotEnoughDataError):
        return  # nothing, or too little, is left
    assert all(sum(int(v) for v in t.configuration.values()) <= most for t in plan.trials)
    assert all(sum(int(v) for v in c.values()) > most for c in plan.excluded)


@given(studies(kinds=("full", "two-level")))
@settings(max_examples=40)
def test_a_full_design_is_balanced_in_every_pair_of_factors(study: Study) -> None:
    trials = make_plan(study).trials
    for a, b in itertools.combinations([f.name for f in study.factors], 2):
        counts: dict[tuple[Level, Level], int] = {}
        for trial in trials:
            pair = (trial.configuration[a], trial.configuration[b])
            counts[pair] = counts.get(pair, 0) + 1
        assert len(set(counts.values())) == 1


def test_trials_of_studies_from_before_blocks_and_options_keep_keys_and_order() -> None:
    factors = (Factor("executors", (1, 2)), Factor("samples", (10, 20)))
    plan = make_plan(Study("s", "pi", factors, design=DesignChoice(replicates=2, seed=3)))
    assert " ".join(t.key for t in plan.trials) == (
        "df0267868b0ed19c 9de6e3deaee38475 21ad546e459ab8cb 468d77e14ec2d5e5 "
        "a064c9785e144e58 cfcefba02b92f2cc 99743596e7afc502 a4432936c9dedd4f"
    )


def test_two_level_takes_the_extremes_whatever_their_order() -> None:
    factors = (Factor("memory", ("4g", "512m", "1g")), Factor("network", ("lenet5", "simplenet")))
    plan = make_plan(Study("s", "pi", factors, design=DesignChoice("two-level")))
    assert {t.configuration["memory"] for t in plan.trials} == {"512m", "4g"}
    assert len(plan.trials) == 4


def test_two_level_refuses_to_choose_between_three_categories() -> None:
    study = Study("s", "pi", (Factor("network", ("a", "b", "c")),), design=DesignChoice("two-level"))
    with pytest.raises(StudyError, match="list two of them"):
        make_plan(study)


# ---------------------------------------------------------------- options


@pytest.mark.parametrize(
    ("kind", "options", "words"),
    [
        ("fractional", {"resolutoin": 4}, ["unknown key 'design.resolutoin'", "did you mean 'resolution'"]),
        ("full", {"replicats": 3}, ["unknown key 'design.replicats' of design 'full'", "did you mean 'replicates'"]),
        ("full", {"runs": 8}, ["unknown key 'design.runs'"]),
        ("fractional", {"runs": "many"}, ["design.runs = 'many' is not an integer", "runs: 16"]),
        ("fractional", {"runs": True}, ["design.runs = True is not an integer"]),
        ("fractional", {"generators": "F=ABC"}, ["is not a list (of texts)", "generators: [F = A*B*C"]),
        ("fractional", {"resolution": "Q"}, ["'Q' is not a resolution", "III, IV, V"]),
        ("fractional", {"resolution": 2}, ["2 is not a resolution"]),
        ("fractional", {"runs": 12}, ["12 is not a power of two", "runs: 8 or runs: 16"]),
        ("optimal", {"criterion": "E"}, ["design.criterion = 'E' is not one of D, A"]),
        ("optimal", {"runs": 20, "budget": "2h"}, ["use only one of them"]),
        ("optimal", {"budget": "2 fortnights"}, ["unknown unit 'fortnights'"]),
        ("optimal", {"budget": -3}, ["is not positive"]),
        ("optimal", {"time": "__import__('os').system('true')"}, ["rejected"]),
        ("random", {"method": "sobol"}, ["is not one of maximin, latin-hypercube, uniform"]),
        ("random", {"runs": 0}, ["less than 2"]),
    ],
)
def test_an_option_that_a_design_does_not_take_is_refused(
    kind: str, options: dict[str, object], words: list[str]
) -> None:
    factors = tuple(Factor(f"f{i}", (1, 2)) for i in range(4))
    with pytest.raises(StudyError) as caught:
        make_design(Study("s", "pi", factors, design=DesignChoice(kind, options=options)))
    for word in words:
        assert word in str(caught.value)


def test_options_that_are_not_set_leave_the_definition_as_it_was_before_they_existed() -> None:
    factors = (Factor("f", (1, 2)),)
    assert Study("s", "pi", factors).measured_definition()["design"] == {"kind": "full", "replicates": 1, "seed": 0}
    changed = DesignChoice("optimal", center_points=2, blocks=2, options={"runs": 5, "generators": ("a",)})
    assert Study("s", "pi", factors, design=changed).measured_definition()["design"] == {
        "kind": "optimal",
        "replicates": 1,
        "seed": 0,
        "center_points": 2,
        "blocks": 2,
        "runs": 5,
        "generators": ["a"],
    }
