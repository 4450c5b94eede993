"""The service: serve."""

from pathlib import Path
from typing import Annotated

import typer

from sparkcast.cli._output import Verbose, say


def register(app: typer.Typer) -> None:
    app.command()(serve)


def serve(
    sources: Annotated[
        list[str] | None, typer.Argument(metavar="[DATA]...", help="Studies, tables or stores to serve.")
    ] = None,
    store: Annotated[
        str | None, typer.Option(help="The store to serve: folder, file or URL. Default: SPARKCAST_STORE.")
    ] = None,
    host: Annotated[str, typer.Option(help="The address to listen on.")] = "127.0.0.1",
    port: Annotated[int, typer.Option(help="The port to listen on.")] = 8080,
    certificate: Annotated[Path | None, typer.Option(help="The certificate for TLS.")] = None,
    key: Annotated[Path | None, typer.Option(help="The private key of the certificate.")] = None,
    verbose: Verbose = False,
) -> None:
    """Answer over HTTP what the other commands answer, and show it as pages.

    Example: sparkcast serve mnist.yaml --port 8080
    """
    from sparkcast.serve.run import serve as run
    from sparkcast.serve.settings import ServeSettings

    run(ServeSettings(tuple(sources or ()), store, host, port, certificate, key), say)
