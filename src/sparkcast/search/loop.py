"""Searching the best settings with real runs: the edge that joins searchers with workloads, engines and the store.

The store is all the state there is. A search that was killed is made anew and told what the store has, in the order it
asks: the same answers lead to the same questions, so it goes on where it was.
"""

import math
import threading
import time
from collections.abc import Mapping, Sequence
from pathlib import Path
from statistics import fmean
from typing import Any

from sparkcast.data.ingest.observations import ingested_beside
from sparkcast.errors import RunError, StudyChangedError, StudyError
from sparkcast.runs.cancel import current_token
from sparkcast.runs.reread import reread
from sparkcast.runs.runners import canceled_by_signals
from sparkcast.runs.session import Allowance, OnProgress, Progress, Session, Stopped, hold_results
from sparkcast.runs.site import Site
from sparkcast.search.base import SEARCHERS, Evaluation, HasFindings
from sparkcast.search.hours import Hours
from sparkcast.search.lanes import LaneJob, Lanes
from sparkcast.search.ledger import LedgerEntry, SearchLedger, Tried, TunedRun
from sparkcast.search.options import (
    Budget,
    TuneOptions,
    definition_of,
    neighbors,
    runnable_candidates,
    search_of,
    slacks_of,
    submit_lines,
    value_of,
)
from sparkcast.search.payoff import warning_before
from sparkcast.search.result import TuneResult
from sparkcast.search.spending import Spending
from sparkcast.store import ResultsPlace, Store
from sparkcast.study import Configuration, Observation, Outcome, Plan, Study, Trial
from sparkcast.units import show_money

__all__ = ["Budget", "Tried", "TuneOptions", "TuneResult", "TunedRun", "tune"]


_KEPT_TO_CONFIRM = 3  # runs, where the answer must be promised and nothing can be yet
_LEAST_STARTUP_S, _STARTUP_VARIES = 30.0, 2.0  # before a run is stopped as late, beyond its deadline
RUNS_TO_COME = 100  # of the job, unless told
_INTERRUPTED = "interrupted"  # why a session stops after Ctrl-C


def tune(
    study: Study,
    options: TuneOptions,
    budget: Budget,
    place: ResultsPlace,
    *,
    resume: bool = False,
    allow_changed: bool = False,
    on_progress: OnProgress = lambda progress: None,
) -> TuneResult:
    """Run what the searcher asks for until it, the budget or a limit of the study says stop."""
    if budget.max_cost is not None and study.price is None:
        raise StudyError("`max_cost=` needs a price", hint="add a price, e.g. price: {core_hour: 0.05}")
    if budget.runners > 1 and not hasattr(SEARCHERS.get(options.searcher), "ask_beside"):
        raise StudyError(
            f"searcher {options.searcher} makes one run after the other, so `runners={budget.runners}` does not apply",
            hint="choose another searcher, or leave out `runners=`",
        )
    tuning = _Tuning(Site(study), options, budget, on_progress)
    with hold_results(place, study.name, "tune") as store:
        return tuning.run(place.folder, store, resume=resume, allow_changed=allow_changed)


class _Unfinished(Exception):
    """A run is left to be made where none may be."""


class _Tuning:
    def __init__(self, site: Site, options: TuneOptions, budget: Budget, on_progress: OnProgress) -> None:
        self._site, self._study, self._options, self._budget = site, site.study, options, budget
        self._on_progress = on_progress
        kind = SEARCHERS.get(options.searcher)
        # Who asks elsewhere may change any setting, so it sees all of them, and asks again when it wants replicates.
        self._is_free = is_free = bool(getattr(kind, "asks_elsewhere", False))
        self._runs_each = 1 if is_free else options.replicates or 1
        found = runnable_candidates(site, options.fix)
        self._candidates, self._notes = found.configurations, (*site.notes, *found.notes)
        self._possible = frozenset(self._candidates)
        self._is_sample = not found.is_complete and bool(getattr(kind, "widens", False))
        self._widened: Configuration | None = None  # the best whose neighbors are candidates
        self._told: list[Evaluation] = []
        self._varied = [factor.name for factor in site.study.factors if factor.name not in options.fix]
        self._kind = kind
        self._searcher = kind(search_of(site.study, options, self._candidates, with_fixed=is_free))
        answers = None if getattr(kind, "answers_elsewhere", False) else self._possible
        # Of settings that are asked for again when replicates are wanted, those with most runs are comparable.
        self._ledger = SearchLedger(site.study, site.workload, options, answers, None if is_free else self._runs_each)
        self._hours = Hours(site.study, self._ledger)
        asks_each_once = self._runs_each * len(self._candidates)
        self._most_runs = budget.max_runs if is_free else min(budget.max_runs, asks_each_once)
        self._asked: dict[Configuration, int] = {}
        self._before: dict[Configuration, Evaluation] = {}  # what was known before this search, as it was told
        self._confirming: set[Configuration] = set()  # asked for once more, though they were run
        self._incomplete: dict[Configuration, list[LedgerEntry]] = {}  # fewer earlier runs than replicates are wanted
        self._new = 0
        self._fresh: set[str] = set()  # trials that a lane has measured, and that were not told yet
        self._due: list[Trial] = []  # that a lane is to measure next
        self._lane_notes: tuple[str, ...] = ()
        self._lanes: Lanes | None = None  # None: one run after the other
        self._telling = threading.Lock()
        self._may_run = True
        self._is_cut_short = False  # by Ctrl-C, which in the last run of all changes nothing

    def run(self, folder: Path, store: Store, *, resume: bool, allow_changed: bool) -> TuneResult:
        study = self._study
        reread(study, store, folder)
        store.register(study, Plan(study.design.kind, study.design.seed, ()), allow_changed=allow_changed)
        store.close_interrupted(study.name)
        definition = definition_of(study, self._options, len(self._candidates))
        try:
            self._begin(store, definition, resume=resume, allow_changed=allow_changed)
        except StudyChangedError:
            raise
        except StudyError:
            if reason := self._ended_because(store, definition):
                raise StudyError(
                    f"this search of study {study.name!r} has finished: {reason}",
                    hint="`resume=True` shows its answer again, and continues if you allow more, e.g. `max_runs=40`",
                ) from None
            raise
        token = current_token()
        with token:
            self._session = Session(self._site, folder, store, self._tell, command="tune", search_id=self._search_id)
        for note in (*self._notes, *filter(None, [warning_before(self._options.runs_to_come)])):
            self._session.note(note)
        with self._session:
            if self._budget.runners == 1:
                return self._result(self._search())
            lanes = Lanes(lambda: self._session_of_lane(folder, store), self._budget.runners, token)
            with canceled_by_signals(token), lanes:
                self._lanes = lanes
                reason = self._search()
            self._lane_notes = tuple(lanes.notes)  # they were told when they came up
            return self._result(reason)

    def _session_of_lane(self, folder: Path, store: Store) -> Session:
        site = Site(self._study)
        site.possible(self._candidates)
        return Session(site, folder, store, self._tell, command="tune", search_id=self._search_id)

    def _begin(self, store: Store, definition: Mapping[str, Any], *, resume: bool, allow_changed: bool) -> None:
        self._store = store
        name = self._study.name
        self._search_id = store.begin_search(name, definition, resume=resume, allow_changed=allow_changed)
        own = {run.run_id for run in store.search_runs(self._search_id)}
        measured = store.observations(name)
        self._known = {
            Trial(run.requested or run.configuration, run.replicate).key: run for run in measured if not run.leaves_open
        }
        self._ingested: dict[Configuration, list[Observation]] = {}
        settings = (*(factor.name for factor in self._study.factors), *self._study.fixed)
        for run in ingested_beside(measured, store.ingested(name), settings, self._study.fixed):
            self._ingested.setdefault(run.configuration, []).append(run)
        self._own = {key for key, o in self._known.items() if o.run_id in own}  # trials this search has finished
        self._spending = Spending(self._site, self._ledger, store, self._search_id, self._known)

    def _ended_because(self, store: Store, definition: Mapping[str, Any]) -> str:
        """Why no run is left to be made of the search as it is stored; "" when one is."""
        self._begin(store, definition, resume=True, allow_changed=False)
        self._on_progress, self._may_run = lambda progress: None, False
        try:
            return self._search()
        except _Unfinished:
            return ""

    def _search(self) -> str:
        """Answer what the searcher asks; returns why that ended."""
        try:
            self._tell_earlier()
            self._run_today()
            if self._lanes is not None:
                self._search_beside(self._lanes)
            while (asked := self._next()) is not None or self._forgotten():
                if asked is not None and asked in self._confirming:
                    self._teach(self._answer_again(asked))
                    continue
                if asked is not None and (told := self._before.get(self._candidates[0] | asked)):
                    self._teach(told)  # it takes no notice of what it has not asked for
                    continue
                if asked is None or self._is_unmeasured(asked):
                    for configuration in self._forgotten():
                        self._teach(self._answer(configuration))
                        asked = None  # it may ask for something else, now that it knows
                if asked is not None:
                    self._teach(self._answer(asked))
        except Stopped as stop:
            self._is_cut_short = stop.reason == _INTERRUPTED
            return stop.reason
        return self._searcher.stopped_because or "the searcher has nothing left to try"

    def _search_beside(self, lanes: Lanes) -> None:
        """Several runs at once, until none is left to start: the searcher takes those that go on into account."""
        self._session.note(
            f"{self._budget.runners} runs at once: runs that share a cluster or a machine disturb each other, and take "
            "longer than alone; for times to rely on, give each a cluster of its own"
        )
        stopped: BaseException | None = None
        while True:
            try:
                while stopped is None and lanes.has_room and self._start(lanes):
                    pass
            except Stopped as stop:
                stopped = stop
            if stopped is not None:
                self._due = []
            if not lanes.running:
                break
            ended = lanes.wait()
            if ended.observation is None:
                stopped = stopped or ended.problem
                continue
            try:
                self._take(ended.trial, ended.observation, lanes)
            except Stopped as stop:
                stopped = stopped or stop
        if stopped is not None:
            raise stopped

    def _start(self, lanes: Lanes) -> bool:
        """Start the run that is worth most beside those that go on; False when there is none."""
        if self._due:
            lanes.start(self._job(self._due.pop(0)))
            return True
        self._widen()
        left = self._budget.max_runs - len(self._own) - len(lanes.running)
        if self._options.confidence is not None and self._ledger.best is None and left <= _KEPT_TO_CONFIRM:
            return False
        running = dict.fromkeys(trial.configuration.only(self._varied) for trial in lanes.running)
        for configuration in self._forgotten():
            if configuration.only(self._varied) not in running:
                self._teach(self._answer(configuration))
        asked = self._searcher.ask_beside(list(running)) if running else self._searcher.ask()  # type: ignore[attr-defined]
        if asked is None:
            return False
        configuration = self._candidates[0] | asked
        if told := self._before.get(configuration):
            self._teach(told)
        elif not self._is_unmeasured(asked):
            self._teach(self._answer(asked))
        else:
            first = self._asked.get(configuration, 0) + 1
            missing = self._runs_each - len(self._incomplete.get(configuration, ()))
            trials = (Trial(configuration, replicate) for replicate in range(first, first + missing))
            self._due = [trial for trial in trials if trial.key not in self._known]
        return True

    def _take(self, trial: Trial, observation: Observation, lanes: Lanes) -> None:
        """Keep what a lane has measured, and tell it once nothing of these settings goes on."""
        self._keep(trial, observation)
        self._fresh.add(trial.key)
        if not observation.ok:
            self._due = [due for due in self._due if due.configuration != trial.configuration]
        if all(other.configuration != trial.configuration for other in (*lanes.running, *self._due)):
            self._teach(self._answer(trial.configuration.only(self._varied)))

    def _job(self, trial: Trial) -> LaneJob:
        """What a lane is to do: added to the study, and within what is left."""
        self._require_room(trial.configuration)
        if not self._may_run:
            raise _Unfinished
        stored = self._store.add_trial(self._study.name, trial.configuration, trial.replicate)
        self._tell(f"{self._standing()}: {self._ledger.show(trial.configuration)}", False)
        allowances = tuple(self._money_left(trial.configuration))
        return LaneJob(stored, lambda: allowances, self._late_after_s())

    def _teach(self, evaluation: Evaluation) -> None:
        self._told.append(evaluation)
        self._searcher.tell(evaluation)

    def _widen(self) -> None:
        """Where the candidates are a sample of all combinations: with the neighbors of the best among them."""
        best = self._ledger.best
        if not self._is_sample or best is None or best.configuration == self._widened:
            return
        self._widened = best.configuration
        near = neighbors(self._study, self._options.fix, self._candidates[0] | best.configuration)
        new = [c for c in near if c not in self._possible and self._site.refusal(c) is None]
        if not new:
            return
        self._candidates = [*self._candidates, *new]
        self._possible = frozenset(self._candidates)
        self._ledger.allow(self._possible)
        self._searcher = self._kind(search_of(self._study, self._options, self._candidates, with_fixed=self._is_free))
        for evaluation in self._told:
            self._searcher.tell(evaluation)

    def _next(self) -> Configuration | None:
        """What the searcher asks for; once it has nothing to ask, or too few runs are left, what is to be confirmed."""
        self._widen()
        left = self._budget.max_runs - len(self._own)
        needs_runs = self._options.confidence is not None and self._ledger.best is None and left <= _KEPT_TO_CONFIRM
        if needs_runs and (promising := self._to_promise()) is not None:
            return promising
        asked = self._searcher.ask()
        if asked is not None or self._is_free:
            return asked
        more = None if self._options.replicates is not None else self._to_promise() or self._to_repeat()
        return more or self._to_confirm()

    def _to_promise(self) -> Configuration | None:
        tried = self._ledger.worth_promising()
        return None if tried is None else self._again(tried)

    def _to_repeat(self) -> Configuration | None:
        """Runs of the best again, where noise may have chosen it."""
        if not getattr(self._searcher, "confirms", False):
            return None
        tried = self._ledger.worth_repeating(self._options.runs_to_come or RUNS_TO_COME)
        return None if tried is None else self._again(tried)

    def _to_confirm(self) -> Configuration | None:
        """Runs of those that lead at other hours, where the study is spread over hours."""
        if (wanted := self._hours.to_confirm()) is None:
            return None
        if len(self._own) < self._budget.max_runs and wanted.due > time.time():
            if not self._may_run:
                raise _Unfinished
            self._session.wait_until(
                wanted.due, f"the run that confirms {self._ledger.show(wanted.tried.configuration)}"
            )
        return self._again(wanted.tried)

    def _again(self, tried: Tried) -> Configuration:
        asked = tried.configuration.only(self._varied)
        self._confirming.add(asked)
        return asked

    def _answer_again(self, asked: Configuration) -> Evaluation:
        """One more run, told as the mean of all of these settings."""
        self._confirming.discard(asked)
        configuration = self._candidates[0] | asked
        earlier = [run.requested or run.configuration for key, run in self._known.items() if key not in self._own]
        known = self._asked.get(configuration, 0) or earlier.count(configuration)
        step = self._step(configuration, known + 1)
        return self._evaluated(asked, [step])

    def _run_today(self) -> None:
        """The settings the job has today come first: what the search must do better than."""
        today = self._options.instead_of
        if today is None or self._is_free:
            return
        asked = today.only(self._varied)
        if self._before.get(self._candidates[0] | asked) is None:
            self._teach(self._answer(asked))

    def _tell_earlier(self) -> None:
        """Tell the searcher of every earlier run of a candidate, measured or ingested, so that no answer is worse.

        Who asks again for replicates is told each run. Others are told means, once the replicates are complete.
        """
        replicates: dict[Configuration, list[int]] = {}
        for key, run in self._known.items():
            if key not in self._own:
                replicates.setdefault(run.requested or run.configuration, []).append(run.replicate)
        for candidate in self._candidates:
            asked = candidate if self._is_free else candidate.only(self._varied)
            steps = [self._step(candidate, replicate) for replicate in sorted(replicates.get(candidate, ()))]
            steps += [self._ingested_step(candidate, run) for run in self._ingested.get(candidate, ())]
            if self._is_free:
                for step in steps:
                    self._teach(self._evaluated(asked, [step]))
            elif steps and (len(steps) >= self._runs_each or any(step.value is None for step in steps)):
                self._before[candidate] = self._evaluated(asked, steps)
                self._teach(self._before[candidate])
            elif steps:
                self._incomplete[candidate] = steps

    def _is_unmeasured(self, asked: Configuration) -> bool:
        configuration = self._candidates[0] | asked
        return Trial(configuration, self._asked.get(configuration, 0) + 1).key not in self._known

    def _forgotten(self) -> list[Configuration]:
        """What the search has run, but has not asked for since it was resumed, in order.

        The same searcher asks again for all of it. Another version of it may not, and is told.
        """
        if self._is_free:
            return []
        runs = [self._known[key] for key in self._known if key in self._own]
        own = [run.requested or run.configuration for run in runs]
        return [configuration for configuration in dict.fromkeys(own) if configuration not in self._asked]

    def _answer(self, asked: Configuration) -> Evaluation:
        configuration = self._candidates[0] | asked
        steps = self._incomplete.pop(configuration, [])
        begun, missing = self._asked.get(configuration, 0), self._runs_each - len(steps)
        for replicate in range(begun + 1, begun + missing + 1):
            steps.append(self._step(configuration, replicate))
            if steps[-1].value is None:
                break
        return self._evaluated(asked, steps)

    def _evaluated(self, asked: Configuration, steps: Sequence[LedgerEntry]) -> Evaluation:
        failed = next((step for step in steps if step.value is None), None)
        if failed is not None:
            return self._failure(asked, failed)
        sign = -1 if self._options.objective.is_maximum else 1
        times = [step.time_s for step in steps if step.time_s is not None]
        value = fmean(step.value for step in steps if step.value is not None)
        slacks = tuple(fmean(some) for some in zip(*(step.slacks for step in steps), strict=True))
        return Evaluation(asked, sign * value, fmean(times) if times else None, Outcome.OK, slacks=slacks)

    def _failure(self, asked: Configuration, step: LedgerEntry) -> Evaluation:
        if step.observation is None:
            return Evaluation(asked, None)
        outcome = step.observation.outcome
        limit_s = self._limit_s(step.observation) if outcome is Outcome.TIMEOUT else None
        return Evaluation(asked, None, None, outcome, limit_s)

    def _limit_s(self, stopped: Observation) -> float | None:
        """What the time of a run that was stopped would have been longer than: its start-up is no part of it."""
        took = {run.run_id: run.duration_s for run in self._store.search_runs(self._search_id)}
        limit_s = took.get(stopped.run_id, self._study.limits.trial_s)  # the limit may have changed since
        return None if limit_s is None else max(0.0, limit_s - self._ledger.startup_s) or None

    def _step(self, configuration: Configuration, replicate: int) -> LedgerEntry:
        """A replicate of these settings, from the store or by running it."""
        self._asked[configuration] = replicate
        trial = Trial(configuration, replicate)
        known = self._known.get(trial.key)
        if known is not None:
            step = self._observed(trial, known, was_known=trial.key not in self._own)
        elif refusal := None if configuration in self._possible else self._site.refusal(configuration):
            step = LedgerEntry(configuration, replicate, None, None, refusal.problem)
        else:
            step = self._observed(trial, self._measure(trial), was_known=False)
        self._ledger.add(step)
        is_new = known is None or trial.key in self._fresh
        self._fresh.discard(trial.key)
        is_told_again = not is_new and not step.was_known
        self._tell(f"{self._ledger.show_step(step)}{' (earlier session)' if is_told_again else ''}", True)
        if is_new:
            self._session.require_success([s.observation for s in self._ledger.measured if s.observation is not None])
        return step

    def _ingested_step(self, configuration: Configuration, run: Observation) -> LedgerEntry:
        step = self._observed(Trial(configuration, run.replicate), run, was_known=True)
        self._ledger.add(step)
        self._tell(f"{self._ledger.show_step(step)} (ingested)", True)
        return step

    def _measure(self, trial: Trial) -> Observation:
        self._require_room(trial.configuration)
        if not self._may_run:
            raise _Unfinished
        if self._lanes is not None:
            observation = self._lanes.measure(self._job(trial))
        else:
            stored = self._store.add_trial(self._study.name, trial.configuration, trial.replicate)
            self._session.prepare([stored])
            self._tell(f"{self._standing()}: {self._ledger.show(trial.configuration)}", False)
            observation = self._session.measure(
                stored, lambda: self._money_left(trial.configuration), at_most_s=self._late_after_s()
            )
        self._keep(trial, observation)
        return observation

    def _keep(self, trial: Trial, observation: Observation) -> None:
        if observation.leaves_open:
            raise RunError(
                f"the next run {observation.difference}",
                hint="the run is stored with what it got; "
                "have the cluster give what the study asks for, then `resume=True`",
            )
        self._known[trial.key] = observation
        self._own.add(trial.key)
        self._new += 1

    def _late_after_s(self) -> float | None:
        """After how much wall time a run has missed the deadline, start-up included; None: it may go on."""
        within_s = self._options.within_s
        if not self._options.stop_late or within_s is None:
            return None
        return within_s + max(_LEAST_STARTUP_S, _STARTUP_VARIES * self._ledger.startup_s)

    def _observed(self, trial: Trial, observation: Observation, *, was_known: bool) -> LedgerEntry:
        value, cause = value_of(self._study, self._options.objective, observation)
        words = self._study.vocabulary
        time = observation.responses.get(words.required_time())
        time_s = None if time is None else words.response(words.required_time()).seconds(time)
        slacks = slacks_of(self._study, self._options.limits, observation) if value is not None else ()
        return LedgerEntry(trial.configuration, trial.replicate, observation, value, cause, was_known, time_s, slacks)

    # ------------------------------------------------------------ what may be spent

    def _require_room(self, configuration: Configuration) -> None:
        """Raise Stopped when another run would be one too many."""
        running = [] if self._lanes is None else [trial.configuration for trial in self._lanes.running]
        if len(self._own) + len(running) >= self._budget.max_runs:
            raise Stopped(f"the limit on the number of runs, {self._budget.max_runs}")
        most, spent = self._budget.max_cost, self._spending.spent()[1]
        if most is None or spent is None:
            return
        if spent + math.fsum(map(self._spending.expected, [*running, configuration])) > most:
            limit, so_far = self._shown(most), self._shown(spent)
            raise Stopped(f"the next run would exceed the maximum cost of {limit}: {so_far} spent")

    def _money_left(self, configuration: Configuration) -> list[Allowance]:
        most, spent, rate = self._budget.max_cost, self._spending.spent()[1], self._spending.rate(configuration)
        if most is None or spent is None or not rate:
            return []
        return [Allowance((most - spent) / rate, f"the maximum cost of {self._shown(most)} is used up")]

    def _shown(self, amount: float) -> str:
        return show_money(amount, self._study.price.currency if self._study.price else "")

    # ------------------------------------------------------------ what came of it

    def _result(self, reason: str) -> TuneResult:
        ledger, is_interrupted = self._ledger, self._is_cut_short
        best, runner_up = (*ledger.ranked()[:2], None, None)[:2]
        findings = self._searcher.findings() if isinstance(self._searcher, HasFindings) else None
        if best is None and not is_interrupted:
            raise ledger.nothing_found(reason)
        spent_s, spent_cost = self._spending.spent()
        measured = ledger.measured
        return TuneResult(
            study=self._study.name,
            searcher=self._options.searcher,
            objective=str(self._options.objective),
            best=best,
            first=ledger.first,
            runner_up=runner_up,
            is_tie=ledger.is_tie,
            is_candidate=best is not None and self._is_candidate(best),
            conf=() if best is None else submit_lines(self._study, best.configuration),
            history=ledger.history(),
            runs=len(self._own),
            new=self._new,
            already_measured=sum(step.was_known for step in measured),
            failed=len(measured) - len(ledger.good),
            impossible=len(ledger.steps) - len(measured),
            spent_s=spent_s,
            spent_cost=spent_cost,
            currency="" if self._study.price is None else self._study.price.currency,
            stopped_because=reason,
            warnings=(*self._searcher.warnings, *(ledger.doubts() if findings is None else ())),
            notes=tuple(dict.fromkeys((*self._session.notes, *self._lane_notes))),
            interrupted=is_interrupted,
            vocabulary=self._study.vocabulary,
            findings=findings,
            within_s=self._options.within_s,
            chance_best=None if findings is not None else ledger.chance_best,
            at_other_hours=None if findings is not None else self._hours.found(),
            payoff=None if best is None or findings is not None else ledger.payoff(best, spent_s, spent_cost),
        )

    def _is_candidate(self, best: Tried) -> bool:
        return (self._candidates[0] | best.configuration) in self._possible

    def _tell(self, text: str, is_note: bool) -> None:
        done = len(self._own)
        total = max(self._most_runs, done)
        remaining = (total - done) * self._ledger.typical_s() / self._budget.runners
        with self._telling:
            self._on_progress(Progress(done, total, text, remaining or None, is_note))

    def _standing(self) -> str:
        best, ledger = self._ledger.best, self._ledger
        run = f"run {len(self._own) + 1} of at most {self._most_runs}"
        if best is None:
            return run
        return f"best {ledger.show_value(best.value)} at {best.configuration}; {run}"
