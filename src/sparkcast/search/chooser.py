"""What searchers share that choose among the candidates by all they were told."""

from abc import ABC, abstractmethod

from sparkcast.search.base import Evaluation, Search
from sparkcast.search.points import CandidateMeans, known_from, points_of
from sparkcast.study import Configuration


class Chooser(ABC):
    widens = True  # may be made anew with more candidates: it passes over those it was told of
    stops = True  # False: goes on until every candidate was run, to see how good it would become

    def __init__(self, search: Search) -> None:
        self._search = search
        self._points = points_of(search)
        self._evaluations: list[Evaluation] = []
        self._why = ""

    @property
    def stopped_because(self) -> str:
        return self._why

    def tell(self, evaluation: Evaluation) -> None:
        self._evaluations.append(evaluation)

    def ask(self) -> Configuration | None:
        self._why = ""
        known = known_from(self._evaluations, self._points)
        tried = set(known.tried)
        left = [place for place in range(len(self._points.candidates)) if place not in tried]
        if not left:
            self._why = "every candidate was run"
            return None
        place = self._next(known, left)
        return None if place is None else self._points.candidates[place]

    @abstractmethod
    def _next(self, known: CandidateMeans, left: list[int]) -> int | None:
        """Which of the places that are left to run next; None, and the reason in `_why`, to stop."""
