"""What becomes of a log that was read, given what the store knows."""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from datetime import UTC, datetime

from sparkcast.data.ingest.applications import ObservedLog
from sparkcast.eventlogs import LogStatus, Taken
from sparkcast.history.names import job_name
from sparkcast.history.watch.look import SeenLog
from sparkcast.history.watch.result import LogEvent, WatchedLog
from sparkcast.store.watched import KnownRun, Taking, WatchedLogRow
from sparkcast.study import LogOrigin, Observation, Outcome
from sparkcast.study.application import TIME
from sparkcast.study.redaction import redact_text
from sparkcast.units import show_seconds

_AHEAD_S = 300.0  # that a clock may be before ours


@dataclass(frozen=True, slots=True)
class ReadLog:
    """A log, and what was read of it."""

    seen: SeenLog
    taken: Taken[ObservedLog | None]

    @property
    def run_ids(self) -> tuple[str, ...]:
        """By which its run may be known: its application and attempt, and with its start where another has that id."""
        made = self.taken.made
        return () if made is None else (made.run.run_id, _second_id(made.run))


@dataclass(frozen=True, slots=True)
class WatchTerms:
    """What holds for all logs."""

    interactive: bool
    reserved: frozenset[str]  # names of studies that people measure
    now: float


def decide(
    read: ReadLog, rows: Mapping[str, WatchedLogRow], known: Mapping[str, KnownRun], terms: WatchTerms
) -> tuple[Taking, WatchedLog]:
    before = rows.get(read.seen.name)
    if before is not None and before.mark and before.mark == read.seen.mark:
        # Whoever wrote this since we looked watches the same folder.
        reason, size = "another `watch` took it", before.size_bytes
        told = WatchedLog(read.seen.name, LogEvent.UNCHANGED, reason, before.study, before.run_id, size)
        return Taking(before), told
    made = read.taken.made
    if made is None:
        return _without_run(read, before, terms)
    if made.interactive and not terms.interactive:
        reason = f"{made.interactive}, not a job: `interactive=True` takes it as one"
        return _told(read, terms, LogEvent.SKIPPED, reason)
    return _with_run(read, made.run, before, known, terms)


def _told(
    read: ReadLog,
    terms: WatchTerms,
    event: LogEvent,
    reason: str,
    *,
    study: str = "",
    run_id: str = "",
    mark: str | None = None,
) -> tuple[Taking, WatchedLog]:
    seen = read.seen
    row = WatchedLogRow(
        seen.name,
        seen.mark if mark is None else mark,
        seen.size_bytes,
        event.value,
        reason,
        study,
        run_id,
        terms.now,
    )
    return Taking(row), WatchedLog(seen.name, event, reason, study, run_id, seen.size_bytes)


def _without_run(read: ReadLog, before: WatchedLogRow | None, terms: WatchTerms) -> tuple[Taking, WatchedLog]:
    summary = read.taken.summary
    reason = summary.reason.removeprefix("StudyError: ").partition("\n")[0] or "the log does not name its application"
    was_read = summary.counts.file_bytes > 0 or summary.status is LogStatus.SKIPPED
    event = LogEvent.SKIPPED if summary.status is not LogStatus.FAILED else LogEvent.FAILED
    if before is not None and before.run_id:
        reason = f"{reason}; its run stays as it was read before"
        event = LogEvent.FAILED
    # What could not even be opened is tried again the next time.
    return _told(
        *(read, terms, event, reason),
        study="" if before is None else before.study,
        run_id="" if before is None else before.run_id,
        mark=None if was_read else "",
    )


def _with_run(
    read: ReadLog, run: Observation, before: WatchedLogRow | None, known: Mapping[str, KnownRun], terms: WatchTerms
) -> tuple[Taking, WatchedLog]:
    notes = [read.taken.summary.reason] if read.taken.summary.reason else []
    if read.taken.summary.application.has_ended and not _origin(run).is_complete:
        run = replace(run, origin=replace(_origin(run), is_complete=True))
        notes.append("it ended before a Spark job did, so it has no time")
    first = known.get(run.run_id)
    if first is not None and _is_another(first.run, run):
        notes.append(f"another application has the id {run.run_id} too: kept as {_second_id(run)}")
        run = replace(run, run_id=_second_id(run))
    earlier = known.get(run.run_id)
    study = earlier.study if earlier is not None else _study_of(read, run, terms)
    run = replace(run, origin=replace(_origin(run), job=study if earlier is None else _origin(earlier.run).job))
    if before is not None and before.run_id and before.run_id != run.run_id:
        notes.append(f"the file held {before.run_id} before, whose run stays")
    if (ahead_s := (run.started_at or 0.0) - terms.now) > _AHEAD_S:
        notes.append(f"it begins {show_seconds(ahead_s)} from now: the clocks of its machine and of this one disagree")
    event, kept, note = _compared(read, run, earlier, before)
    reason = "; ".join((*notes, note) if note else notes)
    taking, told = _told(read, terms, event, reason, study=study, run_id=run.run_id)
    size = None if run.record is None else run.record.input_bytes
    return replace(taking, run=kept), replace(told, time_s=run.responses.get(TIME), input_bytes=size)


def _compared(
    read: ReadLog, run: Observation, earlier: KnownRun | None, before: WatchedLogRow | None
) -> tuple[LogEvent, Observation | None, str]:
    """What the run is to what is known of its application, what to keep, and what to say."""
    is_complete = _origin(run).is_complete
    if earlier is None:
        note = "lost, so it says nothing about its settings: not used" if run.outcome is Outcome.LOST else ""
        return LogEvent.NEW if is_complete else LogEvent.RUNNING, run, note
    known = _origin(earlier.run)
    if known.size_bytes > _origin(run).size_bytes and (known.is_complete or not is_complete):
        if not _is_compacted(read):
            shrunk = before is not None and before.size_bytes > read.seen.size_bytes
            what = "it shrank" if shrunk and known.log == read.seen.name else f"a longer log is known: {known.log}"
            return LogEvent.UNCHANGED, None, f"{what}; its run stays as it was read before"
    elif known.is_complete and not is_complete:
        return LogEvent.UNCHANGED, None, f"a log of its end is known: {known.log}"
    # What was found before and is not asked for this time stays.
    run = replace(run, configuration=earlier.run.configuration | run.configuration)
    if earlier.run == replace(run, origin=replace(_origin(run), log=known.log)):
        note = "" if known.log == read.seen.name else f"the same application as in {known.log}"
        return LogEvent.UNCHANGED if is_complete else LogEvent.RUNNING, None, note
    if not is_complete:
        return LogEvent.RUNNING, run, ""
    return LogEvent.AGAIN if known.is_complete else LogEvent.FINISHED, run, ""


def _is_compacted(read: ReadLog) -> bool:
    """Spark itself made it shorter."""
    return any(file.endswith(".compact") for file in read.seen.log.files)


def _study_of(read: ReadLog, run: Observation, terms: WatchTerms) -> str:
    name = run.record.name if run.record is not None else redact_text(read.taken.summary.application.name)
    job = job_name(name) or "unnamed"
    return f"{job} (logs)" if job in terms.reserved else job


def _is_another(known: Observation, run: Observation) -> bool:
    """Attempts of an application have ids of their own, so what began at another moment is another application."""
    if known.started_at is None or run.started_at is None:
        return False
    return abs(known.started_at - run.started_at) > 1e-3


def _second_id(run: Observation) -> str:
    began = datetime.fromtimestamp(run.started_at or 0.0, UTC)
    return f"{run.run_id}@{began:%Y%m%dT%H%M%S}.{began.microsecond // 1000:03d}"


def _origin(run: Observation) -> LogOrigin:
    assert run.origin is not None, "runs of logs have one"
    return run.origin
