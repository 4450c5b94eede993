"""Errors as pages: the problem, what to do, and nothing about the server."""

from collections.abc import Callable, Coroutine
from typing import Any

from fastapi import FastAPI, HTTPException, Request
from fastapi.exceptions import RequestValidationError
from fastapi.responses import Response
from fastapi.routing import APIRoute

from sparkcast.errors import SparkcastError
from sparkcast.serve.pages._site import show
from sparkcast.wire.failures import failure_of

_TITLES = {
    404: "There is no such page.",
    409: "Not known yet.",
    413: "This file is too large.",
    422: "This cannot be answered.",
}


class PageRoute(APIRoute):
    """A page whose errors are pages too."""

    def get_route_handler(self) -> Callable[[Request], Coroutine[Any, Any, Response]]:
        own = super().get_route_handler()

        async def handle(request: Request) -> Response:
            try:
                return await own(request)
            except HTTPException as error:
                if error.status_code < 400 or error.status_code in (401, 403):
                    raise
                return failed(request, error.status_code, str(error.detail))
            except RequestValidationError as error:
                return failed(request, 422, "; ".join(f"{one['loc'][-1]}: {one['msg']}" for one in error.errors()))
            except SparkcastError as error:
                failure = failure_of(error)
                return failed(request, error.http_status, failure.problem, failure.hint)
            except Exception:
                _log(request)
                return failed(request, 500, "", "")

        return handle


def failed(request: Request, status: int, problem: str, hint: str = "") -> Response:
    title = _TITLES.get(status, "Something went wrong." if status >= 500 else "This did not work.")
    if status >= 500 and not problem:
        problem = "This is a bug in sparkcast or in what it runs on; the server's log has the details."
    values = {"title": title, "problem": problem, "hint": hint, "status": status}
    return show(request, "error.html.jinja", values, status=status)


def _log(request: Request) -> None:
    import logging

    logging.getLogger("sparkcast.serve").exception("no page for %s", request.url.path)


def mount_errors(app: FastAPI) -> None:
    """A page for whoever follows a broken link; programs get what the API sends."""

    async def missing(request: Request, error: Exception) -> Response:
        other = app.exception_handlers.get(HTTPException) or app.exception_handlers.get(_base())
        is_for_people = "text/html" in request.headers.get("accept", "") and not request.url.path.startswith("/v1")
        if is_for_people:
            return failed(request, 404, "", "")
        assert other is not None
        answer: Response = await other(request, error)  # type: ignore[misc]
        return answer

    app.add_exception_handler(404, missing)


def _base() -> type[Exception]:
    from starlette.exceptions import HTTPException as Base

    return Base
