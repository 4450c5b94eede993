"""Printing: one JSON document on stdout with --json, else text that fits the terminal. Messages go to stderr."""

import os
import sys
from collections.abc import Callable, Mapping, Sequence
from contextvars import ContextVar
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, TextIO, TypeVar

import typer

from sparkcast.cli._wording import as_options, with_options
from sparkcast.errors import StudyError
from sparkcast.wire.failures import Failure

if TYPE_CHECKING:
    from sparkcast.text import Page

T = TypeVar("T")

Json = Annotated[bool, typer.Option("--json", help="One JSON document on stdout; messages go to stderr.")]
Verbose = Annotated[bool, typer.Option("--verbose", "-v", help="Show logs, and the traceback of an error.")]
Details = Annotated[bool, typer.Option("--details", help="Show everything, not only the answer.")]

Force = Annotated[bool, typer.Option("--force", help="Replace the file if it exists.")]

COMMAND: ContextVar[str] = ContextVar("COMMAND", default="sparkcast")  # the one that runs, which names its document
_HAS_TOLD: ContextVar[bool] = ContextVar("_HAS_TOLD", default=False)  # a document stands on stdout

_PIPED = 100  # columns where there is no terminal
_NARROWEST = 40


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
    from sparkcast.wire.documents import document_of

    _write(document_of(COMMAND.get(), result, beside, is_users=is_users))


def emit_error(failure: Failure) -> None:
    """The document of a command that failed; one that has told its result already leaves it at that."""
    if not _HAS_TOLD.get():
        _write(failure.document())


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


def show(result: object, details: bool = False) -> None:
    """A result in words: the answer on stdout, remarks on stderr."""
    from sparkcast.text import page_of

    _print(page_of(result, details=details))


def tell(text: str, hang: str = "  ") -> None:
    """Sentences on stdout, wrapped between words."""
    _one(lambda page: page.tell(text, hang))


def say(message: str) -> None:
    """A message for people, on stderr."""
    _one(lambda page: page.say(message))


def shell(label: str, command: str, *, below: bool = False) -> None:
    """A command to paste, on stdout: beside its label, or below it in lines that end in a backslash."""
    _one(lambda page: page.shell(label, command, below=below))


def verbatim(text: str) -> None:
    """What goes into a file or a shell as it stands, on stdout."""
    _one(lambda page: page.verbatim(text))


def table(title: str, header: Sequence[str], rows: Sequence[Sequence[object]], optional: Sequence[str] = ()) -> None:
    """A table on stdout. Where it is too wide, columns in `optional` are left out, the last of them first."""
    _one(lambda page: page.table(title, header, rows, optional))


def say_error(problem: str, hint: str) -> None:
    """What went wrong and what to do, on stderr."""
    say(f"Error: {problem}" + (f"\n  hint: {hint}" if hint else ""))


def _one(write: "Callable[[Page], None]") -> None:
    from sparkcast.text._page import Page

    page = Page()
    write(page)
    _print(page)


def _print(page: "Page") -> None:
    for block in page.blocks:
        stream = sys.stderr if block.is_note else sys.stdout
        print("\n".join(block.lines(width(stream), as_options)), file=stream)
