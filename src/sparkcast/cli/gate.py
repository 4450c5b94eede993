"""What the history of a store's jobs tells: check, fleet, eta."""

import os
import shlex
import sys
from collections.abc import Sequence
from typing import TYPE_CHECKING, Annotated

import typer

from sparkcast.cli._output import Details, Json, Verbose, emit, say, show

if TYPE_CHECKING:
    from sparkcast.history.gate import GateAnswer

Line = Annotated[list[str], typer.Argument(metavar="-- spark-submit ...", help="The line that starts your job.")]


def register(app: typer.Typer) -> None:
    app.command()(check)
    app.command()(fleet)
    app.command()(eta)


def check(
    line: Line,
    within: Annotated[str | None, typer.Option(help="The deadline from submission to exit, e.g. 30m.")] = None,
    budget: Annotated[float | None, typer.Option(help="The maximum cost of the run; needs a price.")] = None,
    confidence: Annotated[float, typer.Option(help="The probability with which all limits must be met.")] = 0.95,
    store: Annotated[
        str | None, typer.Option(metavar="STORE", help="The store of past runs. Default: SPARKCAST_STORE.")
    ] = None,
    input_size: Annotated[
        str | None, typer.Option("--input", metavar="SIZE", help="What it will read, e.g. 1.4TB.")
    ] = None,
    price: Annotated[str | None, typer.Option(help="E.g. core_hour=0.05,gib_hour=0.01.")] = None,
    job: Annotated[str | None, typer.Option(help="Its name in the store, where the line does not tell it.")] = None,
    free_cores: Annotated[int | None, typer.Option(help="Cores that the cluster has free now.")] = None,
    enforce: Annotated[bool, typer.Option("--enforce", help="Run the line, if it is admitted.")] = False,
    details: Details = False,
    as_json: Json = False,
    verbose: Verbose = False,
) -> None:
    """Ask the history of a job whether it may be submitted now.

    Exit code 0 admits it, 5 asks for other settings, 4 says that its history does not tell.

    Example: sparkcast check --within 30m --store fleet.results -- spark-submit --name nightly etl.py
    """
    from sparkcast import api
    from sparkcast.errors import StudyError
    from sparkcast.study.derive import parse_price
    from sparkcast.units import parse_bytes, parse_seconds

    if enforce and as_json:
        raise StudyError("--enforce gives stdout to the job", hint="leave out --json")
    words = shlex.split(line[0]) if len(line) == 1 else line
    found = api.check(
        words,
        store,
        within_s=parse_seconds(within) if within else None,
        budget=budget,
        confidence=confidence,
        input_size=float(parse_bytes(input_size)) if input_size else None,
        price=parse_price(price) if price else None,
        job=job,
        free_cores=free_cores,
    )
    if enforce:
        _enforce(words, found)
    emit(found, as_json, lambda one: show(one, details))
    raise typer.Exit(found.exit_code)


def _enforce(words: Sequence[str], found: "GateAnswer") -> None:
    """Become the job, if it is admitted. Its output and its exit code are then ours."""
    if found.exit_code:
        say("not run: it was not admitted")
        return
    say(found.text())
    sys.stderr.flush()
    sys.stdout.flush()
    has_environment = "=" in words[0] and "/" not in words[0].partition("=")[0]
    command = ["env", *words] if has_environment else [*words]
    try:
        os.execvp(command[0], command)
    except OSError as error:
        from sparkcast.errors import RunError

        raise RunError(
            f"cannot start {command[0]!r}: {error.strerror or error}", hint="check that it is on the PATH"
        ) from error


def fleet(
    store: Annotated[
        str | None, typer.Argument(metavar="STORE", help="The store of past runs. Default: SPARKCAST_STORE.")
    ] = None,
    since: Annotated[str, typer.Option(help="How far back, e.g. 7d.")] = "7d",
    until: Annotated[str | None, typer.Option(help="The last day, e.g. 2026-11-03. Default: today.")] = None,
    price: Annotated[str | None, typer.Option(help="E.g. core_hour=0.05,gib_hour=0.01.")] = None,
    details: Details = False,
    as_json: Json = False,
    verbose: Verbose = False,
) -> None:
    """The morning list: what jobs could save, what changed, what failed, and where core-hours went.

    Example: sparkcast fleet fleet.results --since 7d --price core_hour=0.05,gib_hour=0.005
    """
    from sparkcast import api
    from sparkcast.study.derive import parse_price

    found = api.fleet(store, since=since, until_s=_end_of(until), price=parse_price(price) if price else None)
    emit(found, as_json, lambda one: show(one, details))


def eta(
    source: Annotated[str, typer.Argument(metavar="LOG|STORE", help="Its event log, or a store that has it.")],
    app: Annotated[str | None, typer.Option(metavar="ID", help="The application, where a store is given.")] = None,
    store: Annotated[
        str | None, typer.Option(metavar="STORE", help="Earlier runs of its job. Default: SPARKCAST_STORE.")
    ] = None,
    details: Details = False,
    as_json: Json = False,
    verbose: Verbose = False,
) -> None:
    """When an application in progress will be done, from its job's past and its finished stages.

    Example: sparkcast eta eventlogs/application_1_0002.inprogress --store fleet.results
    """
    from sparkcast import api

    emit(api.eta(source, app=app, store=store), as_json, lambda one: show(one, details))


def _end_of(day: str | None) -> float | None:
    """The last second of a day, in UTC."""
    from datetime import UTC, datetime, timedelta

    from sparkcast.errors import StudyError

    if day is None:
        return None
    try:
        begin = datetime.strptime(day, "%Y-%m-%d").replace(tzinfo=UTC)
    except ValueError:
        raise StudyError(f"--until {day!r} is not a day", hint="write it as 2026-11-03") from None
    return (begin + timedelta(days=1)).timestamp() - 1
