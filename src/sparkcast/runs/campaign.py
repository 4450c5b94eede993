"""Running the trials of a plan: every trial that has no final observation yet."""

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from statistics import fmean
from typing import TYPE_CHECKING

from sparkcast.display import Displayed, frame_of
from sparkcast.errors import StudyError
from sparkcast.registry import did_you_mean
from sparkcast.runs.job import make_job
from sparkcast.runs.reread import reread
from sparkcast.runs.schedule import Schedule
from sparkcast.runs.session import OnProgress, Progress, Session, Stopped, hold_results, show_trial
from sparkcast.runs.site import Site
from sparkcast.runs.stream import planned_jobs, require_time
from sparkcast.store import ResultsPlace, Store
from sparkcast.study import Observation, Outcome, Plan, Study, Trial
from sparkcast.study.names import RESPONSE_TIME
from sparkcast.study.streams import alone_times
from sparkcast.units import show_seconds
from sparkcast.workloads import HasReadings

if TYPE_CHECKING:
    import pandas as pd


@dataclass(frozen=True, slots=True)
class CampaignResult(Displayed):
    finished: int  # trials that have their final observation now, earlier sessions included
    planned: int
    new: tuple[Observation, ...]
    left_out: tuple[Trial, ...]  # not run, because of a limit or an interruption
    reason: str = ""  # why some were left out
    interrupted: bool = False
    notes: tuple[str, ...] = ()
    failed: int = 0  # of the finished ones, those whose run failed
    missing: Mapping[str, int] = field(default_factory=dict)  # responses that good runs should have and lack: how many

    def frame(self) -> "pd.DataFrame":
        """A row for each new run."""
        return frame_of(run.row() for run in self.new)


def retried_outcomes(names: Iterable[str]) -> frozenset[Outcome]:
    """The outcomes whose trials are to be run again, from their names or `failed` for all.

    >>> sorted(retried_outcomes(["error", "timeout"]))
    [<Outcome.ERROR: 'error'>, <Outcome.TIMEOUT: 'timeout'>]
    """
    failures = {outcome.value: outcome for outcome in Outcome if outcome is not Outcome.OK}
    found: set[Outcome] = set()
    for name in names:
        if name == "failed":
            found |= {*failures.values()}
        elif name in failures:
            found.add(failures[name])
        else:
            known = ("failed", *failures)
            raise StudyError(f"`retry=` {name!r}: no outcome of runs that failed", hint=did_you_mean(name, known))
    return frozenset(found)


def dry_run(study: Study, plan: Plan, folder: Path) -> list[str]:
    """The spark-submit line of every trial, in run order; of a stream, those of all its jobs."""
    site = Site(study)
    site.require([trial.configuration for trial in plan.trials])
    require_time(site.study, site.workload, plan.trials)
    lines = []
    for trial in plan.trials:
        target = folder / "runs" / f"{trial.position:04d}-{trial.key[:8]}-1"
        jobs = planned_jobs(site.study, site.workload, trial, target)
        for planned in jobs if study.arrivals is not None else jobs[:1]:
            job, _ = make_job(study, site.workload, site.engine, planned.settings, planned.folder)
            lines.append(site.engine.submission(job).shell())
    return lines


def run_campaign(
    study: Study,
    plan: Plan,
    place: ResultsPlace,
    *,
    resume: bool = False,
    retry: Collection[Outcome] = (),
    allow_changed: bool = False,
    on_progress: OnProgress = lambda progress: None,
) -> CampaignResult:
    """Run every trial that has no final observation yet, and again those that ended like `retry`."""
    with hold_results(place, study.name, "run") as store:
        return _Campaign(study, plan, place.folder, store, on_progress).run(resume, retry, allow_changed)


class _Campaign:
    def __init__(self, study: Study, plan: Plan, folder: Path, store: Store, on_progress: OnProgress) -> None:
        self._site = Site(study)
        self._study, self._plan, self._store, self._folder = self._site.study, plan, store, folder
        self._on_progress = on_progress
        self._session = Session(self._site, folder, store, self._tell, command="run")
        self._new: list[Observation] = []

    def run(self, resume: bool, retry: Collection[Outcome], allow_changed: bool) -> CampaignResult:
        study, plan = self._study, self._plan
        if note := reread(study, self._store, self._folder).note:
            self._session.note(note)
        self._store.register(study, plan, allow_changed=allow_changed)
        self._store.close_interrupted(study.name)
        ended = self._store.final_outcomes(study.name, plan)
        pending = tuple(trial for trial in plan.trials if trial.key not in ended or ended[trial.key] in retry)
        done = len(plan.trials) - len(pending)
        if done and pending and not (resume or retry):
            raise StudyError(
                f"{done} of {len(plan.trials)} trials of study {study.name!r} are already done",
                hint="continue with `resume=True`, or give the study a new name",
            )
        if not pending:
            return self._result((), "")
        require_limits(self._site, self._store, pending)
        with self._session:
            self._site.require(
                [trial.configuration for trial in plan.trials], [trial.configuration for trial in pending]
            )
            for note in self._site.notes:
                self._session.note(note)
            return self._run_trials(pending)

    def _run_trials(self, pending: tuple[Trial, ...]) -> CampaignResult:
        try:
            self._session.prepare(pending)
            self._store.reopen(self._study.name, pending)
            schedule = Schedule(self._study, self._plan, self._store)
            for trial in pending:
                self._session.wait_until(schedule.due(trial), schedule.shown(trial))
                self._tell(self._about(trial), False)
                observation = self._session.measure(trial)
                self._new.append(observation)
                self._tell(f"{self._about(trial)}: {shown_run(self._study, observation, self._promised())}", True)
                if self._done() == len(self._new):
                    self._session.require_success(self._new)
        except Stopped as stop:
            return self._result(pending[len(self._new) :], stop.reason)
        return self._result((), "")

    def _about(self, trial: Trial) -> str:
        return f"run {trial.position} of {len(self._plan.trials)}: {show_trial(self._study, trial)}"

    def _promised(self) -> tuple[str, ...]:
        return promised_responses(self._site)

    def _done(self) -> int:
        return len(self._store.final_outcomes(self._study.name, self._plan))

    def _tell(self, text: str, is_note: bool) -> None:
        done, total = self._done(), len(self._plan.trials)
        typical = self._session.typical_s
        remaining = (total - done) * typical if typical else None
        self._on_progress(Progress(done, total, text, remaining, is_note))

    def _result(self, left_out: tuple[Trial, ...], reason: str) -> CampaignResult:
        ended = self._store.final_outcomes(self._study.name, self._plan)
        return CampaignResult(
            finished=len(ended),
            planned=len(self._plan.trials),
            failed=sum(outcome is not Outcome.OK for outcome in ended.values()),
            new=tuple(self._new),
            left_out=left_out,
            reason=reason,
            interrupted=self._session.is_interrupted,
            notes=self._session.notes,
            missing=missing_responses(self._store, self._study.name, self._promised()),
        )


def require_limits(site: Site, store: Store, pending: tuple[Trial, ...]) -> None:
    """Refuse streams that cannot end within the limits, before anything starts."""
    known = alone_times(store.observations(site.study.name), site.study.vocabulary)
    shortest_s = min((fmean(times) for times in known.values()), default=0.0)
    require_time(site.study, site.workload, pending, shortest_s)


def promised_responses(site: Site) -> tuple[str, ...]:
    """The responses that the job itself reports."""
    return site.workload.readings.promised if isinstance(site.workload, HasReadings) else ()


def missing_responses(store: Store, study: str, promised: Sequence[str]) -> dict[str, int]:
    """How many good runs lack each of these."""
    good = [run.responses for run in store.observations(study) if run.ok]
    lacking = {name: sum(name not in responses for responses in good) for name in promised}
    return {name: count for name, count in lacking.items() if count}


def shown_run(study: Study, observation: Observation, promised: Sequence[str]) -> str:
    """What a run gave, for people: its time, and what it measured beside."""
    if not observation.ok:
        return f"{observation.outcome}: {observation.cause.splitlines()[0]}"
    words = study.vocabulary
    names = [name for name in (words.time, words.quality, *promised) if name is not None]
    names += [RESPONSE_TIME, "response_p90_s", "cores_busy"] if observation.jobs else []
    shown = []
    for name in dict.fromkeys(names):
        value, response = observation.responses.get(name), words.response(name)
        if value is None:
            shown += [f"no {name}"] if name in promised else []
        elif name == words.time:
            shown.append(show_seconds(response.seconds(value)))
        else:
            shown.append(f"{name} {response.shown(value)}")
    return ", ".join(shown)
