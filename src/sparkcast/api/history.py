"""The history of a store's jobs: the gate, the morning list, and what is left of a job that runs."""

import shlex
import time
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from sparkcast.data.sources import Source
from sparkcast.errors import NotEnoughDataError, StudyError
from sparkcast.study import Price
from sparkcast.units import show_seconds

if TYPE_CHECKING:
    from collections.abc import Iterator

    from sparkcast.history.gate import GateAnswer
    from sparkcast.history.jobs import JobHistory
    from sparkcast.history.morning import FleetReport
    from sparkcast.history.prior import FleetPrior
    from sparkcast.history.remaining import Eta
    from sparkcast.store import Store
    from sparkcast.study import AppRecord


class ApplicationEndedError(StudyError):
    """There is nothing left to wait for."""


def check(
    line: str | Sequence[str],
    store: "Source | Store | None" = None,
    *,
    within_s: float | None = None,
    budget: float | None = None,
    confidence: float = 0.95,
    input_size: float | None = None,
    price: Price | None = None,
    job: str | None = None,
    free_cores: int | None = None,
    cluster: str | None = None,
    at_s: float | None = None,
    history: "JobHistory | None" = None,
    prior: "FleetPrior | None" = None,
) -> "GateAnswer":
    """May this job be submitted now? What its history says of the deadline and the budget.

    Args:
        line: The spark-submit line, or its words. What it sets counts; what it leaves open is as in the last runs.
        store: A store that `ingest` or `watch` fills: a folder, an SQLite file, a database URL, or one that is open. By
            default the one that SPARKCAST_STORE names. Not needed with `history`.
        within_s: The deadline, from submission to exit.
        budget: The most that the run may cost.
        confidence: The probability with which all limits must be met.
        input_size: Bytes that it will read; by default about what its last runs read.
        price: Per core-hour and GiB-hour; by default that with which the runs were ingested.
        job: Its name in the store, where the line does not tell it.
        free_cores: Cores that the cluster has free now.
        cluster: The cluster that it is for, by the name that its runs have; by default the line's master, or as its
            last runs.
        at_s: When it is submitted, in seconds since the Unix epoch; by default now.
        history: The job's runs, where they are known already.
        prior: What the jobs of the store have in common, with `history`.

    Returns:
        The verdict (admit, change, refuse, unknown) with its probability, the forecast, and the line to paste.

    Raises:
        StudyError: The line submits nothing, a limit cannot be, or there is no store.

    >>> found = ingest("log.zstd", "history.results")
    >>> check("spark-submit --name nightly etl.py", "history.results", within_s=1800).verdict.value
    'unknown'
    """
    from sparkcast.history.found import all_jobs, find_in_store, some_jobs
    from sparkcast.history.gate import GateQuestion, check_line, never_ran, unknown
    from sparkcast.history.learn import learn_prior
    from sparkcast.store.speeds import stored_speeds
    from sparkcast.workloads.lines import parse_line, program_of

    moment = time.time() if at_s is None else at_s
    question = GateQuestion(within_s, budget, confidence, input_size, price, free_cores, moment, cluster or "")
    words = shlex.split(line) if isinstance(line, str) else [*line]
    words = shlex.split(words[0]) if len(words) == 1 else words
    parsed = parse_line(words)
    if history is not None:
        return check_line(words, history, question, prior)
    with _OpenStore(store) as opened:
        found = find_in_store(opened, parsed, job)
        if found.history is None:
            named = parsed.kept.get("name") or program_of(parsed)
            if found.candidates:
                several = ", ".join(found.candidates[:5])
                return unknown(question, f"{named} may be any of {len(found.candidates)} jobs: {several}")
            return never_ran(words, question, f"the store has no runs of {named}", all_jobs(opened))
        learned = prior or learn_prior(some_jobs(opened, besides=found.history).values())
        if place := cluster or parsed.master:
            question = replace(question, speed=stored_speeds(opened).get(place))
        return check_line(words, found.history, question, learned)


def fleet(
    store: "Source | Store | None" = None,
    *,
    since: float | str = "7d",
    until_s: float | None = None,
    price: Price | None = None,
    histories: "Sequence[JobHistory] | None" = None,
    prior: "FleetPrior | None" = None,
) -> "FleetReport":
    """The morning list: what the jobs of a store could save, what changed, what failed, and where core-hours went.

    Args:
        store: As in `check`. Not needed with `histories`.
        since: How far back: seconds, or a text such as "7d". Whole days begin at midnight (UTC).
        until_s: The end of the period, in seconds since the Unix epoch; by default now.
        price: Per core-hour and GiB-hour. Without one, amounts are core-hours.
        histories: The jobs, where they are known already.
        prior: What they have in common, where it is known already.

    Returns:
        Savings with a value to set, the most first; changes and unusual runs with what explains them; failures by cause
        with their cost; totals by job, user, queue and day.

    Raises:
        NotEnoughDataError: No run began in this period.
        StudyError: There is no store, or the period is none.

    >>> found = ingest("log.zstd", "history.results")
    >>> fleet("history.results", since="3650d").n_jobs
    1
    """
    from sparkcast.history.jobs import histories_of
    from sparkcast.history.morning import days_before, fleet_report
    from sparkcast.units import parse_seconds

    if price is not None and (price.machine_hours or price.hour is not None):
        raise StudyError("event logs record cores and memory, not machines", hint="give `price=Price(core_hour=0.05)`")
    period = parse_seconds(since)
    if period <= 0:
        raise StudyError(f"`since={since!r}` is no period", hint="write 7d for the last seven days")
    until = time.time() if until_s is None else until_s
    if histories is None:
        with _OpenStore(store) as opened:
            histories = histories_of(opened)
    return fleet_report(histories, since_s=days_before(until, period), until_s=until, price=price, prior=prior)


def eta(
    source: "Source",
    *,
    app: str | None = None,
    store: "Source | Store | None" = None,
    now_s: float | None = None,
) -> "Eta":
    """When an application in progress will be done, from its job's past and its finished stages.

    Args:
        source: Its event log, or a store that has it.
        app: Its application id, where `source` is a store.
        store: The store with the earlier runs of its job, where `source` is a log. By default the one that
            SPARKCAST_STORE names.
        now_s: The moment that is asked about, in seconds since the Unix epoch; by default the last that its log tells.

    Returns:
        The remaining and the total time, each with its distribution.

    Raises:
        StudyError: There is no such log, store or application, or it has ended.
        NotEnoughDataError: Fewer than three runs of its job have ended, and the store has fewer than five other jobs.

    >>> eta("fleet.results", app="application_1_0002").n_runs  # doctest: +SKIP
    30
    """
    from sparkcast.history.found import running_record

    if app is None and not _is_store(str(source)):
        record = _record_in_progress(source)
        with _OpenStore(store) as opened:
            return _eta(opened, record, now_s)
    with _OpenStore(source) as opened:
        return _eta(opened, running_record(opened, app), now_s)


def _eta(store: "Store", record: "AppRecord", now_s: float | None) -> "Eta":
    """From the runs of its job; of a job that never ran, from jobs that resemble it."""
    from sparkcast.history.found import all_jobs, history_of_record
    from sparkcast.history.remaining import eta_from_others, eta_of

    try:
        return eta_of(history_of_record(store, record), record, now_s)
    except NotEnoughDataError:
        found = eta_from_others(record, all_jobs(store), now_s)
        if found is None:
            raise
        return found


def _is_store(source: str) -> bool:
    from sparkcast.store import STORE_FILES
    from sparkcast.store.databases import POSTGRESQL

    path = Path(source)
    is_database = source.startswith((POSTGRESQL, "postgres:", "sqlite:"))
    return is_database or path.suffix in STORE_FILES or (path / "store.sqlite").is_file()


def etas(log: "Source", *, store: "Source | Store | None" = None, every_s: float = 30.0) -> "Iterator[Eta]":
    """The same again and again as the log grows, until the application has ended.

    Args:
        log: The event log of an application in progress.
        store: As in `eta`.
        every_s: Seconds between two looks.

    Returns:
        A generator of answers.

    Raises:
        StudyError, NotEnoughDataError: As in `eta`, of the first answer.

    >>> for found in etas("application_1_0002.inprogress", store="fleet.results"):  # doctest: +SKIP
    ...     print(found.remaining.median)
    """
    yield eta(log, store=store)
    while True:
        time.sleep(every_s)
        try:
            yield eta(log, store=store, now_s=time.time())
        except ApplicationEndedError:
            return


def _record_in_progress(log: "Source") -> "AppRecord":
    from sparkcast.api.logs import read_one
    from sparkcast.facts import facts_of
    from sparkcast.observe.record import record_of

    read = read_one(log)
    facts = facts_of(read)
    record = record_of(read, facts)
    if facts.application.has_ended:
        raise ApplicationEndedError(
            f"{record.name} has ended: it took {show_seconds(record.wall_s)}", hint="`profile` says where its time went"
        )
    return record


class _OpenStore:
    """A store for as long as it is read; one that is open already stays so."""

    def __init__(self, store: "Source | Store | None") -> None:
        from sparkcast.store import Store, open_store
        from sparkcast.store.databases import team_store

        self._is_ours = not isinstance(store, Store)
        if isinstance(store, Store):
            self._store = store
            return
        target = team_store() if store is None else str(store)
        if target is None:
            raise StudyError("no store is given", hint="add `store=`, or set SPARKCAST_STORE")
        if "://" not in target and not Path(target).exists():
            raise StudyError(f"there is no store {target!r}", hint="`watch` and `ingest` fill one")
        self._store = open_store(target)

    def __enter__(self) -> "Store":
        return self._store

    def __exit__(self, *_: object) -> None:
        if self._is_ours:
            self._store.close()
