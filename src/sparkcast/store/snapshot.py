"""Reading a store that is not ours to write, while its owner may be writing it.

SQLite reads a database in WAL mode only with a file of shared memory beside it, which it may not be able to make,
unless it is told to ignore the write-ahead log, which holds the newest runs. So the two files are read here, and SQLite
opens a copy of them.
"""

import tempfile
import time
from dataclasses import dataclass
from pathlib import Path

from sparkcast.errors import StoreError

_TRIES = 50
_PAUSE_S = 0.1
# Bytes of a write-ahead log that change when it is begun anew (https://sqlite.org/fileformat2.html#walformat).
_HEADER = 32


@dataclass(frozen=True, slots=True)
class Snapshot:
    """A copy of a store as it was at one moment."""

    original: Path
    folder: "tempfile.TemporaryDirectory[str]"  # goes with `remove`

    @property
    def file(self) -> Path:
        return Path(self.folder.name) / self.original.name

    def remove(self) -> None:
        self.folder.cleanup()


def take_snapshot(file: Path) -> Snapshot:
    pages, log = _read_both(file)
    copy = Snapshot(file, tempfile.TemporaryDirectory(prefix="sparkcast-"))
    copy.file.write_bytes(pages)
    if log:
        _log_of(copy.file).write_bytes(log)
    return copy


def _read_both(file: Path) -> tuple[bytes, bytes]:
    """The database and its log, of one moment.

    What is added to the end of the log meanwhile does no harm: SQLite takes it up to the last whole transaction. What
    moves from the log into the database does, and so does a log that is begun anew: then both are read again.
    """
    try:
        for _ in range(_TRIES):
            pages, log = file.read_bytes(), _read_log(file)
            if file.read_bytes() == pages and _read_log(file)[:_HEADER] == log[:_HEADER]:
                return pages, log
            time.sleep(_PAUSE_S)
    except OSError as error:
        raise StoreError(
            f"cannot read the store {str(file)!r}: {error.strerror or error}",
            hint="ask its owner for read access to it and the files next to it",
        ) from error
    raise StoreError(f"the store {str(file)!r} changes faster than it can be read", hint="try again in a moment")


def _read_log(file: Path) -> bytes:
    try:
        return _log_of(file).read_bytes()
    except FileNotFoundError:  # closed in good order
        return b""


def _log_of(file: Path) -> Path:
    return file.with_name(f"{file.name}-wal")
