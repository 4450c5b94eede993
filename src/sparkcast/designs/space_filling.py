"""Combinations by chance, spread over the space: for models that bend in ways no polynomial follows."""

import random
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np

from sparkcast.arrays import Floats
from sparkcast.designs import DESIGNS, Chosen, TimeOf
from sparkcast.designs._size import require_few_runs
from sparkcast.designs.feasible import Feasible, feasible
from sparkcast.errors import StudyError
from sparkcast.study import Configuration, Level, Study, natural_order
from sparkcast.units import as_number

_SWAPS = 4000
_SHARPNESS = 15  # of the criterion of Morris & Mitchell (1995): the larger, the more only the nearest pairs count
_REPAIRS = 200  # attempts for each run that a rule or a twin makes impossible

_Row = list[int]  # the level of each factor, by its place


@DESIGNS.register("random")
@dataclass(frozen=True, slots=True)
class SpaceFilling:
    """Random combinations, balanced over the levels of each factor and spread apart.

    runs: 20; default: ten for each factor (Loeppky, Sacks & Welch 2009)
    method: maximin (a Latin hypercube whose runs are spread by swaps), latin-hypercube (balanced only) or uniform
    """

    runs: int | None = None
    method: Literal["maximin", "latin-hypercube", "uniform"] = "maximin"

    def __post_init__(self) -> None:
        if self.runs is not None and self.runs < 2:
            raise StudyError(f"design.runs = {self.runs} is less than 2", hint="e.g. runs: 20")
        require_few_runs(self.runs or 0, f"design.runs = {self.runs}")

    def choose(self, study: Study, time_of: TimeOf | None = None) -> Chosen:
        runs = self.runs or 10 * len(study.factors)
        candidates = feasible(study, most=max(2000, 2 * runs))
        possible = len(candidates.configurations)
        if runs >= possible and (candidates.is_complete or runs > possible):
            if not candidates.is_complete:
                raise StudyError(
                    f"{study.where('design', 'runs')}the rules allow only {possible} combinations, not {runs}",
                    hint=f"runs: {possible}, or relax a rule",
                )
            note = f"{runs} runs were requested, but the rules allow only {possible}: all of them are run"
            return Chosen(candidates.configurations, (note,) if runs > possible else ())
        generator = random.Random(study.design.seed)
        if self.method == "uniform":
            return Chosen(generator.sample(list(candidates.configurations), runs))
        grid = _Grid(study, candidates)
        rows = _balanced(grid, runs, generator)
        notes = _repair(grid, rows, candidates.configurations, generator)
        if self.method == "maximin":
            _spread(grid, rows, generator)
        return Chosen([grid.configuration(row) for row in rows], notes)


class _Grid:
    """The study's levels by their places, and whether a row of them may be run."""

    def __init__(self, study: Study, candidates: Feasible) -> None:
        self._study = study
        self.levels = [natural_order(factor.levels) for factor in study.factors]
        self.is_number = [all(as_number(level) is not None for level in levels) for levels in self.levels]
        self._is_complete = candidates.is_complete
        self._known = {tuple(self.row(configuration)): True for configuration in candidates.configurations}

    def configuration(self, row: _Row) -> Configuration:
        names = [factor.name for factor in self._study.factors]
        chosen: dict[str, Level] = {
            n: self.levels[i][place] for i, (n, place) in enumerate(zip(names, row, strict=True))
        }
        return Configuration(chosen) | self._study.fixed

    def row(self, configuration: Configuration) -> _Row:
        return [self.levels[i].index(configuration[f.name]) for i, f in enumerate(self._study.factors)]

    def allows(self, row: _Row) -> bool:
        key = tuple(row)
        if key not in self._known:
            self._known[key] = not self._is_complete and self._study.allows(self.configuration(row))
        return self._known[key]


def _balanced(grid: _Grid, runs: int, generator: random.Random) -> list[_Row]:
    """Rows in which each level of a factor occurs as often as any other, or once more."""
    columns = []
    for levels in grid.levels:
        order = list(range(len(levels)))
        generator.shuffle(order)
        column = [order[i % len(order)] for i in range(runs)]
        generator.shuffle(column)
        columns.append(column)
    return [list(row) for row in zip(*columns, strict=True)]


def _repair(grid: _Grid, rows: list[_Row], spare: Sequence[Configuration], generator: random.Random) -> tuple[str, ...]:
    """Make every row allowed and different from the others: by swaps, which keep the balance, where they suffice."""
    seen: dict[tuple[int, ...], int] = {}
    for row in rows:
        seen[tuple(row)] = seen.get(tuple(row), 0) + 1
    for i, row in enumerate(rows):
        for _ in range(_REPAIRS):
            if grid.allows(row) and seen[tuple(row)] == 1:
                break
            _try_swap(grid, rows, seen, i, generator)
    bad = [i for i, row in enumerate(rows) if not grid.allows(row)]
    twins = [i for i, row in enumerate(rows) if rows.index(row) < i and i not in bad]
    unused = [r for r in map(grid.row, spare) if tuple(r) not in seen]
    for i in (*bad, *twins):
        rows[i] = unused.pop(generator.randrange(len(unused)))
    if not bad and not twins:
        return ()
    chosen = f"{len(bad) + len(twins)} runs were chosen without balancing"
    return (f"no balanced choice that satisfies the rules was found: {chosen}",)


def _try_swap(
    grid: _Grid, rows: list[_Row], seen: dict[tuple[int, ...], int], i: int, generator: random.Random
) -> None:
    """Swap one level between row i and another, unless that makes either worse."""
    j, column = generator.randrange(len(rows)), generator.randrange(len(grid.levels))
    if i == j or rows[i][column] == rows[j][column]:
        return
    before = [tuple(rows[i]), tuple(rows[j])]
    after = [list(rows[i]), list(rows[j])]
    after[0][column], after[1][column] = after[1][column], after[0][column]
    if _faults(grid, seen, after, removed=before) >= _faults(grid, seen, [*map(list, before)], removed=before):
        return
    for key in before:
        seen[key] -= 1
    rows[i][:], rows[j][:] = after
    for row in after:
        seen[tuple(row)] = seen.get(tuple(row), 0) + 1


def _faults(
    grid: _Grid, seen: dict[tuple[int, ...], int], pair: list[_Row], *, removed: Sequence[tuple[int, ...]]
) -> int:
    """How many of two rows are impossible or have a twin, were `removed` gone."""
    others = [seen.get(tuple(row), 0) - removed.count(tuple(row)) for row in pair]
    return sum(not grid.allows(row) for row in pair) + sum(n > 0 for n in others) + (pair[0] == pair[1])


def _spread(grid: _Grid, rows: list[_Row], generator: random.Random) -> None:
    """Swap levels between runs as long as that moves near runs apart (Morris & Mitchell's criterion)."""
    places = np.array(rows, dtype=float)
    taken = {tuple(row) for row in rows}
    scale = np.array([max(1, len(levels) - 1) for levels in grid.levels], dtype=float)
    is_number = np.array(grid.is_number)

    def crowding(places: Floats, i: int) -> Floats:
        """How near each run is to run i."""
        gap = np.abs(places - places[i])
        distance = np.where(is_number, gap / scale, gap > 0).sum(axis=1)
        near: Floats = np.maximum(distance, 1e-3) ** -_SHARPNESS
        near[i] = 0.0
        return near

    for _ in range(min(_SWAPS, 40 * len(rows))):
        i, j = generator.randrange(len(rows)), generator.randrange(len(rows))
        column = generator.randrange(len(scale))
        if i == j or rows[i][column] == rows[j][column]:
            continue
        new = [list(rows[i]), list(rows[j])]
        new[0][column], new[1][column] = new[1][column], new[0][column]
        keys = [tuple(row) for row in new]
        if any(key in taken for key in keys) or not all(grid.allows(row) for row in new):
            continue
        before = crowding(places, i).sum() + crowding(places, j).sum()
        old = places[[i, j]].copy()
        places[[i, j]] = new
        if crowding(places, i).sum() + crowding(places, j).sum() >= before:
            places[[i, j]] = old
            continue
        taken -= {tuple(rows[i]), tuple(rows[j])}
        taken |= set(keys)
        rows[i], rows[j] = new
