"""The paper's models of the completion time for anybody's runs: its baseline, and both forms of its hierarchy."""

from collections.abc import Sequence

from sparkcast.models.base import MODELS, LearnedPoints, Model, Problem, require_times
from sparkcast_papers.myung2020._two_level import (
    TECHNIQUES,
    Technique,
    check_techniques,
    learn_one_level,
    learn_two_level,
)


class _OfTechniques(Model):
    def __init__(self, techniques: Sequence[Technique] = TECHNIQUES, seed: int = 0) -> None:
        check_techniques(techniques)
        self._techniques = tuple(techniques)
        self._seed = seed


@MODELS.register("one-level")
class OneLevel(_OfTechniques):
    """Time from 1/machines, 1/cores, sizes and other settings; the best of lasso, ridge and a forest (Myung & Yu)."""

    def learn(self, problem: Problem) -> LearnedPoints:
        return learn_one_level(problem, self._techniques, self._seed)


@MODELS.register("two-level-sum")
class TwoLevelSum(_OfTechniques):
    """Time as a sum over settings of each level's share of the longest time (Myung & Yu LV2-1)."""

    def learn(self, problem: Problem) -> LearnedPoints:
        require_times(problem, "two-level-sum")
        return learn_two_level(problem, self._techniques, self._seed, is_product=False)


@MODELS.register("two-level-product")
class TwoLevelProduct(_OfTechniques):
    """Time as a product over settings of each level's share of the longest time (Myung & Yu LV2-2)."""

    def learn(self, problem: Problem) -> LearnedPoints:
        require_times(problem, "two-level-product")
        return learn_two_level(problem, self._techniques, self._seed, is_product=True)
