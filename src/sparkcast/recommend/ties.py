"""Of candidates that are equally good, the one that a person would take: it was run before, or it spends less."""

from dataclasses import dataclass

import numpy as np

from sparkcast.arrays import Ints
from sparkcast.recommend.evaluation import Asked

DOUBT = 2.0  # a run is trusted over a guess that is better by up to twice what is never called a tie


@dataclass(frozen=True, slots=True)
class Selection:
    """Rows of candidates."""

    row: int  # to recommend
    tie: int | None = None  # as good, but spends more
    untested: int | None = None  # predicted best, or as good and cheaper, but never run


def select(asked: Asked, good: Ints) -> Selection:
    """`good`: the candidates that keep to all limits, best first.

    1. The best guess among many that were never run is mostly a lucky one: it must be surely better than the best that
       was run (see `comparison`).
    2. Of those that tie with the best, the cheapest ones are looked at (in money, else machines or cores times the
       time, else time), of them those that were run if any was, and the best of these is taken. In the place of what
       was run comes nothing that was not: it may be as good, but nobody has seen it.
    """
    means, is_more = asked.means(asked.objective.response), asked.objective.is_maximum
    n_runs = asked.view.n_runs
    assert n_runs is not None
    best, untested = int(good[0]), None
    ran = good[n_runs[good] > 0]
    if not n_runs[best] and len(ran) and means.ties(best, ran[:1], is_more=is_more, doubt=DOUBT).all():
        best, untested = int(ran[0]), best
        good = good[np.flatnonzero(good == best)[0] :]
    tied = good[means.ties(best, good, is_more=is_more)]
    cheapest = _cheapest(asked, tied)
    if n_runs[best]:
        if untested is None and not n_runs[cheapest].any():
            untested = int(cheapest[0])
        cheapest = _cheapest(asked, tied[n_runs[tied] > 0])
    was_run = cheapest[n_runs[cheapest] > 0]
    row = int((was_run if len(was_run) else cheapest)[0])
    return Selection(row, None if row == best else best, untested)


def _cheapest(asked: Asked, tied: Ints) -> Ints:
    if asked.spent is None:
        return tied
    spending = asked.means(asked.spent)
    cheapest = int(tied[np.argmin(spending.center[tied])])
    return tied[spending.ties(cheapest, tied, is_more=False)]
