"""Runs at different hours, in blocks: how far apart these begin, and which run was in which.

What a shared cluster does besides changes from hour to hour. Runs of one hour then resemble each other more than runs
of another day, and however many there are of them, they say little about that.
"""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from sparkcast.study.model import DesignChoice
from sparkcast.study.observation import Observation

BLOCK = "block"  # the label of runs by which analyses and predictions know their block
_FEWEST = 2
_TOLERANCE = 1e-3  # of the gap: clocks of two machines differ a little


def n_blocks(design: DesignChoice) -> int:
    return max(_FEWEST, design.replicates * design.blocks)


def gap_s(design: DesignChoice) -> float | None:
    """How long after the beginning of a block the next one begins; None where runs are made as soon as they can be.

    >>> gap_s(DesignChoice(replicates=4, spread_s=86400.0))
    21600.0
    """
    return None if design.spread_s is None else design.spread_s / n_blocks(design)


def gap_of(definition: Mapping[str, Any]) -> float | None:
    """The same of what a store knows of a study."""
    design = definition.get("design") or {}
    if not design.get("spread_s"):
        return None
    return gap_s(DesignChoice("", design.get("replicates", 1), 0, 0, design.get("blocks", 1), design["spread_s"]))


def in_blocks(runs: Sequence[Observation], gap: float | None) -> tuple[Observation, ...]:
    """The runs with their block as a label, by when they began; as they are where they are not spread over hours."""
    started = sorted({run.started_at for run in runs if run.started_at is not None})
    if gap is None or not started:
        return tuple(runs)
    begun, of = [started[0]], dict[float, int]()
    for moment in started:
        if moment - begun[-1] >= gap * (1 - _TOLERANCE):
            begun.append(moment)
        of[moment] = len(begun)
    return tuple(
        run if run.started_at is None else replace(run, labels={**run.labels, BLOCK: str(of[run.started_at])})
        for run in runs
    )
