"""Showing: report."""

from pathlib import Path
from typing import Annotated

import typer

from sparkcast.cli._output import Json, Verbose, emit, say
from sparkcast.cli.studies import StudyFile


def register(app: typer.Typer) -> None:
    app.command()(report)


def report(
    study: StudyFile,
    output: Annotated[Path, typer.Option("--output", "-o", help="The HTML file.")] = Path("report.html"),
    within: Annotated[str | None, typer.Option(help="A deadline to recommend settings for, e.g. 60s.")] = None,
    force: Annotated[bool, typer.Option("--force", help="Replace the file if it exists.")] = False,
    as_json: Json = False,
    verbose: Verbose = False,
) -> None:
    """One self-contained HTML file.

    Example: sparkcast report mnist.yaml -o report.html
    """
    from sparkcast import api
    from sparkcast.errors import StudyError
    from sparkcast.units import parse_seconds

    if output.exists() and not force:
        raise StudyError(f"{str(output)!r} exists", hint="add --force to replace it, or choose another name")
    api.report(study, output, within_s=None if within is None else parse_seconds(within))
    emit({"path": output}, as_json, lambda written: say(f"wrote {written['path']}"))
