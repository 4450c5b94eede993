"""From an exception to what the user is told, and the exit code: also where options were mistyped."""

import re
from difflib import get_close_matches

from sparkcast.errors import StudyError
from sparkcast.wire import failures
from sparkcast.wire.failures import Failure


def failure_of(error: Exception, commands: tuple[str, ...]) -> Failure:
    if hasattr(error, "format_message"):  # of the parser of options
        return failures.redacted(_of_usage(error, commands))
    return failures.failure_of(error)


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
