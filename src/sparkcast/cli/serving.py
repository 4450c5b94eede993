"""The service: serve, serve token, mcp."""

from collections.abc import Sequence
from pathlib import Path
from typing import Annotated

import typer

from sparkcast.cli._output import Json, Verbose, emit, say, show

Sources = Annotated[list[str] | None, typer.Argument(metavar="[DATA]...", help="Studies, tables or stores to serve.")]
StoreOption = Annotated[
    str | None, typer.Option(metavar="STORE", help="The store to serve: folder, file or URL. Default: SPARKCAST_STORE.")
]


def register(app: typer.Typer) -> None:
    app.command()(serve)
    app.command("serve token")(token)
    app.command()(mcp)


def serve(
    sources: Sources = None,
    store: StoreOption = None,
    host: Annotated[str, typer.Option(help="The address to listen on; any but loopback needs tokens.")] = "127.0.0.1",
    port: Annotated[int, typer.Option(help="The port to listen on.")] = 8080,
    certificate: Annotated[Path | None, typer.Option(help="The certificate for TLS.")] = None,
    key: Annotated[Path | None, typer.Option(help="The private key of the certificate.")] = None,
    require_token: Annotated[bool, typer.Option("--require-token", help="Ask for tokens on loopback too.")] = False,
    allow_host: Annotated[
        list[str] | None, typer.Option(help="A name under which the service is reached. Repeatable.")
    ] = None,
    jwt_keys: Annotated[
        Path | None, typer.Option(help="Accept JWTs signed with these keys: the JWKS file of your provider.")
    ] = None,
    jwt_issuer: Annotated[str, typer.Option(help="The issuer that JWTs must name.")] = "",
    jwt_audience: Annotated[str, typer.Option(help="The audience that JWTs must name.")] = "sparkcast",
    jwt_header: Annotated[
        str, typer.Option(help="The header in which your proxy passes the JWT, e.g. X-Forwarded-Access-Token.")
    ] = "",
    price: Annotated[str | None, typer.Option(help="E.g. core_hour=0.05: recurring jobs are told in money.")] = None,
    deadline: Annotated[
        list[str] | None,
        typer.Option(metavar="JOB=TIME", help="What a run of a job may take: etl=45m. Repeatable."),
    ] = None,
    verbose: Verbose = False,
) -> None:
    """Answer over HTTP what the other commands answer, and show it as pages.

    Example: sparkcast serve mnist.yaml --port 8080

    Also: sparkcast serve token --help
    """
    from sparkcast.serve.run import serve as run
    from sparkcast.serve.settings import ServeSettings
    from sparkcast.study.derive import parse_price

    settings = ServeSettings(
        tuple(sources or ()),
        store,
        host,
        port,
        certificate,
        key,
        require_token=require_token,
        allowed_hosts=tuple(allow_host or ()),
        jwt_keys=jwt_keys,
        jwt_issuer=jwt_issuer,
        jwt_audience=jwt_audience,
        jwt_header=jwt_header,
        price=None if price is None else parse_price(price),
        deadlines=_deadlines(deadline or ()),
    )
    run(settings, say)


def _deadlines(texts: Sequence[str]) -> dict[str, float]:
    from sparkcast.errors import StudyError
    from sparkcast.units import parse_seconds

    found = {}
    for text in texts:
        job, _, limit = text.rpartition("=")
        if not job:
            raise StudyError(f"{text!r} is not a deadline of a job", hint="write --deadline nightly-etl=45m")
        found[job] = parse_seconds(limit)
    return found


def token(
    action: Annotated[str, typer.Argument(help="add, list or revoke.")],
    name: Annotated[str, typer.Argument(help="Of the token; yours to choose.", show_default=False)] = "",
    store: StoreOption = None,
    scope: Annotated[str, typer.Option(help="read, write (report runs too) or admin.")] = "read",
    team: Annotated[str, typer.Option(help="The team whose studies it sees. Default: all.")] = "",
    days: Annotated[float | None, typer.Option(help="Days until it expires. Default: never.")] = None,
    as_json: Json = False,
    verbose: Verbose = False,
) -> None:
    """Make, list and revoke the tokens with which a service is asked.

    Example: sparkcast serve token add airflow --scope write --days 90 --store postgresql://db/sparkcast
    """
    from sparkcast.errors import StudyError
    from sparkcast.serve.tokens import change_tokens
    from sparkcast.store.databases import team_store

    place = store or team_store()
    if place is None:
        raise StudyError("no store is given", hint="add --store, or set SPARKCAST_STORE")
    found = change_tokens(place, action, name, scope=scope, team=team, days=days)
    emit(found, as_json, show, is_users=True)


def mcp(
    sources: Sources = None,
    store: StoreOption = None,
    http: Annotated[bool, typer.Option("--http", help="Over HTTP instead of stdio.")] = False,
    port: Annotated[int, typer.Option(help="The port, with --http.")] = 8081,
    verbose: Verbose = False,
) -> None:
    """Tools for assistants (Model Context Protocol), on stdio or over HTTP.

    Example: sparkcast mcp --store postgresql://db/sparkcast
    """
    from sparkcast.serve.mcp import run_mcp
    from sparkcast.serve.settings import ServeSettings
    from sparkcast.store.databases import team_store

    place = store or (None if sources else team_store())
    run_mcp(ServeSettings(tuple(sources or ()), place, port=port), over_http=http)
