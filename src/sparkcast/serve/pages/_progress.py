"""How far a study is, from its store."""

import time
from dataclasses import dataclass

from sparkcast.api.plans import make_plan
from sparkcast.serve.catalog import CatalogEntry
from sparkcast.serve.pages import _words as words
from sparkcast.serve.state import ServiceState
from sparkcast.store import results_place
from sparkcast.study import Outcome

_FEW = 3  # finished runs from which a time left is told


@dataclass(frozen=True, slots=True)
class StudyProgress:
    planned: int
    done: int
    failed: int
    running: tuple[str, ...]  # the settings of runs that have not ended
    left_s: float | None  # about; None where too few runs ended
    text: str

    @property
    def is_running(self) -> bool:
        return bool(self.running)


def progress_of(state: ServiceState, entry: CatalogEntry) -> StudyProgress | None:
    """None where no plan is known: of tables, and of a store without its study files."""
    study = entry.study
    if study is None:
        return None
    plan = make_plan(study)
    place = results_place(study)
    if not place.exists:
        return _progress(len(plan.trials), {}, (), 0.0, 0.0)
    store = state.open(place.store)
    outcomes, running = store.final_outcomes(study.name, plan), store.running(study.name)
    since = time.time() - running[0][1] if running else 0.0
    fixed = study.fixed
    names = tuple(words.settings(one.without(*[n for n in one if n in fixed]), study.vocabulary) for one, _ in running)
    return _progress(len(plan.trials), outcomes, names, store.spent_s(study.name), since)


def _progress(
    planned: int, outcomes: dict[str, Outcome], running: tuple[str, ...], spent_s: float, since_s: float
) -> StudyProgress:
    done = len(outcomes)
    failed = sum(outcome is not Outcome.OK for outcome in outcomes.values())
    left = None
    if running and done >= _FEW:
        each = spent_s / done
        left = each * (planned - done - 1) + max(0.0, each - since_s)  # a run that takes long leaves the others
    return StudyProgress(planned, done, failed, running, left, _text(planned, done, failed, running, left))


def _text(planned: int, done: int, failed: int, running: tuple[str, ...], left: float | None) -> str:
    failures = f", {failed} of them failed" if failed else ""
    if done >= planned:
        return f"All {planned} runs are done{failures or ', none failed'}."
    text = f"{done} of {planned} runs are done{failures}."
    if not running:
        return f"{text} No run is going on."
    about = "" if left is None or left < 1 else f" About {words.duration(left)} left."
    return f"{text} Running now: {running[0]}.{about}"
