"""What the built-in models share: they say how to learn, and get their intervals from leaving configurations out."""

import math
from abc import ABC, abstractmethod
from typing import ClassVar

from sparkcast.fitting.problem import Problem, pose
from sparkcast.fitting.uncertainty import Distribution, Learned, fit
from sparkcast.study import Dataset


class Model(ABC):
    """A model that answers with points; the errors around them are found for it."""

    auto_from: ClassVar[float] = math.inf  # a candidate of `auto` from this many configurations on
    auto_outside: ClassVar[bool] = True  # and also beyond the measured range
    extrapolates_by_law: ClassVar[int] = 0  # not by resemblance: always heard beyond the range, the highest first
    is_usual: ClassVar[bool] = False  # validated when nobody says which
    is_baseline: ClassVar[bool] = False  # what every other model must beat
    is_quick: ClassVar[bool] = False  # fitted in milliseconds, and good enough to see whether runs drift

    def fit(self, data: Dataset, response: str) -> Distribution:
        return fit(pose(data, response), self.learn)

    def joins_auto(self, problem: Problem) -> bool:
        return len(problem) >= self.auto_from

    @abstractmethod
    def learn(self, problem: Problem) -> Learned:
        """Learn from every row of the problem; raises NotEnoughDataError when they are too few for this method."""
