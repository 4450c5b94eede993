"""What is asked of a recommendation: an objective, and limits to keep to."""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from sparkcast.errors import StudyError
from sparkcast.recommend import Limit
from sparkcast.study import Level

TIME, ACCURACY, COST = "time_s", "accuracy", "cost"


@dataclass(frozen=True, slots=True)
class Question:
    within_s: float | None = None
    budget: float | None = None  # money for one run
    min_accuracy: float | None = None
    confidence: float = 0.95  # with which each of these must be kept to
    maximize: str | None = None
    minimize: str | None = None
    fix: Mapping[str, Level] = field(default_factory=dict)
    max_failure: float = 0.1  # of candidates that were never run, those more likely to fail are left out
    most: int = 20  # how many of the candidates the answer lists

    def __post_init__(self) -> None:
        if self.within_s is not None and not (math.isfinite(self.within_s) and self.within_s > 0):
            raise StudyError(f"a deadline of {self.within_s:g} s cannot be met", hint="give a positive time, e.g. 300s")
        if self.budget is not None and not (math.isfinite(self.budget) and self.budget > 0):
            raise StudyError(f"a budget of {self.budget:g} buys nothing", hint="give a positive amount, e.g. 0.25")
        if self.min_accuracy is not None and not 0 <= self.min_accuracy <= 100:
            raise StudyError(f"no accuracy is {self.min_accuracy:g}", hint="write 0.95 for 95 %")
        for name, share in (("confidence", self.confidence), ("max_failure", self.max_failure)):
            if not 0 < share < 1:
                raise StudyError(f"{name} {share:g} is not between 0 and 1", hint="write 0.95 for 95 %")
        if self.maximize and self.minimize:
            raise StudyError(
                f"cannot both maximize {self.maximize} and minimize {self.minimize}",
                hint="choose one; a deadline, a budget or --min-accuracy can bound the other",
            )

    @property
    def limits(self) -> tuple[Limit, ...]:
        given = ((TIME, self.within_s, True), (COST, self.budget, True), (ACCURACY, self.min_accuracy, False))
        return tuple(Limit(response, value, is_upper) for response, value, is_upper in given if value is not None)

    @property
    def quantile_level(self) -> float:
        """The level of the interval whose upper end is the time that is met with `confidence`."""
        return round(2 * self.confidence - 1, 12) if self.confidence > 0.5 else 0.9


@dataclass(frozen=True, slots=True)
class Objective:
    response: str
    is_maximum: bool

    def __str__(self) -> str:
        return f"{'maximize' if self.is_maximum else 'minimize'} {self.response}"


def objective_of(question: Question, known: Sequence[str]) -> Objective:
    """What to optimise. Not said: the accuracy, if it is known and there is a deadline or budget, else the time."""
    response = question.maximize or question.minimize
    if response is not None:
        return Objective(response, question.maximize is not None)
    is_bounded = question.within_s is not None or question.budget is not None
    return Objective(ACCURACY, True) if is_bounded and ACCURACY in known else Objective(TIME, False)
