"""The application: state, HTTP API and pages put together."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from importlib import import_module
from importlib.util import find_spec

from fastapi import FastAPI

from sparkcast import __version__
from sparkcast.serve.settings import ServeSettings
from sparkcast.serve.state import ServiceState

_PAGES = "sparkcast.serve.pages"  # whose `router` shows what the API answers


def create_app(settings: ServeSettings) -> FastAPI:
    """A service over what `settings` name. Handlers find its state as `request.app.state.service`."""
    state = ServiceState(settings)

    @asynccontextmanager
    async def lifespan(app: FastAPI) -> AsyncIterator[None]:
        yield
        state.close()

    app = FastAPI(title="sparkcast", version=__version__, lifespan=lifespan, docs_url=None, redoc_url=None)
    app.state.service = state
    if find_spec(_PAGES) is not None:
        pages = import_module(_PAGES)
        app.include_router(pages.router)
        if hasattr(pages, "mount"):  # files that the pages need
            pages.mount(app)
    return app
