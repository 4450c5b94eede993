"""Logs in, runs out. One bad log never stops the rest, and ingesting twice changes nothing."""

import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING

from sparkcast.data.ingest.applications import ObservedLog
from sparkcast.data.ingest.bigdl import is_bigdl_log, observe_bigdl_log
from sparkcast.data.ingest.destination import Destination, IngestedTable, job_of, origin_of
from sparkcast.data.ingest.reading import LogQuery, Reader, read_here
from sparkcast.data.ingest.sizes import SIZE_NAMES
from sparkcast.display import Displayed, frame_of, plain_row
from sparkcast.errors import StudyError
from sparkcast.eventlogs import Log, LogStatus, LogSummary, find_logs
from sparkcast.study import Observation, Outcome
from sparkcast.study.application import TIME, WORK_TIME
from sparkcast.workloads import CLUSTER_SETTINGS

NEW, AGAIN, UNCHANGED, IN_PROGRESS = "new", "again", "unchanged", "in progress"

if TYPE_CHECKING:
    import pandas as pd

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
class Ingested(Displayed):
    """What came of all logs, and where the runs are that were learned from them."""

    logs: tuple[IngestedLog, ...]
    tables: tuple[IngestedTable, ...]

    @property
    def n_read(self) -> int:
        """How many logs told something, those of applications that have not ended included."""
        return sum(log.status in (LogStatus.OK, LogStatus.PARTIAL) for log in self.logs)

    def frame(self) -> "pd.DataFrame":
        """A row for each log."""
        return frame_of(plain_row(log) for log in self.logs)


def ingest_logs(
    paths: Sequence[str],
    into: Destination,
    *,
    reading: LogQuery,
    job: str | None = None,
    interactive: bool = False,
    reader: Reader = read_here,
    on_log: OnLog = lambda log: None,
) -> Ingested:
    """Make each application a run of its job; those that people typed into only when they are asked for."""
    wanted = None if job is None else _regex(job)
    found: list[tuple[IngestedLog, Observation | None]] = []
    for row, observed in _read(find_logs(paths), reader, reading.beside(into.patterns)):
        found.append(_wanted(row, observed, wanted, interactive=interactive))
        on_log(found[-1][0])
    runs = dict(into.earlier)
    refused = into.refuse([run for _, run in found if run is not None], is_chosen=wanted is not None)
    needed = _needed(runs.values())
    told: list[IngestedLog] = []
    for row, run in found:
        if run is None:
            told.append(row)
        elif reason := refused.get(run.run_id) or ("" if run.run_id in runs else _lacking(run, needed)):
            told.append(replace(row, status=LogStatus.SKIPPED, reason=reason))
        else:
            taken, adapted = _taken(row, into.adapt(run), runs)
            told.append(taken)
            if taken.taken != UNCHANGED:
                runs[run.run_id] = adapted
    return Ingested(tuple(told), into.write(runs))


def _regex(job: str) -> re.Pattern[str]:
    try:
        return re.compile(job)
    except re.error as error:
        raise StudyError(f"`job=` {job!r}: {error}", hint="use a Python regular expression") from None


# ---------------------------------------------------------------- reading


def _read(logs: Sequence[Log], reader: Reader, reading: LogQuery) -> Iterator[tuple[IngestedLog, ObservedLog | None]]:
    for taken in reader(logs, reading):
        row, path = _row(taken.summary), Path(taken.summary.log)
        if row.status is LogStatus.SKIPPED and path.is_file() and is_bigdl_log(path):
            try:
                yield replace(row, status=LogStatus.OK, reason=""), observe_bigdl_log(path, reading.patterns)
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
    row: IngestedLog, observed: ObservedLog | None, wanted: re.Pattern[str] | None, *, interactive: bool
) -> tuple[IngestedLog, Observation | None]:
    """The run under the name of the job that was asked for; none of another job, or where the log says too little."""
    if observed is None:
        return row, None
    run, origin = observed.run, origin_of(observed.run)
    row = replace(row, key=run.run_id, job=origin.job, time_s=run.responses.get(TIME, run.responses.get(WORK_TIME)))
    if wanted is not None:
        match = wanted.search(origin.job)
        if match is None:
            return replace(row, status=LogStatus.SKIPPED, reason="of another job"), None
        origin = replace(origin, job=(match[1] if match.groups() else match[0]) or origin.job)
    if observed.interactive and not interactive:
        reason = f"{observed.interactive}, not a job: `interactive=True` takes it as one"
        return replace(row, status=LogStatus.SKIPPED, reason=reason), None
    if observed.missing:
        reason = f"the log does not say {', '.join(observed.missing)}"
        return replace(row, status=LogStatus.SKIPPED, reason=reason), None
    return replace(row, job=origin.job), replace(run, origin=origin)


# ---------------------------------------------------------------- what is new


def _needed(earlier: Iterable[Observation]) -> dict[str, set[str]]:
    """The own settings that all earlier runs of a job have, by job."""
    needed: dict[str, set[str]] = {}
    for run in earlier:
        others = {*(setting.name for setting in CLUSTER_SETTINGS), *SIZE_NAMES}
        own = {name for name in run.configuration if name not in others}
        needed[job_of(run)] = needed.get(job_of(run), own) & own
    return needed


def _lacking(run: Observation, needed: Mapping[str, set[str]]) -> str:
    missing = sorted(needed.get(job_of(run), set()) - set(run.configuration))
    if not missing:
        return ""
    return f"the log does not say {', '.join(missing)}, as earlier runs do: add `settings=['{missing[0]}=REGEX']`"


def _taken(row: IngestedLog, run: Observation, runs: Mapping[str, Observation]) -> tuple[IngestedLog, Observation]:
    """What a run is to what is known of its application, and what is known then."""
    before = runs.get(run.run_id)
    if before is None:
        return _first(row, run), run
    known, origin = origin_of(before), origin_of(run)
    # What was found before and is not asked for this time stays.
    run = replace(
        run,
        configuration=before.configuration | run.configuration,
        responses={**before.responses, **run.responses} if known.is_complete else run.responses,
    )
    if known.is_complete and (known.size_bytes > origin.size_bytes or not origin.is_complete):
        return replace(row, taken=UNCHANGED, reason=f"a longer log of this application is known: {known.log}"), before
    if before == replace(run, origin=replace(origin, log=known.log)):
        reason = row.reason if known.log == origin.log else f"the same application as in {known.log}"
        return replace(row, taken=UNCHANGED if origin.is_complete else IN_PROGRESS, reason=reason), before
    return (replace(row, taken=AGAIN) if known.is_complete else _first(row, run)), run


def _first(row: IngestedLog, run: Observation) -> IngestedLog:
    if run.outcome is Outcome.LOST:
        return replace(row, taken=NEW, reason=row.reason or "lost, so it says nothing about its settings: not used")
    if origin_of(run).is_complete:
        return replace(row, taken=NEW)
    return replace(row, taken=IN_PROGRESS, reason=row.reason or "no job has ended")
