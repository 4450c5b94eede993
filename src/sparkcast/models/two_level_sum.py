"""The two-level model of Myung and Yu (2020) whose second level adds up."""

from collections.abc import Sequence

from sparkcast.fitting.problem import Problem
from sparkcast.fitting.relative import require_times
from sparkcast.fitting.uncertainty import Learned
from sparkcast.models import MODELS
from sparkcast.models._two_level import TECHNIQUES, Technique, check_techniques, learn_two_level
from sparkcast.models.base import Model


@MODELS.register("two-level-sum")
class TwoLevelSum(Model):
    """Time from the shares of the longest time that each setting's levels take, added up (Myung & Yu LV2-1)."""

    def __init__(self, techniques: Sequence[Technique] = TECHNIQUES, seed: int = 0) -> None:
        check_techniques(techniques)
        self._techniques = tuple(techniques)
        self._seed = seed

    def learn(self, problem: Problem) -> Learned:
        require_times(problem, "two-level-sum")
        return learn_two_level(problem, self._techniques, self._seed, is_product=False)
