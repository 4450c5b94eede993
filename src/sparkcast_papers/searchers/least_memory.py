"""The least memory that is enough, by bisection: the grid that myung2020 searched by hand for its partition sizes."""

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field

from sparkcast.errors import StudyError
from sparkcast.search.base import SEARCHERS, Cell, Evaluation, Search, SearchTable
from sparkcast.study import Configuration, Outcome, Role, Vocabulary
from sparkcast.units import as_number

# More of it never needs less memory. More machines may: each then has less to do.
_NEEDS_NO_LESS = (Role.CORES, Role.BATCH, Role.DATA_SIZE, Role.FRACTION, Role.OTHER)
_SHOWN = 3


@dataclass(slots=True)
class _Combination:
    """Levels of the settings beside memory, and what is known of the memory they need."""

    others: Configuration
    levels: dict[int, Configuration]  # bytes -> candidate, from little to much
    failed: set[int] = field(default_factory=set)  # bytes that ran out of memory
    worked: set[int] = field(default_factory=set)
    undecided: dict[int, str] = field(default_factory=dict)  # bytes -> how its run ended otherwise
    needs_no_less: list["_Combination"] = field(default_factory=list)  # those whose every amount is at least as large
    needs_no_more: list["_Combination"] = field(default_factory=list)

    @property
    def low(self) -> float:
        """The most memory that was not enough, for it or for what needs no more."""
        return max((size for other in self.needs_no_more for size in other.failed), default=-math.inf)

    @property
    def high(self) -> float:
        """The least memory that was enough, for it or for what needs no less, above all that was not."""
        low = self.low
        return min((s for other in self.needs_no_less for s in other.worked if s > low), default=math.inf)

    @property
    def open(self) -> list[int]:
        """Levels of which it is not known yet whether they are enough."""
        low, high = self.low, self.high
        return [size for size in self.levels if low < size < high and size not in self.undecided]

    @property
    def least(self) -> int | None:
        """The least level known to be enough."""
        high = self.high
        return next((size for size in self.levels if size >= high), None)

    @property
    def n_runs(self) -> int:
        return len({*self.failed, *self.worked, *self.undecided})


@SEARCHERS.register("least-memory")
class LeastMemory:
    """Bisects for the least memory that does not run out, for each combination of the other settings (myung2020)."""

    def __init__(self, search: Search) -> None:
        found = search.vocabulary.first(Role.MEMORY, among=search.candidates[0])
        if found is None or len({candidate[found] for candidate in search.candidates}) < 2:
            raise StudyError(
                "least-memory needs a memory setting with several levels",
                hint="list them, e.g. memory: [1g, 2g, 4g]; another name needs roles: {NAME: memory}",
            )
        self._memory = found
        self._size = search.vocabulary.setting(found).bytes
        self._n_candidates = len({*search.candidates})
        self._combinations = _combinations(search, found)
        self._by_others = {combination.others: combination for combination in self._combinations}

    def ask(self) -> Configuration | None:
        left = {combination.others: combination.open for combination in self._combinations}
        middles = [(c, sizes[(len(sizes) - 1) // 2]) for c in self._combinations if (sizes := left[c.others])]
        if not middles:
            return None
        combination, size = max(middles, key=lambda middle: _settled(middle[0], middle[1], left))
        return combination.levels[size]

    def tell(self, evaluation: Evaluation) -> None:
        told = evaluation.configuration
        combination = self._by_others.get(told.without(self._memory))
        if combination is None:
            return
        size = self._size(told[self._memory])
        if evaluation.outcome is Outcome.OOM:
            combination.failed.add(size)
        elif evaluation.value is not None:
            combination.worked.add(size)
        else:
            combination.undecided[size] = "refused" if evaluation.outcome is None else evaluation.outcome.value

    @property
    def stopped_because(self) -> str:
        if self.ask() is not None:
            return ""
        n = len(self._combinations)
        what = "" if n == 1 else f" for each of {n} combinations"
        return f"what these levels can tell about the least {self._memory}{what} is known"

    @property
    def warnings(self) -> tuple[str, ...]:
        return (*self._contradictions(), *self._gaps(), *self._at_the_edge())

    def findings(self) -> SearchTable:
        names = tuple(self._combinations[0].others)
        rows = tuple(
            (*(combination.others[name] for name in names), self._answer(combination), combination.n_runs)
            for combination in self._combinations
        )
        n_runs = sum(combination.n_runs for combination in self._combinations)
        return SearchTable(
            title=f"least {self._memory} that is enough",
            columns=(*names, self._memory, "runs"),
            rows=rows,
            note=f"{n_runs} runs; all {self._n_candidates} combinations of the levels would be a run each",
        )

    def _answer(self, combination: _Combination) -> Cell:
        least, is_open = combination.least, bool(combination.open)
        if least is None:
            return "unknown" if is_open or combination.undecided else f"more than {self._level(combination, -1)}"
        return f"at most {self._level(combination, least)}" if is_open else self._level(combination, least)

    def _level(self, combination: _Combination, size: int) -> Cell:
        return combination.levels[max(combination.levels) if size < 0 else size][self._memory]

    def _show(self, combination: _Combination, size: int) -> str:
        shown = f"{self._memory} = {combination.levels[size][self._memory]}"
        return f"{shown} at {combination.others}" if combination.others else shown

    def _contradictions(self) -> Iterable[str]:
        """Runs that ran out of memory with no less of it than one that worked and needed no less."""
        for combination in self._combinations:
            for size in sorted(combination.failed):
                better = [(o, s) for o in combination.needs_no_less for s in o.worked if s <= size]
                if better:
                    other, enough = better[0]
                    yield (
                        f"{self._show(combination, size)} ran out of memory, but {self._show(other, enough)} did not: "
                        "more memory or smaller amounts do not always help, so take the least levels with care"
                    )

    def _gaps(self) -> Iterable[str]:
        for combination in self._combinations:
            for size in sorted(combination.undecided):
                if combination.low < size < combination.high:
                    yield (
                        f"{self._show(combination, size)} ended as {combination.undecided[size]}, which does not tell "
                        "whether the memory is enough"
                    )

    def _at_the_edge(self) -> Iterable[str]:
        lowest = [c for c in self._combinations if c.least is not None and c.least == min(c.levels)]
        if lowest:
            shown = "; ".join(self._show(combination, min(combination.levels)) for combination in lowest[:_SHOWN])
            more = f" and {len(lowest) - _SHOWN} more" if len(lowest) > _SHOWN else ""
            yield f"the lowest level is enough ({shown}{more}): less may be too"


def _combinations(search: Search, memory: str) -> list[_Combination]:
    size = search.vocabulary.setting(memory).bytes
    grouped: dict[Configuration, dict[int, Configuration]] = {}
    for candidate in search.candidates:
        grouped.setdefault(candidate.without(memory), {})[size(candidate[memory])] = candidate
    made = [_Combination(others, dict(sorted(levels.items()))) for others, levels in grouped.items()]
    for one in made:
        one.needs_no_less = [other for other in made if _needs_no_less(other.others, one.others, search.vocabulary)]
        one.needs_no_more = [other for other in made if _needs_no_less(one.others, other.others, search.vocabulary)]
    return made


def _needs_no_less(a: Configuration, b: Configuration, words: Vocabulary) -> bool:
    """Whether each amount of `a` is at least that of `b`; what is no amount, or splits the work, has to be equal."""

    def is_no_less(name: str) -> bool:
        if a[name] == b[name]:
            return True
        more, less = as_number(a[name]), as_number(b[name])
        return words.setting(name).role in _NEEDS_NO_LESS and more is not None and less is not None and more > less

    return a.keys() == b.keys() and all(map(is_no_less, a))


def _settled(combination: _Combination, size: int, left: Mapping[Configuration, Sequence[int]]) -> int:
    """How many of the levels that are left a run with this memory decides at least, whichever way it ends."""
    if_enough = sum(s >= size for other in combination.needs_no_more for s in left[other.others])
    if_not = sum(s <= size for other in combination.needs_no_less for s in left[other.others])
    return min(if_enough, if_not)
