"""Whether a column was set or came out of the runs, by its rows: what repeats where everything else repeats was set."""

from collections import Counter, defaultdict
from collections.abc import Hashable, Mapping, Sequence
from math import prod
from statistics import median

from sparkcast.data.column import Column

_FEWEST = 8  # rows that tell anything
_FEWEST_GROUPS = 3
_MOST_REPLICATES = 10  # more runs of one configuration are seldom made: they differ in something else
_OFTEN = 0.5
_COMPLETE = 0.8  # of a grid


def came_out(column: Column, others: Sequence[Column], *, is_count: bool) -> bool:
    """Whether a column differs among replicates, or is no part of the grid that all other settings make.

    `is_count`: by its name it counts steps, which were either set or done; then no grid needs to be complete.
    """
    values = _values(column)
    n = len(values)
    grid = [_values(other) for other in others if other.n_values <= n / 3]
    if n < _FEWEST or not grid or any(value is None for value in values):
        return False
    groups = _groups(grid, values)
    n_values = len(set(values))
    replicated = [group for group in groups.values() if len(group) > 1]
    if sum(map(len, replicated)) > _OFTEN * n:
        different = [len(set(group)) for group in replicated]
        if median(map(len, replicated)) > _MOST_REPLICATES or len(replicated) < _FEWEST_GROUPS:
            return False
        return median(different) > 1 and n_values >= _OFTEN * sum(different) and n_values > 2 * median(different)
    if is_count and len(groups) == n and n_values > _values_of_setting(grid, n):
        return True
    crossed = _crossed(grid)
    return len(_groups(crossed, values)) == n and n_values > _values_of_setting(crossed, n)


def depends_on_several(column: Column, others: Sequence[Column]) -> bool:
    """Whether it differs with several settings at once that were run in all combinations, once in each.

    Then it came out of the runs: whoever sets something holds it, or varies it by a plan or in turn, so that each of
    its values comes about as often with each value of the others.
    """
    values, n = _values(column), len(column.cells)
    near = [other for other in others if 1 < other.n_values <= n / 2]
    if n < _FEWEST or None in values or any(determines(other, column) for other in near):
        return False
    crossed = _crossed([_values(other) for other in near])
    if len(crossed) < 2 or len(_groups(crossed, values)) < n:
        return False
    counts = [Counter(group) for each in crossed for group in _groups([each], values).values()]
    return any(len(count) < column.n_values or max(count.values()) - min(count.values()) > 1 for count in counts)


def _values_of_setting(grid: Sequence[Sequence[Hashable]], n: int) -> float:
    """As many values as one more setting of this grid may have."""
    return max(n / 3, 2 * max(len(set(each)) for each in grid))


def _crossed(columns: Sequence[Sequence[Hashable]]) -> list[Sequence[Hashable]]:
    """Those that were run in nearly all combinations, the ones with most values first."""
    kept: list[Sequence[Hashable]] = []
    for values in sorted(columns, key=lambda column: -len(set(column))):
        tried = [*kept, values]
        if len(set(zip(*tried, strict=True))) >= _COMPLETE * prod(len(set(each)) for each in tried):
            kept = tried
    return kept


def was_set(column: Column, others: Sequence[Column]) -> bool:
    """Whether a column has few values that stay the same among replicates, or come with all of the other settings."""
    values = _values(column)
    n = len(values)
    if n < _FEWEST or len(set(values)) > n / 3 or not others:
        return False
    groups = _groups([_values(other) for other in others if other.n_values <= n / 2], values)
    if len(groups) < 2 or all(len(group) == 1 for group in groups.values()):
        return False
    return all(len(set(group)) == 1 for group in groups.values()) or was_crossed(column, others)


def was_crossed(column: Column, others: Sequence[Column]) -> bool:
    """Whether each of a few values comes as often as the others with each combination of all other settings."""
    values = _values(column)
    n = len(values)
    if n < _FEWEST or len(set(values)) > n / 3:
        return False
    groups = _groups([_values(other) for other in others if other.n_values <= n / 2], values)
    shapes = {tuple(sorted(group.count(value) for value in set(group))) for group in groups.values()}
    return len(groups) > 1 and len(shapes) == 1 and len(set(values)) == len(next(iter(shapes)))


def determines(one: Column, other: Column) -> bool:
    """Whether each value of one comes with a single value of the other, and it has fewer values than there are rows."""
    groups = _groups([_values(one)], _values(other))
    return len(groups) < len(one.cells) and all(len(set(group)) == 1 for group in groups.values())


def _groups(grid: Sequence[Sequence[Hashable]], values: Sequence[Hashable]) -> Mapping[object, list[Hashable]]:
    found: defaultdict[object, list[Hashable]] = defaultdict(list)
    keys = zip(*grid, strict=True) if grid else [()] * len(values)
    for key, value in zip(keys, values, strict=True):
        found[key].append(value)
    return found


def _values(column: Column) -> list[Hashable]:
    return [column.values.get(cell) for cell in column.cells]
