"""Several runners that measure one study at once, in this process and in others: each claims one trial at a time."""

import signal
import threading
import time
from collections.abc import Collection, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from statistics import fmean
from types import FrameType

from sparkcast.errors import SparkcastError, StudyError
from sparkcast.runs.campaign import CampaignResult, missing_responses, promised_responses, require_limits, shown_run
from sparkcast.runs.cancel import CancelToken, current_token
from sparkcast.runs.reread import reread
from sparkcast.runs.schedule import Schedule
from sparkcast.runs.session import OnProgress, Progress, Session, Stopped, hold_results, show_trial
from sparkcast.runs.site import Site
from sparkcast.store import ResultsPlace, Store
from sparkcast.study import Observation, Outcome, Plan, Study, Trial

_LOOK_S = 0.5  # how often a runner without a trial looks whether one has become free
_MOST = 64


def run_together(
    study: Study,
    plan: Plan,
    place: ResultsPlace,
    runners: int,
    *,
    resume: bool = False,
    retry: Collection[Outcome] = (),
    allow_changed: bool = False,
    on_progress: OnProgress = lambda progress: None,
) -> CampaignResult:
    """Run every trial that has no final observation yet, beside all others who do so too."""
    if not 1 <= runners <= _MOST:
        raise StudyError(
            f"`runners={runners}` is not between 1 and {_MOST}", hint="each runner is a cluster or a share of one"
        )
    with hold_results(place, study.name, "run", together=True) as store:
        return _Together(study, plan, place, store, on_progress).run(runners, resume, retry, allow_changed)


class _Together:
    """What the runners of this process share."""

    def __init__(self, study: Study, plan: Plan, place: ResultsPlace, store: Store, on_progress: OnProgress) -> None:
        self.site = Site(study)
        self.study, self.plan, self.place, self._store = self.site.study, plan, place, store
        self.token: CancelToken = current_token()
        self.preparing = threading.Lock()  # they make the same data
        self.pending: tuple[Trial, ...] = ()
        self._on_progress, self._telling = on_progress, threading.Lock()
        self._notes: dict[str, None] = {}
        self._new: list[Observation] = []
        self._durations: list[float] = []
        self._reasons: list[str] = []
        self._errors: list[SparkcastError] = []
        self._n_runners = 1

    def run(self, runners: int, resume: bool, retry: Collection[Outcome], allow_changed: bool) -> CampaignResult:
        study, plan, store = self.study, self.plan, self._store
        if note := reread(study, store, self.place.folder).note:
            self.note(note)
        store.register(study, plan, allow_changed=allow_changed)
        store.close_interrupted(study.name)
        ended = store.final_outcomes(study.name, plan)
        self.pending = tuple(trial for trial in plan.trials if trial.key not in ended or ended[trial.key] in retry)
        done, beside = len(plan.trials) - len(self.pending), store.others_running(study.name)
        if done and self.pending and not (resume or retry or beside):
            raise StudyError(
                f"{done} of {len(plan.trials)} trials of study {study.name!r} are already done",
                hint="continue with `resume=True`, or give the study a new name",
            )
        if not self.pending:
            return self._result()
        require_limits(self.site, store, self.pending)
        self._warn(runners, beside)
        store.reopen(study.name, [trial for trial in self.pending if trial.key in ended])
        self._n_runners = runners
        self._run_all(runners)
        if self._errors and store.pending(study.name, plan) and not self._reasons:
            raise self._errors[0]
        return self._result()

    def _warn(self, runners: int, beside: int) -> None:
        if runners + beside == 1:
            return
        who = f"{runners} runners measure" if runners > 1 else "this runner measures"
        others = f" beside {beside} of other processes" if beside else ""
        self.note(
            f"{who} at once{others}: runs that share a cluster or a machine disturb each other, and take longer than "
            "alone; for times to rely on, give each runner a cluster of its own"
        )

    def _run_all(self, runners: int) -> None:
        with ExitStack() as opened:
            stores = [self._store]
            for _ in range(runners - 1):
                store = self.place.open()
                opened.callback(store.close)
                opened.enter_context(store.joining(self.study.name))
                stores.append(store)
            workers = [_Runner(self, number, store) for number, store in enumerate(stores, start=1)]
            if runners == 1:
                workers[0].run()
                return
            with canceled_by_signals(self.token):
                threads = [threading.Thread(target=worker.run, name=worker.name) for worker in workers]
                for thread in threads:
                    thread.start()
                for thread in threads:
                    while thread.is_alive():
                        thread.join(_LOOK_S)

    # ------------------------------------------------------------ what runners tell

    def note(self, text: str) -> None:
        if text not in self._notes:
            self._notes[text] = None
            self.tell(text, True)

    def tell(self, text: str, is_note: bool) -> None:
        with self._telling:
            done, total = self._done(), len(self.plan.trials)
            remaining = (total - done) * fmean(self._durations) / self._n_runners if self._durations else None
            self._on_progress(Progress(done, total, text, remaining, is_note))

    def measured(self, observation: Observation, took_s: float) -> bool:
        """Note a run; returns whether these are the first runs of all."""
        with self._telling:
            self._new.append(observation)
            self._durations.append(took_s)
            return self._done() == len(self._new)

    @property
    def first_runs(self) -> Sequence[Observation]:
        return tuple(self._new)

    def ended(self, notes: Sequence[str], *, reason: str = "", error: SparkcastError | None = None) -> None:
        self._notes |= dict.fromkeys(notes)
        self._reasons += [reason] if reason else []
        if error is not None:
            self._errors.append(error)

    def _done(self) -> int:
        return len(self._store.final_outcomes(self.study.name, self.plan))

    def _result(self) -> CampaignResult:
        ended = self._store.final_outcomes(self.study.name, self.plan)
        return CampaignResult(
            finished=len(ended),
            planned=len(self.plan.trials),
            failed=sum(outcome is not Outcome.OK for outcome in ended.values()),
            new=tuple(sorted(self._new, key=lambda run: run.started_at or 0.0)),
            left_out=tuple(trial for trial in self.plan.trials if trial.key not in ended),
            reason=self._reasons[0] if self._reasons else "",
            interrupted=self.token.is_canceled or "interrupted" in self._reasons,
            notes=tuple(self._notes),
            missing=missing_responses(self._store, self.study.name, promised_responses(self.site)),
        )


class _Runner:
    """One of them, with a cluster session and a connection to the store of its own."""

    def __init__(self, shared: _Together, number: int, store: Store) -> None:
        self._shared, self._store = shared, store
        self.name = f"runner {number}"
        self._site = Site(shared.study)
        self._session: Session | None = None

    def run(self) -> None:
        """To the last trial, or until it may not go on. Errors are kept: other runners may do the rest."""
        shared = self._shared
        with shared.token:
            session = Session(self._site, shared.place.folder, self._store, shared.tell, command="run")
            try:
                with session:
                    self._measure_all(session)
            except Stopped as stop:
                shared.ended(session.notes, reason=stop.reason)
            except SparkcastError as error:
                shared.ended(session.notes, error=error)
                shared.tell(f"{self.name} ended: {error.problem}", True)
            else:
                shared.ended(session.notes)

    def _measure_all(self, session: Session) -> None:
        shared = self._shared
        with shared.preparing:
            settings = [trial.configuration for trial in shared.plan.trials]
            self._site.require(settings, [trial.configuration for trial in shared.pending])
            for note in self._site.notes:
                session.note(note)
            session.prepare(shared.pending)
        for trial in self._claimed(session):
            about = (
                f"{self.name}, trial {trial.position} of {len(shared.plan.trials)}: {show_trial(shared.study, trial)}"
            )
            shared.tell(about, False)
            begun = time.monotonic()
            observation = session.measure(trial)
            is_first = shared.measured(observation, time.monotonic() - begun)
            shown = shown_run(shared.study, observation, promised_responses(self._site))
            shared.tell(f"{about}: {shown}", True)
            if is_first:
                session.require_success(shared.first_runs)

    def _claimed(self, session: Session) -> Iterator[Trial]:
        """Trials for this runner, until all have a result: that of a runner that dies comes back."""
        shared = self._shared
        schedule = Schedule(shared.study, shared.plan, self._store)
        while True:
            if session.is_interrupted:
                raise Stopped("interrupted")
            dues = schedule.dues()
            trial = self._store.claim([trial for trial in shared.pending if schedule.is_due(trial, dues)])
            if trial is not None:
                yield trial
            elif {one.key for one in self._store.pending(shared.study.name, shared.plan)} & {
                one.key for one in shared.pending
            }:
                time.sleep(_LOOK_S)
            else:
                return


@contextmanager
def canceled_by_signals(token: CancelToken) -> Iterator[None]:
    """Ctrl-C and SIGTERM reach the main thread only, and runners are in others."""
    if threading.current_thread() is not threading.main_thread():
        yield
        return

    def cancel(number: int, _frame: FrameType | None) -> None:
        token.cancel(now=number == signal.SIGTERM)

    previous = {number: signal.signal(number, cancel) for number in (signal.SIGINT, signal.SIGTERM)}
    try:
        yield
    finally:
        for number, handler in previous.items():
            signal.signal(number, handler)
