"""From an exception to what its reader is told, and the exit code. Only what nobody foresaw is called a bug."""

import errno
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

from sparkcast.errors import RunError, SparkcastError, StudyError
from sparkcast.wire.documents import schema_name

_HINTS = {
    errno.ENOENT: "check the name, and the folder you are in",
    errno.EACCES: "choose a file or folder that you can read and write, or change its permissions",
    errno.EPERM: "choose a file or folder that you can read and write, or change its permissions",
    errno.EROFS: "choose a folder on a writable file system",
    errno.ENOSPC: "free some space, or choose a folder on another disk; what was stored before is kept",
    errno.EDQUOT: "free some space, or choose a folder on another disk; what was stored before is kept",
    errno.EISDIR: "give a file, not a folder",
    errno.ENOTDIR: "part of the path is a file, not a folder",
    errno.ENAMETOOLONG: "choose a shorter name",
    errno.EMFILE: "too many files are open: raise the limit with `ulimit -n 4096`",
}
_BUG = "this is a bug in sparkcast; run with -v for details"


@dataclass(frozen=True, slots=True)
class Failure:
    code: int
    problem: str
    hint: str
    nearest: tuple[object, ...] = ()

    def document(self) -> Mapping[str, Any]:
        """The document of what failed."""
        from sparkcast.plain import to_plain

        told = {"code": self.code, "problem": self.problem, "hint": self.hint, "nearest": to_plain(self.nearest)}
        return {"schema": schema_name("error"), "error": told}


def failure_of(error: Exception) -> Failure:
    """Without the passwords of URLs, whoever wrote the message."""
    return redacted(_failure_of(error))


def redacted(failure: Failure) -> Failure:
    from sparkcast.study.redaction import redact_text

    return replace(failure, problem=redact_text(failure.problem), hint=redact_text(failure.hint))


def _failure_of(error: Exception) -> Failure:
    if isinstance(error, SparkcastError):
        return Failure(error.exit_code, error.problem, error.hint, error.nearest)
    if isinstance(error, OSError):
        return _of_system(error)
    return Failure(SparkcastError.exit_code, f"{type(error).__name__}: {error}", _BUG)


def _of_system(error: OSError) -> Failure:
    """A path, a permission, a full disk; or somebody who does not answer."""
    what = error.strerror or str(error) or type(error).__name__
    where = ", ".join(repr(str(name)) for name in (error.filename, error.filename2) if name is not None)
    problem = f"{what}: {where}" if where else what
    if isinstance(error, ConnectionError | TimeoutError):
        return Failure(RunError.exit_code, problem, "is the cluster or the database running, and can it be reached?")
    hint = _HINTS.get(error.errno or 0, "check the path, its permissions and the space on the disk")
    return Failure(StudyError.exit_code, problem, hint)
