"""Why a job failed, from what it logged: the line with the error, not the last one, which is about shutting down."""

import re
import signal
from collections.abc import Callable, Iterable, Sequence

from sparkcast.facts.failure import is_loss, is_out_of_memory

# How log4j, logging and slf4j begin a line: 26/01/31 10:00:00 ERROR TaskSetManager: ..., [ERROR] ..., 10:00:00 WARN ...
_LOGGED = re.compile(
    r"^(?:[\[(]?\d[\d\-/.:,TZ+ ]*[\])]?\s*)?(?:\[[^\]]*\]\s*)?"
    r"[\[(]?(TRACE|DEBUG|INFO|WARN(?:ING)?|ERROR|FATAL|CRITICAL)\b[\])]?:?\s+(?:\[[^\]]*\]\s*)?(?:[\w.$]+:\s+)?(?P<text>.*)"
)
_JSON = re.compile(r'^\{.*"level"\s*:\s*"(?P<level>\w+)".*?"msg"\s*:\s*"(?P<text>(?:[^"\\]|\\.)*)"')
_TRACEBACK = "Traceback (most recent call last)"
_ERROR = re.compile(r"[\w.$]*(?:Error|Exception|Exit|Interrupt|Failure|Warning|Fault)[\w.$]*(?::|$)")
_WRAPPER = re.compile(r"Py4J\w*Error|SparkException|PythonException|SparkRuntimeException|StageFailure|UndeclaredThrow")
_JAVA = re.compile(r"Exception in (?:thread \"|User Class)")
_CAUSED = re.compile(r"\s*Caused by: (?P<text>.*)")
_RECENT = re.compile(
    r"most recent failure: (?:Lost task \S+ in stage \S+ (?:\(TID \d+\) ?)?(?:\([^)]*\))?: )?(?P<text>.*)"
)
# What Spark, and the shell before it, says when nothing has started.
_SUBMIT = re.compile(
    r"(?:Error|ERROR|Fatal error|error): |.*: (?:command not found|not found|Permission denied|can't open file .*)$|"
    r".*: No such file or directory|Killed$|Segmentation fault|Aborted|#  SIG[A-Z]+|Error occurred during initializ"
)
# Errors of what goes on when a job has failed already, or of what does not matter to it.
_ASIDE = re.compile(
    r"ShutdownHook|Spark temp dir|LiveListenerBus|AsyncEventQueue|TransportRe\w+Handler|Exception while deleting|"
    r"error while calling close|Uncaught exception in thread|Failed to remove|SparkContext was shut ?down|"
    r"stopped SparkContext|Task serialization|Error cleaning"
)
_QUIET = ("TRACE", "DEBUG", "INFO")


def cause_of(lines: Sequence[str], exit_code: int = 0) -> str:
    """The line that says why, without time and level; "" when none does, and the exit code does not either."""
    error = _python_error(lines) or _java_error(lines)
    if error and not _WRAPPER.search(error.partition(":")[0]):
        return error
    found = (
        _first(lines, is_out_of_memory)
        or _root(lines)
        or _first(lines, is_loss)
        or error
        or _first_error(lines)
        or next((line.strip() for line in lines if _SUBMIT.match(line)), "")
    )
    return found or _signal(exit_code)


def without_chatter(lines: Iterable[str]) -> list[str]:
    """The lines that may matter to somebody who looks for an error: not empty ones, nor what is logged as usual."""
    return [line for line in lines if line.strip() and _level(line) not in _QUIET]


def _parsed(line: str) -> tuple[str, str] | None:
    """The level and the text of a line of a log; None for any other line."""
    if found := _LOGGED.match(line):
        return found[1], found["text"]
    found = _JSON.match(line)
    return (found["level"].upper(), found["text"]) if found else None


def _level(line: str) -> str:
    parsed = _parsed(line)
    return parsed[0] if parsed else ""


def _text(line: str) -> str:
    parsed = _parsed(line)
    return (parsed[1] if parsed else line).strip()


def _first(lines: Sequence[str], matches: Callable[[str], bool]) -> str:
    return next((_text(line) for line in lines if matches(line) and _level(line) not in _QUIET), "")


def _python_error(lines: Sequence[str]) -> str:
    """What the last traceback of the driver ends with."""
    starts = [place for place, line in enumerate(lines) if line.startswith(_TRACEBACK)]
    return _end_of_traceback(lines[starts[-1] + 1 :]) if starts else ""


def _end_of_traceback(lines: Sequence[str]) -> str:
    """The first line that is not of a frame, nor of a log that came in between."""
    own = (line for line in lines if line.strip() and not line[0].isspace() and not _level(line))
    return next((line.strip() for line in own), "")


def _java_error(lines: Sequence[str]) -> str:
    return next((_text(line) for line in reversed(lines) if _JAVA.search(line)), "")


def _root(lines: Sequence[str]) -> str:
    """The innermost cause of the last error of Spark: what a task died of."""
    in_executor = [place for place, line in enumerate(lines) if f"PythonException: {_TRACEBACK}" in line]
    if in_executor and (error := _end_of_traceback(lines[in_executor[-1] + 1 :])):
        return error
    for pattern in (_CAUSED, _RECENT):
        found = [match["text"].strip() for line in lines if (match := pattern.search(line)) and match["text"].strip()]
        if found:
            return found[-1]
    return ""


def _first_error(lines: Sequence[str]) -> str:
    """The first error in the log is what the others follow from; one on its own line may say it better."""
    for place, line in enumerate(lines):
        if _level(line) not in ("ERROR", "FATAL", "CRITICAL") or _ASIDE.search(line):
            continue
        following = lines[place + 1 : place + 2]
        thrown = following[0].strip() if following and _ERROR.match(following[0]) else ""
        return f"{_text(line).rstrip('.:')}: {thrown}" if thrown else _text(line)
    return next((line.strip() for line in lines if _ERROR.match(line) and not _ASIDE.search(line)), "")


def _signal(exit_code: int) -> str:
    """Shells add 128 to the number of a signal; Python makes it negative."""
    number = -exit_code if exit_code < 0 else exit_code - 128
    if not 0 < number < signal.NSIG or exit_code in range(129):
        return ""
    try:
        name = signal.Signals(number).name
    except ValueError:
        return ""
    by = ", as the kernel does when memory runs out, or an administrator" if name == "SIGKILL" else ""
    return f"the job was ended by {name} (exit code {exit_code}){by}"
