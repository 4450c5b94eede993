"""What `recommend` chooses, without what explains it: for a scheduler that waits."""

from dataclasses import dataclass

import numpy as np

from sparkcast.recommend import Candidate, Limit
from sparkcast.recommend.choose import Recommender
from sparkcast.recommend.question import Question
from sparkcast.recommend.ties import select


@dataclass(frozen=True, slots=True)
class BriefChoice:
    """The settings that `recommend` chooses, and what comes next."""

    objective: str
    confidence: float
    limits: tuple[Limit, ...]
    chosen: Candidate
    runner_up: Candidate | None
    n_candidates: int  # supported by runs and not likely to fail,
    meeting: int  # of which these keep to all limits


def choose_briefly(recommender: Recommender, question: Question) -> BriefChoice | None:
    """None where nothing keeps to the limits: `ask` says what comes nearest."""
    asked, _ = recommender.standing(question)
    if not asked.meets.any():
        return None
    good = asked.order[asked.meets[asked.order]]
    row = select(asked, good).row
    others = good[good != row]
    rows = [row, *others[:1].tolist()]
    candidates = recommender.candidates(asked, rows)
    return BriefChoice(
        str(asked.objective),
        question.confidence,
        asked.limits,
        candidates[0],
        candidates[1] if len(candidates) > 1 else None,
        int(np.count_nonzero(asked.kept)),
        len(good),
    )
