"""What comes through a pipe: `<(cat runs.csv)`, /dev/stdin, a FIFO. It can be read only once, so a file keeps it."""

import os
import re
import stat
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path

from sparkcast.errors import StudyError
from sparkcast.observe.recognize import is_event_log

MOST_BYTES = 2**30
_PATIENCE_S = 5.0  # for somebody to begin writing into a FIFO
_PAUSE_S = 0.02
_CHUNK = 2**16
_DESCRIPTOR = re.compile(r"/dev/(?:fd/(\d+)|stdin)|/proc/(?:self|\d+)/fd/(\d+)")
_HINT = "give a file, or a pipe that ends: cat runs.csv | sparkcast analyze /dev/stdin"
# By how a file begins; anything else is a table of texts.
_SUFFIXES = {b"PAR1": ".parquet", b"SQLite format 3": ".sqlite", b'{"format":"sparkcast-model"': ".sparkcast"}

_folder: "tempfile.TemporaryDirectory[str] | None" = None  # goes with this process
_kept: dict[tuple[int, int], Path] = {}  # by device and inode: who asks again gets the same


def as_file(path: Path) -> Path:
    """The file itself, or one with all that a pipe brings. Raises StudyError for a device, which never ends.

    A path at which there is nothing, or a folder, is returned as it is.
    """
    try:
        status = path.stat()
    except (OSError, ValueError):  # told where it is read
        return path
    if stat.S_ISDIR(status.st_mode):
        return path
    if stat.S_ISREG(status.st_mode):
        found = path.resolve() if _DESCRIPTOR.fullmatch(str(path)) else path  # /dev/stdin, of `< runs.csv`
        return found if found.exists() else _spooled(path, status)
    if not (stat.S_ISFIFO(status.st_mode) or stat.S_ISSOCK(status.st_mode)):
        what = "empty" if path.resolve() == Path(os.devnull) else "a terminal or a device, and not a file"
        raise StudyError(f"{str(path)!r} is {what}", hint=_HINT)
    return _spooled(path, status)


def require_regular(path: Path) -> None:
    """Raise StudyError for a pipe or a device where only a file will do: results are written beside a study."""
    if path.exists() and not (path.is_file() or path.is_dir()):
        raise StudyError(
            f"{str(path)!r} is a pipe or a device, but a study is a file: its results go into a folder next to it",
            hint="write it to a file first: ... > study.yaml",
        )


def _spooled(path: Path, status: os.stat_result) -> Path:
    global _folder
    key = status.st_dev, status.st_ino
    if key not in _kept:
        _folder = _folder or tempfile.TemporaryDirectory(prefix="sparkcast-")
        target = Path(tempfile.mkdtemp(dir=_folder.name)) / "pipe"
        _write(path, target)
        with target.open("rb") as file:
            begin = file.read(32)
        found = next((suffix for start, suffix in _SUFFIXES.items() if begin.startswith(start)), ".csv")
        suffix = "" if is_event_log(target) else found
        _kept[key] = target.rename(target.with_suffix(suffix))
    return _kept[key]


def _write(path: Path, target: Path) -> None:
    size = 0
    try:
        with target.open("wb") as file:
            for chunk in _chunks(path):
                size += len(chunk)
                if size > MOST_BYTES:
                    raise StudyError(
                        f"{str(path)!r} brings more than {MOST_BYTES >> 20} MiB",
                        hint="write it to a file and give that",
                    )
                file.write(chunk)
    except OSError as error:
        raise StudyError(f"cannot read {str(path)!r}: {error.strerror or error}", hint=_HINT) from error
    if not size:
        raise StudyError(f"nothing came through {str(path)!r}", hint=_HINT)


def _chunks(path: Path) -> Iterator[bytes]:
    own = _DESCRIPTOR.fullmatch(str(path))
    if own:  # open already, and so is the other end
        number = int(own[1] or own[2] or 0)
        with os.fdopen(os.dup(number), "rb", buffering=0) as file:
            while chunk := file.read(_CHUNK):
                yield chunk
        return
    # Opening a FIFO waits for whoever writes into it, which may be nobody.
    with os.fdopen(os.open(path, os.O_RDONLY | os.O_NONBLOCK), "rb", buffering=0) as file:
        deadline, has_writer = time.monotonic() + _PATIENCE_S, False
        while True:
            chunk = file.read(_CHUNK)  # None: nothing yet; empty: nobody writes, not yet or not any more
            if chunk:
                yield chunk
            elif chunk is None:
                has_writer = True
                time.sleep(_PAUSE_S)
            elif has_writer or time.monotonic() > deadline:
                return
            else:
                time.sleep(_PAUSE_S)
            has_writer = has_writer or bool(chunk)
