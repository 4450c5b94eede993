"""Which settings of a table are not free of each other: a machine type fixes its cores, nodes times cores is a total.

Combining the levels of such settings would make machines that do not exist. Two settings are tied when

- one follows from the other: each of its levels was only ever run with one level of the other, so often that chance
  hardly does it;
- one is the type of a machine, and the other what the machine has, as far as the runs show;
- both are numbers that rise and fall together, so that no run tells them apart;
- one is a category of which no level was run twice: nothing is known of it but its own row;

and three are tied when one follows from the two others like a product or a sum does: in one direction along each.
Columns of an orthogonal design are free of each other, also where its generators make one of two others: such a column
rises along another here and falls there.
"""

from collections import defaultdict
from collections.abc import Iterator, Sequence
from itertools import combinations, pairwise, permutations

from sparkcast.study.configuration import Configuration, Level
from sparkcast.study.setting import Role
from sparkcast.study.vocabulary import Vocabulary
from sparkcast.units import as_number

_CHANCE = 0.01  # with which levels that are free of each other would look tied
_OF_A_MACHINE = (Role.CORES, Role.MEMORY)
_FEWEST = 3  # levels from which on rising together is no accident


def tied_groups(names: Sequence[str], rows: Sequence[Configuration], words: Vocabulary) -> list[tuple[str, ...]]:
    """The settings in groups that are free of each other, in their order.

    >>> types = {"s": 2, "m": 4, "l": 8}.items()
    >>> runs = [Configuration({"type": t, "cores": c, "nodes": n}) for t, c in types for n in (1, 2, 4)]
    >>> tied_groups(("type", "cores", "nodes"), runs, Vocabulary())
    [('type', 'cores'), ('nodes',)]
    """
    columns = _Columns(names, rows, words)
    group = {name: name for name in names}

    def root(name: str) -> str:
        return name if group[name] == name else root(group[name])

    for tied in columns.ties():
        for one in tied[1:]:
            group[root(one)] = root(tied[0])
    members: dict[str, list[str]] = defaultdict(list)
    for name in names:
        members[root(name)].append(name)
    return [tuple(own) for own in members.values()]


class _Columns:
    def __init__(self, names: Sequence[str], rows: Sequence[Configuration], words: Vocabulary) -> None:
        self._names, self._words = names, words
        self._rows = list(dict.fromkeys(row.only(names) for row in rows))
        levels = {name: dict.fromkeys(row[name] for row in self._rows) for name in names}
        self._n_levels = {name: len(own) for name, own in levels.items()}
        self._is_number = {name: all(as_number(level) is not None for level in own) for name, own in levels.items()}

    def ties(self) -> Iterator[tuple[str, ...]]:
        pairs = [pair for pair in permutations(self._names, 2) if self._is_tied(*pair)]
        yield from pairs
        followers = {name for _, name in pairs}
        for name in self._names:
            if name not in followers and self._is_number[name]:
                others = [other for other in self._names if other != name]
                for one, other in combinations(others, 2):
                    if self._is_product(one, other, name):
                        yield name, one, other

    def _is_tied(self, name: str, other: str) -> bool:
        """Whether `other` follows from `name`."""
        if self._n_levels[other] < 2 or self._by((name,), other) is None:
            return False
        if not self._is_number[name]:
            is_machine = self._words.role(name) is Role.MACHINE_TYPE and self._words.role(other) in _OF_A_MACHINE
            if is_machine or self._n_levels[name] == len(self._rows):
                return True
        elif self._is_number[other] and self._rise_together(name, other):
            return True
        return self._chance((name,), other) < _CHANCE

    def _is_product(self, one: str, other: str, name: str) -> bool:
        found = self._by((one, other), name)
        return (
            found is not None
            and self._chance((one, other), name) < _CHANCE
            and self._is_one_way(one, other, name)
            and self._is_one_way(other, one, name)
        )

    def _by(self, names: Sequence[str], other: str) -> dict[tuple[Level, ...], Level] | None:
        """What `other` is for each of the levels of `names`; None when it is not always the same."""
        found: dict[tuple[Level, ...], Level] = {}
        for row in self._rows:
            if found.setdefault(tuple(row[name] for name in names), row[other]) != row[other]:
                return None
        return found

    def _chance(self, names: Sequence[str], other: str) -> float:
        """How likely free levels would look like this: every row but the first with the same levels agrees with it."""
        counts: dict[Level, int] = defaultdict(int)
        for row in self._rows:
            counts[row[other]] += 1
        agree = sum((n / len(self._rows)) ** 2 for n in counts.values())
        n_groups = len({tuple(row[name] for name in names) for row in self._rows})
        return float(agree ** (len(self._rows) - n_groups))

    def _rise_together(self, name: str, other: str) -> bool:
        places = sorted({(_number(row, name), _number(row, other)) for row in self._rows})
        steps = [after[1] - before[1] for before, after in pairwise(places)]
        is_monotone = all(step > 0 for step in steps) or all(step < 0 for step in steps)
        return len(places) >= _FEWEST and len(places) == self._n_levels[name] and is_monotone

    def _is_one_way(self, along: str, at: str, name: str) -> bool:
        """Whether `name` always rises along a setting, or always falls, where the other stays."""
        if not self._is_number[along]:
            return True
        lines: dict[Level, set[tuple[float, float]]] = defaultdict(set)
        for row in self._rows:
            lines[row[at]].add((_number(row, along), _number(row, name)))
        steps = [after[1] - before[1] for line in lines.values() for before, after in pairwise(sorted(line))]
        return bool(steps) and (all(step > 0 for step in steps) or all(step < 0 for step in steps))


def _number(row: Configuration, name: str) -> float:
    number = as_number(row[name])
    assert number is not None
    return number
