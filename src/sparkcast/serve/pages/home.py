"""The first page: the recurring jobs of the store, else the studies, else what to do first."""

from fastapi import APIRouter, Request
from fastapi.responses import RedirectResponse, Response

from sparkcast.serve.pages._errors import PageRoute
from sparkcast.serve.pages._jobs import has_jobs
from sparkcast.serve.pages._site import service_of, show

home_pages = APIRouter(route_class=PageRoute)


@home_pages.get("/")
def home_page(request: Request) -> Response:
    state = service_of(request)
    if not has_jobs(state) and (names := state.names()):
        return RedirectResponse("/studies" if len(names) > 1 else "/run", 303)
    return show(request, "home_empty.html.jinja", {}, here="jobs")
