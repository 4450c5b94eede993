"""Which logs there are, and whether they are as they were: nothing is read."""

import hashlib
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path

from sparkcast.errors import StudyError
from sparkcast.eventlogs import Log, find_logs
from sparkcast.eventlogs.places import last_name, place_of

_SIGNS = "*?["


@dataclass(frozen=True, slots=True)
class SeenLog:
    """One log as it is now."""

    log: Log
    mark: str = ""  # another one as soon as a file of it was written, added or replaced; "" where that cannot be told
    size_bytes: int = 0
    problem: str = ""  # why it cannot be read now

    @property
    def name(self) -> str:
        return self.log.name


@dataclass(frozen=True, slots=True)
class Unseen:
    """A path that could not be looked at."""

    path: str
    reason: str


def look_at(paths: Iterable[str]) -> tuple[tuple[SeenLog, ...], tuple[Unseen, ...]]:
    """All logs under these paths, each once, and the paths that are not there or cannot be listed."""
    seen: dict[str, SeenLog] = {}
    unseen: list[Unseen] = []
    for path in map(_absolute, paths):
        try:
            place, _ = place_of(path)
            place.forget()
            logs = find_logs(path)
        except StudyError as error:
            if not _is_pattern(path):  # what a pattern matches may come yet
                unseen.append(Unseen(path, error.problem.removeprefix(f"{path}: ")))
            continue
        except Exception as error:  # whatever a file system of somebody else's raises
            unseen.append(Unseen(path, f"{type(error).__name__}: {error}"))
            continue
        for log in logs:
            if log.missing and not log.files and place.is_folder(log.name) and not _is_rolling(log.name):
                unseen.append(Unseen(log.name, log.missing))
            elif log.name not in seen:
                seen[log.name] = _seen(log)
    return tuple(seen.values()), tuple(unseen)


def require_some_path(paths: Sequence[str]) -> None:
    """Raise StudyError when no path is there, nor may come: most likely it is misspelled."""
    missing = [path for path in paths if not _is_there(path)]
    if missing and len(missing) == len(paths):
        raise StudyError(
            f"{missing[0]}: no such file or folder", hint="give an event log, a folder of them, or a pattern in quotes"
        )


def _is_there(path: str) -> bool:
    if _is_pattern(path):
        return True
    try:
        place, name = place_of(path)
        return place.exists(name)
    except StudyError:  # nothing here reads such URLs
        raise
    except Exception:  # it may be unreachable for a moment
        return True


def _absolute(path: str) -> str:
    """The same log has the same name wherever `watch` was started."""
    return path if "://" in path or path.startswith("file:") else str(Path(path).absolute())


def _is_pattern(path: str) -> bool:
    return any(sign in path for sign in _SIGNS)


def _is_rolling(name: str) -> bool:
    return last_name(name).startswith("eventlog_v2_")


def _seen(log: Log) -> SeenLog:
    if not log.files:
        return SeenLog(log, problem=log.missing or "the folder has no part of a log yet")
    marks, size = [], 0
    for file in log.files:
        place, name = place_of(file)
        try:
            length, changed = place.stamp(name)
        except Exception as error:  # it may have been renamed at this moment
            return SeenLog(log, problem=getattr(error, "strerror", None) or f"{type(error).__name__}: {error}")
        marks.append((last_name(file), length, changed))
        size += length
    # Whether it goes on is told by names alone: those of rolling logs by a file beside their parts.
    told = repr((marks, log.is_in_progress, log.missing))
    return SeenLog(log, hashlib.sha256(told.encode()).hexdigest()[:24], size)
