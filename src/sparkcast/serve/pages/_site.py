"""What all pages share: the frame around them, their templates, and what a browser may do with them."""

import re
import secrets
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass
from functools import cache, lru_cache
from hashlib import sha256
from pathlib import Path
from typing import TYPE_CHECKING, Any

from fastapi import FastAPI, Request
from fastapi.responses import HTMLResponse, Response
from markupsafe import Markup

from sparkcast import __version__
from sparkcast.errors import StudyError
from sparkcast.report.page import environment, inline_svg
from sparkcast.serve.access import LOCAL
from sparkcast.serve.pages import _words as words
from sparkcast.serve.state import ServiceState
from sparkcast.serve.v1.common import Asking

if TYPE_CHECKING:
    from jinja2 import Environment

    from sparkcast.report.figures import Figure

STATIC = Path(__file__).parent / "static"
_ARIA = re.compile(r' (?:role|aria-[a-z]+)="[^"]*"')
_TYPES = {".css": "text/css; charset=utf-8", ".js": "text/javascript; charset=utf-8"}
_WIDTH: ContextVar[str] = ContextVar("width", default="")
_FORM_COOKIE = "sparkcast_form"
# Nothing is loaded from elsewhere, no script or style stands in a page, nobody frames it.
POLICY = (
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; connect-src 'self'; "
    "form-action 'self'; base-uri 'none'; frame-ancestors 'none'"
)
HEADERS = {
    "Content-Security-Policy": POLICY,
    "X-Content-Type-Options": "nosniff",
    "Referrer-Policy": "same-origin",
    "Cross-Origin-Opener-Policy": "same-origin",
    "Cache-Control": "no-store",
}


@dataclass(frozen=True, slots=True)
class NavigationLink:
    key: str
    href: str
    label: str


def service_of(request: Request) -> ServiceState:
    state = request.app.state.service
    assert isinstance(state, ServiceState)
    return state


def asking_of(request: Request) -> Asking:
    """Who asks; they see what is theirs and nobody else's."""
    app = request.app.state
    return Asking(app.service, app.access, app.work, getattr(request.state, "principal", LOCAL), request)


def navigation(request: Request) -> tuple[NavigationLink, ...]:
    """What there is to see; what is not there is left out."""
    from sparkcast.serve.pages._board import keeper_of

    asks = bool(asking_of(request).names())
    links = (
        (keeper_of(request).has_jobs(), NavigationLink("jobs", "/", "Jobs")),
        (asks, NavigationLink("run", "/run", "What should I run?")),
        (asks, NavigationLink("studies", "/studies", "Studies")),
        (True, NavigationLink("logs", "/logs", "Profile a log")),
        (True, NavigationLink("capacity", "/capacity", "Capacity")),
    )
    return tuple(link for is_there, link in links if is_there)


def show(
    request: Request, template: str, values: Mapping[str, object], *, here: str = "", status: int = 200
) -> Response:
    """A whole page."""
    try:
        links = navigation(request)
    except Exception:  # the page about an error must come, whatever is broken
        links = ()
    shown = {"navigation": links, "here": here, "path": request.url.path, **values}
    body = templates().get_template(template).render(shown)
    return HTMLResponse(body, status, headers=HEADERS)


@contextmanager
def drawn_for(width: str) -> Iterator[None]:
    """Draw pictures for one width only, "wide" or "narrow": whoever asks for a section knows which is seen."""
    token = _WIDTH.set(width)
    try:
        yield
    finally:
        _WIDTH.reset(token)


def _picture(figure: "Figure", narrow: bool = False) -> Markup:
    if _WIDTH.get() not in ("", "narrow" if narrow else "wide"):
        return Markup("")
    # The picture is described as a whole; Vega's own words for its parts would be read one by one.
    return Markup(_ARIA.sub("", inline_svg(figure, narrow=narrow)))


@lru_cache(maxsize=1)
def templates() -> "Environment":
    """Those of the pages, which use the blocks of the report."""
    from jinja2 import ChoiceLoader, FileSystemLoader

    from sparkcast.report import marks

    made = environment().overlay()
    made.loader = ChoiceLoader([FileSystemLoader(Path(__file__).parent / "templates"), environment().loader or _none()])
    made.globals = {
        **environment().globals,
        "marks": marks,
        "picture": _picture,
        "words": words,
        "asset": asset,
        "version": __version__,
    }
    return made


def _none() -> Any:
    from jinja2 import DictLoader

    return DictLoader({})


# ------------------------------------------------------------ styles and scripts


def asset(name: str) -> str:
    """The address of a file, which changes with its content."""
    return f"/static/{_digest(name)}/{name}"


@cache
def _digest(name: str) -> str:
    return sha256(_content(name)).hexdigest()[:12]


@cache
def _content(name: str) -> bytes:
    from sparkcast.report.marks import marks_style

    content = (STATIC / name).read_bytes()
    return marks_style().encode() + content if name == "page.css" else content


def mount_files(app: FastAPI) -> None:
    known = {file.name for file in STATIC.iterdir() if file.suffix in _TYPES}

    async def send(digest: str, name: str) -> Response:
        if name not in known:
            return Response(status_code=404)
        kept = "public, max-age=31536000, immutable" if digest == _digest(name) else "no-cache"
        headers = {"Cache-Control": kept, "X-Content-Type-Options": "nosniff"}
        return Response(_content(name), media_type=_TYPES[Path(name).suffix], headers=headers)

    app.add_api_route("/static/{digest}/{name}", send, methods=["GET"], include_in_schema=False)


# ------------------------------------------------------------ forms


def form_token(request: Request) -> str:
    """What a form sends back, which only a page of ours can know."""
    known = request.cookies.get(_FORM_COOKIE, "")
    return known if len(known) == 43 else secrets.token_urlsafe(32)


def keep_form_token(request: Request, response: Response, token: str) -> Response:
    response.set_cookie(
        _FORM_COOKIE, token, httponly=True, samesite="strict", secure=request.url.scheme == "https", path="/"
    )
    return response


def require_own_form(request: Request, token: object) -> None:
    """Raise StudyError for what another site sends in somebody's name."""
    known, origin = request.cookies.get(_FORM_COOKIE, ""), request.headers.get("origin")
    is_own = origin is None or origin.rpartition("//")[2] == request.headers.get("host")
    if not (is_own and isinstance(token, str) and known and secrets.compare_digest(known.encode(), token.encode())):
        raise StudyError("the form was not sent by this page", hint="reload the page and send the form again")
