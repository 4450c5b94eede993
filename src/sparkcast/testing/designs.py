"""What holds for every design, those of other packages included."""

import itertools
from typing import ClassVar

import pytest

from sparkcast.designs import make_plan
from sparkcast.errors import NotEnoughDataError, StudyError
from sparkcast.study import Configuration, DesignChoice, Expression, Factor, Study


class DesignSuite:
    """Set `plug` to the registered name of a design, or override the fixture `name`; `levels` to how many levels the
    factors may have."""

    plug: ClassVar[str]
    levels: ClassVar[tuple[int, ...]] = (2, 2, 2)

    @pytest.fixture
    def name(self) -> str:
        return self.plug

    @pytest.fixture(params=[1, 2], ids=["once", "twice"])
    def study(self, name: str, request: pytest.FixtureRequest) -> Study:
        factors = tuple(Factor(f"f{i}", tuple(range(1, n + 1))) for i, n in enumerate(self.levels))
        design = DesignChoice(name, replicates=request.param, seed=7)
        return Study("s", "pi", factors, Configuration({"fixed": "x"}), design=design)

    def test_positions_count_up_and_keys_are_unique(self, study: Study) -> None:
        trials = make_plan(study).trials
        assert [trial.position for trial in trials] == list(range(1, len(trials) + 1))
        assert len({trial.key for trial in trials}) == len(trials)
        assert all(trial.configuration["fixed"] == "x" for trial in trials)

    def test_only_levels_of_the_study_are_run(self, study: Study) -> None:
        for trial in make_plan(study).trials:
            assert all(trial.configuration[factor.name] in factor.levels for factor in study.factors)

    def test_the_same_seed_gives_the_same_plan(self, study: Study) -> None:
        assert make_plan(study) == make_plan(study)

    def test_each_replicate_is_a_block_of_the_same_runs(self, study: Study) -> None:
        trials = make_plan(study).trials
        groups = [list(group) for _, group in itertools.groupby(trials, lambda trial: trial.block)]
        blocks = [sorted(str(trial.configuration) for trial in group) for group in groups]
        assert len(blocks) == study.design.replicates
        assert all(block == blocks[0] for block in blocks)

    @pytest.mark.parametrize("most", [4, 5, 6])
    def test_a_combination_that_a_rule_excludes_is_never_run(self, study: Study, most: int) -> None:
        total = " + ".join(factor.name for factor in study.factors)
        ruled = Study("s", "pi", study.factors, rules=(Expression(f"{total} <= {most}"),), design=study.design)
        try:
            plan = make_plan(ruled)
        except (StudyError, NotEnoughDataError):
            return  # nothing, or too little, is left
        assert all(sum(int(level) for level in trial.configuration.values()) <= most for trial in plan.trials)
