"""Logs in, runs out. One bad log never stops the rest, and ingesting twice changes nothing."""

import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from sparkcast.data.ingest.bigdl import is_bigdl_log, keep_bigdl
from sparkcast.data.ingest.destination import Destination, IngestedTable
from sparkcast.data.ingest.reading import Reader, Reading, read_here
from sparkcast.errors import StudyError
from sparkcast.eventlogs import Log, LogStatus, LogSummary, find_logs
from sparkcast.study import IngestedRun
from sparkcast.study.application import TIME, WORK_TIME
from sparkcast.workloads import CLUSTER_SETTINGS

NEW, AGAIN, UNCHANGED, IN_PROGRESS = "new", "again", "unchanged", "in progress"
OnLog = Callable[["IngestedLog"], None]


@dataclass(frozen=True, slots=True)
class IngestedLog:
    """How it went with one log."""

    log: str
    status: LogStatus
    reason: str  # why it is not ok, or was not taken
    key: str = ""  # application and attempt
    job: str = ""
    taken: str = ""  # "new", "again" (it has grown), "unchanged", "in progress" (no run yet), or "": left out
    time_s: float | None = None
    lines: int = 0
    bad_lines: int = 0  # that could not be read
    tasks: int = 0


@dataclass(frozen=True, slots=True)
class Ingested:
    """What came of all logs, and where the runs are that were learned from them."""

    logs: tuple[IngestedLog, ...]
    tables: tuple[IngestedTable, ...]

    @property
    def n_read(self) -> int:
        return sum(log.status in (LogStatus.OK, LogStatus.PARTIAL) for log in self.logs)


def ingest_logs(
    paths: Sequence[str],
    into: Destination,
    *,
    reading: Reading,
    job: str | None = None,
    reader: Reader = read_here,
    on_log: OnLog = lambda log: None,
) -> Ingested:
    """Make each application a run of its job."""
    wanted = None if job is None else _regex(job)
    found: list[tuple[IngestedLog, IngestedRun | None]] = []
    for row, run in _read(find_logs(paths), reader, reading.beside(into.patterns)):
        found.append(_wanted(row, run, wanted))
        on_log(found[-1][0])
    runs = dict(into.earlier())
    refused = into.refuse([run for _, run in found if run is not None], is_chosen=wanted is not None)
    needed = _needed(runs.values())
    told: list[IngestedLog] = []
    for row, run in found:
        if run is None:
            told.append(row)
        elif reason := refused.get(run.key) or ("" if run.key in runs else _lacking(run, needed)):
            told.append(replace(row, status=LogStatus.SKIPPED, reason=reason))
        else:
            taken, adapted = _taken(row, into.adapt(run), runs)
            told.append(taken)
            if taken.taken != UNCHANGED:
                runs[run.key] = adapted
    return Ingested(tuple(told), into.write(runs))


def _regex(job: str) -> re.Pattern[str]:
    try:
        return re.compile(job)
    except re.error as error:
        raise StudyError(f"`job=` {job!r}: {error}", hint="use a Python regular expression") from None


# ---------------------------------------------------------------- reading


def _read(logs: Sequence[Log], reader: Reader, reading: Reading) -> Iterator[tuple[IngestedLog, IngestedRun | None]]:
    for taken in reader(logs, reading):
        row, path = _row(taken.summary), Path(taken.summary.log)
        if row.status is LogStatus.SKIPPED and path.is_file() and is_bigdl_log(path):
            try:
                yield replace(row, status=LogStatus.OK, reason=""), keep_bigdl(path, reading.patterns)
            except StudyError as error:
                yield replace(row, status=LogStatus.FAILED, reason=error.problem), None
        else:
            yield row, taken.made


def _row(one: LogSummary) -> IngestedLog:
    # Of an error of ours the first line, without the name of its class.
    reason = one.reason.removeprefix("StudyError: ").partition("\n")[0]
    return IngestedLog(
        one.log, one.status, reason, lines=one.counts.lines, bad_lines=one.counts.bad_lines, tasks=one.n_tasks
    )


def _wanted(
    row: IngestedLog, run: IngestedRun | None, wanted: re.Pattern[str] | None
) -> tuple[IngestedLog, IngestedRun | None]:
    """The run under the name of the job that was asked for; none of another job, or where the log says too little."""
    if run is None:
        return row, None
    row = replace(row, key=run.key, job=run.job, time_s=run.responses.get(TIME, run.responses.get(WORK_TIME)))
    if wanted is not None:
        match = wanted.search(run.job)
        if match is None:
            return replace(row, status=LogStatus.SKIPPED, reason="of another job"), None
        run = replace(run, job=(match[1] if match.groups() else match[0]) or run.job)
    if run.missing:
        return replace(row, status=LogStatus.SKIPPED, reason=f"the log does not say {', '.join(run.missing)}"), None
    return replace(row, job=run.job), run


# ---------------------------------------------------------------- what is new


def _needed(earlier: Iterable[IngestedRun]) -> dict[str, set[str]]:
    """The own settings that all earlier runs of a job have, by job."""
    needed: dict[str, set[str]] = {}
    for run in earlier:
        own = {name for name in run.settings if name not in {setting.name for setting in CLUSTER_SETTINGS}}
        needed[run.job] = needed.get(run.job, own) & own
    return needed


def _lacking(run: IngestedRun, needed: Mapping[str, set[str]]) -> str:
    missing = sorted(needed.get(run.job, set()) - set(run.settings))
    if not missing:
        return ""
    return f"the log does not say {', '.join(missing)}, as earlier runs do: add `settings=['{missing[0]}=REGEX']`"


def _taken(row: IngestedLog, run: IngestedRun, runs: Mapping[str, IngestedRun]) -> tuple[IngestedLog, IngestedRun]:
    """What a run is to what is known of its application, and what is known then."""
    before = runs.get(run.key)
    if before is None:
        return _first(row, run), run
    # What was found before and is not asked for this time stays.
    run = replace(
        run,
        settings={**before.settings, **run.settings},
        responses={**before.responses, **run.responses} if before.is_complete else run.responses,
    )
    if before.is_complete and (before.size > run.size or not run.is_complete):
        return replace(row, taken=UNCHANGED, reason=f"a longer log of this application is known: {before.log}"), before
    if before == replace(run, log=before.log):
        reason = row.reason if before.log == run.log else f"the same application as in {before.log}"
        return replace(row, taken=UNCHANGED if run.is_complete else IN_PROGRESS, reason=reason), before
    return (replace(row, taken=AGAIN) if before.is_complete else _first(row, run)), run


def _first(row: IngestedLog, run: IngestedRun) -> IngestedLog:
    if run.is_complete:
        return replace(row, taken=NEW)
    return replace(row, taken=IN_PROGRESS, reason=row.reason or "no job has ended")
