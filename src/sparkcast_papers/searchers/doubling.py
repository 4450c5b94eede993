"""One number, doubled while it helps: the search of marinos2020 for a learning rate."""

import math
from statistics import fmean

from sparkcast.errors import StudyError
from sparkcast.search.base import SEARCHERS, Evaluation, Search
from sparkcast.study import Configuration

_REPLICATES = 5  # marinos2020 took the mean of about so many
_TENTH = 1.1

Number = int | float


@SEARCHERS.register("doubling")
class Doubling:
    """Doubles one numeric setting while the mean of 5 runs falls, then raises it by 10 % (marinos2020)."""

    asks_elsewhere = True
    answers_elsewhere = True

    def __init__(self, search: Search) -> None:
        self._name = _varied_number(search.candidates)
        levels = sorted({_number(candidate, self._name) for candidate in search.candidates})
        if levels[0] <= 0:
            raise StudyError(f"doubling {self._name} = {levels[0]} has no effect", hint="use a lowest level above 0")
        self._others = search.candidates[0].without(self._name)
        self._lowest, self._highest = levels[0], levels[-1]
        takes_fractions = search.vocabulary.setting(self._name).takes_fractions
        self._is_whole = all(isinstance(level, int) for level in levels) and not takes_fractions
        self._n_runs = search.replicates or _REPLICATES
        self._within_s = search.within_s
        self._level = self._lowest
        self._values: dict[Number, list[float]] = {}  # of each level; a failed run is infinitely bad
        self._means: dict[Number, float] = {}
        self._best: Number | None = None
        self._has_begun, self._is_doubling = False, True
        self._why = ""

    def ask(self) -> Configuration | None:
        self._has_begun = True
        self._advance()
        return None if self._why else self._others | {self._name: self._level}

    def tell(self, evaluation: Evaluation) -> None:
        """Hear of a run of any level: what was measured earlier is not asked for again."""
        told = evaluation.configuration
        if told.without(self._name) != self._others:
            return
        is_late = self._within_s is not None and evaluation.time_s is not None and evaluation.time_s > self._within_s
        value = math.inf if evaluation.value is None or is_late else evaluation.value
        self._values.setdefault(_number(told, self._name), []).append(value)
        if self._has_begun:
            self._advance()

    def _advance(self) -> None:
        while not self._why and self._is_settled(self._level):
            self._judge(fmean(self._values[self._level]))

    def _is_settled(self, level: Number) -> bool:
        values = self._values.get(level, [])
        return math.inf in values or len(values) >= self._n_runs

    def _judge(self, mean: float) -> None:
        """Take the level when it is better than all before; else go on in smaller steps, or stop."""
        is_first = not self._means
        self._means[self._level] = mean
        if mean < self._best_mean():
            self._best = self._level
        elif not is_first:
            if self._best is None:
                self._why = f"neither {self._name} = {self._lowest} nor {self._level} could be used"
            elif not self._is_doubling:
                self._why = f"{self._name} = {self._level} was no better than {self._best}"
            self._is_doubling = False
        if not self._why:
            self._step()
        if self._why:
            self._go_on_from_a_better_one()

    def _go_on_from_a_better_one(self) -> None:
        """Where the walk ends above what earlier runs of a level it never reached took, it goes on from that level."""
        heard = {level: fmean(values) for level, values in self._values.items() if level not in self._means}
        better = [level for level, mean in heard.items() if mean < self._best_mean()]
        if better:
            self._level = min(better, key=heard.__getitem__)
            self._is_doubling, self._why = True, ""

    def _step(self) -> None:
        base = self._level if self._best is None else self._best
        if self._is_doubling and 2 * base > self._highest:
            self._is_doubling = False
        following = 2 * base if self._is_doubling else min(self._tenth_above(base), self._highest)
        worse = min((level for level in self._means if level > base), default=math.inf)
        if following <= base:
            self._why = f"{self._name} = {base} is the highest level allowed"
        elif following >= worse:
            self._why = f"{self._name} = {worse} was no better than {base}, and nothing is left between them"
        else:
            self._level = following

    def _tenth_above(self, level: Number) -> Number:
        if self._is_whole:
            return max(round(_TENTH * level), int(level) + 1)
        return float(f"{_TENTH * level:.6g}")

    def _best_mean(self) -> float:
        return math.inf if self._best is None else self._means[self._best]

    @property
    def stopped_because(self) -> str:
        return self._why

    @property
    def warnings(self) -> tuple[str, ...]:
        if self._best is None:
            return ()
        found = []
        if self._best == self._lowest:
            found.append(f"the best {self._name}, {self._best}, is the lowest value tried: a lower one may be better")
        if self._best == max(self._means):
            allowed = "allowed" if self._best == self._highest else "tried"
            found.append(
                f"the best {self._name}, {self._best}, is the highest that was {allowed}: a higher one may be better"
            )
        return tuple(found)


def _varied_number(candidates: tuple[Configuration, ...]) -> str:
    names = [name for name in candidates[0] if len({candidate[name] for candidate in candidates}) > 1]
    if len(names) > 1:
        fixes = " ".join(f"`fix={ {name: candidates[0][name]} }`" for name in names[1:])
        raise StudyError(
            f"doubling searches one numeric setting, but {len(names)} settings vary: {', '.join(names)}",
            hint=f"fix all but one, e.g. {fixes}",
        )
    if not names:
        raise StudyError(
            "doubling searches one numeric setting, but no setting varies", hint="list its lowest and highest level"
        )
    return names[0]


def _number(candidate: Configuration, name: str) -> Number:
    level = candidate[name]
    if isinstance(level, str):
        raise StudyError(
            f"doubling searches a numeric setting, but {name} = {level!r} is not a number", hint="vary another setting"
        )
    return level
