"""Showing: report."""

from pathlib import Path
from typing import Annotated

import typer

from sparkcast.cli._output import Force, Json, Verbose, emit, require_free, say
from sparkcast.cli.studies import StudyFile


def register(app: typer.Typer) -> None:
    app.command()(report)


def report(
    study: StudyFile,
    output: Annotated[Path, typer.Option("--output", "-o", help="The HTML file.")] = Path("report.html"),
    within: Annotated[str | None, typer.Option(help="A deadline to recommend settings for, e.g. 60s.")] = None,
    force: Force = False,
    as_json: Json = False,
    verbose: Verbose = False,
) -> None:
    """One self-contained HTML file.

    Example: sparkcast report mnist.yaml -o report.html
    """
    from sparkcast import api
    from sparkcast.units import parse_seconds

    require_free(output, force)
    api.report(study, output, within_s=None if within is None else parse_seconds(within))
    emit({"path": output}, as_json, lambda written: say(f"wrote {written['path']}"))
