"""The loop: look, read what is new, and write each run together with the note that its log was read."""

import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from time import monotonic

from sparkcast.data.ingest.into_store import NOT_ASKED, require_place
from sparkcast.data.ingest.reading import LogQuery, Reader
from sparkcast.errors import StudyError
from sparkcast.eventlogs import Log
from sparkcast.history.watch.decide import ReadLog, WatchTerms, decide
from sparkcast.history.watch.look import SeenLog, Unseen, look_at
from sparkcast.history.watch.result import LogEvent, Watched, WatchedLog
from sparkcast.store import Store, open_store
from sparkcast.store.database import UnreachableError
from sparkcast.store.watched import KnownRun, Taking, WatchedLogRow, WatchedLogs

_MOST_AT_ONCE = 20  # logs in a transaction
_LONGEST_S = 0.5  # that a log which was read waits for others
_GREW = 1.02  # a running application's log is read again when it is so much longer, ...
_LATEST_S = 600.0  # or after this time
_GLANCE_S = 0.2  # how often to see whether to stop

OnLook = Callable[[Watched], None]
OnLog = Callable[[WatchedLog], None]
ShouldStop = Callable[[], bool]


@dataclass(frozen=True, slots=True)
class WatchQuery:
    """What to look at, and how."""

    paths: tuple[str, ...]
    reader: Reader
    reading: LogQuery
    interactive: bool = False


def open_watched(target: str) -> Store:
    """The store that runs go to; a new one where there is none."""
    if "://" not in target:
        if Path(target).suffix.lower() in (".csv", ".yaml", ".yml"):
            raise StudyError(
                f"`watch` writes into a store, and {target!r} is none",
                hint="give a results folder, an .sqlite file or postgresql://HOST/DATABASE; `ingest` writes tables",
            )
        require_place(Path(target))
    return open_store(target, create="://" not in target)


def watch_once(
    store: Store,
    target: str,
    query: WatchQuery,
    *,
    on_log: OnLog = lambda log: None,
    should_stop: ShouldStop = lambda: False,
) -> Watched:
    """Look once. Whatever moment it is ended at, each application is in the store once, or comes the next time."""
    logs = WatchedLogs(store)
    looked_at, (seen, unseen) = time.time(), look_at(query.paths)
    rows = logs.rows()
    changed = [one for one in seen if _has_changed(one, rows.get(one.name), looked_at)]
    told = [
        WatchedLog(one.name, LogEvent.FAILED, one.problem, size_bytes=one.size_bytes) for one in changed if one.problem
    ]
    for one in told:
        on_log(one)
    readable = sorted((one for one in changed if not one.problem), key=lambda one: one.log.is_in_progress)
    terms = WatchTerms(query.interactive, logs.measured_studies(), looked_at)
    jobs: dict[str, int] = {}
    n_read = 0
    for batch in _batches(_read(readable, query, should_stop)):
        n_read += len(batch)
        for taking, one in _write(logs, batch, terms):
            told.append(one)
            on_log(one)
            if taking.run is not None:
                jobs[one.job] = jobs.get(one.job, 0) + 1
    is_cut_short = n_read < len(readable)
    return Watched(target, looked_at, len(seen), len(seen) - len(changed), tuple(told), unseen, is_cut_short, jobs)


def watch_every(
    store: Store,
    target: str,
    query: WatchQuery,
    every_s: float,
    *,
    on_log: OnLog = lambda log: None,
    on_look: OnLook = lambda found: None,
    should_stop: ShouldStop,
) -> Watched:
    """Look again and again until it is stopped; a server of the store that is away for a while is waited for."""
    while True:
        begun = monotonic()
        try:
            found = watch_once(store, target, query, on_log=on_log, should_stop=should_stop)
        except UnreachableError as error:
            found = Watched(target, time.time(), 0, 0, (), (Unseen(target, error.problem),), is_cut_short=True)
        on_look(found)
        while not should_stop() and monotonic() - begun < every_s:
            time.sleep(min(_GLANCE_S, max(every_s - (monotonic() - begun), 0.0)))
        if should_stop():
            return found


def _has_changed(seen: SeenLog, row: WatchedLogRow | None, now: float) -> bool:
    if row is None or not row.mark:
        return True
    if row.mark == seen.mark:
        return False
    is_little = row.size_bytes <= seen.size_bytes < _GREW * row.size_bytes
    return not (seen.log.is_in_progress and is_little and 0 <= now - row.read_at < _LATEST_S)


def _read(seen: Sequence[SeenLog], query: WatchQuery, should_stop: ShouldStop) -> Iterator[ReadLog]:
    if not seen or should_stop():
        return
    logs: list[Log] = [one.log for one in seen]
    for one, taken in zip(seen, query.reader(logs, query.reading), strict=True):
        yield ReadLog(one, taken)
        if should_stop():
            return


def _batches(logs: Iterator[ReadLog]) -> Iterator[list[ReadLog]]:
    batch: list[ReadLog] = []
    begun = monotonic()
    for one in logs:
        batch.append(one)
        if len(batch) >= _MOST_AT_ONCE or monotonic() - begun > _LONGEST_S:
            yield batch
            batch, begun = [], monotonic()
    if batch:
        yield batch


def _write(logs: WatchedLogs, batch: Sequence[ReadLog], terms: WatchTerms) -> list[tuple[Taking, WatchedLog]]:
    """All of them in one transaction, decided on what is known in it."""
    decided: list[tuple[Taking, WatchedLog]] = []

    def on_known(rows: dict[str, WatchedLogRow], known: dict[str, KnownRun]) -> list[Taking]:
        decided.clear()  # a transaction may have to be repeated
        for read in batch:
            taking, told = decide(read, rows, known, terms)
            decided.append((taking, told))
            if taking.run is not None:
                known[taking.run.run_id] = KnownRun(taking.row.study, taking.run)
        return [taking for taking, _ in decided]

    names = [read.seen.name for read in batch]
    run_ids = list(dict.fromkeys(run_id for read in batch for run_id in read.run_ids))
    logs.take(names, run_ids, NOT_ASKED, on_known)
    return decided
