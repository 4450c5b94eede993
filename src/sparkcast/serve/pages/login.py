"""Where a token is typed."""

from fastapi import APIRouter, Request
from fastapi.responses import Response

from sparkcast.serve.pages._errors import PageRoute
from sparkcast.serve.pages._site import show

login_pages = APIRouter(route_class=PageRoute)


@login_pages.get("/login")
def login_page(request: Request) -> Response:
    """It goes into a cookie that no script can read, and never into an address."""
    return show(request, "login.html.jinja", {}, here="login")
