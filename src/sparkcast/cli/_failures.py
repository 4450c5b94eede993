"""From an exception to what the user is told, and the exit code. Only what nobody foresaw is called a bug."""

import errno
import re
from dataclasses import dataclass, replace
from difflib import get_close_matches

from sparkcast.errors import RunError, SparkcastError, StudyError

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


def failure_of(error: Exception, commands: tuple[str, ...]) -> Failure:
    """Without the passwords of URLs, whoever wrote the message."""
    from sparkcast.study.redaction import redact_text

    failure = _failure_of(error, commands)
    return replace(failure, problem=redact_text(failure.problem), hint=redact_text(failure.hint))


def _failure_of(error: Exception, commands: tuple[str, ...]) -> Failure:
    if isinstance(error, SparkcastError):
        return Failure(error.exit_code, error.problem, error.hint, error.nearest)
    if hasattr(error, "format_message"):  # of the parser of options
        return _of_usage(error, commands)
    if isinstance(error, OSError):
        return _of_system(error)
    return Failure(SparkcastError.exit_code, f"{type(error).__name__}: {error}", _BUG)


def _of_usage(error: Exception, commands: tuple[str, ...]) -> Failure:
    text = str(error.format_message())  # type: ignore[attr-defined]
    problem = re.split(r" Did you mean | \(Possible options: ", text)[0].strip().rstrip(".")
    nearest = tuple(getattr(error, "possibilities", None) or ())
    if unknown := re.search(r"No such command '(.*)'", problem):
        nearest = tuple(get_close_matches(unknown[1], commands))
    context = getattr(error, "ctx", None)
    path = context.command_path if context is not None else "sparkcast"
    meant = f"did you mean {' or '.join(map(repr, nearest))}? `{path} --help` lists all" if nearest else ""
    hint = meant or f"see `{path} --help`"
    return Failure(StudyError.exit_code, problem[:1].lower() + problem[1:], hint, nearest)


def _of_system(error: OSError) -> Failure:
    """A path, a permission, a full disk; or somebody who does not answer."""
    what = error.strerror or str(error) or type(error).__name__
    where = ", ".join(repr(str(name)) for name in (error.filename, error.filename2) if name is not None)
    problem = f"{what}: {where}" if where else what
    if isinstance(error, ConnectionError | TimeoutError):
        return Failure(RunError.exit_code, problem, "is the cluster or the database running, and can it be reached?")
    hint = _HINTS.get(error.errno or 0, "check the path, its permissions and the space on the disk")
    return Failure(StudyError.exit_code, problem, hint)
