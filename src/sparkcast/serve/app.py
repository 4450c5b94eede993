"""The application: state, HTTP API and pages put together."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from importlib import import_module
from importlib.util import find_spec
from typing import Any

from fastapi import FastAPI

from sparkcast import __version__
from sparkcast.serve.access import Access
from sparkcast.serve.fast import FastPath
from sparkcast.serve.gate import Gate
from sparkcast.serve.metrics import RequestMetrics
from sparkcast.serve.problems import add_handlers
from sparkcast.serve.settings import ServeSettings
from sparkcast.serve.state import ServiceState
from sparkcast.serve.v1 import admin, answers, gate, health, jobs, logs, prometheus, studies, work
from sparkcast.serve.working import WorkManager
from sparkcast.wire.schemas import schemas

_PAGES = "sparkcast.serve.pages"  # whose `router` shows what the API answers
_ABOUT = """How long a Spark job will take, how accurate and how expensive it will be, before it runs.

Every answer has `basis`: which model, learned from which runs, when. Every failure has the form of `Error`."""


def create_app(settings: ServeSettings) -> FastAPI:
    """A service over what `settings` name. Handlers find its state as `request.app.state.service`."""
    state = ServiceState(settings)
    access, metrics, manager = Access(state, _verifier(settings)), RequestMetrics(), WorkManager(state)

    @asynccontextmanager
    async def lifespan(app: FastAPI) -> AsyncIterator[None]:
        state.start()
        manager.start()
        yield
        manager.close()
        access.write_audit()
        state.close()

    app = FastAPI(
        title="sparkcast", description=_ABOUT, version=__version__, lifespan=lifespan, docs_url=None, redoc_url=None
    )
    app.state.service, app.state.access, app.state.metrics, app.state.work = state, access, metrics, manager
    add_handlers(app)
    for part in (health, prometheus, jobs, studies, answers, gate, logs, work, admin):
        app.include_router(part.router)
    if find_spec(_PAGES) is not None:
        pages = import_module(_PAGES)
        app.include_router(pages.router, include_in_schema=False)
        if hasattr(pages, "mount"):  # files that the pages need
            pages.mount(app)
    _describe(app)
    app.add_middleware(FastPath, state=state, access=access)
    app.add_middleware(Gate, settings=settings, access=access, metrics=metrics)
    return app


def _verifier(settings: ServeSettings) -> Any:
    if settings.jwt_keys is None:
        return None
    from sparkcast.serve.oidc import JwtVerifier

    return JwtVerifier(settings.jwt_keys, settings.jwt_issuer, settings.jwt_audience)


def _describe(app: FastAPI) -> None:
    """The OpenAPI document, with the one form of errors and the ways to show a token."""
    made = app.openapi

    def openapi() -> dict[str, Any]:
        if app.openapi_schema is None:
            found = made()
            error = schemas()["error"]["properties"]["error"]
            shape = {"type": "object", "required": ["schema", "error"], "properties": {"error": {"type": "object"}}}
            shape["properties"]["error"] = {  # type: ignore[index]
                "type": "object",
                "required": list(error.get("required", ["code", "problem", "hint", "nearest"])),
                "properties": {"code": {"type": "integer"}, "problem": {"type": "string"}, "hint": {"type": "string"}},
            }
            parts = found.setdefault("components", {})
            parts.setdefault("schemas", {})["Error"] = shape
            parts["securitySchemes"] = {"token": {"type": "http", "scheme": "bearer"}}
            found["security"] = [{"token": []}]
            app.openapi_schema = found
        return app.openapi_schema

    app.openapi = openapi  # type: ignore[method-assign]
