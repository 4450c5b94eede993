"""The settings of one run, as one value: frozen, hashable, and equal however its levels are written."""

from collections.abc import Iterable, Iterator, Mapping
from functools import lru_cache
from typing import overload

from sparkcast.units import as_number, shortest_size

Level = int | float | str
Levels = Mapping[str, Level]  # settings by name, however they are written: what functions take


class Configuration(Mapping[str, Level]):
    """Settings by name, each at its level. `1024m` is `1g`, and 2.0 and "2" are 2; the order of names does not count.

    >>> first = Configuration({"executors": 2.0, "memory": "1024m"})
    >>> first == Configuration({"memory": "1g", "executors": 2}), first["executors"]
    (True, 2)
    >>> print(first), print(first.only(["memory"])), print(first | {"executors": 4})
    executors=2, memory=1g
    memory=1g
    executors=4, memory=1g
    (None, None, None)
    """

    __slots__ = ("_hash", "_levels")
    _levels: dict[str, Level]
    _hash: int | None

    @overload
    def __init__(self, levels: Mapping[str, Level] = ...) -> None: ...

    @overload
    def __init__(self, levels: Iterable[tuple[str, Level]]) -> None: ...

    def __init__(self, levels: Mapping[str, Level] | Iterable[tuple[str, Level]] = ()) -> None:
        if isinstance(levels, Configuration):
            self._levels, self._hash = levels._levels, levels._hash
            return
        self._levels = {name: normal_level(level) for name, level in dict(levels).items()}
        self._hash = None

    @classmethod
    def of_normal(cls, levels: dict[str, Level]) -> "Configuration":
        """From levels that are known to be normal, taking the dictionary over: for many at a time."""
        made = cls.__new__(cls)
        made._levels, made._hash = levels, None
        return made

    def __getitem__(self, name: str) -> Level:
        return self._levels[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self._levels)

    def __len__(self) -> int:
        return len(self._levels)

    def __hash__(self) -> int:
        if self._hash is None:
            self._hash = hash(frozenset(self._levels.items()))
        return self._hash

    def __eq__(self, other: object) -> bool:
        if isinstance(other, Configuration):
            return self._levels == other._levels
        return self._levels == Configuration(other)._levels if isinstance(other, Mapping) else NotImplemented

    def __or__(self, other: Mapping[str, Level]) -> "Configuration":
        """These settings with others added or in their place."""
        return Configuration.of_normal({**self._levels, **Configuration(other)._levels})

    def __reduce__(self) -> tuple[type["Configuration"], tuple[dict[str, Level]]]:
        return Configuration, (self._levels,)

    def __repr__(self) -> str:
        return f"Configuration({self._levels!r})"

    def __str__(self) -> str:
        return ", ".join(f"{name}={level}" for name, level in self._levels.items())

    def only(self, names: Iterable[str]) -> "Configuration":
        """Restricted to these settings, in this order; those it does not have are passed over."""
        own = self._levels
        return Configuration.of_normal({name: own[name] for name in names if name in own})

    def without(self, *names: str) -> "Configuration":
        return Configuration.of_normal({name: level for name, level in self._levels.items() if name not in names})

    def includes(self, other: Mapping[str, Level]) -> bool:
        """Whether it has every one of these settings at the same level."""
        return all(name in self and self[name] == normal_level(level) for name, level in other.items())


@lru_cache(maxsize=65536, typed=True)
def normal_level(level: Level) -> Level:
    """The one way to write a level.

    >>> [normal_level(level) for level in (2.0, "2", 0.5, "1024m", "1536m", "1gb", "adam", "4k")]
    [2, 2, 0.5, '1g', '1536m', '1g', 'adam', '4k']
    """
    if isinstance(level, bool):
        return int(level)
    if isinstance(level, str):
        number = as_number(level)
        if number is None:
            return level
        if level.strip()[-1].isalpha():
            return shortest_size(int(number))
        level = number
    return int(level) if isinstance(level, float) and level.is_integer() and abs(level) < 2**53 else level


def same_level(a: Level, b: Level) -> bool:
    """Equal as settings: 2 and 2.0 and "2" are one level, and so are "1g" and "1024m".

    >>> same_level("1g", "1024m"), same_level(2, "2"), same_level("adam", "sgd")
    (True, True, False)
    """
    return normal_level(a) == normal_level(b)


def repeated(levels: Iterable[Level]) -> Level | None:
    """The first level that stands there twice."""
    seen: set[Level] = set()
    return next((level for level in levels if level in seen or seen.add(level)), None)  # type: ignore[func-returns-value]


def natural_order(values: Iterable[Level]) -> tuple[Level, ...]:
    """The different values: numbers and sizes by size, then categories as they came.

    >>> natural_order(["4g", "lenet5", 2, "1g", 2])
    (2, '1g', '4g', 'lenet5')
    """
    seen = dict.fromkeys(map(normal_level, values))
    numbers = {value: as_number(value) for value in seen}
    ordered = sorted((v for v in seen if numbers[v] is not None), key=lambda v: numbers[v] or 0.0)
    return (*ordered, *(v for v in seen if numbers[v] is None))
