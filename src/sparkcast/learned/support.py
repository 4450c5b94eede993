"""Answers where the runs give no support: refused unless somebody insists, and then as wide as what is known."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from itertools import product
from statistics import median
from typing import TypeVar

import numpy as np

from sparkcast.errors import NotEnoughDataError
from sparkcast.fitting.problem import scale_of
from sparkcast.models import Fitted
from sparkcast.study import Configuration, Level, Response
from sparkcast.study.configuration import Levels
from sparkcast.units import as_number

T = TypeVar("T")
Categories = Mapping[str, Sequence[Level]]


def categories_of(seen: Sequence[Levels], factors: Sequence[str]) -> dict[str, tuple[Level, ...]]:
    """The known levels of each factor that is a category (not all of its levels are numbers)."""
    levels = {name: tuple(dict.fromkeys(c[name] for c in seen if name in c)) for name in factors}
    return {name: found for name, found in levels.items() if any(as_number(level) is None for level in found)}


def require_support(fitted: Fitted, at: Sequence[Levels], categories: Categories) -> None:
    """Raise the NotEnoughDataError of the first configuration at which an answer would be a guess."""
    for configuration, error in zip(at, fitted.beyond(at), strict=True):
        if error is not None:
            raise refusal(error, configuration, categories)


def refusal(error: NotEnoughDataError, at: Levels, categories: Categories) -> NotEnoughDataError:
    """Why an answer would be a guess, with what to do about it."""
    is_answerable = len(like_known(at, categories)) > 1
    and_so = "; `extrapolate=True` answers with an interval that covers all known ones" if is_answerable else ""
    return NotEnoughDataError(error.problem, hint=error.hint + and_so)


def like_known(configuration: Levels, categories: Categories) -> list[Configuration]:
    """The configuration with each known category in place of one that was never run; itself where all are known."""
    new = {
        name: known
        for name, known in categories.items()
        if len(known) > 1 and name in configuration and str(configuration[name]) not in {str(level) for level in known}
    }
    return [Configuration(configuration) | dict(zip(new, levels, strict=True)) for levels in product(*new.values())]


@dataclass(frozen=True, slots=True)
class Extrapolating:
    """A fitted model that answers everywhere.

    Far from what was measured it says what the model says, with its wide interval. A category that was never run is
    taken for any of the known ones: the point is the median of theirs, the interval their hull. Probabilities agree
    with that: one half from the lowest of their points to the highest, less below and more above.
    """

    fitted: Fitted
    response: Response
    categories: Categories

    def predict(self, at: Sequence[Levels]) -> list[float]:
        return [self._middle(values) for values in self._by_category(self.fitted.predict, at)]

    def interval(self, at: Sequence[Levels], *, level: float = 0.9) -> list[tuple[float, float]]:
        hulls = self._by_category(lambda known: self.fitted.interval(known, level=level), at)
        return [(min(low for low, _ in hull), max(high for _, high in hull)) for hull in hulls]

    def probability_below(self, at: Sequence[Levels], limit: float) -> list[float]:
        chances = self._by_category(lambda known: self.fitted.probability_below(known, limit), at)
        return [max(found) if max(found) < 0.5 else max(0.5, min(found)) for found in chances]

    def beyond(self, at: Sequence[Levels]) -> list[NotEnoughDataError | None]:
        return [None] * len(at)

    def _by_category(self, ask: Callable[[Sequence[Levels]], list[T]], at: Sequence[Levels]) -> list[list[T]]:
        """The answers of all known categories for each configuration, asked for at once."""
        groups = [like_known(configuration, self.categories) for configuration in at]
        answers = iter(ask([configuration for group in groups for configuration in group]))
        return [[next(answers) for _ in group] for group in groups]

    def _middle(self, values: Sequence[float]) -> float:
        if len(values) == 1:
            return values[0]
        scale = scale_of(self.response, values)
        middle = median(scale.forward(np.array(values)).tolist())
        return float(scale.back(np.array(middle)))
