"""A study on its cluster: where it runs, and one trial after the other.

What must hold at every moment, also under SIGKILL: a trial has at most one final observation, an observation is
stored whole or not at all, and nothing that was started outlives this process.
"""

import json
import logging
import shlex
import signal
import stat
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from statistics import fmean
from types import FrameType, TracebackType
from typing import Self

from sparkcast.engines import NOT_PINNED, Engine, Handle, SparkJob
from sparkcast.errors import RunError, SparkcastError, StoreError
from sparkcast.observe.fingerprint import fingerprint
from sparkcast.observe.host import HostSampler, with_nodes
from sparkcast.observe.output import OutputGrowth
from sparkcast.observe.report import read_report
from sparkcast.observe.run import Observed, Run, observe
from sparkcast.runs.cancel import current_token
from sparkcast.runs.control import ineffective_roles, is_allocation_dynamic, users_properties
from sparkcast.runs.files import artifacts_place
from sparkcast.runs.job import event_logs_elsewhere, make_job
from sparkcast.runs.placement import Placement
from sparkcast.runs.site import Site
from sparkcast.runs.stream import PlannedJob, Submitter, arrival_times, configurations_of, planned_jobs
from sparkcast.store import SEEN_EVERY_S, ResultsPlace, Store
from sparkcast.store.clock import RunClock
from sparkcast.store.lease import LeaseLostError
from sparkcast.store.lock import exclusive
from sparkcast.study import Configuration, Observation, Outcome, Role, Sharing, Study, Trial
from sparkcast.study.application import TOTAL_TIME
from sparkcast.study.environment import is_local
from sparkcast.study.redaction import Redactor, redact_text, secrets_in, secrets_of_environment
from sparkcast.units import show_seconds
from sparkcast.workloads import Submitted, SubmittedApplication, complete, shape_of, vocabulary_of

_log = logging.getLogger(__name__)
_BY_OTHERS = stat.S_IRGRP | stat.S_IROTH
_ATTEMPTS = 3  # a lost run is tried again this often
_GIVE_UP_AFTER = 2  # so many errors at the start, with no success, and the rest is not worth its time
_POLL_S = 0.05
_TELL_S = 1.0  # how often to see how far a stream is
_WAIT_TELL_S = 60.0  # how often to tell how long nothing is going to happen yet
_LOOK_S = 5.0  # how often to look after the cluster while a run goes on: looking may cost a connection to it
_BELIEVED = 3  # a problem is believed when seen so often in a row: one refused connection is no reason to lose a run


@dataclass(frozen=True, slots=True)
class Progress:
    """What to show while trials run."""

    done: int
    total: int
    text: str
    remaining_s: float | None = None
    is_note: bool = False  # worth a line of its own


OnProgress = Callable[[Progress], None]


@contextmanager
def hold_results(place: ResultsPlace, study: str, command: str, *, together: bool = False) -> Iterator[Store]:
    """The store of a study, for this process alone or `together` with others that say so.

    The folder is locked by the kernel, which frees it the moment its holder dies; in a store that several machines
    share, the study is held by a lease as well. What the disk refuses becomes an error with advice.
    """
    store = place.open_to_write()
    try:
        with ExitStack() as held:
            held.enter_context(exclusive(place.folder / "lock", together=together))
            if together:
                held.enter_context(store.joining(study))
            elif place.is_shared:
                held.enter_context(store.holding(study))
            yield store
    except SparkcastError:
        raise
    except OSError as error:
        raise StoreError(
            f"cannot write to {str(place.folder)!r}: {error.strerror or error}",
            hint=f"fix that, then: `api.{command}(STUDY, resume=True)`; nothing stored before is lost",
        ) from error
    finally:
        store.close()


class Stopped(Exception):
    """No further run may be made, and why."""

    def __init__(self, reason: str) -> None:
        super().__init__(reason)
        self.reason = reason


@dataclass(frozen=True, slots=True)
class Allowance:
    """The most seconds a run may take; when they are over it is stopped and says nothing."""

    seconds: float
    reason: str


class _Every:
    """Comes due each `period_s` of a run, for the first time after one."""

    def __init__(self, period_s: float) -> None:
        self._period_s = self._next_s = period_s

    def is_due(self, elapsed_s: float) -> bool:
        if elapsed_s < self._next_s:
            return False
        self._next_s = elapsed_s + self._period_s
        return True


class _Lookout:
    """Looks after a cluster while a run goes on."""

    def __init__(self, engine: Engine) -> None:
        self._engine, self._look, self._in_a_row = engine, _Every(_LOOK_S), 0

    def health_problem(self, elapsed_s: float) -> str:
        """Why the cluster cannot be used any more; "" when all is well, or when it is too early to tell."""
        if not self._look.is_due(elapsed_s):
            return ""
        problem = self._engine.health_problem()
        self._in_a_row = self._in_a_row + 1 if problem else 0
        return problem if self._in_a_row >= _BELIEVED else ""


class Session:
    """A study on its cluster: trials become final observations in the store, one after the other.

    Enter it to watch for Ctrl-C. The cluster starts with the first `prepare` and ends when the session is left.
    `search_id` is the search that the runs belong to, if any.
    """

    def __init__(
        self,
        site: Site,
        folder: Path,
        store: Store,
        tell: Callable[[str, bool], None],
        *,
        command: str,
        search_id: int | None = None,
    ) -> None:
        self._site, self._study, self._workload = site, site.study, site.workload
        self._folder, self._store, self._search_id = folder, store, search_id
        self._on_message, self._command = tell, command
        self._open = ExitStack()
        self._is_up = False
        self._warm: set[str] = set()  # class paths
        self._data: dict[str, str] = {}  # trial key -> fingerprint of its data
        self._notes: dict[str, None] = {}  # an ordered set: each is shown once
        self._durations: list[float] = []
        self._signals, self._token = 0, current_token()
        self._is_idle = False  # between runs
        self._told_of = ""  # the run of which was told that it waits
        self._at_most_s: float | None = None  # after which the run that is made now is a timeout

    def __enter__(self) -> Self:
        self._open.enter_context(self._watch_signals())
        if self._folder.stat().st_mode & _BY_OTHERS:
            private = f"chmod -R go= {shlex.quote(str(self._folder))}"
            self.note(f"other users of this machine can read {self._folder.name}; make it private: {private}")
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._open.close()

    @property
    def is_interrupted(self) -> bool:
        return self._interrupts > 0

    @property
    def _interrupts(self) -> int:
        """How often it was asked to stop, by signals or from another thread: once after this trial, twice now."""
        return self._signals + self._token.requests

    @property
    def notes(self) -> tuple[str, ...]:
        return tuple(self._notes)

    @property
    def typical_s(self) -> float:
        """How long a run of this session takes on average, start-up included; 0 when there was none."""
        return fmean(self._durations) if self._durations else 0.0

    def prepare(self, trials: Sequence[Trial]) -> None:
        """Make their data and the cluster ready, as far as they are not. Raises Stopped when interrupted."""
        engine = self._site.engine
        if place := artifacts_place(self._study):
            place.make()
        with self._interruptible():
            for trial in trials:
                self._data[trial.key] = self._prepare_data(trial)
            if not self._is_up:
                self._on_message("starting the cluster", False)
                self._open.enter_context(engine)
                self._is_up = True
            self._warm_up(engine, trials)

    def measure(
        self, trial: Trial, allowed: Callable[[], Sequence[Allowance]] = tuple, *, at_most_s: float | None = None
    ) -> Observation:
        """Run a prepared trial to its final observation. Raises Stopped when it may not start or was cut short.

        `allowed` is asked before each attempt: a lost one has used up some of it. After `at_most_s` it is a timeout.
        """
        self._require_time(trial)
        self._at_most_s = at_most_s
        engine = self._site.engine
        cause = ""
        for attempt in range(1, _ATTEMPTS + 1):
            if problem := engine.health_problem():
                self.note(f"{problem}; restarting it")
                with self._interruptible():
                    engine.restart()
            observation = self._attempt(engine, trial, [*allowed(), *self._time_left()])
            if observation.outcome is not Outcome.LOST:
                return observation
            cause = observation.cause
            self.note(f"trial {trial.position} was lost (attempt {attempt} of {_ATTEMPTS}): {cause.splitlines()[0]}")
        raise RunError(
            f"trial {trial.position} ({show_trial(self._study, trial)}) was lost {_ATTEMPTS} times: {cause}",
            hint=f"check the cluster, then: `api.{self._command}(STUDY, resume=True)`",
        )

    def wait_until(self, moment: float, what: str) -> None:
        """Do nothing until then, in seconds since the Unix epoch. Raises Stopped when interrupted."""
        begun, tell = time.monotonic(), _Every(_WAIT_TELL_S)
        with self._interruptible():
            if (left_s := moment - time.time()) > 0:
                self._on_message(f"{what} begins in {show_seconds(left_s)}", True)
            while (left_s := moment - time.time()) > 0:
                if self._token.requests:
                    raise Stopped("interrupted")
                if tell.is_due(time.monotonic() - begun):
                    self._on_message(f"{what} begins in {show_seconds(left_s)}", False)
                time.sleep(min(left_s, _TELL_S))

    def note(self, text: str) -> None:
        text = redact_text(text)
        if text not in self._notes:
            self._notes[text] = None
            self._on_message(text, True)

    def _tell_once(self, run_id: str, text: str) -> None:
        """What is worth a line while a run goes on, once for each run."""
        if self._told_of != run_id:
            self._told_of = run_id
            self._on_message(redact_text(text), True)

    def require_success(self, observations: Sequence[Observation]) -> None:
        """Raise RunError when these are the first runs of all, and none of them got anywhere."""
        if len(observations) == _GIVE_UP_AFTER and all(o.outcome is Outcome.ERROR for o in observations):
            last = observations[-1]
            raise RunError(
                f"the first {_GIVE_UP_AFTER} trials failed, the last with: {last.cause}",
                hint=f"the full log is {self._folder / last.artifacts / 'driver.log'}; when the cause is gone, repeat "
                "them with `api.run(STUDY, retry=['error'])`",
            )

    def _prepare_data(self, trial: Trial) -> str:
        data_dir = self._folder / "data"
        data_dir.mkdir(exist_ok=True)
        prints = [
            self._workload.prepare(complete(self._workload, configuration), data_dir)
            for configuration in configurations_of(self._study, trial.configuration)
        ]
        return ", ".join(dict.fromkeys(prints))

    def _warm_up(self, engine: Engine, trials: Sequence[Trial]) -> None:
        """Once for each class path among the trials, so that all are treated alike."""
        jobs: dict[str, SparkJob] = {}
        for configuration in (c for trial in trials for c in configurations_of(self._study, trial.configuration)):
            settings = complete(self._workload, configuration)
            job, _ = make_job(self._study, self._workload, engine, settings, self._folder)
            conf = {key: value for key, value in job.conf.items() if not key.startswith("spark.eventLog.")}
            jobs.setdefault(conf.get("spark.executor.extraClassPath", ""), replace(job, conf=conf))
        cold = [path for path in jobs if path not in self._warm]
        if cold:
            self._on_message("warming up (not measured)", False)
        for path in cold:
            engine.warm_up(jobs[path])
            self._warm.add(path)

    def _require_time(self, trial: Trial) -> None:
        if self._interrupts:
            raise Stopped("interrupted")
        limit = self._study.limits.total_s
        if limit is None:
            return
        spent, beside = self._store.spent_s(self._study.name), self._store.others_running(self._study.name)
        needed = max(self.typical_s, arrival_times(self._study, self._workload, trial)[-1])
        if spent + needed + beside * self.typical_s > limit:
            raise Stopped(f"the limit of {show_seconds(limit)} in total: {show_seconds(spent)} used")

    def _attempt(self, engine: Engine, trial: Trial, allowances: Sequence[Allowance]) -> Observation:
        """One run. Raises Stopped when it was stopped from outside and says nothing."""
        run_id, artifacts = self._store.begin_run(self._study.name, trial, search_id=self._search_id)
        jobs = planned_jobs(self._study, self._workload, trial, self._folder / artifacts)
        program = None
        if isinstance(self._workload, Submitted):
            program = self._workload.application(jobs[0].settings, jobs[0].folder)
        growth = [OutputGrowth(job.folder) for job in jobs if program is not None and program.promised]
        placement = self._placement(engine, jobs)
        clock = RunClock()
        with HostSampler() as sampler:
            stream = Submitter(jobs, lambda job: self._launch(engine, job), clock)
            try:
                stopped_because = self._wait(run_id, engine, stream, allowances, placement, growth) or clock.jump()
            except Stopped:
                self._store.abandon_run(run_id)
                raise
        self._fetch_event_logs(jobs)
        facts = engine.facts()
        folders = [job.folder for job in jobs]
        if facts.affinity.startswith(NOT_PINNED):
            self.note(facts.affinity)
        run = Run(
            trial=trial,
            jobs=tuple(
                replace(job, configuration=self._of_one_job(job.configuration))
                for job in stream.ran(stopped_because, self._cores_of)
            ),
            launched_at=clock.begun_at,
            ended_at=clock.now(),
            hosts=with_nodes(sampler.series(), folders, is_local=is_local(facts.description)),
            fingerprint=fingerprint(facts, self._data[trial.key]),
            own_cpu_s=sampler.own_cpu_s if is_local(facts.description) else None,
            program=program,
            sharing=Sharing(facts.policy, facts.cores, self._study.spark.conf.get("spark.scheduler.mode", "FIFO")),
            roles={setting.name: setting.role for setting in self._study.vocabulary.settings},
            uncontrolled=ineffective_roles(self._study),
        )
        observed = self._redacted(observe(run, run_id=run_id, artifacts=artifacts), jobs[0].settings, program)
        self._store.finish_run(self._study.name, trial, observed.observation, observed.series)
        self._copy_artifacts(artifacts)
        if observed.observation.outcome is not Outcome.LOST and TOTAL_TIME in observed.observation.responses:
            self._durations.append(observed.observation.responses[TOTAL_TIME])
        said = (text for job in jobs for text in read_report(job.folder / "report.jsonl").notes)
        for text in (*said, *observed.notes):
            self.note(f"trial {trial.position}: {text}")
        if observed.observation.leaves_open:
            self.note(f"trial {trial.position} {observed.observation.difference}: it is stored with what it got")
        if placement is not None and placement.missing:
            # Tried again at once, it would wait in vain again.
            raise RunError(
                f"trial {trial.position} ({show_trial(self._study, trial)}) never started: {placement.missing}",
                hint="make room (end other applications, add workers) or raise limits.trial, "
                f"then: `api.{self._command}(STUDY, resume=True)`",
            )
        return observed.observation

    def _fetch_event_logs(self, jobs: Sequence[PlannedJob]) -> None:
        for job in jobs:
            place = event_logs_elsewhere(self._study, self._workload, job.settings, job.folder)
            try:
                if place is not None and not place.get(job.folder / "eventlog"):
                    self.note(f"there is no event log at {place.url}")
            except StoreError as error:
                self.note(f"the event log could not be fetched: {error.problem}")

    def _copy_artifacts(self, artifacts: str) -> None:
        """The result is stored already: what cannot be copied stays here."""
        place = artifacts_place(self._study)
        try:
            if place is not None:
                place.below(artifacts).put(self._folder / artifacts)
        except StoreError as error:
            self.note(f"logs and output stay in {self._folder / 'runs'}: {error.problem}")

    def _redacted(self, observed: Observed, settings: Configuration, program: SubmittedApplication | None) -> Observed:
        """Without secrets that the job printed: those of the study wherever they stand, and what looks like one."""
        own = {
            "conf": users_properties(self._study, self._workload, settings),
            "options": self._study.options,
            "arguments": [] if program is None else program.arguments,
            "environment": {} if program is None else program.environment,
        }
        hide = Redactor(secrets_in(own) | secrets_of_environment()).text
        jobs = tuple(replace(job, cause=hide(job.cause)) for job in observed.observation.jobs)
        return replace(
            observed,
            observation=replace(observed.observation, cause=hide(observed.observation.cause), jobs=jobs),
            notes=tuple(map(hide, observed.notes)),
        )

    def _placement(self, engine: Engine, jobs: Sequence[PlannedJob]) -> Placement | None:
        """None where a job is meant to wait for others, or the study does not say how many executors it gets."""
        [job, *others] = jobs
        is_dynamic = is_allocation_dynamic(self._study, self._workload, job.settings)
        if others or is_dynamic or Role.MACHINES in ineffective_roles(self._study):
            return None
        return Placement(engine, job.folder / "eventlog", self._site.shape(job.settings))

    def _of_one_job(self, settings: Configuration) -> Configuration:
        """Without how many run at once, which says nothing of the job itself."""
        return settings.without(vocabulary_of(self._workload).first(Role.JOBS) or "")

    def _cores_of(self, settings: Configuration) -> int:
        shape = shape_of(self._workload, settings)
        given = self._study.spark.conf.get("spark.cores.max", "")
        return int(given) if given.isdigit() else shape.executors * shape.cores

    def _launch(self, engine: Engine, planned: PlannedJob) -> Handle:
        settings, folder = planned.settings, planned.folder
        (folder / "eventlog").mkdir(parents=True)
        job, notes = make_job(self._study, self._workload, engine, settings, folder)
        if place := event_logs_elsewhere(self._study, self._workload, settings, folder):
            place.make()
        for note in notes:
            self.note(note)
        request = {"workload": self._study.workload, "settings": dict(settings), "data_dir": str(self._folder / "data")}
        if not isinstance(self._workload, Submitted):
            request |= {"options": self._study.options} if self._study.options else {}
            (folder / "job.json").write_text(json.dumps(request))
        submission = engine.submission(job)
        (folder / "command.sh").write_text(submission.shell() + "\n")
        handle = engine.start(submission, folder / "driver.log")
        _log.debug("started %s as %s", folder / "command.sh", handle.name)
        return handle

    def _time_left(self) -> list[Allowance]:
        total_s = self._study.limits.total_s
        if total_s is None:
            return []
        return [Allowance(total_s - self._store.spent_s(self._study.name), "the limit on the total time")]

    def _spent_together(self) -> str:
        """Why no runner may go on, when all of them together have used up the total time; else "".

        What others have spent since they were last seen is taken for as much as it can be.
        """
        total_s = self._study.limits.total_s
        if total_s is None or not self._store.is_beside_others:
            return ""
        unseen_s = SEEN_EVERY_S * self._store.others_running(self._study.name)
        is_over = self._store.spent_s(self._study.name) + unseen_s > total_s
        return "the limit on the total time" if is_over else ""

    def _wait(
        self,
        run_id: str,
        engine: Engine,
        stream: Submitter,
        allowances: Sequence[Allowance],
        placement: Placement | None,
        growth: Sequence[OutputGrowth],
    ) -> str:
        """Wait for all; returns why the run had to end, or "". Raises Stopped when that says nothing of the trial."""
        begun = time.monotonic()
        lookout, seen, look, last = _Lookout(engine), _Every(SEEN_EVERY_S), _Every(_TELL_S), ""
        while stream.advance():
            elapsed_s = time.monotonic() - begun
            if look.is_due(elapsed_s) and (standing := stream.standing()) != last:
                last = standing
                self._on_message(last, False)
            if self._interrupts == 1:
                self.note("finishing the current trial; Ctrl-C again to stop it now")
            if seen.is_due(elapsed_s):
                self._store.require_file()
                try:
                    self._store.note_running(run_id)
                    if spent_together := self._spent_together():
                        stream.stop()
                        raise Stopped(spent_together)
                except LeaseLostError:
                    stream.stop()
                    raise
                except StoreError:  # what the run will show is worth more than this note
                    pass
            end, stop = self._end(lookout, placement, elapsed_s, allowances)
            if placement is not None and placement.lacking and not end:
                self._tell_once(run_id, f"waiting: {placement.lacking}")
            if end or stop:
                stream.stop()
            if stop:
                raise Stopped(stop)
            if end:
                return end
            for output in growth:
                output.look()
            time.sleep(_POLL_S)
        for output in growth:
            output.look()
        return ""

    def _end(
        self, lookout: _Lookout, placement: Placement | None, elapsed_s: float, allowances: Sequence[Allowance]
    ) -> tuple[str, str]:
        """Why the run must end now, and why the session must, or "" each."""
        if self._interrupts > 1:
            return "", "interrupted"
        trial_s = min((s for s in (self._study.limits.trial_s, self._at_most_s) if s is not None), default=None)
        if trial_s is not None and elapsed_s > trial_s:
            return (placement and placement.never_started(elapsed_s)) or "timeout", ""
        over = [allowance.reason for allowance in allowances if elapsed_s > allowance.seconds]
        if over:
            return "", over[0]
        return lookout.health_problem(elapsed_s) or (placement and placement.hopeless(elapsed_s)) or "", ""

    @contextmanager
    def _interruptible(self) -> Iterator[None]:
        """Nothing is being measured, so there is nothing to finish: the first Ctrl-C stops it now, whatever it does."""
        try:
            try:
                self._is_idle = True
                if self._interrupts:
                    raise Stopped("interrupted")
                yield
                if self._token.requests:
                    raise Stopped("interrupted")
            finally:
                self._is_idle = False
        except KeyboardInterrupt:
            raise Stopped("interrupted") from None

    @contextmanager
    def _watch_signals(self) -> Iterator[None]:
        """First Ctrl-C: finish the current trial, then stop. Second, or SIGTERM: stop it now. Both leave no process."""
        if threading.current_thread() is not threading.main_thread():
            yield
            return

        def interrupt(number: int, _frame: FrameType | None) -> None:
            self._signals += 2 if number == signal.SIGTERM else 1
            if self._is_idle:
                self._is_idle = False  # only once: what was started is taken down now
                raise KeyboardInterrupt

        previous = {number: signal.signal(number, interrupt) for number in (signal.SIGINT, signal.SIGTERM)}
        try:
            yield
        finally:
            for number, handler in previous.items():
                signal.signal(number, handler)


def show_trial(study: Study, trial: Trial) -> str:
    shown = (str(study.varied(trial.configuration)), f"replicate {trial.replicate}")
    return ", ".join(part for part in shown if part)
