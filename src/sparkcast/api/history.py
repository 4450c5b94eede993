"""The history of a store's jobs: the gate, the morning list, and what is left of a job that runs."""

import shlex
import time
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from sparkcast.data.sources import Source
from sparkcast.errors import StudyError
from sparkcast.study import Price

if TYPE_CHECKING:
    from sparkcast.history.gate import GateAnswer
    from sparkcast.history.jobs import JobHistory
    from sparkcast.history.morning import FleetReport
    from sparkcast.history.prior import FleetPrior
    from sparkcast.store import Store


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
        at_s: When it is submitted, in seconds since the Unix epoch; by default now.
        history: The job's runs, where they are known already.
        prior: What the jobs of the store have in common, with `history`.

    Returns:
        The verdict (admit, change, refuse, unknown) with its probability, the forecast, and the line to paste.

    Raises:
        StudyError: The line submits nothing, a limit cannot be, or there is no store.

    >>> check("spark-submit --name nightly etl.py", "fleet.results", within_s=1800).verdict.value
    'unknown'
    """
    from sparkcast.history.found import find_in_store, prior_of_store
    from sparkcast.history.gate import GateQuestion, check_line, unknown
    from sparkcast.workloads.lines import parse_line, program_of

    question = GateQuestion(
        within_s, budget, confidence, input_size, price, free_cores, time.time() if at_s is None else at_s
    )
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
            return unknown(question, f"the store has no runs of {named}")
        learned = prior or prior_of_store(opened, besides=found.history)
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

    >>> fleet("fleet.results", since="7d").n_jobs
    12
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
