"""Confirming the winner of a search at other hours, before it is called the best.

Runs of one hour share what else went on in it. The best of them and the next run again, side by side, in later blocks;
whoever leads then has to have run there as well, so that the search may change its mind.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from statistics import fmean

from sparkcast.search.ledger import LedgerEntry, SearchLedger, Tried
from sparkcast.study import Configuration, Study
from sparkcast.study.hours import BLOCK, gap_s, in_blocks, n_blocks


@dataclass(frozen=True, slots=True)
class AtOtherHours:
    """How the best and the next did in each block in which both ran."""

    gap_s: float  # from one block to the next, at least
    best: tuple[float, ...]  # means, in order
    runner_up: tuple[float, ...] = ()

    @property
    def is_confirmed(self) -> bool:
        return len(self.best) > 1


@dataclass(frozen=True, slots=True)
class ToConfirm:
    tried: Tried
    due: float  # seconds since the Unix epoch


class Hours:
    """The blocks of a search. Without a spread in the study, there is nothing to confirm."""

    def __init__(self, study: Study, ledger: SearchLedger) -> None:
        self._gap_s, self._n_blocks, self._ledger = gap_s(study.design), n_blocks(study.design), ledger

    def to_confirm(self) -> ToConfirm | None:
        """Which of the two that lead runs next, and when; None once both have run in every block."""
        if self._gap_s is None:
            return None
        blocks, found = self._by_block(), list[ToConfirm]()
        for tried in self._ledger.ranked()[:2]:
            own = [block for block, of in blocks.items() if tried.configuration in of]
            if len(own) < self._n_blocks:
                first = min((at for runs in blocks[max(own)].values() for at, _ in runs) if own else (-self._gap_s,))
                found.append(ToConfirm(tried, first + self._gap_s))
        return min(found, key=lambda wanted: wanted.due, default=None)  # side by side, not one after the other

    def found(self) -> AtOtherHours | None:
        """How the two that lead did in the blocks in which both ran."""
        if self._gap_s is None or not (ranked := self._ledger.ranked()):
            return None
        blocks, leading = self._by_block(), [tried.configuration for tried in ranked[:2]]
        shared = [of for _, of in sorted(blocks.items()) if all(one in of for one in leading)]
        means = [tuple(fmean(value for _, value in of[one]) for of in shared) for one in leading]
        return AtOtherHours(self._gap_s, means[0], means[1] if len(means) > 1 else ())

    def _by_block(self) -> dict[int, dict[Configuration, list[tuple[float, float]]]]:
        """When good runs of each configuration began and what they gave, by their block."""
        steps = [step for step in self._ledger.good if step.observation is not None and step.observation.started_at]
        found: dict[int, dict[Configuration, list[tuple[float, float]]]] = {}
        for step, block in zip(steps, self._blocks(steps), strict=True):
            assert step.observation is not None
            assert step.value is not None
            runs = found.setdefault(block, {}).setdefault(self._ledger.shown(step.configuration), [])
            runs.append((step.observation.started_at or 0.0, step.value))
        return found

    def _blocks(self, steps: Sequence[LedgerEntry]) -> list[int]:
        runs = in_blocks([step.observation for step in steps if step.observation is not None], self._gap_s)
        return [int(run.labels[BLOCK]) for run in runs]
