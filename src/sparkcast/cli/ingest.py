"""Runs made without sparkcast: ingest."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from sparkcast.cli._output import Details, Force, Json, Verbose, emit, shell, table, tell

if TYPE_CHECKING:
    from sparkcast.data.ingest import Ingested

_FEW = 10  # logs with something to say, without --details


def register(app: typer.Typer) -> None:
    app.command()(ingest)


def ingest(
    paths: Annotated[list[str], typer.Argument(metavar="PATH...", help="Logs, folders, patterns in quotes, URLs.")],
    into: Annotated[Path, typer.Option(help="The table of runs: a .csv file.")],
    setting: Annotated[
        list[str] | None,
        typer.Option(help=r"A parameter of the job's own, e.g. 'rows=--rows (\d+)'. Repeatable."),
    ] = None,
    job: Annotated[
        str | None, typer.Option(help="Only applications whose name matches; a group names the job.")
    ] = None,
    price: Annotated[str | None, typer.Option(help="E.g. core_hour=0.05: adds what the executors cost.")] = None,
    processes: Annotated[int | None, typer.Option(min=1, help="Logs read at once; default: one per core.")] = None,
    force: Force = False,
    details: Details = False,
    as_json: Json = False,
    verbose: Verbose = False,
) -> None:
    """Event logs become a table of runs, from which to predict and recommend.

    Example: sparkcast ingest /var/log/spark-events --into runs.csv --setting 'rows=--rows (\\d+)'
    """
    from sparkcast import api
    from sparkcast.study.derive import parse_price

    found = api.ingest(
        paths,
        into,
        settings=setting or (),
        job=job,
        price=None if price is None else parse_price(price),
        processes=processes,
        force=force,
    )
    emit(found, as_json, lambda result: _show(result, details))
    if not found.n_read:
        raise typer.Exit(3)


def _show(found: "Ingested", details: bool) -> None:
    from sparkcast.units import show_seconds

    counts = {
        word: sum(log.taken == word for log in found.logs) for word in ("new", "again", "unchanged", "in progress")
    }
    rest = len(found.logs) - sum(counts.values())
    told = ", ".join(f"{count} {word}" for word, count in {**counts, "left out": rest}.items() if count)
    tell(f"{len(found.logs)} log{'' if len(found.logs) == 1 else 's'}: {told or 'none'}")
    odd = [log for log in found.logs if details or log.reason]
    shown = odd if details else odd[:_FEW]
    rows = [
        (
            Path(log.log).name,
            log.status.value,
            log.taken or "-",
            log.job,
            "" if log.time_s is None else show_seconds(log.time_s),
            log.reason,
        )
        for log in shown
    ]
    if rows:
        table("", ("log", "status", "taken", "job", "time", "reason"), rows, optional=("time", "job"))
    if len(odd) > len(shown):
        tell(f"{len(odd) - len(shown)} more: --details")
    for one in found.tables:
        names = ", ".join(one.settings) or "nothing"
        tell(f"{one.path}: {one.n_runs} run{'' if one.n_runs == 1 else 's'} of {one.job!r}; what differs: {names}")
    largest = max(found.tables, key=lambda one: one.n_runs, default=None)
    if largest is not None and largest.settings:
        shell("next:", f"sparkcast analyze {largest.path}")
