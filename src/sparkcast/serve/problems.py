"""From an exception to an HTTP status and the document of an error: one shape for all of them."""

import logging
from collections.abc import Mapping
from typing import Any

from fastapi import FastAPI, Request
from fastapi.exceptions import RequestValidationError
from starlette.exceptions import HTTPException
from starlette.responses import Response

from sparkcast.errors import SparkcastError
from sparkcast.plain import to_json
from sparkcast.serve.worker import CancelledError
from sparkcast.store.database import UnreachableError
from sparkcast.wire.failures import Failure, failure_of

_LOG = logging.getLogger(__name__)
_HINTS = {
    404: "GET /openapi.json lists the paths",
    405: "GET /openapi.json lists the methods of each path",
    413: "send less, or use the command line where the file is",
    415: "send the body with Content-Type: application/json",
}
JSON = "application/json"


class JsonBytes(Response):
    """JSON that was written by sparkcast itself."""

    media_type = JSON

    def render(self, content: Any) -> bytes:
        return content if isinstance(content, bytes) else to_json(content)


def status_of(error: BaseException) -> int:
    """The HTTP status of what a user can cause or fix; 500 for a bug."""
    if isinstance(error, UnreachableError):
        return 503
    if isinstance(error, CancelledError):
        return 409
    return error.http_status if isinstance(error, SparkcastError) else 500


def document_of_error(error: Exception) -> tuple[int, Mapping[str, Any]]:
    """Status and document. Of a bug, only that it is one: the log has the rest."""
    status = status_of(error)
    if status == 500 and not isinstance(error, SparkcastError):
        _LOG.error("a request failed", exc_info=error)
        return 500, Failure(1, "the service failed to answer", "its log says why; report this as a bug").document()
    return status, failure_of(error).document()


def refusal(status: int, problem: str, hint: str = "") -> JsonBytes:
    """What is refused before anything of sparkcast is asked."""
    return JsonBytes(Failure(2, problem, hint or _HINTS.get(status, "")).document(), status_code=status)


def add_handlers(app: FastAPI) -> None:
    """Every failure has the same shape, whoever noticed it."""

    async def of_ours(request: Request, error: Exception) -> Response:
        status, document = document_of_error(error)
        headers = {"Retry-After": "5"} if status == 503 else None
        return JsonBytes(document, status_code=status, headers=headers)

    async def of_http(request: Request, error: Exception) -> Response:
        assert isinstance(error, HTTPException)
        if getattr(request.state, "too_long", False):
            return refusal(413, "the body is too long")
        found = refusal(error.status_code, str(error.detail).lower())
        found.headers.update(error.headers or {})
        return found

    async def of_body(request: Request, error: Exception) -> Response:
        assert isinstance(error, RequestValidationError)
        first = error.errors()[0]
        where = ".".join(str(part) for part in first["loc"] if part != "body")
        what = str(first["msg"]).removeprefix("Value error, ")
        return refusal(422, f"{where}: {what}" if where else what, "GET /openapi.json describes the body")

    app.add_exception_handler(SparkcastError, of_ours)
    app.add_exception_handler(HTTPException, of_http)
    app.add_exception_handler(RequestValidationError, of_body)
    app.add_exception_handler(Exception, of_ours)
