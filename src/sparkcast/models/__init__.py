"""Ways to learn a response from runs. One file each; `fit` returns another type, so predicting before fitting
cannot be written."""

from collections.abc import Sequence
from typing import Protocol

from sparkcast.errors import NotEnoughDataError
from sparkcast.registry import Registry
from sparkcast.study import Dataset
from sparkcast.study.configuration import Levels


class Fitted(Protocol):
    """A model that has seen data."""

    def predict(self, at: Sequence[Levels]) -> list[float]:
        """The expected response at each configuration."""
        ...

    def interval(self, at: Sequence[Levels], *, level: float = 0.9) -> list[tuple[float, float]]:
        """Where the *next run* falls with probability `level` (not where the mean lies)."""
        ...

    def probability_below(self, at: Sequence[Levels], limit: float) -> list[float]:
        """The probability that the next run's response is at most `limit`."""
        ...

    def beyond(self, at: Sequence[Levels]) -> list[NotEnoughDataError | None]:
        """Why an answer at each configuration would be a guess, and which run would help; None where it is not one."""
        ...


class Predictor(Protocol):
    """A way to learn one response. Settings of the method are constructor arguments with defaults."""

    def fit(self, data: Dataset, response: str) -> Fitted: ...


MODELS: Registry[Predictor] = Registry("model", __name__)
