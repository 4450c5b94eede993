"""Runs of one replicate divided into blocks: what is done on one day, or one start of the cluster."""

import random
from collections.abc import Sequence
from dataclasses import dataclass
from math import comb

import numpy as np

from sparkcast.arrays import Floats, Ints
from sparkcast.designs._columns import coding_of, main_columns
from sparkcast.designs._regular import Fraction, bits, effects, find_fraction
from sparkcast.errors import StudyError
from sparkcast.study import Configuration, Study, natural_order
from sparkcast.units import show_percent

_MAX_LISTED = 50_000  # products looked at to name everything that is confounded
_MAX_STARTS = 64
_MAX_TOLD = 7  # sets of confounded effects in a note; the plan has all
_SPLITS = 10
_MANY_LEVELS = 8


@dataclass(frozen=True, slots=True)
class Blocks:
    of: tuple[int, ...]  # for each run its block, from 0
    confounded: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()


def make_blocks(study: Study, configurations: Sequence[Configuration]) -> Blocks:
    """Equal blocks that disturb main effects as little as possible."""
    wanted = study.design.blocks
    if wanted == 1:
        return Blocks((0,) * len(configurations))
    if wanted > len(configurations) // 2:
        raise StudyError(
            f"{study.where('design', 'blocks')}{len(configurations)} runs cannot be divided into {wanted} "
            "blocks of at least two runs",
            hint=f"at most blocks: {max(1, len(configurations) // 2)}",
        )
    fraction = as_fraction(study, configurations)
    if isinstance(fraction, str):
        return _split(study, configurations)
    return _confound(study, configurations, fraction)


def as_fraction(study: Study, configurations: Sequence[Configuration]) -> Fraction | str:
    """The regular two-level fraction that these configurations are, or why they are none."""
    runs = as_bits(study, configurations)
    return runs if isinstance(runs, str) else find_fraction(runs, len(study.factors))


def as_bits(study: Study, configurations: Sequence[Configuration]) -> list[int] | str:
    """Each run as a number whose bit i tells whether factor i is high; or why that cannot be.

    Of a category the level that the study lists first is low, whatever the order of the runs.
    """
    high = []
    for factor in study.factors:
        seen = {c[factor.name] for c in configurations}
        levels = natural_order(level for level in factor.levels if level in seen)
        if len(levels) != 2:
            return f"{factor.name} takes {len(levels)} level{'' if len(levels) == 1 else 's'} in it"
        high.append((factor.name, levels[1]))
    return [sum(1 << i for i, (name, level) in enumerate(high) if c[name] == level) for c in configurations]


def effect_name(effect: int, names: Sequence[str]) -> str:
    return ":".join(names[i] for i in bits(effect))


# ---------------------------------------------------------------- regular fractions


def _confound(study: Study, configurations: Sequence[Configuration], fraction: Fraction) -> Blocks:
    """Blocks told apart by the signs of interactions of the highest order there are."""
    names = [factor.name for factor in study.factors]
    wanted = study.design.blocks
    if wanted & (wanted - 1):
        below = 1 << (wanted.bit_length() - 1)
        raise StudyError(
            f"{study.where('design', 'blocks')}a two-level design can have 2, 4, 8, ... blocks, not {wanted}",
            hint=f"blocks: {below} or blocks: {2 * below}",
        )
    order, parent = _lowest_orders(fraction)
    chosen, span = _subspace(order, wanted.bit_length() - 1)
    if min(order[v] for v in span) < 2:
        raise StudyError(
            f"{study.where('design', 'blocks')}{wanted} blocks of {2**fraction.m // wanted} runs would be "
            "confounded with the effect of a factor",
            hint=f"use blocks: {wanted // 2}, or more runs",
        )
    masks = [parent[v] for v in chosen]
    runs = as_bits(study, configurations)
    assert not isinstance(runs, str)
    of = tuple(sum(((run & mask).bit_count() & 1) << i for i, mask in enumerate(masks)) for run in runs)
    confounded = tuple(" = ".join(_members(fraction, v, order[v], parent[v], names)) for v in span)
    more = f"; and {len(confounded) - _MAX_TOLD} more" if len(confounded) > _MAX_TOLD else ""
    note = f"differences between blocks are confounded with {'; '.join(confounded[:_MAX_TOLD])}{more}"
    return Blocks(of, confounded, (note,))


def _lowest_orders(fraction: Fraction) -> tuple[dict[int, int], dict[int, int]]:
    """For each alias set (by signature) the lowest order of an effect in it, and one such effect."""
    order, effect, frontier = {0: 0}, {0: 0}, [0]
    while frontier:
        following = []
        for vector in frontier:
            for i, signature in enumerate(fraction.signatures):
                reached = vector ^ signature
                if reached not in order:
                    order[reached], effect[reached] = order[vector] + 1, effect[vector] ^ 1 << i
                    following.append(reached)
        frontier = following
    del order[0], effect[0]
    return order, effect


def _subspace(order: dict[int, int], dimension: int) -> tuple[list[int], list[int]]:
    """Generators and all members of the subspace whose lowest order is highest, found from several starts."""
    ranked = sorted(order, key=lambda v: (-order[v], v))
    best: tuple[tuple[int, ...], list[int], list[int]] | None = None
    for start in ranked[:_MAX_STARTS]:
        chosen, span = [start], [start]
        while len(chosen) < dimension:
            spanned = set(span)
            free = (v for v in ranked if v not in spanned)
            nearest = max(free, key=lambda v: sorted(order[u] for u in (v, *(v ^ s for s in span))))
            chosen.append(nearest)
            span += [nearest, *(nearest ^ s for s in span)]
        quality = tuple(sorted(order[v] for v in span))
        if best is None or quality > best[0]:
            best = (quality, chosen, span)
    assert best is not None
    return best[1], best[2]


def _members(fraction: Fraction, vector: int, order: int, known: int, names: Sequence[str]) -> list[str]:
    """The effects of the lowest order in an alias set."""
    if comb(fraction.k, order) > _MAX_LISTED:
        return [effect_name(known, names)]
    return [effect_name(e, names) for e in effects(fraction.k, order, order) if fraction.signature(e) == vector]


# ---------------------------------------------------------------- any other design


def _split(study: Study, configurations: Sequence[Configuration]) -> Blocks:
    """Equal blocks with every level of every factor as equally often as swaps of two runs can make it."""
    columns = _level_columns(study, configurations)
    generator = random.Random(study.design.seed)
    found: list[tuple[float, int, Ints]] = []
    for _ in range(_SPLITS if len(configurations) <= 500 else 1):
        of = [i % study.design.blocks for i in range(len(configurations))]
        generator.shuffle(of)
        block = _swapped(columns, np.array(of), study.design.blocks)
        found.append((_explained(columns, block, study.design.blocks), len(found), block))
    share, _, block = min(found)
    note: tuple[str, ...] = ()
    if share > 0.005:
        note = (f"blocks are slightly unbalanced: they explain up to {show_percent(share)} of a main effect's column",)
    return Blocks(tuple(int(b) for b in block), notes=note)


def _level_columns(study: Study, configurations: Sequence[Configuration]) -> Floats:
    """Centered columns of main effects: one for each level, or a trend where a number has many."""
    coding = coding_of(study, configurations)
    trends = main_columns(coding, configurations)
    columns = []
    for name in coding.varied:
        levels = coding.levels[name]
        if coding.is_number(name) and len(levels) > _MANY_LEVELS:
            columns.append(trends[name])
        else:
            columns.append(np.array([[float(c[name] == level) for level in levels] for c in configurations]))
    matrix = np.hstack(columns)
    centered: Floats = matrix - matrix.mean(axis=0)
    return centered


def _swapped(columns: Floats, block: Ints, n_blocks: int) -> Ints:
    sums = np.stack([columns[block == b].sum(axis=0) for b in range(n_blocks)])
    for _ in range(20 if len(columns) <= 500 else 2):
        improved = False
        for i in range(len(columns)):
            step = columns - columns[i]  # what i's block gains when i leaves for j
            between = sums[block[i]] - sums[block]
            change = 2 * (step * between).sum(axis=1) + 2 * (step**2).sum(axis=1)
            change[block == block[i]] = np.inf
            j = int(change.argmin())
            if change[j] < -1e-9:
                sums[block[i]] += step[j]
                sums[block[j]] -= step[j]
                block[i], block[j] = block[j], block[i]
                improved = True
        if not improved:
            break
    return block


def _explained(columns: Floats, block: Ints, n_blocks: int) -> float:
    """The largest share of a column's variation that lies between blocks."""
    total = (columns**2).sum(axis=0)
    between = sum(columns[block == b].sum(axis=0) ** 2 / max(1, int((block == b).sum())) for b in range(n_blocks))
    return float((between / total.clip(1e-12)).max())
