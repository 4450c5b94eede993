"""One `run` at a time on a study, or several that say so. The kernel frees the lock when its holder dies."""

import fcntl
import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from sparkcast.errors import BusyError


@contextmanager
def exclusive(path: Path, *, together: bool = False) -> Iterator[None]:
    """Hold `path` for this process alone, or `together` with others, or raise BusyError saying who has it."""
    with path.open("a+") as file:
        try:
            fcntl.flock(file, (fcntl.LOCK_SH if together else fcntl.LOCK_EX) | fcntl.LOCK_NB)
        except BlockingIOError:
            file.seek(0)
            holder = file.read().strip() or "unknown"
            raise BusyError(
                f"this study is being run by another process (pid {holder})",
                hint="wait for it to finish; reading (analyze, predict, report) works in the meantime",
            ) from None
        file.truncate(0)
        file.write(str(os.getpid()))
        file.flush()
        yield
