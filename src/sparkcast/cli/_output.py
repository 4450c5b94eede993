"""Printing: one JSON document on stdout with --json, else text that fits the terminal. Messages go to stderr."""

import os
import sys
from collections.abc import Callable, Mapping, Sequence
from contextvars import ContextVar
from pathlib import Path
from typing import Annotated, Any, TextIO, TypeVar

import typer

from sparkcast.cli._layout import shell_lines, table_lines, wrapped
from sparkcast.cli._wording import as_options, with_options
from sparkcast.errors import StudyError

T = TypeVar("T")

Json = Annotated[bool, typer.Option("--json", help="One JSON document on stdout; messages go to stderr.")]
Verbose = Annotated[bool, typer.Option("--verbose", "-v", help="Show logs, and the traceback of an error.")]
Details = Annotated[bool, typer.Option("--details", help="Show everything, not only the answer.")]

Force = Annotated[bool, typer.Option("--force", help="Replace the file if it exists.")]

SCHEMA_VERSION = 1  # of every document; docs/reference/schemas
COMMAND: ContextVar[str] = ContextVar("COMMAND", default="sparkcast")  # the one that runs, which names its document
_HAS_TOLD: ContextVar[bool] = ContextVar("_HAS_TOLD", default=False)  # a document stands on stdout

_PIPED = 100  # columns where there is no terminal
_NARROWEST = 40
_LABELS = 13  # columns at least before the text of a labeled line
_LONG_LABEL = 25  # the name of a response from this length on moves no text but its own


def require_free(path: Path, force: bool) -> None:
    """Raise StudyError rather than replace somebody's file."""
    if path.exists() and not force:
        raise StudyError(f"{str(path)!r} exists", hint="add --force to replace it, or choose another name")


# ---------------------------------------------------------------- for programs


def begin_output() -> None:
    """Nothing stands on stdout yet."""
    _HAS_TOLD.set(False)


def emit(
    result: T,
    as_json: bool,
    show: Callable[[T], None],
    beside: Mapping[str, object] | None = None,
    *,
    is_users: bool = False,
) -> None:
    """Print a result as JSON, with what is told `beside` it, or through `show`.

    `is_users` is for what the user gave and gets back, secrets included.
    """
    if not as_json:
        show(result)
        return
    from sparkcast.plain import to_plain
    from sparkcast.study.redaction import redact_plain

    plain = to_plain(result) if is_users else redact_plain(to_plain(result))
    if isinstance(plain, dict):  # a list has no place for it
        plain = {"schema": schema_name(COMMAND.get()), **plain, **to_plain(beside or {})}
    _write(plain)


def emit_error(code: int, problem: str, hint: str, nearest: Sequence[object] = ()) -> None:
    """The document of a command that failed; one that has told its result already leaves it at that."""
    if _HAS_TOLD.get():
        return
    told = {"code": code, "problem": problem, "hint": hint, "nearest": list(nearest)}
    _write({"schema": schema_name("error"), "error": told})


def schema_name(document: str) -> str:
    return f"sparkcast/{document.replace(' ', '-')}/{SCHEMA_VERSION}"


def _write(plain: Any) -> None:
    from sparkcast.plain import to_json

    _HAS_TOLD.set(True)
    sys.stdout.write(to_json(with_options(plain), indent=2).decode() + "\n")


# ---------------------------------------------------------------- for people


def width(stream: TextIO) -> int:
    """How many columns there are: COLUMNS, else those of the terminal, else 100."""
    told = os.environ.get("COLUMNS", "")
    if told.isdigit() and int(told) > 0:
        return max(int(told), _NARROWEST)
    try:
        columns = os.get_terminal_size(stream.fileno()).columns if stream.isatty() else _PIPED
    except (OSError, ValueError):  # a stream that only looks like a terminal
        columns = _PIPED
    return max(columns or _PIPED, _NARROWEST)


def tell(text: str, hang: str = "  ") -> None:
    """Sentences on stdout, wrapped between words."""
    _print(wrapped(_for_people(text), width(sys.stdout), hang), sys.stdout)


def tell_labeled(inner: Sequence[tuple[str, str]], outer: Sequence[tuple[str, str]] = ()) -> None:
    """Labels with what they stand for, in two columns on stdout; the inner ones are indented."""
    lines = [(f"  {label}", text) for label, text in inner] + [*outer]
    column = max(_LABELS, *(len(label) + 2 for label, _ in lines if len(label) < _LONG_LABEL))
    for label, text in lines:
        first = f"{label} ".ljust(column)
        shown = wrapped(_for_people(text), width(sys.stdout) - len(first), "")
        _print([first + shown[0], *(" " * len(first) + line for line in shown[1:])], sys.stdout)


def say(message: str) -> None:
    """A message for people, on stderr."""
    _print(wrapped(_for_people(message), width(sys.stderr)), sys.stderr)


def shell(label: str, command: str, *, below: bool = False) -> None:
    """A command to paste, on stdout: beside its label, or below it in lines that end in a backslash."""
    columns, command = width(sys.stdout), _redacted(command)
    if not below and len(label) + 1 + len(command) <= columns:
        _print([f"{label} {command}"], sys.stdout)
    else:
        _print([label, *shell_lines(command, columns, "  ")], sys.stdout)


def verbatim(text: str) -> None:
    """What goes into a file or a shell as it stands, on stdout."""
    _print([text], sys.stdout)


def options(label: str, lines: Sequence[str]) -> None:
    """Options to paste into another command, each on its line."""
    lines = list(map(_redacted, lines))
    _print([label, *(f"  {line} \\" for line in lines[:-1]), *(f"  {line}" for line in lines[-1:])], sys.stdout)


def table(title: str, header: Sequence[str], rows: Sequence[Sequence[object]], optional: Sequence[str] = ()) -> None:
    """A table on stdout. Where it is too wide, columns in `optional` are left out, the last of them first."""
    cells = [[_for_people(str(cell)) for cell in row] for row in rows]
    _print([*table_lines(as_options(title), header, cells, width(sys.stdout), optional), ""], sys.stdout)


def say_error(problem: str, hint: str) -> None:
    """What went wrong and what to do, on stderr."""
    say(f"Error: {problem}" + (f"\n  hint: {hint}" if hint else ""))


def _for_people(text: str) -> str:
    return as_options(_redacted(text))


def _redacted(text: str) -> str:
    """Without passwords, tokens and keys, whoever wrote the text."""
    from sparkcast.study.redaction import redact_text

    return redact_text(text)


def _print(lines: Sequence[str], stream: TextIO) -> None:
    print("\n".join(lines), file=stream)
