"""Whether runs tell what happens where the data no longer fit into memory.

Times jump there, many times over, and only a run on the other side shows it.
"""

from collections.abc import Iterable, Sequence
from math import prod

from sparkcast.study import Configuration, Kind, Observation, Role, Vocabulary
from sparkcast.study.configuration import Levels
from sparkcast.study.setting import SIZES
from sparkcast.units import as_number

_SHORTER = 1.1  # times the data for the same memory: less is no step


def shortage_note(runs: Iterable[Observation], at: Levels, factors: Sequence[str], words: Vocabulary, told: str) -> str:
    """Where more data share less memory than in any run, that nobody knows whether they fit; empty elsewhere."""
    memory = words.first(Role.MEMORY, among=factors)
    if memory is None or words.response(told).kind is not Kind.TIME:
        return ""
    machines = words.first(Role.MACHINES, among=factors)
    data = [name for role in SIZES if (name := words.first(role, among=factors))]
    below = [name for name in (memory, machines) if name]
    asked = _ratio(at, data, below)
    known = [found for run in runs if (found := _ratio(run.configuration, data, below)) is not None]
    if asked is None or not known or asked <= _SHORTER * max(known):
        return ""
    shared = Configuration({name: at[name] for name in (*data, *below)})
    return f"no run had so little memory for its data; where they do not fit, times jump. A run at {shared} would tell"


def _ratio(at: Levels, above: Sequence[str], below: Sequence[str]) -> float | None:
    """The product of some settings over that of others; None where one is no positive number."""
    numbers = {name: as_number(at[name]) if name in at else None for name in (*above, *below)}
    positive = {name: number for name, number in numbers.items() if number is not None and number > 0}
    if len(positive) < len(numbers):
        return None
    return prod(positive[name] for name in above) / prod(positive[name] for name in below)
