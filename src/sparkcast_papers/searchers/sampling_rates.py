"""Little data first: what is bad on 1 % of it is not run on all of it (the idea of myung2020's sampling rates)."""

import math
import random
from collections.abc import Sequence
from statistics import fmean

from sparkcast.errors import StudyError
from sparkcast.search.base import SEARCHERS, Evaluation, Search
from sparkcast.study import Configuration, Level, Role

_SHARES = (0.01, 0.1, 1.0)  # of the candidate's own rate
_KEPT = 3  # one of so many goes on
_MOST = 27  # at the lowest rate: three are left for the full data


@SEARCHERS.register("sampling-rates")
class SamplingRates:
    """Runs candidates on 1 % of the data; the best third move on to 10 %, the best third of those to all of it."""

    asks_elsewhere = True
    answers_elsewhere = False

    def __init__(self, search: Search) -> None:
        found = search.vocabulary.first(Role.FRACTION, among=search.candidates[0])
        if found is None:
            raise StudyError(
                "sampling-rates needs a setting for the fraction of the data to use",
                hint=f"declare it with roles: {{NAME: {Role.FRACTION}}}, or use another searcher",
            )
        self._rate = found
        self._n_runs = search.replicates or 1
        self._within_s = search.within_s
        self._candidates = _spread(search.candidates, _MOST, search.seed)
        self._left_out = len(search.candidates) - len(self._candidates)
        self._rung = 0
        self._staying = list(range(len(self._candidates)))
        self._values: dict[Configuration, list[float | None]] = {}
        self._unjudged: set[int] = set()
        self._why = ""

    def ask(self) -> Configuration | None:
        while not self._why:
            for index in self._staying:
                configuration = self._at_rung(index)
                if not self._is_settled(configuration):
                    return configuration
            self._climb()
        return None

    def tell(self, evaluation: Evaluation) -> None:
        is_late = self._within_s is not None and evaluation.time_s is not None and evaluation.time_s > self._within_s
        self._values.setdefault(evaluation.configuration, []).append(math.inf if is_late else evaluation.value)

    def _at_rung(self, index: int) -> Configuration:
        candidate, share = self._candidates[index], _SHARES[self._rung]
        if share == 1:
            return candidate
        return candidate | {self._rate: float(f"{share * float(candidate[self._rate]):.6g}")}

    def _is_settled(self, configuration: Configuration) -> bool:
        values = self._values.get(configuration, [])
        return len(values) >= self._n_runs or None in values

    def _climb(self) -> None:
        """The best third goes on, and so does what failed: a batch larger than a little data fits into all of it."""
        if self._rung == len(_SHARES) - 1:
            self._why = f"{len(self._staying)} of {len(self._candidates)} candidates were run on all data"
            return
        means = {index: self._mean(index) for index in self._staying}
        judged = sorted((mean, index) for index, mean in means.items() if mean is not None)
        unjudged = [index for index, mean in means.items() if mean is None]
        self._unjudged.update(unjudged)
        self._staying = [index for _, index in judged[: math.ceil(len(judged) / _KEPT)]] + unjudged
        self._rung += 1

    def _mean(self, index: int) -> float | None:
        values = self._values[self._at_rung(index)]
        known = [value for value in values if value is not None]
        return fmean(known) if len(known) == len(values) else None

    @property
    def stopped_because(self) -> str:
        return self._why

    @property
    def warnings(self) -> tuple[str, ...]:
        found = []
        if self._left_out:
            found.append(f"{self._left_out} candidates were not considered: {_MOST} spread over all of them were")
        if self._unjudged:
            found.append(
                f"{len(self._unjudged)} of {len(self._candidates)} candidates failed on less data and advanced "
                "without a score"
            )
        return tuple(found)


def _spread(candidates: Sequence[Configuration], most: int, seed: int) -> list[Configuration]:
    """So many candidates, each as far as possible from those chosen before; the first is drawn."""
    if len(candidates) <= most:
        return list(candidates)
    points = _scaled(candidates)
    chosen = [random.Random(seed).randrange(len(candidates))]
    distances = [math.inf] * len(candidates)
    while len(chosen) < most:
        newest = points[chosen[-1]]
        distances = [min(d, math.dist(newest, point)) for d, point in zip(distances, points, strict=True)]
        chosen.append(max(range(len(candidates)), key=distances.__getitem__))
    return [candidates[index] for index in sorted(chosen)]


def _scaled(candidates: Sequence[Configuration]) -> list[tuple[float, ...]]:
    """Candidates as points: each level by its place in the order of levels, from 0 to 1."""
    places: dict[str, dict[Level, float]] = {}
    for name in candidates[0]:
        levels = sorted({candidate[name] for candidate in candidates}, key=lambda v: (isinstance(v, str), v))
        places[name] = {level: i / max(len(levels) - 1, 1) for i, level in enumerate(levels)}
    return [tuple(places[name][candidate[name]] for name in places) for candidate in candidates]
