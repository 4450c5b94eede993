"""A log: where its time went, by query and operator, and what other clusters would have made of it. Nothing is kept."""

import asyncio
import re
import tempfile
from collections.abc import AsyncGenerator
from dataclasses import dataclass
from pathlib import Path

from fastapi import APIRouter, HTTPException, Request
from fastapi.responses import Response
from starlette.datastructures import UploadFile
from starlette.formparsers import MultiPartException, MultiPartParser

from sparkcast.errors import SparkcastError, StudyError
from sparkcast.eventlogs import LogLimits, find_logs, read_log
from sparkcast.facts import facts_of
from sparkcast.profile import Profile, profile_facts
from sparkcast.replay import WhatIf, WhatIfQuestion, recorded, what_if
from sparkcast.report.figures import Figure, application_figures, replay_figures
from sparkcast.report.page import largest_stages
from sparkcast.serve.pages._errors import PageRoute
from sparkcast.serve.pages._site import form_token, keep_form_token, require_own_form, service_of, show
from sparkcast.study import Price

log_pages = APIRouter(route_class=PageRoute)

_MOST_PRICE = 1e6
_NAME = re.compile(r"[^\w.-]+")


@dataclass(frozen=True, slots=True)
class LogStory:
    """What one log tells."""

    name: str
    profile: Profile
    figures: tuple[Figure, ...]
    whatif: WhatIf | None
    whatif_figures: tuple[Figure, ...]
    problem: str  # why there is no what-if

    @property
    def headline(self) -> str:
        return self.profile.text(width=10_000).splitlines()[0]


@log_pages.get("/logs")
def log_form(request: Request) -> Response:
    token = form_token(request)
    most = service_of(request).settings.max_body_bytes
    return keep_form_token(
        request, show(request, "logs.html.jinja", {"token": token, "most": most}, here="logs"), token
    )


@log_pages.post("/logs")
async def log_sent(request: Request) -> Response:
    settings = service_of(request).settings
    most = settings.max_body_bytes
    if int(request.headers.get("content-length") or 0) > most:
        raise _too_large(most)
    try:
        form = await MultiPartParser(request.headers, _counted(request, most), max_files=1, max_fields=4).parse()
    except (MultiPartException, KeyError) as error:
        raise StudyError("the form could not be read", hint="choose a file and send it again") from error
    try:
        require_own_form(request, form.get("token"))
        upload = form.get("log")
        if not isinstance(upload, UploadFile) or not upload.filename:
            raise StudyError("no file was sent", hint="choose a Spark event log")
        price = _price(str(form.get("price") or ""))
        story = await asyncio.to_thread(_story, upload, price, settings.max_log_bytes)
    finally:
        await form.close()
    token = form_token(request)
    values = {"story": story, "token": token, "stages": largest_stages(story.profile), "most": most}
    return keep_form_token(request, show(request, "log.html.jinja", values, here="logs"), token)


async def _counted(request: Request, most: int) -> AsyncGenerator[bytes, None]:
    size = 0
    async for chunk in request.stream():
        size += len(chunk)
        if size > most:
            raise _too_large(most)
        yield chunk


def _too_large(most: int) -> HTTPException:
    return HTTPException(413, f"files of more than {most // 2**20} MiB are not read here; use sparkcast profile FILE")


def _price(text: str) -> Price | None:
    if not text.strip():
        return None
    try:
        amount = float(text)
    except ValueError:
        amount = -1.0
    if not 0 < amount < _MOST_PRICE:
        raise StudyError(f"a price of {text} is not possible", hint="write an amount per core-hour, such as 0.05")
    return Price(core_hour=amount)


def _story(upload: UploadFile, price: Price | None, most: int) -> LogStory:
    """Reads the upload from a private folder, which is gone before the answer is sent."""
    with tempfile.TemporaryDirectory(prefix="sparkcast-upload-") as folder:
        name = _NAME.sub("_", Path(upload.filename or "log").name)[-100:].lstrip(".") or "log"
        file = Path(folder) / name
        with file.open("wb") as target:
            while chunk := upload.file.read(2**20):
                target.write(chunk)
        return _read(file, name, price, most)


def _read(file: Path, name: str, price: Price | None, most: int) -> LogStory:
    found = find_logs(file)
    if len(found) != 1:
        raise StudyError(f"{name} is not an event log of Spark", hint="choose a file of the folder spark.eventLog.dir")
    log = read_log(found[0], LogLimits(max_log_bytes=most))
    facts = facts_of(log)
    profile = profile_facts(log, facts)
    whatif, problem = None, ""
    drawn: tuple[Figure, ...] = ()
    try:
        source = recorded(log, facts)
        whatif = what_if([source], WhatIfQuestion(price=price))
        drawn = tuple(replay_figures(whatif, source))
    except SparkcastError as error:
        problem = error.problem
    return LogStory(name, profile, tuple(application_figures(log, facts)), whatif, drawn[:1], problem)
