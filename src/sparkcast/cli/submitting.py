"""A job in production: submit."""

from typing import Annotated

import typer

from sparkcast.cli._output import Json, Verbose, emit, say, show

Line = Annotated[list[str], typer.Argument(metavar="-- spark-submit ...", help="The line that starts your job.")]


def register(app: typer.Typer) -> None:
    app.command()(submit)


def submit(
    line: Line,
    study: Annotated[str | None, typer.Option(help="The study or job whose runs decide. Default: --name.")] = None,
    within: Annotated[str | None, typer.Option(help="The deadline from submission to exit, e.g. 300s.")] = None,
    budget: Annotated[float | None, typer.Option(help="The maximum cost of the run.")] = None,
    confidence: Annotated[float, typer.Option(help="The probability with which all limits must be met.")] = 0.95,
    server: Annotated[str | None, typer.Option(metavar="URL", help="The service to ask.")] = None,
    store: Annotated[
        str | None, typer.Option(metavar="STORE", help="The store to ask, without a service. Default: SPARKCAST_STORE.")
    ] = None,
    argument: Annotated[
        list[str] | None, typer.Option(help="A setting that the program takes as --NAME VALUE. Repeatable.")
    ] = None,
    fix: Annotated[
        list[str] | None, typer.Option(help="Settings that the program has already: rows=100000. Repeatable.")
    ] = None,
    explore: Annotated[
        bool, typer.Option("--explore", help="Safe tuning: change one setting per run, at most 5% risk.")
    ] = False,
    levels: Annotated[
        list[str] | None,
        typer.Option(help="With --explore: a setting and its levels, today's first. NAME=200,50,400. Repeatable."),
    ] = None,
    jobs_running: Annotated[
        str | None,
        typer.Option(metavar="N|URL", help="Jobs on the cluster now: their number, or the URL of its UI."),
    ] = None,
    dry_run: Annotated[bool, typer.Option("--dry-run", help="Print the line; run nothing.")] = False,
    as_json: Json = False,
    verbose: Verbose = False,
) -> None:
    """Run your job with settings that meet its deadline, and give the result back.

    Nothing that the line says itself is changed. Where nobody answers, the job runs as written. The exit code is the
    job's.

    Example: sparkcast submit --within 300s --server http://localhost:8080 -- spark-submit --name nightly etl.py
    """
    import shlex

    from sparkcast.api import submission
    from sparkcast.cli.prediction import parse_settings
    from sparkcast.cli.recommendation import parse_levels
    from sparkcast.errors import StudyError
    from sparkcast.store.databases import team_store
    from sparkcast.units import parse_seconds
    from sparkcast.workloads.lines import parse_line, program_of

    if levels and not explore:
        raise StudyError("--levels says what may be explored", hint="add --explore")
    if as_json and not dry_run:
        raise StudyError("--json gives stdout to sparkcast, and the job needs it", hint="add --dry-run")
    words = shlex.split(line[0]) if len(line) == 1 else line
    parsed = parse_line(words)
    name = study or parsed.kept.get("name") or program_of(parsed).removesuffix(".py")
    wish = submission.Wish(
        name,
        within_s=None if within is None else parse_seconds(within),
        budget=budget,
        confidence=confidence,
        fix=parse_settings(*(fix or ())),
        passed=tuple(argument or ()),
        explore=explore,
        levels=dict(parse_levels(text) for text in levels or ()),
        jobs_running=_number_or_url(jobs_running),
    )
    place = store or team_store()
    if server is None and place is None:
        raise StudyError("nobody is asked", hint="add --server URL or --store STORE, or set SPARKCAST_STORE")
    adviser = submission.ServiceAdviser(server) if server else submission.StoreAdviser(str(place))
    found = submission.submit(words, wish, adviser, is_dry=dry_run, say=say)
    if dry_run:
        emit(submission.described(found), as_json, show)
        return
    say(f"exit code {found.exit_code}; {found.stored}")
    raise typer.Exit(found.exit_code if found.exit_code >= 0 else 128 - found.exit_code)


def _number_or_url(text: str | None) -> int | str | None:
    return int(text) if text is not None and text.isdigit() else text
