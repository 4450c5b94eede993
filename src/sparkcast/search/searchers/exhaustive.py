"""Exhaustive search: the price of certainty."""

from collections.abc import Sequence

from sparkcast.search.base import SEARCHERS, Evaluation, Search
from sparkcast.search.points import known_from, points_of
from sparkcast.study import Configuration


@SEARCHERS.register("exhaustive")
class Exhaustive:
    """Every candidate once, in the order given."""

    warnings: tuple[str, ...] = ()

    def __init__(self, search: Search) -> None:
        self._points = points_of(search)
        self._evaluations: list[Evaluation] = []

    def ask(self) -> Configuration | None:
        return self.ask_beside(())

    def ask_beside(self, running: Sequence[Configuration]) -> Configuration | None:
        tried = {*known_from(self._evaluations, self._points).tried, *map(self._points.place, running)}
        return next((c for i, c in enumerate(self._points.candidates) if i not in tried), None)

    def tell(self, evaluation: Evaluation) -> None:
        self._evaluations.append(evaluation)

    @property
    def stopped_because(self) -> str:
        return "every candidate was run" if self.ask() is None else ""
