"""Read one log, whatever state it is in. Never raises for what is in the files: the result says how it went."""

from collections.abc import Iterator
from contextlib import ExitStack, closing
from dataclasses import replace
from os import PathLike, fspath
from typing import BinaryIO, cast

import numpy as np

from sparkcast.eventlogs.build import Builder
from sparkcast.eventlogs.codecs import DamagedError, decompressed
from sparkcast.eventlogs.columns import ColumnTable
from sparkcast.eventlogs.events import Memory
from sparkcast.eventlogs.layout import Log, find_logs
from sparkcast.eventlogs.limits import LogLimits
from sparkcast.eventlogs.lines import LineBlock, Lines
from sparkcast.eventlogs.places import last_name, place_of
from sparkcast.eventlogs.prefetch import read_ahead
from sparkcast.eventlogs.result import Application, Counts, LogRead, LogStatus
from sparkcast.eventlogs.tasks import TaskRows

# A file whose first lines hold no event at all is something else.
_LINES_TO_SEE_AN_EVENT = 1000
_BYTES_TO_SEE_AN_EVENT = 1 << 26


def read_log(log: Log | str | PathLike[str], limits: LogLimits | None = None) -> LogRead:
    """Read the log of one application: a file, a rolling folder, or what `find_logs` found.

    Raises:
        StudyError: the path does not exist. Whatever is wrong with an existing log is told by its status.
    """
    if not isinstance(log, Log):
        path = fspath(log)
        logs = find_logs(path)
        if not logs:
            return LogRead(path, LogStatus.SKIPPED, "the folder contains no event log")
        if len(logs) > 1:
            return LogRead(path, LogStatus.SKIPPED, f"the folder contains {len(logs)} logs: read them one by one")
        log = logs[0]
    return _Reading(log, limits or LogLimits()).result()


class _Reading:
    def __init__(self, log: Log, limits: LogLimits) -> None:
        self._log, self._limits = log, limits
        self._builder = Builder()
        self._tasks = TaskRows(self._builder.take)
        self._builder.hand_task_ends_to(self._tasks.take_event)
        self._n_files = self._n_file_bytes = self._n_log_bytes = self._n_too_long = 0
        self._problems: list[str] = []
        self._unreadable = 0

    def result(self) -> LogRead:
        for file in self._log.files:
            try:
                self._read_file(file)
            except _GiveUpError as error:
                self._problems.append(f"{last_name(file)}: {error}")
                break
            except DamagedError as error:
                self._problems.append(f"{last_name(file)}: {error}")
            except OSError as error:
                self._unreadable += 1
                self._problems.append(f"{last_name(file)}: {error.strerror or error}")
        return self._finished()

    def _read_file(self, path: str) -> None:
        place, name = place_of(path)
        with ExitStack() as at_end:
            file = at_end.enter_context(closing(_Counted(place.open(name))))
            pieces = decompressed(cast(BinaryIO, file))
            if place.is_remote:  # closed before the file: no thread reads on from one that is closed
                pieces = at_end.enter_context(closing(read_ahead(pieces)))
            lines = Lines(self._within_limits(pieces, file), self._limits.max_line_bytes)
            try:
                for block in lines:
                    self._take(block)
            finally:
                # What came before the damage is good, and so may be its last line.
                if rest := lines.rest():
                    self._take(LineBlock(rest, 0, len(rest)))
                self._n_files += 1
                self._n_file_bytes += file.n_bytes
                self._n_too_long += lines.too_long

    def _within_limits(self, pieces: Iterator[bytes], file: "_Counted") -> Iterator[bytes]:
        limits, size = self._limits, 0
        for piece in pieces:
            size += len(piece)
            self._n_log_bytes += len(piece)
            if size > limits.free_bytes and size > limits.max_ratio * file.n_bytes:
                raise _GiveUpError(f"unpacks to more than {limits.max_ratio:g} times its size: a decompression bomb?")
            if self._n_log_bytes > _BYTES_TO_SEE_AN_EVENT and not self._n_events():
                raise _GiveUpError("not an event log")
            if self._n_log_bytes > limits.max_log_bytes:
                raise _GiveUpError(f"longer than the limit of {limits.max_log_bytes:,} bytes")
            yield piece

    def _take(self, block: LineBlock) -> None:
        self._tasks.take(block)
        n_events = self._n_events()
        n_other = self._n_lines() - n_events
        if n_events == 0 and n_other > _LINES_TO_SEE_AN_EVENT:
            raise _GiveUpError("not an event log")
        if n_other > max(self._limits.max_bad_lines, 10 * n_events):
            raise _GiveUpError("most lines are not events")

    def _n_lines(self) -> int:
        return self._builder.n_lines + self._tasks.n_lines

    def _n_events(self) -> int:
        return self._tasks.n_ends + self._tasks.n_skipped + self._builder.events.total()

    def _finished(self) -> LogRead:
        built, rows = self._builder, self._tasks
        n_events = self._n_events()
        tasks, n_duplicates = _without_duplicates(rows.table())
        counts = Counts(
            files=self._n_files,
            file_bytes=self._n_file_bytes,
            log_bytes=self._n_log_bytes,
            lines=self._n_lines() + self._n_too_long,
            bad_lines=self._n_too_long + built.n_bad + rows.n_bad,
            mended_lines=built.n_mended + rows.n_mended,
            unknown_events=built.n_unknown,
            duplicate_tasks=n_duplicates,
        )
        _note_memory(built, tasks)
        names = {"SparkListenerTaskEnd": rows.n_ends, "skipped task events": rows.n_skipped}
        status, reason = self._status(n_events, counts)
        return LogRead(
            log=self._log.name,
            status=status,
            reason=reason,
            counts=counts,
            events={**built.events, **{name: count for name, count in names.items() if count}},
            application=_application(built, tasks),
            environment=built.environment,
            resource_profiles=tuple(built.profiles.values()),
            executors=tuple(built.executors),
            jobs=tuple(built.jobs.values()),
            stages=tuple(built.stages.values()),
            sql_executions=built.sql_executions(),
            tasks=tasks,
        )

    def _status(self, n_events: int, counts: Counts) -> tuple[LogStatus, str]:
        """Worst first: what could not be read, what was not there, what the application did not write."""
        problems = [*self._problems]
        if n_events == 0:
            if self._unreadable or (problems and not counts.log_bytes):
                return LogStatus.FAILED, "; ".join(problems)
            empty = "" if counts.log_bytes else "empty"
            return LogStatus.SKIPPED, "; ".join(problems) or self._log.missing or empty or "not an event log"
        if len(names := sorted(self._builder.applications)) > 1:  # together they would be a run that never was
            listed = f"{', '.join(names[:3])}{', ...' if names[3:] else ''}"
            return LogStatus.FAILED, f"{len(names)} applications in one log ({listed}): give the files of each alone"
        if self._log.missing:
            problems.append(self._log.missing)
        if counts.bad_lines:
            problems.append(f"{counts.bad_lines:,} of {counts.lines:,} lines could not be read")
        if not self._builder.application.started_ms:
            problems.append("the start of the application is missing")
        if not self._builder.application.ended_ms:
            problems.append("the application has not ended: in progress, killed, or cut off")
        return (LogStatus.PARTIAL, "; ".join(problems)) if problems else (LogStatus.OK, "")


class _GiveUpError(Exception):
    """Reading on makes no sense: a limit is reached."""


class _Counted:
    """A file that counts what was read from it."""

    def __init__(self, file: BinaryIO) -> None:
        self._file = file
        self.n_bytes = 0

    def read(self, size: int = -1) -> bytes:
        data = self._file.read(size)
        # Short reads are allowed to happen; framing needs all it asked for.
        while 0 <= len(data) < size:
            more = self._file.read(size - len(data))
            if not more:
                break
            data += more
        self.n_bytes += len(data)
        return data

    def seek(self, place: int) -> None:
        self._file.seek(place)
        self.n_bytes = place

    def close(self) -> None:
        self._file.close()


def _without_duplicates(tasks: ColumnTable) -> tuple[ColumnTable, int]:
    """Task ids are unique within an application; the same end of the same task told twice is one."""
    ids, finish = tasks["task_id"], tasks["finish_ms"]
    if len(np.unique(ids)) == len(ids):
        return tasks, 0
    order = np.lexsort((finish, ids))
    ids, finish = ids[order], finish[order]
    again = np.zeros(len(ids), dtype=bool)
    again[1:] = (ids[1:] == ids[:-1]) & (finish[1:] == finish[:-1]) & (ids[1:] >= 0)
    n_again = int(again.sum())
    return (tasks.where(np.sort(order[~again])), n_again) if n_again else (tasks, 0)


def _note_memory(built: Builder, tasks: ColumnTable) -> None:
    """Peaks that only tasks tell, to their executors."""
    names = ("jvm_heap_bytes", "jvm_off_heap_bytes", "jvm_rss_bytes", "python_rss_bytes")
    if not any(tasks.numbers[name].any() for name in names):
        return
    executors = tasks.words["executor"]
    peaks = np.zeros((len(names), len(executors)), dtype=np.int64)
    order = np.argsort(tasks.texts["executor"], kind="stable")
    codes, starts = np.unique(tasks.texts["executor"][order], return_index=True)
    for row, name in zip(peaks, names, strict=True):
        row[codes] = np.maximum.reduceat(tasks.numbers[name][order], starts)
    for code, executor in enumerate(executors):
        built.saw_memory(executor, Memory(*map(int, peaks[:, code])))


def _application(built: Builder, tasks: ColumnTable) -> Application:
    return replace(built.application, last_event_ms=max(built.last_event_ms, int(tasks["finish_ms"].max(initial=0))))
