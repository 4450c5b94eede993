"""Running the trials of a plan: every trial that has no final observation yet."""

from dataclasses import dataclass
from pathlib import Path
from statistics import fmean

from sparkcast.errors import StudyError
from sparkcast.runs.job import make_job
from sparkcast.runs.session import OnProgress, Progress, Session, Stopped, hold_results, show_trial
from sparkcast.runs.site import Site
from sparkcast.runs.stream import planned_jobs, require_time
from sparkcast.store import Store
from sparkcast.study import Observation, Plan, Study, Trial
from sparkcast.study.names import RESPONSE_TIME
from sparkcast.study.streams import alone_times


@dataclass(frozen=True, slots=True)
class CampaignResult:
    finished: int  # trials that have their final observation now, earlier sessions included
    planned: int
    new: tuple[Observation, ...]
    left_out: tuple[Trial, ...]  # not run, because of a limit or an interruption
    reason: str = ""  # why some were left out
    interrupted: bool = False
    notes: tuple[str, ...] = ()


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
    folder: Path,
    *,
    resume: bool = False,
    allow_changed: bool = False,
    on_progress: OnProgress = lambda progress: None,
) -> CampaignResult:
    """Run every trial that has no final observation yet."""
    with hold_results(folder, "run") as store:
        return _Campaign(study, plan, folder, store, on_progress).run(resume, allow_changed)


class _Campaign:
    def __init__(self, study: Study, plan: Plan, folder: Path, store: Store, on_progress: OnProgress) -> None:
        self._site = Site(study)
        self._study, self._plan, self._store = self._site.study, plan, store
        self._on_progress = on_progress
        self._session = Session(self._site, folder, store, self._tell, command="run")
        self._new: list[Observation] = []

    def run(self, resume: bool, allow_changed: bool) -> CampaignResult:
        study, plan = self._study, self._plan
        self._store.register(study, plan, allow_changed=allow_changed)
        self._store.close_interrupted(study.name)
        pending = self._store.pending(study.name, plan)
        done = len(plan.trials) - len(pending)
        if done and pending and not resume:
            raise StudyError(
                f"{done} of {len(plan.trials)} trials of study {study.name!r} are already done",
                hint="continue with `resume=True`, or give the study a new name",
            )
        if not pending:
            return self._result((), "")
        self._require_time(pending)
        with self._session:
            self._site.require(
                [trial.configuration for trial in plan.trials], [trial.configuration for trial in pending]
            )
            for note in self._site.notes:
                self._session.note(note)
            return self._run_trials(pending)

    def _require_time(self, pending: tuple[Trial, ...]) -> None:
        """Refuse streams that cannot end within the limits, before anything starts."""
        known = alone_times(self._store.observations(self._study.name), self._study.vocabulary)
        shortest_s = min((fmean(times) for times in known.values()), default=0.0)
        require_time(self._study, self._site.workload, pending, shortest_s)

    def _run_trials(self, pending: tuple[Trial, ...]) -> CampaignResult:
        try:
            self._session.prepare(pending)
            for trial in pending:
                self._tell(f"trial {trial.position}: {show_trial(self._study, trial)}", False)
                observation = self._session.measure(trial)
                self._new.append(observation)
                self._tell(_result_text(self._study, trial, observation), True)
                if self._done() == len(self._new):
                    self._session.require_success(self._new)
        except Stopped as stop:
            return self._result(pending[len(self._new) :], stop.reason)
        return self._result((), "")

    def _done(self) -> int:
        return len(self._plan.trials) - len(self._store.pending(self._study.name, self._plan))

    def _tell(self, text: str, is_note: bool) -> None:
        done, total = self._done(), len(self._plan.trials)
        typical = self._session.typical_s
        remaining = (total - done) * typical if typical else None
        self._on_progress(Progress(done, total, text, remaining, is_note))

    def _result(self, left_out: tuple[Trial, ...], reason: str) -> CampaignResult:
        return CampaignResult(
            finished=self._done(),
            planned=len(self._plan.trials),
            new=tuple(self._new),
            left_out=left_out,
            reason=reason,
            interrupted=self._session.is_interrupted,
            notes=self._session.notes,
        )


def _result_text(study: Study, trial: Trial, observation: Observation) -> str:
    settings = show_trial(study, trial)
    if not observation.ok:
        return f"trial {trial.position}: {settings}: {observation.outcome}: {observation.cause.splitlines()[0]}"
    words = study.vocabulary
    names = [name for name in (words.time, words.quality) if name is not None]
    names += [RESPONSE_TIME, "response_p90_s", "cores_busy"] if observation.jobs else []
    shown = [f"{name}={observation.responses[name]:.4g}" for name in names if name in observation.responses]
    return f"trial {trial.position}: {settings} -> {' '.join(shown)}"
