"""The first page: the recurring jobs of the store, else the studies, else what to do first."""

from fastapi import APIRouter, Request
from fastapi.responses import RedirectResponse, Response

from sparkcast.serve.pages._errors import PageRoute
from sparkcast.serve.pages._jobs import has_jobs
from sparkcast.serve.pages._site import asking_of, show

home_pages = APIRouter(route_class=PageRoute)


@home_pages.get("/")
def home_page(request: Request) -> Response:
    ask = asking_of(request)
    if not has_jobs(ask.state) and (names := ask.names()):
        return RedirectResponse("/studies" if len(names) > 1 else "/run", 303)
    return show(request, "home_empty.html.jinja", {}, here="jobs")


@home_pages.get("/login")
def login_page(request: Request) -> Response:
    """Where a token is typed; it goes into a cookie that no script can read, and never into an address."""
    return show(request, "login.html.jinja", {}, here="login")
