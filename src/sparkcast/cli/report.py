"""Showing: report."""

from pathlib import Path
from typing import Annotated

import typer

from sparkcast.cli._output import Force, Json, Verbose, emit, require_free, say
from sparkcast.cli._tables import AS_IT_STANDS, TableArguments, reads_runs, understood
from sparkcast.cli.prediction import DataSource, load
from sparkcast.wire.results import Written


def register(app: typer.Typer) -> None:
    app.command()(reads_runs(report))


def report(
    data: DataSource,
    output: Annotated[Path, typer.Option("--output", "-o", help="The HTML file.")] = Path("report.html"),
    within: Annotated[str | None, typer.Option(help="A deadline to recommend settings for, e.g. 60s.")] = None,
    response: Annotated[
        list[str] | None,
        typer.Option(help="A response to report on, or 'cost = time_s / accuracy'. Repeatable."),
    ] = None,
    reading: TableArguments = AS_IT_STANDS,
    force: Force = False,
    as_json: Json = False,
    verbose: Verbose = False,
) -> None:
    """One self-contained HTML file about a study or a table of runs, or about one event log.

    Example: sparkcast report mnist.yaml -o report.html --within 60s
    """
    from sparkcast import api
    from sparkcast.data.sources import file_behind, timed_by
    from sparkcast.errors import StudyError
    from sparkcast.observe.recognize import is_event_log
    from sparkcast.units import parse_seconds

    require_free(output, force)
    data = str(file_behind(data))
    if is_event_log(Path(data)):
        if within is not None or response:
            option = "--response" if response else "--within"
            raise StudyError(f"{option} is not for one event log", hint=f"leave out {option}")
        api.report_log(data, output)
        emit(Written(output), as_json, lambda written: say(f"wrote {written.path}"))
        return
    loaded = timed_by(load(data, reading, response or (), as_json), response or ())
    api.report(loaded, output, within_s=None if within is None else parse_seconds(within))
    emit(Written(output), as_json, lambda written: say(f"wrote {written.path}"), understood(loaded))
