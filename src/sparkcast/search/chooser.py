"""What searchers share that choose among the candidates by all they were told."""

from abc import ABC, abstractmethod
from collections.abc import Sequence
from statistics import fmean

from sparkcast.search.base import Evaluation, Search
from sparkcast.search.points import CandidateMeans, known_from, points_of
from sparkcast.study import Configuration, Outcome

_TINY = 1e-300


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

    def ask_beside(self, running: Sequence[Configuration]) -> Configuration | None:
        """What to run beside these, whose results are taken to be what is expected of them."""
        told = self._evaluations
        try:
            for configuration in running:
                self._evaluations = [*self._evaluations, self._believed(configuration)]
            return self.ask()
        finally:
            self._evaluations = told

    def _believed(self, configuration: Configuration) -> Evaluation:
        known = known_from(self._evaluations, self._points)
        place = self._points.place(configuration)
        if place is None:
            return Evaluation(configuration, None)
        value, per_second = self._expected(known, place), self._search.per_second
        time_s = fmean(known.times.values()) if known.times else None
        if per_second is not None:
            time_s = value / max(per_second[list(self._search.candidates).index(self._points.candidates[place])], _TINY)
        slacks = tuple(fmean(some) for some in zip(*known.slacks.values(), strict=True))
        return Evaluation(configuration, value, time_s, Outcome.OK, slacks=slacks)

    def _expected(self, known: CandidateMeans, place: int) -> float:
        """What a run of a candidate will give; by default what runs gave on average."""
        return fmean(known.values.values()) if known.values else 1.0

    @abstractmethod
    def _next(self, known: CandidateMeans, left: list[int]) -> int | None:
        """Which of the places that are left to run next; None, and the reason in `_why`, to stop."""
