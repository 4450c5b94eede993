"""Running the service until it is stopped."""

import dataclasses
from collections.abc import Callable

import uvicorn

from sparkcast.errors import StudyError
from sparkcast.serve.app import create_app
from sparkcast.serve.settings import ServeSettings
from sparkcast.store.databases import team_store


def serve(settings: ServeSettings, say: Callable[[str], None]) -> None:
    """Serve until an interrupt; `say` tells where."""
    if settings.store is None and not settings.sources:
        settings = dataclasses.replace(settings, store=team_store())
    app = create_app(settings)
    if settings.needs_token and settings.jwt_keys is None and not app.state.service.rows.tokens():
        app.state.service.close()
        raise StudyError(
            f"{settings.host} can be reached by others, and there is no token yet",
            hint="make one: sparkcast serve token add NAME --scope admin --store STORE",
        )
    if settings.needs_token and settings.certificate is None:
        say("without --certificate, tokens travel in the clear: put a proxy with TLS in front")
    scheme = "http" if settings.certificate is None else "https"
    say(
        f"serving {', '.join(app.state.service.names()) or 'no study yet'} at {scheme}://{settings.host}:{settings.port}"
    )
    uvicorn.run(
        app,
        host=settings.host,
        port=settings.port,
        ssl_certfile=settings.certificate,
        ssl_keyfile=settings.key,
        log_level="warning",
        loop="uvloop",
        http="httptools",
        server_header=False,
        access_log=False,
    )
