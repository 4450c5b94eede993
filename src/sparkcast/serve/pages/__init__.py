"""The pages: what the API answers, for people. The server renders; the scripts only make it quicker."""

from fastapi import APIRouter, FastAPI

from sparkcast.serve.pages._errors import mount_errors
from sparkcast.serve.pages._site import STATIC, mount_files
from sparkcast.serve.pages.capacity import capacity_pages
from sparkcast.serve.pages.jobs import job_pages
from sparkcast.serve.pages.kept import kept_pages
from sparkcast.serve.pages.login import login_pages
from sparkcast.serve.pages.logs import log_pages
from sparkcast.serve.pages.run import run_pages
from sparkcast.serve.pages.studies import study_pages

__all__ = ["STATIC", "mount", "router"]

router = APIRouter(include_in_schema=False)
for _pages in (job_pages, run_pages, kept_pages, study_pages, log_pages, capacity_pages, login_pages):
    router.include_router(_pages)


def mount(app: FastAPI) -> None:
    """Styles, scripts, and the page for what is not there."""
    mount_files(app)
    mount_errors(app)
