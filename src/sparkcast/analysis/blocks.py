"""Runs that share a day, a block, or a stretch of time: they resemble each other more than the model knows."""

import math
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import chain, groupby, pairwise
from operator import itemgetter

import numpy as np
import pandas as pd

from sparkcast.arrays import Floats, Ints
from sparkcast.study import Level, Observation
from sparkcast.study.names import names_a_block, names_a_moment

IN_A_ROW = "replicates in a row"
_BY_CHANCE = 0.05  # how often rows in random order look sorted, at most
_DAY = re.compile(r"\d{4}-\d{2}-\d{2}|\d{1,2}[./]\d{1,2}[./]\d{2,4}")


@dataclass(frozen=True, slots=True)
class SharedBlocks:
    """Which runs share something that nobody set."""

    name: str  # a column, or IN_A_ROW
    of: Ints  # the block of each run, from 0

    @property
    def count(self) -> int:
        return int(self.of.max()) + 1

    def sums(self, columns: Floats) -> Floats:
        """The sum of the rows of each block."""
        found = np.zeros((self.count, *columns.shape[1:]))
        np.add.at(found, self.of, columns)
        return found

    def centered(self, columns: Floats) -> Floats:
        """The columns less their means over each block."""
        sizes = np.bincount(self.of).reshape(-1, *(1,) * (columns.ndim - 1))
        within: Floats = columns - (self.sums(columns) / sizes)[self.of]
        return within


def find_blocks(runs: Sequence[Observation], settings: Ints) -> tuple[SharedBlocks, ...]:
    """The blocks that columns name, and stretches of replicates; `settings` are equal numbers for replicates."""
    names = dict.fromkeys(name for run in runs for name in run.labels if names_a_block(name) or names_a_moment(name))
    named = [SharedBlocks(name, _coded([_block_of(run, name) for run in runs])) for name in names]
    found = [*named, *_stretches(runs, settings)]
    return tuple(blocks for blocks in found if 1 < blocks.count < len(runs))


def run_order(runs: Sequence[Observation]) -> Ints | None:
    """The place of each run in time: by its start where that is known, else as the runs were written down.

    None where nobody noted any order, or where the rows were sorted.
    """
    noted = _noted_order(runs)
    if noted is not None:
        return noted
    positions = [run.position for run in runs]
    if len(set(positions)) < len(runs) or is_sorted_by_settings(runs):
        return None
    return np.argsort(np.argsort(positions))


def is_sorted_by_settings(runs: Sequence[Observation]) -> bool:
    """Whether runs of which no time is known stand in the order of their settings, which chance hardly makes.

    A row then stands where it does because of its settings, and its neighbors need not have run beside it.
    """
    if _noted_order(runs) is not None:
        return False
    rows = [run.configuration for run in sorted(runs, key=lambda run: run.position)]
    cells = list(dict.fromkeys(rows))
    levels = {name: list(dict.fromkeys(cell.get(name) for cell in cells)) for name in dict.fromkeys(chain(*cells))}
    varied = {name: _ranks(found) for name, found in levels.items() if len(found) > 1}
    texts = [len(ranks) for name, ranks in varied.items() if any(isinstance(level, str) for level in levels[name])]
    log_orders = math.lgamma(len(varied) + 1) + sum(math.lgamma(n + 1) for n in texts)  # that count as sorted
    if log_orders > math.log(_BY_CHANCE) + math.lgamma(len(cells) + 1):
        return False
    places = [{name: ranks[row.get(name)] for name, ranks in varied.items()} for row in rows]
    return _is_nested(places, list(varied))


def _ranks(levels: Sequence[Level | None]) -> dict[Level | None, int]:
    """Numbers by their size, words as they come."""
    is_number = all(isinstance(level, int | float) for level in levels)
    ordered = sorted(levels, key=lambda level: (isinstance(level, str), level)) if is_number else levels
    return {level: rank for rank, level in enumerate(ordered)}


def _is_nested(places: Sequence[Mapping[str, int]], names: Sequence[str]) -> bool:
    """Whether rows are sorted by one of the columns, those that are equal in it by another, and so on."""
    if not names or len(places) < 2:
        return True
    for name in names:
        column = [place[name] for place in places]
        if all(a <= b for a, b in pairwise(column)):
            others = [other for other in names if other != name]
            groups = [list(group) for _, group in groupby(places, key=itemgetter(name))]
            if all(_is_nested(group, others) for group in groups):
                return True
    return False


def _noted_order(runs: Sequence[Observation]) -> Ints | None:
    """The order of the runs by their starts, positions or dates, where these were written down."""
    started = [run.started_at for run in runs]
    if None not in started and len(set(started)) == len(started):
        return np.argsort(np.argsort(np.array(started, dtype=float)))
    for name in runs[0].labels:
        written = pd.Series([run.labels.get(name, "") for run in runs])
        if name == "position":
            moments = pd.to_numeric(written, errors="coerce")
        elif names_a_moment(name):
            moments = pd.to_datetime(written, errors="coerce", format="ISO8601", utc=True)
        else:
            continue
        if moments.notna().all() and moments.is_unique:
            return moments.rank().to_numpy().astype(np.intp) - 1
    return None


def _block_of(run: Observation, name: str) -> str:
    """The cell of a block; of a moment, its day."""
    cell = run.labels.get(name, "")
    day = _DAY.match(cell)
    return day[0] if day else cell


def _stretches(runs: Sequence[Observation], settings: Ints) -> list[SharedBlocks]:
    """Replicates that ran one after the other, where that is the rule and not chance."""
    order = run_order(runs)
    if order is None:
        return []
    in_time = np.argsort(order)
    is_same = np.diff(settings[in_time]) == 0
    sizes = np.bincount(settings)
    possible = len(settings) - np.count_nonzero(sizes)
    by_chance = float((sizes * (sizes - 1)).sum()) / len(settings)
    if not possible or is_same.sum() < max(possible / 2, min(2 * by_chance, possible)):
        return []
    of = np.empty(len(settings), dtype=np.intp)
    of[in_time] = np.concatenate([[0], np.cumsum(~is_same)])
    return [SharedBlocks(IN_A_ROW, of)]


def _coded(cells: Sequence[str]) -> Ints:
    codes: Ints = pd.factorize(pd.Series(cells))[0]
    return codes
