"""May a job start with these settings? The answer of a model, in the time that a scheduler has."""

from dataclasses import dataclass, replace
from typing import Literal

import numpy as np

from sparkcast.errors import StudyError
from sparkcast.recommend import Candidate, Limit
from sparkcast.recommend.choose import Recommender
from sparkcast.recommend.evaluation import Asked, rows_like
from sparkcast.recommend.question import Question
from sparkcast.recommend.ties import select
from sparkcast.study import Configuration
from sparkcast.study.configuration import Levels
from sparkcast.units import show_probability


@dataclass(frozen=True, slots=True)
class SettingsCheck:
    """Whether settings keep to all limits with the wanted probability, and what would."""

    verdict: Literal["admit", "change", "refuse"]
    reason: str
    confidence: float
    limits: tuple[Limit, ...]
    asked: Candidate  # with what is predicted of it
    chances: tuple[float, ...]  # of keeping to each limit, if the run succeeds
    change_to: Candidate | None = None  # for "change": what `recommend` chooses
    nearest: Candidate | None = None  # for "refuse": what comes nearest to the limits


def check_settings(recommender: Recommender, settings: Levels, question: Question) -> SettingsCheck:
    """See SettingsCheck. Raises as `recommend` does, where the runs say nothing about these settings."""
    asked, row = _standing(recommender, Configuration(settings), question)
    if not asked.limits:
        raise StudyError("there is no limit to check", hint="give a deadline or a budget")
    [own] = recommender.candidates(asked, [row])
    chances = tuple(float(asked.chances(limit, np.array([row]))[0]) for limit in asked.limits)
    told = f"keeps to the limits with {show_probability(own.probability)} probability"
    limits, confidence = asked.limits, question.confidence
    if asked.kept[row] and own.probability >= confidence:
        return SettingsCheck("admit", told, confidence, limits, own, chances)
    whole, _ = recommender.standing(question)
    if whole.meets.any():
        good = whole.order[whole.meets[whole.order]]
        [better] = recommender.candidates(whole, [select(whole, good).row])
        why = f"{told}; {better.configuration} does with {show_probability(better.probability)}"
        return SettingsCheck("change", why, confidence, limits, own, chances, change_to=better)
    near = whole.nearest_misses(1).tolist()
    nearest = recommender.candidates(whole, near)[0] if near else None
    why = f"{told}; no other candidate reaches {show_probability(confidence)}"
    return SettingsCheck("refuse", why, confidence, limits, own, chances, nearest=nearest)


def _standing(recommender: Recommender, settings: Configuration, question: Question) -> tuple[Asked, int]:
    """Where these settings stand: among all candidates, or alone where they are none of them."""
    factors = recommender.known.factors
    if missing := [name for name in factors if name not in settings]:
        raise StudyError(f"the settings lack {missing[0]!r}", hint=f"give {', '.join(factors)}")
    whole, _ = recommender.standing(question)
    row = recommender.row_of(whole.view, settings.only(factors))
    if row is not None and whole.allowed[row]:
        return whole, row
    alone, _ = recommender.standing(replace(question, fix={**question.fix, **settings}))
    like = np.flatnonzero(rows_like(alone.view.candidates, settings, [n for n in settings if n in factors]))
    return alone, int(like[0])
