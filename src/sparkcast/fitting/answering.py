"""What every fitted model of ours can be asked, given the answers to rows of settings."""

from abc import ABC, abstractmethod
from collections.abc import Sequence
from typing import Protocol

from sparkcast.arrays import Floats, Ints
from sparkcast.errors import NotEnoughDataError, StudyError
from sparkcast.fitting.encoding import Domain
from sparkcast.study.configuration import Levels


class AnswerTable(Protocol):
    """What a model says of many settings, kept: a question about another level or limit then costs next to nothing."""

    @property
    def values(self) -> Floats: ...

    def interval(self, level: float) -> tuple[Floats, Floats]:
        """Where the next run at each of the settings falls with probability `level`."""
        ...

    def probability_below(self, limit: Floats | float) -> Floats:
        """The probability that the next run is at most `limit`: one for all, or one for each."""
        ...

    def take(self, rows: Ints) -> "AnswerTable":
        """Of some of the settings only."""
        ...


class Answering(ABC):
    """A model that has seen data, and answers rows of settings all at once: the Fitted of every built-in model."""

    __slots__ = ()

    domain: Domain

    @abstractmethod
    def answers(self, x: Floats) -> AnswerTable:
        """What is said of settings that are numbers already (see Domain.encode)."""

    def predict(self, at: Sequence[Levels]) -> list[float]:
        return list(self.answers(self.domain.encode(at)).values.tolist()) if at else []

    def interval(self, at: Sequence[Levels], *, level: float = 0.9) -> list[tuple[float, float]]:
        check_level(level)
        if not at:
            return []
        low, high = self.answers(self.domain.encode(at)).interval(level)
        return list(zip(low.tolist(), high.tolist(), strict=True))

    def probability_below(self, at: Sequence[Levels], limit: float) -> list[float]:
        return list(self.answers(self.domain.encode(at)).probability_below(limit).tolist()) if at else []

    def beyond(self, at: Sequence[Levels]) -> list[NotEnoughDataError | None]:
        return [self.domain.beyond(configuration) for configuration in at]


def check_level(level: float) -> None:
    if not 0 < level < 1:
        raise StudyError(f"level {level} is not between 0 and 1", hint="write 0.9 for 90%")
