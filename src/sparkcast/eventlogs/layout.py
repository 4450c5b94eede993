"""Which files make the log of one application.

- One file, `<app>[_attempt][.codec][.inprogress]`.
- A folder `eventlog_v2_<app>[_attempt]` with `events_<n>_<app>[.codec][.compact]`, read by number; a compacted file
  stands for all up to its number. Spark 4 writes these by default.
- A folder of Databricks with `eventlog` and earlier parts `eventlog-<date>--<time>.gz`.

Attempts of one application are logs of their own.
"""

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from os import PathLike, fspath

from sparkcast.errors import StudyError
from sparkcast.eventlogs.places import Place, last_name, place_of

_ROLLING = re.compile(r"events_(\d+)_")
_DATABRICKS = re.compile(r"eventlog(-\d{4}-\d\d-\d\d--\d\d-\d\d.*)?$")  # others are logs of their own
_IN_PROGRESS = ".inprogress"
_COMPACT = ".compact"

Paths = str | PathLike[str] | Iterable[str | PathLike[str]]


@dataclass(frozen=True, slots=True)
class Log:
    """The files of one application's log, in order."""

    name: str
    files: tuple[str, ...]
    is_in_progress: bool = False
    missing: str = ""  # parts that should be there and are not


def find_logs(paths: Paths) -> tuple[Log, ...]:
    """Every log under files, folders, globs (`logs/*.zstd`) and URLs. Folders are searched through.

    Raises:
        StudyError: a path does not exist, or a pattern matches nothing.
    """
    given = [paths] if isinstance(paths, str | PathLike) else list(paths)
    found: dict[str, Log] = {}
    for path in [fspath(one) for one in given]:
        for log in _logs_of(path):
            found.setdefault(log.name, log)
    return tuple(found.values())


def _logs_of(path: str) -> Iterator[Log]:
    place, name = place_of(path)
    try:
        is_there = place.exists(name)
    except OSError as error:
        raise StudyError(
            f"{path}: {error.strerror or error}", hint="may you read it and the folders it is in?"
        ) from error
    if is_there:
        yield from _logs_at(place, name, set())
        return
    matching = place.matching(name) if any(sign in name for sign in "*?[") else []
    if not matching:
        raise StudyError(
            f"{path}: no such file or folder", hint="give an event log, a folder of them, or a pattern in quotes"
        )
    for one in matching:
        yield from _logs_at(place, one, set())


def _logs_at(place: Place, path: str, seen: set[str]) -> Iterator[Log]:
    if not place.is_folder(path):
        if place.is_special(path):
            yield Log(path, (), missing="a pipe or a device, not a file")
        else:
            yield Log(path, (path,), path.endswith(_IN_PROGRESS))
        return
    if place.true_name(path) in seen:
        return  # links that go round in a circle
    seen.add(place.true_name(path))
    try:
        inside = [entry for entry in place.inside(path) if not last_name(entry).startswith((".", "_"))]
    except OSError as error:
        yield Log(path, (), missing=f"the folder cannot be listed: {error.strerror or error}")
        return
    files = [entry for entry in inside if not place.is_folder(entry)]
    rolling = [file for file in files if _ROLLING.match(last_name(file))]
    if rolling or last_name(path).startswith("eventlog_v2_"):
        yield _rolling_log(path, files, rolling)
        return
    parts = [file for file in files if _DATABRICKS.match(last_name(file))]
    if parts:
        # The newest is called just "eventlog"; the others carry the time at which they were closed.
        parts.sort(key=lambda file: (last_name(file) == "eventlog", last_name(file)))
        yield Log(path, tuple(parts))
    for entry in inside:
        if entry in parts or last_name(entry).startswith("appstatus_"):
            continue
        yield from _logs_at(place, entry, seen)


def _rolling_log(folder: str, files: list[str], rolling: list[str]) -> Log:
    is_in_progress = any(last_name(f).startswith("appstatus_") and f.endswith(_IN_PROGRESS) for f in files)
    # A compacted file comes after the plain one of its number, and stands for everything before it.
    ordered = sorted(rolling, key=lambda file: (_number(file), file.endswith(_COMPACT)))
    compacted = [place for place, file in enumerate(ordered) if file.endswith(_COMPACT)]
    if compacted:
        ordered = ordered[compacted[-1] :]
    numbers = [_number(file) for file in ordered]
    first = 1 if numbers and not compacted else min(numbers, default=1)
    lacking = sorted(set(range(first, max(numbers, default=0) + 1)[:10_000]) - set(numbers))
    missing = f"parts {', '.join(map(str, lacking[:5]))}{', ...' if lacking[5:] else ''} are missing" if lacking else ""
    return Log(folder, tuple(ordered), is_in_progress, missing)


def _number(file: str) -> int:
    match = _ROLLING.match(last_name(file))
    return int(match[1]) if match else 0
