"""Candidates of a table of runs: its levels in every combination, not only those that were run."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import product
from math import prod
from random import Random

from sparkcast.study.configuration import Configuration, Level, normal_level
from sparkcast.study.expression import Expression
from sparkcast.study.space import Candidates, Listed, Pool
from sparkcast.study.ties import tied_groups
from sparkcast.study.vocabulary import Vocabulary

MOST_CROSSED = 10_000  # combinations that are looked at; of more, those that were run and some by chance


@dataclass(frozen=True, slots=True)
class Crossed:
    """Groups of settings that are free of each other; each group has the combinations in which it was run.

    >>> runs = Listed(({"nodes": 1, "batch": 32}, {"nodes": 2, "batch": 64}, {"nodes": 2, "batch": 32}))
    >>> print(*crossed(runs, Vocabulary()).candidates().configurations(), sep="; ")
    nodes=1, batch=32; nodes=2, batch=64; nodes=2, batch=32; nodes=1, batch=64
    """

    groups: tuple[tuple[Configuration, ...], ...]
    listed: tuple[Configuration, ...]  # always candidates, as far as they have the levels below
    is_given: bool = False  # whether somebody gave levels beside the measured ones

    @property
    def size(self) -> int:
        return prod(len(group) for group in self.groups)

    @property
    def description(self) -> str:
        levels = f"combinations of the measured {'and the given ' if self.is_given else ''}levels"
        return f"of {self.size:,} {levels}, drawn at random" if self.is_sample else levels

    @property
    def is_sample(self) -> bool:
        return self.size > MOST_CROSSED

    def candidates(self) -> Candidates:
        """Those that were run first; in all at most MOST_CROSSED, unless more were run."""
        names = tuple(dict.fromkeys((*(self.listed[0] if self.listed else ()), *self._names())))
        found = dict.fromkeys((*(row.only(names) for row in self.listed), *self._combinations(names)))
        return Candidates.of(list(found)[: max(MOST_CROSSED, len(self.listed))], names)

    def _names(self) -> list[str]:
        return [name for group in self.groups for name in group[0]]

    def _combinations(self, names: Sequence[str]) -> Iterator[Configuration]:
        """All of them, or as many by chance as are looked at."""
        if self.size <= MOST_CROSSED:
            chosen: Iterable[tuple[Configuration, ...]] = product(*self.groups)
        else:
            draw = Random(0)
            chosen = (tuple(draw.choice(group) for group in self.groups) for _ in range(MOST_CROSSED))
        for parts in chosen:
            levels = {name: level for part in parts for name, level in part.items()}
            yield Configuration.of_normal({name: levels[name] for name in names})

    def with_levels(self, levels: Mapping[str, Sequence[Level]]) -> "Crossed":
        groups = [tuple(dict.fromkeys(c.without(*levels) for c in group)) for group in self.groups]
        new = [tuple(Configuration({name: level}) for level in own) for name, own in levels.items()]
        given = {name: {normal_level(level) for level in own} for name, own in levels.items()}
        listed = tuple(c for c in self.listed if all(c.get(name) in own for name, own in given.items()))
        kept = tuple(group for group in groups if group[0])
        return Crossed((*kept, *new), listed, self.is_given or bool(levels))

    def fixing(self, settings: Mapping[str, Level]) -> "Crossed":
        """The combinations that have the given values; where none has, all of them with these put in."""
        groups, listed = list(self.groups), Listed(self.listed).fixing(settings).configurations if self.listed else ()
        for name, value in settings.items():
            place = next((k for k, group in enumerate(groups) if name in group[0]), None)
            if place is None:
                groups.append((Configuration({name: value}),))
            else:
                groups[place] = Listed(groups[place]).fixing({name: value}).configurations
        return replace(self, groups=tuple(groups), listed=listed)

    def without_each_rule(self) -> Sequence[tuple[Expression, Pool]]:
        return ()


def crossed(listed: Listed, words: Vocabulary) -> Crossed:
    """Every combination of the listed levels; settings that are tied to each other keep the combinations they have."""
    rows, names = listed.configurations, tuple(listed.candidates().levels)
    groups = tied_groups(names, rows, words)
    return Crossed(tuple(tuple(dict.fromkeys(row.only(own) for row in rows)) for own in groups), rows)
