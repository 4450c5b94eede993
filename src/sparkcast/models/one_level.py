"""Times straight from the settings, as the baseline of Myung and Yu (2020)."""

from collections.abc import Sequence

from sparkcast.fitting.problem import Problem
from sparkcast.fitting.uncertainty import Learned
from sparkcast.models import MODELS
from sparkcast.models._two_level import TECHNIQUES, Technique, check_techniques, learn_one_level
from sparkcast.models.base import Model


@MODELS.register("one-level")
class OneLevel(Model):
    """Time from 1/machines, 1/cores, sizes and other settings; the best of lasso, ridge and a forest (Myung & Yu)."""

    def __init__(self, techniques: Sequence[Technique] = TECHNIQUES, seed: int = 0) -> None:
        check_techniques(techniques)
        self._techniques = tuple(techniques)
        self._seed = seed

    def learn(self, problem: Problem) -> Learned:
        return learn_one_level(problem, self._techniques, self._seed)
