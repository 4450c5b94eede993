"""What a run holds, for whoever has neither a quality to win nor a price to pay: machines or cores, times how long."""

from collections.abc import Callable, Collection
from dataclasses import dataclass
from math import prod

import numpy as np

from sparkcast.arrays import Floats
from sparkcast.recommend.evaluation import RunRecord
from sparkcast.study import Role, Vocabulary
from sparkcast.study.configuration import Levels
from sparkcast.study.space import Candidates

CORE_SECONDS, MACHINE_SECONDS = "core_seconds", "machine_seconds"


@dataclass(frozen=True, slots=True)
class Resources:
    """The settings that say how much a run holds at once."""

    name: str  # of what these times the time is
    settings: tuple[str, ...]
    counts_alike: bool = False  # machines of different types, of which nothing else is known

    def held(self, candidates: Candidates, known: RunRecord) -> Floats:
        """How much each candidate holds: the product of its settings."""
        found = np.ones(len(candidates))
        for name in self.settings:
            number = known.words.setting(name).number
            if name in candidates.levels:
                found *= np.array([number(level) for level in candidates.levels[name]])[candidates.position(name)]
            else:
                found *= number(known.constants[name])
        return found

    def held_by(self, configuration: Levels, words: Vocabulary) -> float:
        """How much one run holds."""
        return prod(words.setting(name).number(configuration[name]) for name in self.settings)

    def why(self, time: str) -> str:
        product = " x ".join((*self.settings, "time"))
        alike = "; machines of all types count the same" if self.counts_alike else ""
        return (
            f"Neither an accuracy nor a price is known, so the fewest {self.name.replace('_', '-')} ({product}) win; "
            f"`minimize={time!r}` asks for the shortest time{alike}"
        )


def resources_of(words: Vocabulary, factors: Collection[str], constants: Collection[str]) -> Resources | None:
    """Cores where they are known, else machines; None where they are the same in all runs, or unknown."""
    first = _first_among(words, (*factors, *constants))
    machines, cores, total = first(Role.MACHINES), first(Role.CORES), first(Role.TOTAL_CORES)
    if cores is not None:
        found = Resources(CORE_SECONDS, tuple(name for name in (machines, cores) if name is not None))
    elif total is not None:
        found = Resources(CORE_SECONDS, (total,))
    elif machines is not None:
        found = Resources(MACHINE_SECONDS, (machines,), first(Role.MACHINE_TYPE) in factors)
    else:
        return None
    return found if set(found.settings) & set(factors) else None


def _first_among(words: Vocabulary, names: tuple[str, ...]) -> Callable[[Role], str | None]:
    return lambda role: words.first(role, among=names)
