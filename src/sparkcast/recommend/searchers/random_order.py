"""Random search: the baseline of every search."""

import random
from collections.abc import Sequence

from sparkcast.recommend.searchers import SEARCHERS
from sparkcast.study import Configuration


@SEARCHERS.register("random")
class RandomOrder:
    """The candidates in random order, each once, whatever the runs show."""

    def __init__(self, candidates: Sequence[Configuration], *, seed: int = 0) -> None:
        self._left = list(candidates)
        random.Random(seed).shuffle(self._left)

    def ask(self) -> Configuration | None:
        return self._left.pop() if self._left else None

    def tell(self, configuration: Configuration, value: float | None) -> None:
        pass
