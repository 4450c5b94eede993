"""Runs made without sparkcast: ingest."""

import shlex
from typing import TYPE_CHECKING, Annotated

import typer

from sparkcast.cli._output import Details, Force, Json, Verbose, emit, shell, show
from sparkcast.cli.running import Conf, Master, spark_properties

if TYPE_CHECKING:
    from sparkcast.data.ingest import Ingested


def register(app: typer.Typer) -> None:
    app.command()(ingest)


def ingest(
    paths: Annotated[list[str], typer.Argument(metavar="PATH...", help="Logs, folders, patterns in quotes, URLs.")],
    into: Annotated[
        str, typer.Option(metavar="STUDY|STORE|FILE.csv", help="Where runs go; a STORE is a folder, file or URL.")
    ],
    setting: Annotated[
        list[str] | None,
        typer.Option(help=r"A parameter of the job's own, e.g. 'rows=--rows (\d+)'. Repeatable."),
    ] = None,
    job: Annotated[
        str | None, typer.Option(help="Only applications whose name matches; a group names the job.")
    ] = None,
    interactive: Annotated[
        bool, typer.Option("--interactive", help="Take shells, notebooks and SQL servers too: they are no jobs.")
    ] = False,
    price: Annotated[str | None, typer.Option(help="E.g. core_hour=0.05: adds what the executors cost.")] = None,
    processes: Annotated[int | None, typer.Option(min=1, help="Logs read at once; default: one per core.")] = None,
    engine: Annotated[str | None, typer.Option(help="spark: read the logs as a Spark job.")] = None,
    master: Master = None,
    conf: Conf = None,
    force: Force = False,
    details: Details = False,
    as_json: Json = False,
    verbose: Verbose = False,
) -> None:
    """Event logs become runs, from which to predict and recommend.

    Example: sparkcast ingest /var/log/spark-events --into runs.csv --setting 'rows=--rows (\\d+)'
    """
    from sparkcast import api
    from sparkcast.study.derive import parse_price

    found = api.ingest(
        paths,
        into,
        settings=setting or (),
        job=job,
        interactive=interactive,
        price=None if price is None else parse_price(price),
        processes=processes,
        engine=engine,
        master=master,
        conf=spark_properties(None, conf),
        force=force,
    )
    emit(found, as_json, lambda result: _show(result, details))
    if not found.n_read:
        raise typer.Exit(3)


def _show(found: "Ingested", details: bool) -> None:
    show(found, details)
    if command := _next_command(found):
        shell("next:", command)


def _next_command(found: "Ingested") -> str:
    """What to do with the runs; where they cannot be analyzed, with the longest of them."""
    largest = max(found.tables, key=lambda one: one.n_runs, default=None)
    if largest is not None and largest.settings:
        for study in dict.fromkeys(("", largest.study)):  # of a store that has several it has to be named
            if _can_analyze(largest.path, study):
                option = f" --study {shlex.quote(study)}" if study else ""
                return f"sparkcast analyze {shlex.quote(largest.path)}{option}"
    logs = [log for log in found.logs if log.time_s is not None and log.taken and not log.key.startswith("bigdl/")]
    longest = max(logs, key=lambda log: log.time_s or 0.0, default=None)
    return "" if longest is None else f"sparkcast profile {shlex.quote(longest.log)}"


def _can_analyze(path: str, study: str) -> bool:
    from sparkcast import api
    from sparkcast.errors import SparkcastError

    try:
        api.analyze(api.load_data(path, study=study or None))
    except SparkcastError:  # too few runs, several studies, ...
        return False
    return True
