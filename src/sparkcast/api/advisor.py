"""What `recommend` learns once, to answer many questions."""

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Self

from sparkcast.api.sources import data_of
from sparkcast.data.sources import Data
from sparkcast.errors import StudyError
from sparkcast.learned.knowledge import Knowledge, knowledge_of
from sparkcast.recommend.advise import Choices, Situation, advise, pool_of
from sparkcast.recommend.choose import Recommender
from sparkcast.recommend.launch import launch_of_study
from sparkcast.runs.environment import here
from sparkcast.study import Price

if TYPE_CHECKING:
    from sparkcast.api.answers import Present
    from sparkcast.recommend import Recommendation, RunningJob
    from sparkcast.recommend.question import Question


@dataclass(frozen=True)
class Advisor:
    """Runs or a model, and the candidates that questions are about."""

    source: Data | Knowledge
    known: Knowledge
    recommender: Recommender

    @classmethod
    def of(
        cls,
        source: Data | Knowledge,
        model: str = "auto",
        *,
        known: Knowledge | None = None,
        choices: Choices | None = None,
        price: Price | None = None,
        extrapolate: bool = False,
    ) -> Self:
        """`known`: what was learned from the source already."""
        known = knowledge_of(source, model) if known is None else known
        pool = pool_of(known, choices or Choices())
        given = () if choices is None else tuple(choices.levels)
        price = price or known.about.price
        return cls(source, known, Recommender(known, pool, price=price, extrapolate=extrapolate, given=given))

    def recommend(self, question: "Question", present: "Present") -> "Recommendation":
        """See `sparkcast.api.recommend`."""
        known = self.known
        n_running, jobs = _running(self.source, present)
        recent = None if present.recent is None else data_of(present.recent).dataset
        situation = Situation(n_running, jobs, here(known.about.fingerprints), recent)
        found = advise(self.recommender, known, question, situation)
        study = self.source.study if isinstance(self.source, Data) else None
        if study is None or not study.workload:
            return found
        settings = known.about.fixed | found.chosen.configuration
        return replace(found, launch=launch_of_study(study, settings, self.recommender.spark))


def _running(source: Data | Knowledge, present: "Present") -> "tuple[int | None, tuple[RunningJob, ...]]":
    """How many jobs run now, None when nobody asked, and what is known of them."""
    if present.jobs_running is None and not present.running:
        return None, ()
    if present.jobs_running != "store":
        n_running = len(present.running) if present.jobs_running is None else int(present.jobs_running)
        return n_running, present.running
    import time

    from sparkcast.recommend.load import running_jobs
    from sparkcast.store import results_place

    study = source.study if isinstance(source, Data) else None
    if study is None or study.path is None:
        raise StudyError("running jobs can only be counted for a study with a store", hint="give their number instead")
    store = results_place(study).open()
    try:
        found = running_jobs(store.running(study.name), study.limits.trial_s, time.time(), study.vocabulary)
    finally:
        store.close()
    return len(found) + len(present.running), (*found, *present.running)
