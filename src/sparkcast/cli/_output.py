"""Printing: one JSON document on stdout with --json, else text for people. Messages go to stderr."""

import sys
from collections.abc import Callable, Mapping, Sequence
from dataclasses import fields, is_dataclass
from pathlib import Path
from typing import Annotated, Any, TypeVar

import typer

from sparkcast.errors import StudyError

T = TypeVar("T")

Json = Annotated[bool, typer.Option("--json", help="One JSON document on stdout; messages go to stderr.")]
Verbose = Annotated[bool, typer.Option("--verbose", "-v", help="Show logs, and the traceback of an error.")]

Force = Annotated[bool, typer.Option("--force", help="Replace the file if it exists.")]


def require_free(path: Path, force: bool) -> None:
    """Raise StudyError rather than replace somebody's file."""
    if path.exists() and not force:
        raise StudyError(f"{str(path)!r} exists", hint="add --force to replace it, or choose another name")


def emit(result: T, as_json: bool, show: Callable[[T], None], beside: Mapping[str, object] | None = None) -> None:
    """Print a result as JSON, with what is told `beside` it, or through `show`."""
    if not as_json:
        show(result)
        return
    import orjson

    options = orjson.OPT_INDENT_2 | orjson.OPT_NON_STR_KEYS | orjson.OPT_SERIALIZE_NUMPY
    sys.stdout.write(
        orjson.dumps(_plain(result) | _plain(beside) if beside else _plain(result), option=options).decode() + "\n"
    )


def _plain(value: Any) -> Any:
    from sparkcast.study import Vocabulary

    if isinstance(value, Vocabulary):
        return value.as_plain()
    if is_dataclass(value) and not isinstance(value, type):
        return {f.name: _plain(getattr(value, f.name)) for f in fields(value)}
    if isinstance(value, Mapping):
        return {str(key): _plain(item) for key, item in value.items()}
    if isinstance(value, (list, tuple)):
        return [_plain(item) for item in value]
    if isinstance(value, Path):
        return str(value)
    return value


def say(message: str) -> None:
    """A message for people, on stderr."""
    print(message, file=sys.stderr)


def table(title: str, header: Sequence[str], rows: Sequence[Sequence[object]]) -> None:
    """A table on stdout; columns that start with a number are aligned right."""
    from rich import box
    from rich.console import Console
    from rich.table import Table

    made = Table(title=title or None, box=box.SIMPLE_HEAD, title_justify="left", title_style="bold", pad_edge=False)
    for index, name in enumerate(header):
        numeric = bool(rows) and all(_is_number(str(row[index])) for row in rows)
        made.add_column(name, justify="right" if numeric else "left", overflow="fold")
    for row in rows:
        made.add_row(*(str(cell) for cell in row))
    # Not on a terminal (a file, a pipe) nothing is wrapped.
    console = Console(highlight=False, width=None if sys.stdout.isatty() else 200)
    console.print(made)


def _is_number(text: str) -> bool:
    return not text or text in ("-", "–") or text[0].isdigit() or (text[0] in "-<+" and len(text) > 1)
