"""Every candidate with the distribution of its next run: enough to answer other limits without asking again.

Whoever has the table decides as `ties.select` does, from the scores at which limits are kept; see `serve/pages`.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from sparkcast.arrays import Bools, Floats, Ints
from sparkcast.fitting.answering import AnswerTable
from sparkcast.recommend import Limit
from sparkcast.recommend.choose import Recommender
from sparkcast.recommend.evaluation import Asked
from sparkcast.recommend.question import Objective, Question
from sparkcast.recommend.ties import DOUBT
from sparkcast.study import Configuration, Vocabulary

SCORES = tuple(round(0.15 * step, 2) for step in range(-20, 21))  # standard normal ones, of the quantiles that are kept
_ENOUGH = 1e300  # for a limit that keeps nobody out
_CONFIDENCES = (0.5, 0.8, 0.9, 0.95, 0.99)


@dataclass(frozen=True, slots=True, eq=False)
class Browsed:
    """One candidate."""

    configuration: Configuration
    time_s: Floats  # at each of SCORES
    money: Floats | None  # the same, where the cost is known
    value: float  # of the objective, or its median
    low: float  # 90 % of its runs fall between these; both its value where it is a setting
    high: float
    quality: tuple[float, float, float] | None  # median, and where 90 % of the runs fall
    runs: int  # that were made of it


@dataclass(frozen=True, slots=True, eq=False)
class CandidateTable:
    """Candidates, those with the best objective first."""

    objective: Objective
    rows: tuple[Browsed, ...]
    total: int  # of which these rows are some
    measured: int
    ties: Bools  # [best, other]: whether the other is as good
    doubtful: Bools  # the same, where the other was run and the best was not
    spends_alike: Bools  # [cheapest, other]
    spent: Floats | None  # what is saved among those that tie
    vocabulary: Vocabulary
    is_joint: bool  # whether time and cost are told by models of their own


def browse(recommender: Recommender, question: Question, *, most: int = 200) -> CandidateTable:
    """The candidates of a question, whatever its deadline and budget are.

    Raises:
        NotEnoughDataError: none is close enough to what was measured.
    """
    words, time = recommender.words, recommender.words.required_time()
    money = words.money
    free = [Limit(time, _ENOUGH), *([Limit(money, _ENOUGH)] if money is not None else [])]
    asked, _ = recommender.standing(replace(question, limits=tuple(free), within_s=None, budget=None, confidence=0.95))
    order = asked.order[asked.kept[asked.order]]
    times, costs = _quantiles(asked.tables[time]), None
    times = times * words.response(time).seconds(1.0)
    if money is not None and money in asked.tables:
        costs = _quantiles(asked.tables[money])
    rows = _some(order, times, costs, most)
    means, more = asked.means(asked.objective.response), asked.objective.is_maximum
    n_runs = asked.view.n_runs
    assert n_runs is not None
    spending = None if asked.spent is None else asked.means(asked.spent)
    return CandidateTable(
        asked.objective,
        tuple(_browsed(asked, rows, times, costs, n_runs)),
        len(order),
        int((n_runs[order] > 0).sum()),
        np.array([means.ties(row, rows, is_more=more) for row in rows.tolist()]),
        np.array([means.ties(row, rows, is_more=more, doubt=DOUBT) for row in rows.tolist()]),
        np.array([spending.ties(row, rows, is_more=False) for row in rows.tolist()])
        if spending
        else np.zeros((0, 0), bool),
        None if spending is None else spending.center[rows],
        words,
        is_joint=asked.is_joint,
    )


def _quantiles(table: AnswerTable) -> Floats:
    """[score, candidate]"""
    from scipy.special import ndtr

    half = len(SCORES) // 2
    ends = [table.interval(float(2 * ndtr(score) - 1)) for score in SCORES[half + 1 :]]
    return np.array([*(low for low, _ in reversed(ends)), table.values, *(high for _, high in ends)])


def _some(order: Ints, times: Floats, costs: Floats | None, most: int) -> Ints:
    """Those that can be an answer, and of the others as many as there is room for, evenly taken."""
    if len(order) <= most:
        return order
    from scipy.special import ndtri

    must, front = {0}, set[int]()
    for quantiles in (times, *([] if costs is None else [costs])):
        for share in _CONFIDENCES:
            needed = quantiles[int(np.argmin(np.abs(np.array(SCORES) - ndtri(share))))][order]
            front |= set(np.flatnonzero(needed < np.minimum.accumulate(np.r_[np.inf, needed[:-1]])).tolist())
            must.add(int(needed.argmin()))
    kept = np.array(sorted(must))[:most]
    for more in (front, range(len(order))):
        kept = np.r_[kept, _evenly(np.setdiff1d(np.array(sorted(more), dtype=int), kept), most - len(kept))]
    found: Ints = order[np.sort(kept)]
    return found


def _evenly(rows: Ints, most: int) -> Ints:
    """At most so many, the ends included."""
    if len(rows) <= most:
        return rows
    some: Ints = rows[np.unique(np.linspace(0, len(rows) - 1, most).round().astype(int))]
    return some


def _browsed(asked: Asked, rows: Ints, times: Floats, costs: Floats | None, n_runs: Ints) -> Sequence[Browsed]:
    name, words = asked.objective.response, asked.words
    values = asked.values[name][rows]
    low, high = _ends(asked, name, rows) if name in asked.tables else (values, values)
    quality = words.quality if words.quality in asked.tables else None
    good = None if quality is None else (asked.values[quality][rows], *_ends(asked, quality, rows))
    settings = asked.view.candidates.take(rows).configurations()
    return [
        Browsed(
            configuration,
            times[:, row],
            None if costs is None else costs[:, row],
            float(values[at]),
            float(low[at]),
            float(high[at]),
            None if good is None else (float(good[0][at]), float(good[1][at]), float(good[2][at])),
            int(n_runs[row]),
        )
        for at, (row, configuration) in enumerate(zip(rows.tolist(), settings, strict=True))
    ]


def _ends(asked: Asked, response: str, rows: Ints) -> tuple[Floats, Floats]:
    low, high = asked.tables[response].interval(0.9)
    return low[rows], high[rows]
