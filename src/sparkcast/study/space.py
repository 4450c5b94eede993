"""Every combination of settings that the rules allow, found without listing the ones they exclude."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from math import prod
from typing import Any

from sparkcast.errors import StudyError
from sparkcast.registry import did_you_mean
from sparkcast.study.expression import Expression
from sparkcast.study.matrix import natural_order
from sparkcast.study.model import Configuration, Level
from sparkcast.units import as_number

MOST = 5_000_000  # candidates; more would fill the memory of a laptop
_TABLE = 2**16  # a rule over settings with fewer combinations is evaluated once for each, then looked up
_BLOCK = 2**20  # combinations looked at together

_FALSE, _TRUE, _NO_VALUE = 0, 1, 2  # verdicts of a rule

_Columns = dict[str, Any]  # for each setting one array, the positions among its levels


@dataclass(frozen=True, slots=True, eq=False)
class Candidates:
    """Combinations of levels, in little memory: each is a row of positions among the levels.

    >>> found = Candidates.of([{"cores": 4, "network": "vgg"}, {"cores": 2, "network": "vgg"}], ["cores", "network"])
    >>> found.levels["cores"], found.codes.tolist(), found.column("cores").tolist()
    ((2, 4), [[1, 0], [0, 0]], [4.0, 2.0])
    """

    levels: Mapping[str, tuple[Level, ...]]
    codes: Any  # numpy, one row for each candidate, one column for each name in `levels`

    @classmethod
    def of(cls, configurations: Sequence[Configuration], names: Sequence[str]) -> "Candidates":
        """These settings of given configurations; the levels are the values that occur, in their natural order."""
        for configuration in configurations:
            if missing := [name for name in names if name not in configuration]:
                raise StudyError(
                    f"a candidate has no {missing[0]!r}: {dict(configuration)}", hint="give it in every candidate"
                )
        levels = {name: natural_order(configuration[name] for configuration in configurations) for name in names}
        codes = {name: {level: i for i, level in enumerate(own)} for name, own in levels.items()}
        columns = {
            name: [code[configuration[name]] for configuration in configurations] for name, code in codes.items()
        }
        return cls(levels, _codes(levels, columns, len(configurations)))

    def __len__(self) -> int:
        return int(self.codes.shape[0])

    def configuration(self, i: int) -> dict[str, Level]:
        return {name: own[code] for (name, own), code in zip(self.levels.items(), self.codes[i].tolist(), strict=True)}

    def configurations(self, rows: Any = None) -> list[dict[str, Level]]:
        """All of them, or the ones at these rows."""
        codes = self.codes if rows is None else self.codes[rows]
        if not self.levels:
            return [{} for _ in codes]
        columns = [[own[code] for code in codes[:, i].tolist()] for i, own in enumerate(self.levels.values())]
        return [dict(zip(self.levels, values, strict=True)) for values in zip(*columns, strict=True)]

    def column(self, name: str) -> Any:
        """The numbers behind the levels of this setting, or the levels themselves when one of them is no number."""
        import numpy as np

        numbers = [as_number(level) for level in self.levels[name]]
        is_category = any(number is None for number in numbers)
        values = np.array(self.levels[name], dtype=object) if is_category else np.array(numbers, dtype=float)
        return values[self.position(name)]

    def position(self, name: str) -> Any:
        """The positions among the levels of this setting."""
        return self.codes[:, list(self.levels).index(name)]

    def take(self, rows: Any) -> "Candidates":
        return Candidates(self.levels, self.codes[rows])


@dataclass(frozen=True, slots=True)
class Space:
    """The levels of the settings that vary, and the rules between them. Rules may use the fixed settings too.

    >>> space = Space({"executors": (1, 2, 4), "cores": (1, 2)}, rules=(Expression("executors * cores <= 2"),))
    >>> space.candidates().configurations()
    [{'executors': 1, 'cores': 1}, {'executors': 1, 'cores': 2}, {'executors': 2, 'cores': 1}]
    >>> space.fixing({"cores": 2}).candidates().configurations()
    [{'executors': 1}]
    """

    levels: Mapping[str, tuple[Level, ...]]
    fixed: Configuration = field(default_factory=dict)
    rules: tuple[Expression, ...] = ()

    def __post_init__(self) -> None:
        for name, own in self.levels.items():
            if not own:
                raise StudyError(f"setting {name!r} has no levels", hint="give at least one")
            if len(set(own)) < len(own):
                raise StudyError(f"setting {name!r} repeats a level: {list(own)}", hint="list each level once")
            if name in self.fixed:
                raise StudyError(f"setting {name!r} is both varied and fixed", hint="choose one")

    def as_plain(self) -> dict[str, Any]:
        """As plain data, to be written down."""
        levels = {name: list(own) for name, own in self.levels.items()}
        return {"levels": levels, "fixed": dict(self.fixed), "rules": [rule.text for rule in self.rules]}

    @classmethod
    def from_plain(cls, plain: Mapping[str, Any]) -> "Space":
        levels = {str(name): tuple(own) for name, own in plain["levels"].items()}
        return cls(levels, dict(plain["fixed"]), tuple(Expression(text) for text in plain["rules"]))

    def fixing(self, settings: Mapping[str, Level]) -> "Space":
        """With these settings given: any value, not only one of the levels."""
        known = (*self.levels, *self.fixed)
        for name in settings:
            if name not in known:
                raise StudyError(f"there is no setting {name!r} to fix", hint=did_you_mean(name, known))
        levels = {name: own for name, own in self.levels.items() if name not in settings}
        return replace(self, levels=levels, fixed={**self.fixed, **settings})

    def with_levels(self, levels: Mapping[str, Sequence[Level]]) -> "Space":
        """With other levels for some settings, and settings it does not have yet."""
        fixed = {name: value for name, value in self.fixed.items() if name not in levels}
        return replace(self, levels={**self.levels, **{name: tuple(own) for name, own in levels.items()}}, fixed=fixed)

    def without_rule(self, rule: Expression) -> "Space":
        if rule not in self.rules:
            texts = tuple(known.text for known in self.rules)
            raise StudyError(f"there is no rule {rule.text!r}", hint=did_you_mean(rule.text, texts))
        return replace(self, rules=tuple(known for known in self.rules if known != rule))

    def candidates(self) -> Candidates:
        """What the rules allow, in the order of `itertools.product` over the levels.

        A combination that one rule excludes is excluded, even where another rule has no value. Raises StudyError for a
        combination that no rule excludes and one has no value for, and for more than `MOST` combinations.
        """
        for rule in self.rules:
            rule.require_names((*self.levels, *self.fixed))
        checks = [_Check.of(rule, self) for rule in self.rules]
        if not all(check.may_hold for check in checks):
            return Candidates(self.levels, _codes(self.levels, dict.fromkeys(self.levels, ()), 0))
        parts = [_grown(self.levels, names, own) for names, own in _independent_parts(self.levels, checks)]
        columns, size = _crossed(parts)
        found = Candidates(self.levels, _in_order(_codes(self.levels, columns, size), self.levels))
        for check in checks:
            check.raise_if_without_value(found)
        return found


# ---------------------------------------------------------------- rules


@dataclass(frozen=True, slots=True, eq=False)
class _Check:
    """A rule, with its verdict on each combination of the settings it uses where these are few."""

    rule: Expression
    values: Mapping[str, Any]  # of each varied setting it uses, its levels as an array
    fixed: Configuration
    table: Any = None  # the verdicts, by the positions of the levels

    @classmethod
    def of(cls, rule: Expression, space: Space) -> "_Check":
        import numpy as np

        from sparkcast.study._evaluator import as_column

        values = {name: as_column(own) for name, own in space.levels.items() if name in rule.names}
        check = cls(rule, values, {name: value for name, value in space.fixed.items() if name in rule.names})
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

    def keeps(self, columns: _Columns, size: int) -> Any:
        """Which combinations it does not exclude."""
        if self.table is not None:
            return self.table[tuple(columns[name] for name in self.values)] > _FALSE
        return self._verdicts(columns, size) > _FALSE

    def raise_if_without_value(self, found: Candidates) -> None:
        """For candidates that it keeps."""
        if len(found) and (self.table is None or (self.table == _NO_VALUE).any()):
            self.rule.evaluate_columns(self._settings({name: found.position(name) for name in self.values}))

    def _verdicts(self, columns: _Columns, size: int) -> Any:
        import numpy as np

        holds, fails = self.rule.verdicts(self._settings(columns), size)
        return np.where(fails, _NO_VALUE, np.where(holds, _TRUE, _FALSE)).astype(np.int8)

    def _settings(self, columns: _Columns) -> dict[str, Any]:
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


def _grown(levels: Mapping[str, tuple[Level, ...]], names: set[str], checks: Sequence[_Check]) -> _Columns:
    """What the checks keep of the combinations of these settings, setting by setting.

    The next settings are those of the rule that leaves the fewest combinations.
    """
    columns: _Columns = {}
    waiting = list(checks)
    while lacking := names - set(columns):
        if waiting:
            lacking &= min(waiting, key=lambda check: check.growth(columns)).names
        name = min((name for name in levels if name in lacking), key=lambda name: len(levels[name]))
        ready = [check for check in waiting if check.names <= {*columns, name}]
        waiting = [check for check in waiting if check not in ready]
        columns = _extended(columns, name, len(levels[name]), ready)
    return columns


def _extended(columns: _Columns, name: str, n_levels: int, checks: Sequence[_Check]) -> _Columns:
    """Every combination with every level of one more setting, as far as the checks keep them."""
    import numpy as np

    size = next((column.size for column in columns.values()), 1)
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
        _refuse_more_than_most(total, block)
    empty = np.zeros(0, dtype=np.int8)
    return {own: np.concatenate([empty, *(block[own] for block in blocks)]) for own in (*columns, name)}


def _refuse_more_than_most(size: int, names: Iterable[str]) -> None:
    if size > MOST:
        raise StudyError(
            f"more than {MOST:,} combinations of {', '.join(names)} are possible",
            hint="fix some settings, or give fewer levels",
        )


def _crossed(parts: Sequence[_Columns]) -> tuple[_Columns, int]:
    """Every combination of the combinations of independent parts, and how many there are."""
    import numpy as np

    sizes = [next(iter(part.values())).size for part in parts]
    _refuse_more_than_most(prod(sizes), [name for part in parts for name in part])
    columns = {
        name: np.tile(np.repeat(column, prod(sizes[i + 1 :])), prod(sizes[:i]))
        for i, part in enumerate(parts)
        for name, column in part.items()
    }
    return columns, prod(sizes)


# ---------------------------------------------------------------- codes


def _code_type(n_levels: int) -> str:
    return "int8" if n_levels <= 2**7 else "int16" if n_levels <= 2**15 else "int32"


def _codes(levels: Mapping[str, tuple[Level, ...]], columns: Mapping[str, Any], size: int) -> Any:
    """The columns as one array, in the order of the settings."""
    import numpy as np

    codes = np.empty((size, len(levels)), dtype=_code_type(max(map(len, levels.values()), default=0)))
    for place, name in enumerate(levels):
        codes[:, place] = columns[name]
    return codes


def _in_order(codes: Any, levels: Mapping[str, tuple[Level, ...]]) -> Any:
    import numpy as np

    sizes = [len(own) for own in levels.values()]
    if prod(sizes) > 2**62:
        return codes[np.lexsort(codes.T[::-1])]
    place = np.zeros(len(codes), dtype=np.int64)
    for i, size in enumerate(sizes):
        place = place * size + codes[:, i]
    return codes if (place[1:] > place[:-1]).all() else codes[np.argsort(place)]
