"""The way in: who asks, from where, how much; and what every answer carries. Plain ASGI, in front of everything."""

import time
from collections.abc import Awaitable, Callable, MutableMapping
from http.cookies import CookieError, SimpleCookie
from typing import Any
from urllib.parse import urlsplit

from sparkcast.errors import StoreError
from sparkcast.serve.access import LOCAL, Access, AccessError, Principal
from sparkcast.serve.metrics import RequestMetrics
from sparkcast.serve.problems import document_of_error, refusal
from sparkcast.serve.settings import ServeSettings

Scope = MutableMapping[str, Any]
Message = MutableMapping[str, Any]
Receive = Callable[[], Awaitable[Message]]
Send = Callable[[Message], Awaitable[None]]
Asgi = Callable[[Scope, Receive, Send], Awaitable[None]]

COOKIE = "sparkcast_session"
_OPEN = ("/health", "/ready", "/v1/session")  # nothing of anybody's runs is told there
_OPEN_FOLDERS = ("/static/", "/login")
_WRITES = ("observations",)
_LOOPBACK = ("localhost", "127.0.0.1", "[::1]", "testserver")
_SAFE = ("GET", "HEAD", "OPTIONS")
_FIXED = (
    (b"x-content-type-options", b"nosniff"),
    (b"x-frame-options", b"DENY"),
    (b"referrer-policy", b"no-referrer"),
    (b"cross-origin-opener-policy", b"same-origin"),
    (b"cross-origin-resource-policy", b"same-origin"),
)
_CSP = (
    b"content-security-policy",
    b"default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; font-src 'self'; "
    b"connect-src 'self'; form-action 'self'; base-uri 'none'; frame-ancestors 'none'",
)


def scope_of(method: str, path: str) -> str | None:
    """What a request needs; None where anybody may ask. Whatever is not known needs the widest."""
    if path in _OPEN or path.startswith(_OPEN_FOLDERS):
        return None
    if path.startswith(("/v1/tokens", "/v1/audit", "/v1/owners")):
        return "admin"
    if method in _SAFE:
        return "read"
    if path.rstrip("/").endswith(_WRITES):
        return "write"
    return "read" if method == "POST" or path.startswith("/v1/work/") else "admin"


class Gate:
    """In front of the application."""

    def __init__(self, app: Asgi, settings: ServeSettings, access: Access, metrics: RequestMetrics) -> None:
        self._app, self._settings, self._access, self._metrics = app, settings, access, metrics
        self._hosts = {*_LOOPBACK, *settings.allowed_hosts, settings.host}
        self._proxy = settings.jwt_header.lower().encode("latin-1")
        # Behind an address that is not loopback, tokens protect; there its names are not known here.
        self._checks_host = not settings.needs_token or bool(settings.allowed_hosts)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        began, status = time.perf_counter(), 500

        async def sending(message: Message) -> None:
            nonlocal status
            if message["type"] == "http.response.start":
                status = message["status"]
                message["headers"] = _with_fixed(message.get("headers", []))
            await send(message)

        headers = dict(scope["headers"])
        principal = LOCAL
        self._metrics.active += 1
        try:
            principal = self._admit(scope, headers)
            scope.setdefault("state", {})["principal"] = principal
            await self._app(scope, self._bounded(receive, self._most(scope["path"]), scope["state"]), sending)
        except AccessError as error:
            found = document_of_error(error)
            answer = refusal(found[0], error.problem, error.hint)
            is_page = b"text/html" in headers.get(b"accept", b"") and scope["method"] in _SAFE
            if found[0] == 401 and is_page:
                answer.status_code = 303
                answer.headers["Location"] = "/login"
            elif found[0] == 401:
                answer.headers["WWW-Authenticate"] = "Bearer"
            await answer(scope, receive, sending)
        except StoreError as error:  # tokens cannot be read
            await refusal(503, error.problem, error.hint)(scope, receive, sending)
        finally:
            self._metrics.active -= 1
            route = getattr(scope.get("route"), "path", None) or scope.get("endpoint_name") or "other"
            self._metrics.count(scope["method"], str(route), status, time.perf_counter() - began)
            about = scope.get("state", {}).get("about")
            if about is not None or status in (401, 403, 429):
                self._access.note(principal, f"{scope['method']} {scope['path']}"[:200], str(about or "")[:200], status)

    def _most(self, path: str) -> int:
        is_upload = path.startswith(("/v1/profile", "/v1/whatif", "/v1/logs", "/log"))
        return self._settings.max_body_bytes if is_upload else self._settings.max_json_bytes

    def _admit(self, scope: Scope, headers: dict[bytes, bytes]) -> Principal:
        """Raises AccessError for what may not come in."""
        host = headers.get(b"host", b"").decode("latin-1")
        if self._checks_host and host.rsplit(":", 1)[0] not in self._hosts and host not in self._hosts:
            raise AccessError(421, "this service is not known under that name", hint="start it with --allow-host NAME")
        method, path = scope["method"], scope["path"]
        if method not in _SAFE and (origin := headers.get(b"origin")) is not None:
            asked = urlsplit(origin.decode("latin-1")).netloc
            if asked != host:
                raise AccessError(403, "requests from pages of other sites are refused")
        if int(headers.get(b"content-length", b"0") or 0) > self._most(path):
            raise AccessError(413, f"the body is longer than {self._most(path):,} bytes")
        wanted = scope_of(method, path)
        if wanted is None:
            return LOCAL
        who = self._who(headers)
        self._access.require(who, wanted)
        return who

    def _who(self, headers: dict[bytes, bytes]) -> Principal:
        if (told := headers.get(self._proxy)) is not None:
            return self._access.of_proxy(told.decode("latin-1"))
        authorization = headers.get(b"authorization")
        return self._access.who(
            None if authorization is None else authorization.decode("latin-1"), _session(headers.get(b"cookie"))
        )

    def _bounded(self, receive: Receive, most: int, state: dict[str, Any]) -> Receive:
        """A body that does not say how long it is may not be longer either."""
        seen = 0

        async def receiving() -> Message:
            nonlocal seen
            message = await receive()
            seen += len(message.get("body", b""))
            if seen > most:
                state["too_long"] = True
                raise AccessError(413, f"the body is longer than {most:,} bytes")
            return message

        return receiving


def _session(cookie: bytes | None) -> str | None:
    if cookie is None:
        return None
    try:
        found = SimpleCookie(cookie.decode("latin-1")).get(COOKIE)
    except CookieError:
        return None
    return None if found is None else found.value


def _with_fixed(headers: list[tuple[bytes, bytes]]) -> list[tuple[bytes, bytes]]:
    """A page may bring policies of its own."""
    names = {name.lower() for name, _ in headers}
    policy = () if _CSP[0] in names else (_CSP,)
    store = () if b"cache-control" in names else ((b"cache-control", b"no-store"),)
    fixed = [one for one in _FIXED if one[0] not in names]  # forms send their origin only under `same-origin`
    return [*headers, *fixed, *policy, *store]
