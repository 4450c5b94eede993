"""Candidates: every combination of settings that the rules allow, found without listing the ones they exclude, or what
somebody listed."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import product
from math import prod
from typing import TYPE_CHECKING, Any, Protocol

from sparkcast.arrays import Array, Bools, Ints
from sparkcast.errors import StudyError
from sparkcast.study._evaluator import as_column
from sparkcast.study.configuration import Configuration, Level, Levels, natural_order, normal_level, repeated
from sparkcast.study.expression import Expression
from sparkcast.units import as_number

if TYPE_CHECKING:
    import numpy as np

MOST = 5_000_000  # candidates; more would fill the memory of a laptop
MOST_COUNTED = 2**18  # combinations of settings that rules tie together, up to which they are listed
_DRAWS = 64  # of twice the combinations that a sample shall have, until so many were found
_TABLE = 2**16  # a rule over settings with fewer combinations is evaluated once for each, then looked up
_BLOCK = 2**20  # combinations looked at together

_FALSE, _TRUE, _NO_VALUE = 0, 1, 2  # verdicts of a rule

_Columns = dict[str, Array]  # for each setting one array, the positions among its levels


@dataclass(frozen=True, slots=True, eq=False)
class Candidates:
    """Combinations of levels, in little memory: each is a row of positions among the levels.

    >>> found = Candidates.of([{"cores": 4, "network": "vgg"}, {"cores": 2, "network": "vgg"}], ["cores", "network"])
    >>> found.levels["cores"], found.codes.tolist(), found.column("cores").tolist()
    ((2, 4), [[1, 0], [0, 0]], [4.0, 2.0])
    """

    levels: Mapping[str, tuple[Level, ...]]
    codes: Array  # of small integers, one row for each candidate, one column for each name in `levels`

    @classmethod
    def of(cls, given: Sequence[Levels], names: Sequence[str]) -> "Candidates":
        """These settings of given configurations; the levels are the values that occur, in their natural order."""
        configurations = [Configuration(levels) for levels in given]
        for configuration in configurations:
            if missing := [name for name in names if name not in configuration]:
                raise StudyError(
                    f"a candidate has no {missing[0]!r}: {configuration}", hint="include it in every candidate"
                )
        levels = {name: natural_order(configuration[name] for configuration in configurations) for name in names}
        codes = {name: {level: i for i, level in enumerate(own)} for name, own in levels.items()}
        columns = {
            name: [code[configuration[name]] for configuration in configurations] for name, code in codes.items()
        }
        return cls(levels, _codes(levels, columns, len(configurations)))

    def __len__(self) -> int:
        return int(self.codes.shape[0])

    def configuration(self, i: int) -> Configuration:
        return self.configurations([i])[0]

    def configurations(self, rows: Ints | Sequence[int] | None = None) -> list[Configuration]:
        """All of them, or the ones at these rows."""
        codes = self.codes if rows is None else self.codes[rows]
        if not self.levels:
            return [Configuration() for _ in codes]
        columns = [[own[code] for code in codes[:, i].tolist()] for i, own in enumerate(self.levels.values())]
        of_normal = Configuration.of_normal
        return [of_normal(dict(zip(self.levels, values, strict=True))) for values in zip(*columns, strict=True)]

    def column(self, name: str) -> Array:
        """The numbers behind the levels of this setting, or the levels themselves when one of them is no number."""
        import numpy as np

        numbers = [as_number(level) for level in self.levels[name]]
        is_category = any(number is None for number in numbers)
        values = np.array(self.levels[name], dtype=object) if is_category else np.array(numbers, dtype=float)
        return values[self.position(name)]

    def position(self, name: str) -> Array:
        """The positions among the levels of this setting."""
        return self.codes[:, list(self.levels).index(name)]

    def take(self, rows: Ints | Bools | slice) -> "Candidates":
        return Candidates(self.levels, self.codes[rows])

    def only(self, names: Sequence[str]) -> "Candidates":
        """Restricted to these settings, in this order; those that are then the same are one."""
        places = [list(self.levels).index(name) for name in names]
        return Candidates({name: self.levels[name] for name in names}, _different(self.codes[:, places]))


class Pool(Protocol):
    """Where candidates come from: what rules allow of some levels, or what somebody listed."""

    @property
    def description(self) -> str:
        """What the candidates are, for people: "combinations of the levels"."""
        ...

    @property
    def is_sample(self) -> bool:
        """Whether there are more than `candidates` gives."""
        ...

    def candidates(self) -> Candidates: ...

    def with_levels(self, levels: Mapping[str, Sequence[Level]]) -> "Pool":
        """With other values for some settings, each of them combined with all others."""
        ...

    def fixing(self, settings: Mapping[str, Level]) -> "Pool":
        """With these settings given: any value, not only one that a candidate has."""
        ...

    def without_each_rule(self) -> "Sequence[tuple[Expression, Pool]]":
        """For each rule, what there is without it."""
        ...


@dataclass(frozen=True, slots=True)
class Listed:
    """Configurations that somebody listed.

    >>> listed = Listed(({"executors": 1, "memory": "1g"}, {"executors": 2, "memory": "2g"}))
    >>> print(*listed.fixing({"executors": 2}).candidates().configurations())
    executors=2, memory=2g
    """

    configurations: tuple[Configuration, ...]

    def __post_init__(self) -> None:
        if not self.configurations:
            raise StudyError("there are no candidates to choose from", hint="provide at least one configuration")
        object.__setattr__(self, "configurations", tuple(dict.fromkeys(map(Configuration, self.configurations))))

    @property
    def description(self) -> str:
        return "listed configurations"

    @property
    def is_sample(self) -> bool:
        return False

    def candidates(self) -> Candidates:
        names = dict.fromkeys(name for configuration in self.configurations for name in configuration)
        return Candidates.of(self.configurations, tuple(names))

    def with_levels(self, levels: Mapping[str, Sequence[Level]]) -> "Listed":
        others = dict.fromkeys(c.without(*levels) for c in self.configurations)
        if len(others) * prod(len(own) for own in levels.values()) > MOST:
            raise _too_many(levels)
        values = [dict(zip(levels, chosen, strict=True)) for chosen in product(*levels.values())]
        return Listed(tuple(c | given for c in others for given in values))

    def fixing(self, settings: Mapping[str, Level]) -> "Listed":
        """Those that have the given values, or all of them with these put in."""
        left = self.configurations
        for name, value in settings.items():
            same = tuple(c for c in left if c.includes({name: value}))
            left = same or tuple(c | {name: value} for c in left)
        return Listed(left)

    def without_each_rule(self) -> Sequence[tuple[Expression, Pool]]:
        return ()


@dataclass(frozen=True, slots=True)
class Space:
    """The levels of the settings that vary, and the rules between them. Rules may use the fixed settings too.

    >>> space = Space({"executors": (1, 2, 4), "cores": (1, 2)}, rules=(Expression("executors * cores <= 2"),))
    >>> [str(found) for found in space.candidates().configurations()]
    ['executors=1, cores=1', 'executors=1, cores=2', 'executors=2, cores=1']
    """

    levels: Mapping[str, tuple[Level, ...]]
    fixed: Configuration = field(default_factory=Configuration)
    rules: tuple[Expression, ...] = ()

    def __post_init__(self) -> None:
        object.__setattr__(self, "levels", {name: tuple(map(normal_level, own)) for name, own in self.levels.items()})
        object.__setattr__(self, "fixed", Configuration(self.fixed))
        for name, own in self.levels.items():
            if not own:
                raise StudyError(f"setting {name!r} has no levels", hint="give at least one")
            if len(set(own)) < len(own):
                raise StudyError(f"setting {name!r} repeats a level: {repeated(own)!r}", hint="list each level once")
            if name in self.fixed:
                raise StudyError(f"setting {name!r} is both varied and fixed", hint="choose one")

    def as_plain(self) -> dict[str, Any]:
        """As plain data, to be written down."""
        levels = {name: list(own) for name, own in self.levels.items()}
        return {"levels": levels, "fixed": dict(self.fixed), "rules": [rule.text for rule in self.rules]}

    @classmethod
    def from_plain(cls, plain: Mapping[str, Any]) -> "Space":
        levels = {str(name): tuple(own) for name, own in plain["levels"].items()}
        return cls(levels, Configuration(plain["fixed"]), tuple(Expression(text) for text in plain["rules"]))

    @property
    def description(self) -> str:
        return f"combinations of the levels{' that the rules allow' if self.rules else ''}"

    @property
    def is_sample(self) -> bool:
        return False

    @property
    def size(self) -> int:
        """How many combinations there are, whatever the rules say."""
        return prod(len(own) for own in self.levels.values())

    def fixing(self, settings: Mapping[str, Level]) -> "Space":
        """With these settings given: any value, not only one of the levels."""
        return self.with_levels({name: (value,) for name, value in settings.items()})

    def with_levels(self, levels: Mapping[str, Sequence[Level]]) -> "Space":
        """With other levels for some settings, and settings it does not have yet."""
        fixed = self.fixed.without(*levels)
        return replace(self, levels={**self.levels, **{name: tuple(own) for name, own in levels.items()}}, fixed=fixed)

    def without_each_rule(self) -> Sequence[tuple[Expression, Pool]]:
        return [(rule, replace(self, rules=tuple(r for r in self.rules if r != rule))) for rule in self.rules]

    def allows(self, configurations: Sequence[Configuration]) -> Bools:
        """Which of these the rules allow, as an array. They may have any values, not only the levels.

        As among the candidates, one that a rule excludes is excluded, even where another rule has no value.
        """
        import numpy as np

        for rule in self.rules:
            rule.require_names((*(configurations[0] if configurations else self.levels), *self.fixed))
        used = {name for rule in self.rules for name in rule.names}
        columns = {name: [c[name] if name in c else self.fixed[name] for c in configurations] for name in used}
        verdicts = [rule.verdicts(columns, len(configurations)) for rule in self.rules]
        kept = np.ones(len(configurations), dtype=bool)
        for holds, fails in verdicts:
            kept &= holds | fails
        for rule, (_, fails) in zip(self.rules, verdicts, strict=True):
            for row in np.flatnonzero(kept & fails)[:1]:
                rule.evaluate({name: column[row] for name, column in columns.items()})  # raises, and says why
        return kept

    def candidates(self) -> Candidates:
        """What the rules allow, in the order of `itertools.product` over the levels.

        A combination that one rule excludes is excluded, even where another rule has no value. Raises StudyError for a
        combination that no rule excludes and one has no value for, and for more than `MOST` combinations.
        """
        checks = self._checks()
        parts = self._parts(checks, MOST)
        _refuse_more_than_most(parts)
        codes = _codes(self.levels, _crossed(parts), prod(part.size for part in parts))
        return _valued(Candidates(self.levels, _in_order(codes, self.levels)), checks)

    def count(self) -> int | None:
        """How many the rules allow; None where that is not known without listing very many."""
        parts = self._parts(self._checks(), MOST_COUNTED)
        return None if any(part.open for part in parts) else prod(part.size for part in parts)

    def sample(self, n: int, seed: int = 0) -> Candidates:
        """`n` different ones of what the rules allow, by chance, each equally likely.

        Settings that no rule ties together are drawn separately, from all combinations that the rules allow. Where
        these are too many to list, what the rules exclude is drawn too and thrown away: fewer than `n` may be found.
        """
        import numpy as np

        checks = self._checks()
        parts = self._parts(checks, MOST_COUNTED)
        if not any(part.open for part in parts) and prod(part.size for part in parts) <= n:
            return self.candidates()
        random, size = np.random.default_rng(seed), max(2**10, 2 * n)
        codes = _codes(self.levels, dict.fromkeys(self.levels, ()), 0)
        for _ in range(_DRAWS):
            if len(codes) >= n:
                break
            columns = {name: own for part in parts for name, own in part.drawn(random, self.levels, size).items()}
            kept = np.ones(size, dtype=bool)
            for check in (check for part in parts for check in part.waiting):
                kept &= check.keeps(columns, size)
            codes = _different(np.concatenate([codes, _codes(self.levels, columns, size)[kept]]))
        return _valued(Candidates(self.levels, codes[:n]), checks)

    def _checks(self) -> "list[_Check]":
        for rule in self.rules:
            rule.require_names((*self.levels, *self.fixed))
        return [_Check.of(rule, self) for rule in self.rules]

    def _parts(self, checks: "Sequence[_Check]", most: int) -> "list[_TiedSettings]":
        """The settings that rules tie together, and what these allow of each part; at most `most` are listed."""
        import numpy as np

        if all(check.may_hold for check in checks):
            parts = [_grown(self.levels, names, own, most) for names, own in _independent_parts(self.levels, checks)]
            if all(part.size for part in parts):
                return parts
        return [_TiedSettings(dict.fromkeys(self.levels, np.zeros(0, dtype=np.int8)), 0)]


# ---------------------------------------------------------------- rules


@dataclass(frozen=True, slots=True, eq=False)
class _Check:
    """A rule, with its verdict on each combination of the settings it uses where these are few."""

    rule: Expression
    values: Mapping[str, Array]  # of each varied setting it uses, its levels as an array
    fixed: Configuration
    table: Array | None = None  # the verdicts, by the positions of the levels

    @classmethod
    def of(cls, rule: Expression, space: Space) -> "_Check":
        import numpy as np

        values = {name: as_column(own) for name, own in space.levels.items() if name in rule.names}
        check = cls(rule, values, space.fixed.only(rule.names))
        shape = tuple(len(own) for own in values.values())
        if prod(shape) > _TABLE:
            return check
        grid = np.indices((1, *shape)).reshape(len(shape) + 1, -1)[1:]
        verdicts = check._verdicts(dict(zip(values, grid, strict=True)), prod(shape))
        return replace(check, table=verdicts.reshape(shape))

    @property
    def names(self) -> set[str]:
        return set(self.values)

    @property
    def may_hold(self) -> bool:
        return self.table is None or bool(self.table.any())

    def growth(self, present: Iterable[str]) -> float:
        """How many times as many combinations there will be when the settings it lacks and the rule are applied."""
        lacking = prod(len(own) for name, own in self.values.items() if name not in present)
        return lacking * (1.0 if self.table is None else float((self.table > _FALSE).mean()))

    def keeps(self, columns: _Columns, size: int) -> Bools:
        """Which combinations it does not exclude."""
        if self.table is not None:
            return self.table[tuple(columns[name] for name in self.values)] > _FALSE
        return self._verdicts(columns, size) > _FALSE

    def raise_if_without_value(self, found: Candidates) -> None:
        """For candidates that it keeps."""
        if len(found) and (self.table is None or (self.table == _NO_VALUE).any()):
            self.rule.evaluate_columns(self._settings({name: found.position(name) for name in self.values}))

    def _verdicts(self, columns: _Columns, size: int) -> Array:
        import numpy as np

        holds, fails = self.rule.verdicts(self._settings(columns), size)
        return np.where(fails, _NO_VALUE, np.where(holds, _TRUE, _FALSE)).astype(np.int8)

    def _settings(self, columns: _Columns) -> dict[str, Level | Array]:
        return {**self.fixed, **{name: own[columns[name]] for name, own in self.values.items()}}


# ---------------------------------------------------------------- growing


def _independent_parts(
    levels: Mapping[str, tuple[Level, ...]], checks: Iterable[_Check]
) -> Iterator[tuple[set[str], list[_Check]]]:
    """Settings that rules tie together, with these rules: what one part allows does not depend on another."""
    parts: list[tuple[set[str], list[_Check]]] = [({name}, []) for name in levels]
    for check in checks:
        tied = [part for part in parts if part[0] & check.names]
        if tied:
            merged = (set().union(*(names for names, _ in tied)), [c for _, own in tied for c in own] + [check])
            parts[parts.index(tied[0])] = merged
            parts = [part for part in parts if part not in tied[1:]]
    return iter(parts)


@dataclass(frozen=True, slots=True, eq=False)
class _TiedSettings:
    """Combinations of settings that rules tie together."""

    columns: _Columns  # what the rules allow of the settings that were listed
    size: int
    open: tuple[str, ...] = ()  # the other settings, with which there would be too many
    waiting: tuple[_Check, ...] = ()  # the rules about those

    def drawn(self, random: "np.random.Generator", levels: Mapping[str, tuple[Level, ...]], n: int) -> _Columns:
        """n by chance, whatever the waiting rules say."""
        rows = random.integers(0, self.size, n)
        return {
            **{name: column[rows] for name, column in self.columns.items()},
            **{name: random.integers(0, len(levels[name]), n) for name in self.open},
        }


def _grown(
    levels: Mapping[str, tuple[Level, ...]], names: set[str], checks: Sequence[_Check], most: int
) -> _TiedSettings:
    """What the checks keep of the combinations of these settings, setting by setting.

    The next settings are those of the rule that leaves the fewest combinations.
    """
    columns: _Columns = {}
    size, waiting = 1, list(checks)
    while missing := names - set(columns):
        lacking = missing & min(waiting, key=lambda check: check.growth(columns)).names if waiting else missing
        name = min((name for name in levels if name in lacking), key=lambda name: len(levels[name]))
        ready = [check for check in waiting if check.names <= {*columns, name}]
        grown = _extended(columns, size, name, len(levels[name]), ready, most)
        if grown is None:
            return _TiedSettings(columns, size, tuple(name for name in levels if name in missing), tuple(waiting))
        columns, size = grown, grown[name].size
        waiting = [check for check in waiting if check not in ready]
    return _TiedSettings(columns, size)


def _extended(
    columns: _Columns, size: int, name: str, n_levels: int, checks: Sequence[_Check], most: int
) -> _Columns | None:
    """Every combination with every level of one more setting, as far as the checks keep them; None for too many."""
    import numpy as np

    step = max(1, _BLOCK // n_levels)
    blocks, total = [], 0
    for start in range(0, size, step):
        length = min(step, size - start)
        block = {own: np.repeat(column[start : start + step], n_levels) for own, column in columns.items()}
        block[name] = np.tile(np.arange(n_levels, dtype=_code_type(n_levels)), length)
        for check in checks:
            kept = check.keeps(block, block[name].size)
            block = {own: column[kept] for own, column in block.items()}
        blocks.append(block)
        total += block[name].size
        if total > most:
            return None
    empty = np.zeros(0, dtype=np.int8)
    return {own: np.concatenate([empty, *(block[own] for block in blocks)]) for own in (*columns, name)}


def _refuse_more_than_most(parts: Sequence[_TiedSettings]) -> None:
    names = next(([*part.columns, *part.open] for part in parts if part.open), [n for p in parts for n in p.columns])
    if prod(part.size for part in parts) > MOST or any(part.open for part in parts):
        raise _too_many(names)


def _too_many(names: Iterable[str]) -> StudyError:
    return StudyError(
        f"more than {MOST:,} combinations of {', '.join(names)} are possible",
        hint="fix some settings, or give fewer levels",
    )


def _crossed(parts: Sequence[_TiedSettings]) -> _Columns:
    """Every combination of the combinations of independent parts."""
    import numpy as np

    sizes = [part.size for part in parts]
    return {
        name: np.tile(np.repeat(column, prod(sizes[i + 1 :])), prod(sizes[:i]))
        for i, part in enumerate(parts)
        for name, column in part.columns.items()
    }


# ---------------------------------------------------------------- codes


def _code_type(n_levels: int) -> str:
    return "int8" if n_levels <= 2**7 else "int16" if n_levels <= 2**15 else "int32"


def _codes(levels: Mapping[str, tuple[Level, ...]], columns: Mapping[str, Array | Sequence[int]], size: int) -> Array:
    """The columns as one array, in the order of the settings."""
    import numpy as np

    codes = np.empty((size, len(levels)), dtype=_code_type(max(map(len, levels.values()), default=0)))
    for place, name in enumerate(levels):
        codes[:, place] = columns[name]
    return codes


def _different(codes: Array) -> Array:
    """Each row once, where it stands first."""
    import numpy as np

    if not codes.shape[1]:
        return codes[:1]
    return codes[np.sort(np.unique(codes, axis=0, return_index=True)[1])]


def _valued(found: Candidates, checks: Iterable[_Check]) -> Candidates:
    """What was found; raises StudyError where a rule has no value for one of them."""
    for check in checks:
        check.raise_if_without_value(found)
    return found


def _in_order(codes: Array, levels: Mapping[str, tuple[Level, ...]]) -> Array:
    import numpy as np

    sizes = [len(own) for own in levels.values()]
    if prod(sizes) > 2**62:
        order: Ints = np.lexsort(codes.T[::-1])
        return codes[order]
    place: Array = np.zeros(len(codes), dtype=np.int64)
    for i, size in enumerate(sizes):
        place = place * size + codes[:, i]
    return codes if (place[1:] > place[:-1]).all() else codes[np.argsort(place)]
