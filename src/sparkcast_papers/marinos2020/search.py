"""Section V: doubling the learning rate while the cost falls, then adding tenths."""

import math
from pathlib import Path
from statistics import fmean, stdev

from sparkcast.replications import CorrectedFigure, Mistake, PaperPart, PartResult, Section, compare, show
from sparkcast_papers.marinos2020 import PARTS, _printed
from sparkcast_papers.marinos2020._tables import TABLE_II
from sparkcast_papers.marinos2020.queues import best_cost

_HIGHEST_IN_DESIGN = 0.01
_SEARCHED_AT = (1, 1, 1, 1, _HIGHEST_IN_DESIGN, 256)  # nodes, executors, cores, epochs, lr, batch


@PARTS.register("search")
class Search(PaperPart):
    """The optimum of the learning rate, and mistake 8."""

    def run(self, data: Path | None) -> PartResult:
        best = float(_printed.BEST_RATE)
        doublings = math.floor(math.log2(best / _printed.FIRST_RATE))
        rate = _printed.FIRST_RATE * 2**doublings * 1.1
        costs = dict(TABLE_II)[_SEARCHED_AT]
        before, scatter = fmean(costs), 100 * stdev(costs) / fmean(costs)
        rows = (
            compare("learning rate", f"0.002 · 2^{doublings} · 1.1", _printed.BEST_RATE, rate),
            compare("cost", "29.5 / (100 · 0.976)²", _printed.BEST_COST, best_cost()),
            show("cost", "in Table II, lr 0.01, same settings", before),
        )
        section = Section("The search for a learning rate", "Section V", rows)
        return PartResult((section,), (_edge(doublings, before, scatter),))


def _edge(doublings: int, before: float, scatter: float) -> Mistake:
    best, floor = float(_printed.BEST_RATE), best_cost(accuracy=1.0)
    gain = 100 * (1 - floor / best_cost())
    return Mistake(
        8,
        "The optimal learning rate is 9.011, and larger ones give better and better results.",
        f"By its own rule, all the search saw was a cost that fell for {doublings} doublings in a row, and then "
        "noise: not an optimum, but the limit of what one epoch on an easy problem can show. At the accuracy "
        "it had reached "
        f"(0.976) even a perfect model would lower the cost by only {gain:.1f} %, while replicates at the same "
        f"settings (lr 0.01 in Table II) vary by {scatter:.0f} %.",
        (
            CorrectedFigure(
                "learning rate, as a multiple of the highest in the design", None, best / _HIGHEST_IN_DESIGN
            ),
            CorrectedFigure("cost at the optimum", float(_printed.BEST_COST), best_cost()),
            CorrectedFigure("cost if its accuracy were 1", None, floor),
            CorrectedFigure("cost at lr 0.01, same settings (Table II)", None, before),
            CorrectedFigure("% by which its replicates vary", None, scatter),
            CorrectedFigure("% that is left to gain at 9.011", None, gain),
        ),
    )
