"""Who answers what to run: models, candidates and the last tables of them, kept while the runs stay the same."""

import threading
from collections.abc import Mapping
from dataclasses import replace

from fastapi import Request

from sparkcast.api import Present
from sparkcast.api.advisor import Advisor
from sparkcast.data.sources import Data
from sparkcast.learned.knowledge import Knowledge
from sparkcast.recommend import Recommendation
from sparkcast.recommend.browsing import CandidateTable, browse
from sparkcast.recommend.choose import Recommender
from sparkcast.recommend.question import Question
from sparkcast.serve.learning import Learned
from sparkcast.serve.pages._query import RunQuery
from sparkcast.serve.pages._site import asking_of
from sparkcast.study import Level, Role, same_level
from sparkcast.study.setting import SIZES
from sparkcast.units import as_number

_MOST_TABLES = 64


class RunAdviser:
    """Of one study or job. Its models are not safe for several threads, so one asks after the other."""

    def __init__(self, learned: Learned) -> None:
        self.learned = learned
        self.known: Knowledge = learned.knowledge
        self.data: Data = learned.data
        self.lock = threading.RLock()
        self._advisors: dict[bool, Advisor] = {False: learned.advisor}
        self._tables: dict[object, CandidateTable] = {}

    def advisor(self, is_far_allowed: bool) -> Advisor:
        if is_far_allowed not in self._advisors:
            learned = self.learned
            made = Advisor.of(learned.data, learned.model, known=learned.knowledge, extrapolate=is_far_allowed)
            self._advisors[is_far_allowed] = made
        return self._advisors[is_far_allowed]

    def recommender(self, is_far_allowed: bool) -> Recommender:
        return self.advisor(is_far_allowed).recommender

    def question(self, query: RunQuery) -> Question:
        """What is asked, with the objective said: it must not change when a limit is taken away."""
        maximize, minimize = self.objective(query.best)
        return Question(
            within_s=query.within_s,
            budget=query.budget,
            confidence=query.confidence,
            fix=self._fixed(query),
            maximize=maximize,
            minimize=minimize,
        )

    def objective(self, best: str) -> tuple[str | None, str | None]:
        words = self.recommender(False).words
        if best.startswith("+"):
            return best[1:], None
        if best.startswith("-"):
            return None, best[1:]
        resources = self.recommender(False).resources
        if words.quality is not None:
            return words.quality, None
        return None, words.money or (resources.name if resources else None) or words.required_time()

    def _fixed(self, query: RunQuery) -> Mapping[str, Level]:
        if query.running is None or (name := self.jobs) is None:
            return query.hold
        return {**query.hold, name: query.running + 1}

    def table(self, query: RunQuery) -> CandidateTable:
        """The candidates, whatever the limits are. Raises NotEnoughDataError where nothing is known."""
        question = self.question(query)
        key = (tuple(question.fix.items()), question.maximize, question.minimize, query.is_far_allowed)
        if key not in self._tables:
            if len(self._tables) >= _MOST_TABLES:
                self._tables.pop(next(iter(self._tables)))
            self._tables[key] = browse(self.recommender(query.is_far_allowed), question)
        return self._tables[key]

    def recommend(self, query: RunQuery) -> Recommendation:
        """As `api.recommend` does."""
        asked = replace(self.question(query), fix=query.hold, most=2)
        return self.advisor(query.is_far_allowed).recommend(asked, Present(jobs_running=query.running))

    # ------------------------------------------------------------ what may be asked

    @property
    def jobs(self) -> str | None:
        """The setting that counts the jobs at once, where runs had several numbers of them."""
        return self.recommender(False).words.first(Role.JOBS, among=self.known.about.factors)

    @property
    def size(self) -> str | None:
        """The setting that tells how much data there is."""
        return self.recommender(False).words.first(*SIZES, among=self.known.about.factors)

    def levels(self, name: str) -> tuple[Level, ...]:
        """Of a setting, those that ran, by size."""
        found: list[Level] = []
        for seen in self.known.about.seen:
            level = seen.configuration.get(name)
            if level is not None and not any(same_level(level, other) for other in found):
                found.append(level)
        numbers = {level: as_number(level) for level in found}
        if any(number is None for number in numbers.values()):
            return tuple(found)
        return tuple(sorted(found, key=lambda level: numbers[level] or 0.0))


def adviser_of(request: Request, name: str) -> RunAdviser:
    """Raises UnknownNameError for what is not there or not theirs, NotEnoughDataError for what has no runs."""
    state = request.app.state
    if not hasattr(state, "advisers"):
        state.advisers = {}
    learned = asking_of(request).learned(name)
    known = state.advisers.get(name)
    if known is None or known.learned.digest != learned.digest:
        state.advisers[name] = known = RunAdviser(learned)
    assert isinstance(known, RunAdviser)
    return known
