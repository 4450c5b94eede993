"""Ways to find good settings with few runs: ask for the next one, run it, tell what it gave. One file each."""

from collections.abc import Sequence
from typing import Protocol

from sparkcast.registry import Registry
from sparkcast.study import Configuration


class Searcher(Protocol):
    """Picks from `candidates`; the same seed and answers give the same questions."""

    def __init__(self, candidates: Sequence[Configuration], *, seed: int = 0) -> None: ...

    def ask(self) -> Configuration | None:
        """The settings to run next; None when nothing is left worth running."""
        ...

    def tell(self, configuration: Configuration, value: float | None) -> None:
        """What a run gave, smaller is better; None when it failed."""
        ...


SEARCHERS: Registry[Searcher] = Registry("searcher", __name__)
