"""Running the trials of a plan: the edge that joins workloads, engines, observe and store.

What must hold at every moment, also under SIGKILL: a trial has at most one final observation, an observation is
stored whole or not at all, and nothing that was started outlives this process.
"""

import json
import logging
import signal
import subprocess
import threading
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from types import FrameType

from sparkcast.engines import Engine, SparkJob, engine_for
from sparkcast.engines.conf import join_conf, merge_conf, settings_conf
from sparkcast.errors import RunError, SparkcastError, StoreError, StudyError
from sparkcast.observe import Run, observe
from sparkcast.observe.fingerprint import fingerprint
from sparkcast.observe.host import HostSampler
from sparkcast.observe.outcome import JobEnd
from sparkcast.store import Store, open_store
from sparkcast.store.lock import exclusive
from sparkcast.study import Configuration, Level, Observation, Outcome, Plan, Study, Trial
from sparkcast.units import show_seconds
from sparkcast.workloads import WORKLOADS, Workload, complete, driver

_log = logging.getLogger(__name__)
_ATTEMPTS = 3  # a lost run is tried again this often
_HOPELESS = 2  # so many errors at the start, with no success, and the rest is not worth its time
_POLL_S = 0.05


@dataclass(frozen=True, slots=True)
class Progress:
    """What to show while trials run."""

    done: int
    total: int
    text: str
    remaining_s: float | None = None
    is_note: bool = False  # worth a line of its own


@dataclass(frozen=True, slots=True)
class CampaignResult:
    finished: int  # trials that have their final observation now, earlier sessions included
    planned: int
    new: tuple[Observation, ...]
    left_out: tuple[Trial, ...]  # not run, because of a limit or an interruption
    reason: str = ""  # why some were left out
    interrupted: bool = False
    notes: tuple[str, ...] = ()


OnProgress = Callable[[Progress], None]


def dry_run(study: Study, plan: Plan, folder: Path) -> list[str]:
    """The spark-submit line of every trial, in run order."""
    engine = engine_for(study.spark)
    workload = WORKLOADS.get(study.workload)()
    settings = [_checked(workload, trial.configuration) for trial in plan.trials]
    _require_capacity(engine, settings)
    lines = []
    for trial, values in zip(plan.trials, settings, strict=True):
        target = folder / "runs" / f"{trial.position:04d}-{trial.key[:8]}-1"
        job, _ = _make_job(study, workload, engine, values, target)
        lines.append(engine.submission(job).shell())
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
    store = open_store(folder, create=True)
    try:
        with exclusive(folder / "lock"):
            return _Campaign(study, plan, folder, store, on_progress).run(resume, allow_changed)
    except SparkcastError:
        raise
    except OSError as error:
        raise StoreError(
            f"cannot write to {str(folder)!r}: {error.strerror or error}",
            hint="mend that, then: sparkcast run STUDY --resume; nothing stored before is lost",
        ) from error
    finally:
        store.close()


class _Campaign:
    def __init__(self, study: Study, plan: Plan, folder: Path, store: Store, on_progress: OnProgress) -> None:
        self._study, self._plan, self._folder, self._store = study, plan, folder, store
        self._on_progress = on_progress
        self._workload = WORKLOADS.get(study.workload)()
        self._new: list[Observation] = []
        self._notes: dict[str, None] = {}  # an ordered set: each is shown once
        self._interrupts = 0

    def run(self, resume: bool, allow_changed: bool) -> CampaignResult:
        study, plan = self._study, self._plan
        self._store.register(study, plan, allow_changed=allow_changed)
        self._store.close_interrupted(study.name)
        pending = self._store.pending(study.name, plan)
        done = len(plan.trials) - len(pending)
        if done and pending and not resume:
            raise StudyError(
                f"{done} of {len(plan.trials)} trials of study {study.name!r} are already done",
                hint="continue with --resume, or give the study a new name",
            )
        if not pending:
            return self._result((), "")
        engine = engine_for(study.spark)
        _require_capacity(engine, [_checked(self._workload, t.configuration) for t in plan.trials])
        fingerprints = {t.key: self._prepare(t) for t in pending}
        self._show(done, "starting the cluster")
        with self._watch_signals(), engine:
            self._warm_up(engine, pending)
            return self._run_trials(engine, pending, fingerprints)

    def _warm_up(self, engine: Engine, pending: tuple[Trial, ...]) -> None:
        """Once for each class path among the trials, so that all are treated alike."""
        self._show(self._done(), "warming up (not measured)")
        jobs: dict[str, SparkJob] = {}
        for trial in pending:
            settings = complete(self._workload, trial.configuration)
            job, _ = _make_job(self._study, self._workload, engine, settings, self._folder)
            conf = {key: value for key, value in job.conf.items() if not key.startswith("spark.eventLog.")}
            jobs.setdefault(conf.get("spark.executor.extraClassPath", ""), replace(job, conf=conf))
        for job in jobs.values():
            engine.warm_up(job)

    def _run_trials(
        self, engine: Engine, pending: tuple[Trial, ...], data_fingerprints: Mapping[str, str]
    ) -> CampaignResult:
        for index, trial in enumerate(pending):
            reason = self._stop_reason()
            if not reason:
                reason = self._run_trial(engine, trial, data_fingerprints[trial.key])
            if reason:
                return self._result(pending[index:], reason)
            self._require_hope()
        return self._result((), "")

    def _stop_reason(self) -> str:
        """Why the next trial must not start, or ""."""
        if self._interrupts:
            return "interrupted"
        limit = self._study.limits.total_s
        if limit is None:
            return ""
        spent = self._store.spent_s(self._study.name)
        if spent + self._typical_s() > limit:
            return f"the limit of {show_seconds(limit)} in total: {show_seconds(spent)} are spent"
        return ""

    def _run_trial(self, engine: Engine, trial: Trial, data_fingerprint: str) -> str:
        """Run one trial to its final observation; returns why it was cut short, or ""."""
        cause = ""
        for attempt in range(1, _ATTEMPTS + 1):
            if problem := engine.trouble():
                self._note(f"{problem}; starting it again")
                engine.restart()
            observation = self._attempt(engine, trial, data_fingerprint)
            if observation is None:
                return "interrupted" if self._interrupts else "the limit on the total time"
            if observation.outcome is not Outcome.LOST:
                self._new.append(observation)
                self._show(self._done(), _result_text(self._study, trial, observation), is_note=True)
                return ""
            cause = observation.cause
            self._note(f"trial {trial.position} was lost (attempt {attempt} of {_ATTEMPTS}): {cause.splitlines()[0]}")
        raise RunError(
            f"trial {trial.position} ({_varied(self._study, trial)}) was lost {_ATTEMPTS} times: {cause}",
            hint="check the cluster, then: sparkcast run STUDY --resume",
        )

    def _attempt(self, engine: Engine, trial: Trial, data_fingerprint: str) -> Observation | None:
        """One run. None when it was stopped from outside and says nothing."""
        run_id, artefacts = self._store.begin_run(self._study.name, trial)
        self._show(self._done(), f"trial {trial.position}: {_varied(self._study, trial)}")
        settings = complete(self._workload, trial.configuration)
        folders = _job_folders(self._folder / artefacts, int(settings["jobs"]))
        launched_at = time.time()
        with HostSampler() as sampler:
            processes = [self._launch(engine, settings, folder) for folder in folders]
            stopped_because = self._wait(engine, processes)
        if stopped_because in ("interrupted", "total"):
            self._store.abandon_run(run_id)
            return None
        run = Run(
            trial=trial,
            folders=folders,
            ends=tuple(JobEnd(process.returncode, stopped_because) for process in processes),
            launched_at=launched_at,
            ended_at=time.time(),
            utilisation=sampler.utilisation(),
            fingerprint=fingerprint(engine.facts(), data_fingerprint),
        )
        observation = observe(run, run_id=run_id, artefacts=artefacts)
        self._store.finish_run(self._study.name, trial, observation)
        return observation

    def _launch(self, engine: Engine, settings: Configuration, folder: Path) -> subprocess.Popen[bytes]:
        (folder / "eventlog").mkdir(parents=True)
        job, notes = _make_job(self._study, self._workload, engine, settings, folder)
        for note in notes:
            self._note(note)
        request = {"workload": self._study.workload, "settings": settings, "data_dir": str(self._folder / "data")}
        (folder / "job.json").write_text(json.dumps(request))
        submission = engine.submission(job)
        (folder / "command.sh").write_text(submission.shell() + "\n")
        process = engine.start(submission, folder / "driver.log")
        _log.debug("started %s as pid %d", folder / "command.sh", process.pid)
        return process

    def _wait(self, engine: Engine, processes: list[subprocess.Popen[bytes]]) -> str:
        """Wait for all; returns why they had to be stopped, or ""."""
        begun = time.monotonic()
        total_s, trial_s = self._study.limits.total_s, self._study.limits.trial_s
        left_s = None if total_s is None else total_s - self._store.spent_s(self._study.name)
        while any(process.poll() is None for process in processes):
            elapsed = time.monotonic() - begun
            if self._interrupts == 1:
                self._note("finishing the current trial; Ctrl-C again to stop it now")
            if self._interrupts > 1:
                reason = "interrupted"
            elif trial_s is not None and elapsed > trial_s:
                reason = "timeout"
            elif left_s is not None and elapsed > left_s:
                reason = "total"
            else:
                reason = engine.trouble()
            if reason:
                for process in processes:
                    engine.stop(process)
                return reason
            time.sleep(_POLL_S)
        return ""

    def _prepare(self, trial: Trial) -> str:
        data_dir = self._folder / "data"
        data_dir.mkdir(exist_ok=True)
        return self._workload.prepare(complete(self._workload, trial.configuration), data_dir)

    def _require_hope(self) -> None:
        failed = [o for o in self._new if o.outcome is Outcome.ERROR]
        if len(failed) == len(self._new) == _HOPELESS and self._done() == _HOPELESS:
            raise RunError(
                f"the first {_HOPELESS} trials failed, the last with: {failed[-1].cause}",
                hint=f"the whole log is {self._folder / failed[-1].artefacts / 'driver.log'}",
            )

    def _typical_s(self) -> float:
        known = [o.responses["total_s"] for o in self._new if "total_s" in o.responses]
        return sum(known) / len(known) if known else 0.0

    def _done(self) -> int:
        return len(self._plan.trials) - len(self._store.pending(self._study.name, self._plan))

    def _show(self, done: int, text: str, *, is_note: bool = False) -> None:
        total = len(self._plan.trials)
        typical = self._typical_s()
        remaining = (total - done) * typical if typical else None
        self._on_progress(Progress(done, total, text, remaining, is_note))

    def _note(self, text: str) -> None:
        if text not in self._notes:
            self._notes[text] = None
            self._show(self._done(), text, is_note=True)

    def _result(self, left_out: tuple[Trial, ...], reason: str) -> CampaignResult:
        return CampaignResult(
            finished=self._done(),
            planned=len(self._plan.trials),
            new=tuple(self._new),
            left_out=left_out,
            reason=reason,
            interrupted=self._interrupts > 0,
            notes=tuple(self._notes),
        )

    @contextmanager
    def _watch_signals(self) -> Iterator[None]:
        """First Ctrl-C: finish the current trial, then stop. Second, or SIGTERM: stop it now. Both leave no process."""
        if threading.current_thread() is not threading.main_thread():
            yield
            return

        def interrupt(number: int, _frame: FrameType | None) -> None:
            self._interrupts += 2 if number == signal.SIGTERM else 1

        previous = {number: signal.signal(number, interrupt) for number in (signal.SIGINT, signal.SIGTERM)}
        try:
            yield
        finally:
            for number, handler in previous.items():
                signal.signal(number, handler)


def _make_job(
    study: Study, workload: Workload, engine: Engine, settings: Configuration, folder: Path
) -> tuple[SparkJob, tuple[str, ...]]:
    measuring = {
        # The clock starts when all executors are there: a run with fewer would be another configuration's.
        "spark.scheduler.minRegisteredResourcesRatio": "1.0",
        "spark.scheduler.maxRegisteredResourcesWaitingTime": "1h",
        "spark.eventLog.enabled": "true",
        "spark.eventLog.dir": (folder / "eventlog").resolve().as_uri(),
        "spark.eventLog.compress": "true",
        "spark.eventLog.rolling.enabled": "false",
    }
    ours = join_conf(engine.defaults(), workload.spark_conf(settings), measuring, settings_conf(settings))
    conf, notes = merge_conf(ours, study.spark.conf)
    arguments = (str(folder / "job.json"), str(folder / "report.jsonl"))
    return SparkJob(Path(driver.__file__), arguments, conf, f"sparkcast {study.name}"), notes


def _job_folders(folder: Path, jobs: int) -> tuple[Path, ...]:
    return (folder,) if jobs == 1 else tuple(folder / f"job-{n}" for n in range(1, jobs + 1))


def _checked(workload: Workload, configuration: Configuration) -> dict[str, Level]:
    settings = complete(workload, configuration)
    workload.check(settings)
    return settings


def _require_capacity(engine: Engine, settings: list[dict[str, Level]]) -> None:
    capacity = engine.capacity(list(settings))
    for values in settings:
        if capacity is not None:
            capacity.require(values)


def _varied(study: Study, trial: Trial) -> str:
    shown = [f"{f.name}={trial.configuration[f.name]}" for f in study.factors]
    return " ".join([*shown, f"replicate={trial.replicate}"])


def _result_text(study: Study, trial: Trial, observation: Observation) -> str:
    settings = _varied(study, trial)
    if not observation.ok:
        return f"trial {trial.position}: {settings}: {observation.outcome}: {observation.cause.splitlines()[0]}"
    shown = [
        f"{name}={observation.responses[name]:.4g}" for name in ("time_s", "accuracy") if name in observation.responses
    ]
    return f"trial {trial.position}: {settings} -> {' '.join(shown)}"
