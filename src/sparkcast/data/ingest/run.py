"""Logs in, tables out. One bad log never stops the rest, and ingesting twice changes nothing."""

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path

from sparkcast.data.ingest.applications import CORE_HOURS, Kept, keep
from sparkcast.data.ingest.bigdl import is_bigdl_log, keep_bigdl
from sparkcast.data.ingest.kept import read_ledger, write_ledger
from sparkcast.data.ingest.settings import UNSET, Pattern, differing, value_of
from sparkcast.data.table import parse_level, write_table
from sparkcast.errors import StoreError, StudyError
from sparkcast.observe.eventlogs import LogStatus, find_logs, read_logs
from sparkcast.observe.eventlogs.layout import Log
from sparkcast.study import Configuration, Dataset, Level, Observation, Outcome, Price
from sparkcast.study.names import COST, TIME, TOTAL_TIME
from sparkcast.workloads.base import ACCURACY, THROUGHPUT

NEW, AGAIN, UNCHANGED, IN_PROGRESS = "new", "again", "unchanged", "in progress"
OnLog = Callable[["IngestedLog"], None]


@dataclass(frozen=True, slots=True)
class IngestedLog:
    """How it went with one log."""

    log: str
    status: LogStatus
    reason: str  # why it is not ok, or not in a table
    key: str  # application and attempt
    job: str
    taken: str  # "new", "again" (it has grown), "unchanged", "in progress" (in no table yet), or "": left out
    time_s: float | None = None


@dataclass(frozen=True, slots=True)
class IngestedTable:
    path: Path
    job: str
    n_runs: int
    settings: tuple[str, ...]  # that differ among the runs


@dataclass(frozen=True, slots=True)
class Ingested:
    """What came of all logs, and the tables that hold what was learned from them."""

    logs: tuple[IngestedLog, ...]
    tables: tuple[IngestedTable, ...]

    @property
    def n_read(self) -> int:
        return sum(log.status in (LogStatus.OK, LogStatus.PARTIAL) for log in self.logs)


def ingest_logs(
    paths: Sequence[str],
    into: Path,
    *,
    patterns: Sequence[Pattern] = (),
    job: str | None = None,
    price: Price | None = None,
    processes: int | None = None,
    force: bool = False,
    on_log: OnLog = lambda log: None,
) -> Ingested:
    """Make each application an observation in the table of its job."""
    if into.suffix.lower() != ".csv":
        raise StudyError(f"cannot ingest into {str(into)!r}", hint="name a .csv file")
    wanted = None if job is None else _regex(job)
    earlier = read_ledger(into, force=force)
    runs = dict(earlier.runs)
    told: list[IngestedLog] = []
    for summary, kept in _kept(find_logs(paths), tuple(patterns), price, processes):
        row = summary
        if kept is not None:
            named = _named(kept, wanted)
            row = _row(summary, named, runs)
            if named is not None and row.taken in (NEW, AGAIN, IN_PROGRESS):
                runs[named.key] = named
        told.append(row)
        on_log(row)
    tables = _write_tables(into, tuple(runs.values()))
    if runs:
        write_ledger(into, tuple(runs.values()), [table.path for table in tables])
    return Ingested(tuple(told), tables)


def _regex(job: str) -> re.Pattern[str]:
    try:
        return re.compile(job)
    except re.error as error:
        raise StudyError(f"--job {job!r}: {error}", hint="use a Python regular expression") from None


def _kept(
    logs: Sequence[Log], patterns: tuple[Pattern, ...], price: Price | None, processes: int | None
) -> Iterator[tuple[IngestedLog, Kept | None]]:
    for taken in read_logs(logs, partial(keep, patterns=patterns, price=price), processes=processes):
        one = taken.summary
        # Of an error of ours the first line, without the name of its class.
        reason = one.reason.removeprefix("StudyError: ").partition("\n")[0]
        row = IngestedLog(one.log, one.status, reason, "", "", "")
        path = Path(one.log)
        if one.status is LogStatus.SKIPPED and path.is_file() and is_bigdl_log(path):
            try:
                yield replace(row, status=LogStatus.OK, reason=""), keep_bigdl(path, patterns)
            except StudyError as error:
                yield replace(row, status=LogStatus.FAILED, reason=error.problem), None
        else:
            yield row, taken.made


def _named(kept: Kept, wanted: re.Pattern[str] | None) -> Kept | None:
    """Under the name of the job that was asked for; None for another job."""
    if wanted is None:
        return kept
    found = wanted.search(kept.job)
    return replace(kept, job=found[1] if found.groups() else found[0]) if found else None


def _row(row: IngestedLog, kept: Kept | None, runs: Mapping[str, Kept]) -> IngestedLog:
    if kept is None:
        return replace(row, reason="of another job")
    row = replace(row, key=kept.key, job=kept.job, time_s=kept.responses.get(TIME))
    if kept.missing:
        names = ", ".join(kept.missing)
        return replace(row, status=LogStatus.SKIPPED, reason=f"the log does not say {names}")
    before = runs.get(kept.key)
    if before is not None and before.is_complete and before.size > kept.size:
        return replace(row, taken=UNCHANGED, reason="an earlier copy of this log was longer")
    if not kept.is_complete:
        return replace(row, taken=IN_PROGRESS, reason=row.reason or "no job has ended")
    if before is not None and before == replace(kept, log=before.log):
        return replace(row, taken=UNCHANGED)
    return replace(row, taken=NEW if before is None or not before.is_complete else AGAIN)


# ---------------------------------------------------------------- tables


def _write_tables(into: Path, runs: Sequence[Kept]) -> tuple[IngestedTable, ...]:
    """A table for each job; the job that came first has the name that was given."""
    tables = []
    jobs = dict.fromkeys(run.job for run in runs)
    for number, job in enumerate(jobs):
        complete = [run for run in runs if run.job == job and run.is_complete]
        if not complete:
            continue
        slug = re.sub(r"[^\w]+", "-", job).strip("-") or str(number)
        path = into if number == 0 else into.with_name(f"{into.stem}-{slug}{into.suffix}")
        data = _dataset(job, complete)
        try:
            write_table(data, path)
        except OSError as error:
            raise StoreError(
                f"cannot write {str(path)!r}: {error.strerror or error}", hint="choose another folder"
            ) from error
        tables.append(IngestedTable(path, job, len(complete), data.factors))
    return tuple(tables)


def _dataset(job: str, runs: Sequence[Kept]) -> Dataset:
    ordered = sorted(runs, key=lambda run: (run.started_s, run.key))
    varied = differing([run.properties for run in ordered])
    known_settings = [name for run in ordered for name in run.settings]
    seen: dict[Configuration, int] = {}
    observations = []
    for position, run in enumerate(ordered, 1):
        levels: dict[str, Level] = {name: _level(value) for name, value in run.settings.items()}
        levels |= {name: _level(value_of(run.properties, name)) for name in varied}
        configuration = Configuration({**dict.fromkeys(known_settings, UNSET), **levels})
        seen[configuration] = seen.get(configuration, 0) + 1
        observations.append(
            Observation(
                configuration,
                dict(run.responses),
                Outcome(run.outcome),
                replicate=seen[configuration],
                position=position,
                started_at=run.started_s or None,
                run_id=run.key,
            )
        )
    names = dict.fromkeys(name for one in observations for name in one.configuration)
    factors = tuple(name for name in names if len({one.configuration.get(name) for one in observations}) > 1)
    measured = {name for one in observations for name in one.responses}
    known = tuple(
        name for name in (TIME, TOTAL_TIME, CORE_HOURS, COST, ACCURACY.name, THROUGHPUT.name) if name in measured
    )
    return Dataset(factors, tuple(observations), job, known)


def _level(value: Level) -> Level:
    return parse_level(value) if isinstance(value, str) else value
