"""Runs made without sparkcast: ingest."""

import shlex
from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from sparkcast.cli._output import Details, Force, Json, Verbose, emit, shell, table, tell
from sparkcast.cli.running import Conf, Master, spark_properties

if TYPE_CHECKING:
    from sparkcast.data.ingest import Ingested, IngestedLog

_FEW, _ALIKE = 10, 2  # logs with something to say that are shown without --details; of one reason


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
    from sparkcast.units import show_seconds

    tell(_counted(found))
    odd = [log for log in found.logs if details or log.reason]
    shown = odd if details else _few(odd)
    rows = [
        (
            Path(log.log).name,
            log.status.value,
            log.taken or "-",
            log.job,
            "" if log.time_s is None else show_seconds(log.time_s),
            log.tasks or "",
            f"{log.lines:,}" if log.lines else "",
            log.reason,
        )
        for log in shown
    ]
    if rows:
        header = ("log", "status", "taken", "job", "time", "tasks", "lines", "reason")
        table("", header, rows, optional=("time", "job", "tasks", "lines"))
    if len(odd) > len(shown):
        tell(f"{len(odd) - len(shown)} more: --details")
    for one in found.tables:
        names = ", ".join(one.settings) or "nothing"
        place = f"{one.path}, study {one.study!r}" if one.study and one.study == one.job else one.path
        tell(f"{place}: {one.n_runs} run{'' if one.n_runs == 1 else 's'} of {one.job!r}; what differs: {names}")
        for note in one.notes:
            tell(f"  {note}")
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


def _few(logs: "Sequence[IngestedLog]") -> "list[IngestedLog]":
    """Some logs of each reason."""
    alike: Counter[str] = Counter()
    shown = []
    for log in logs:
        alike[log.reason] += 1
        if alike[log.reason] <= _ALIKE:
            shown.append(log)
    return shown[:_FEW]


def _counted(found: "Ingested") -> str:
    """How many logs there were, how reading them went, and what came of them."""
    if not found.logs:
        return "There is no log to read."
    words = ("new", "again", "unchanged", "in progress")
    counts = {word: sum(log.taken == word for log in found.logs) for word in words}
    told = {**counts, "left out": len(found.logs) - sum(counts.values())}
    statuses = Counter(log.status.value for log in found.logs)
    went = ", ".join(f"{statuses[word]} {word}" for word in ("ok", "partial", "skipped", "failed") if statuses[word])
    came = ", ".join(f"{count} {word}" for word, count in told.items() if count)
    return f"{len(found.logs)} log{'' if len(found.logs) == 1 else 's'}: {came} ({went})"
