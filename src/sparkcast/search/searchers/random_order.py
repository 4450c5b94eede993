"""Random search: the baseline of every search."""

import random
from collections.abc import Sequence

from sparkcast.search.base import SEARCHERS, Evaluation, Search
from sparkcast.study import Configuration


@SEARCHERS.register("random")
class RandomOrder:
    """The candidates in random order, each once, regardless of results."""

    warnings: tuple[str, ...] = ()

    def __init__(self, search: Search) -> None:
        self._left = list(search.candidates)
        random.Random(search.seed).shuffle(self._left)

    def ask(self) -> Configuration | None:
        return self._left.pop() if self._left else None

    def ask_beside(self, running: Sequence[Configuration]) -> Configuration | None:
        return self.ask()

    def tell(self, evaluation: Evaluation) -> None:
        pass

    @property
    def stopped_because(self) -> str:
        return "" if self._left else "every candidate was run"
