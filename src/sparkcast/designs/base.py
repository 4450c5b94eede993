"""What a design is: the base for those who write one.

@DESIGNS.register("corners")
@dataclass(frozen=True)
class Corners:
    "The lowest and the highest level of every factor."

    def choose(self, study: Study, time_of: TimeOf | None = None) -> Chosen: ...
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Protocol

from sparkcast.designs._size import require_few_runs
from sparkcast.designs.feasible import MAX_LISTED
from sparkcast.registry import Registry
from sparkcast.study import Configuration, Space, Study
from sparkcast.study.space import MOST_COUNTED

__all__ = ["DESIGNS", "Chosen", "Configuration", "Design", "Study", "TimeOf"]

TimeOf = Callable[[Configuration], float]  # the time of one run, in seconds


@dataclass(frozen=True, slots=True)
class Chosen:
    """Combinations to run, with or without the fixed settings; one that stands there twice is run twice."""

    configurations: Sequence[Configuration]
    notes: tuple[str, ...] = ()
    n_unlisted: int = 0  # combinations left out beforehand because the rules exclude them

    @classmethod
    def whole(cls, space: Space) -> "Chosen":
        """Every combination of a space; of very many only those that the rules allow, which must not be very many."""
        if space.size <= MAX_LISTED:
            return cls(replace(space, rules=()).candidates().configurations())
        count = space.count()
        require_few_runs(MOST_COUNTED if count is None else count, "every combination", at_least=count is None)
        allowed = space.candidates().configurations()
        return cls(allowed, n_unlisted=space.size - len(allowed))


class Design(Protocol):
    """Chooses combinations of levels. Its dataclass fields, if it has any, are its options in the study file.

    It need not care for rules: what they exclude is taken out afterwards. It may, when it can choose better knowing
    them. `time_of` predicts the time of a run where somebody has a model of it.
    """

    def choose(self, study: Study, time_of: TimeOf | None = None) -> Chosen: ...


DESIGNS: Registry[Design] = Registry("design", "sparkcast.designs")
