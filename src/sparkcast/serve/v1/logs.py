"""Event logs: uploaded, or known to the store. No path of this machine is ever taken from a request."""

import secrets
from pathlib import Path
from typing import Annotated, Any

from fastapi import APIRouter, Query, Request, Response
from pydantic import BaseModel, ConfigDict, Field
from starlette.concurrency import run_in_threadpool

from sparkcast.errors import StudyError, UnknownNameError
from sparkcast.serve.v1.common import Ask, Asking, answers
from sparkcast.serve.v1.work import accepted
from sparkcast.study import Observation

router = APIRouter(prefix="/v1", tags=["event logs"])

Run = Annotated[str | None, Query(max_length=300, description="a run that the store has, instead of an upload")]
Study = Annotated[str | None, Query(max_length=300, description="the job or study of `run`")]
Wait = Annotated[float, Query(ge=0, le=60, description="seconds to wait for the answer itself")]
Numbers = Annotated[str | None, Field(pattern=r"^\d{1,5}(,\d{1,5}){0,99}$")]
_UPLOAD = {"requestBody": {"content": {"application/octet-stream": {"schema": {"type": "string", "format": "binary"}}}}}


class WhatifQuery(BaseModel):
    """Other clusters to replay the log on."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    executors: Numbers = None
    cores: Numbers = None
    partitions: int | None = Field(None, ge=1, le=1_000_000)
    data: float = Field(1.0, gt=0, le=1000, description="how many times as much data")
    within: float | None = Field(None, gt=0, lt=1e9, description="a deadline in seconds")
    budget: float | None = Field(None, gt=0, lt=1e9)
    confidence: float = Field(0.95, gt=0, lt=1)
    core_hour: float | None = Field(None, ge=0, lt=1e6, description="price of a core for an hour")
    run: str | None = Field(None, max_length=300, description="a run that the store has, instead of an upload")
    study: str | None = Field(None, max_length=300, description="the job or study of `run`")
    wait: float = Field(30.0, ge=0, le=60, description="seconds to wait for the answer itself")


_UNDER_WAY: dict[int | str, dict[str, Any]] = {202: {"description": "under way: follow the Location"}}


@router.post("/profile", responses={**answers("profile", "where the time went"), **_UNDER_WAY}, openapi_extra=_UPLOAD)
async def profile(request: Request, ask: Ask, run: Run = None, study: Study = None, wait: Wait = 30.0) -> Response:
    """Where the time of one application went. The body is its event log, compressed or not; nothing of it is kept."""
    return await _asked(request, ask, "profile", {}, (run, study), wait)


@router.post("/whatif", responses={**answers("whatif", "other clusters"), **_UNDER_WAY}, openapi_extra=_UPLOAD)
async def whatif(request: Request, ask: Ask, query: Annotated[WhatifQuery, Query()]) -> Response:
    """What other clusters would have made of an application, by replaying its event log (the body)."""
    options: dict[str, Any] = {"partitions": query.partitions, "data": query.data}
    for name, text in (("executors", query.executors), ("cores", query.cores)):
        if text is not None:
            options[name] = [int(number) for number in text.split(",")]
            if 0 in options[name]:
                raise StudyError(f"{name}=0 is not a cluster", hint="give numbers of 1 or more")
    if query.core_hour is not None:
        options["price"] = {"core_hour": query.core_hour}
    if query.within is not None or query.budget is not None:
        options |= {"within_s": query.within, "budget": query.budget, "confidence": query.confidence}
    return await _asked(request, ask, "whatif", options, (query.run, query.study), query.wait)


async def _asked(
    request: Request, ask: Asking, kind: str, options: dict[str, Any], known: tuple[str | None, str | None], wait: float
) -> Response:
    ask.request.state.about = known[1] or kind
    if known[0] is not None:
        log = await run_in_threadpool(_log_of, ask, *known)
        question = {"logs": [log], "is_upload": False, "options": options}
    else:
        question = {"logs": [await _stored(request, ask)], "is_upload": True, "options": options}
    row = await run_in_threadpool(ask.work.add, kind, question, ask.who.team)
    return await run_in_threadpool(accepted, ask, row, wait)


async def _stored(request: Request, ask: Asking) -> str:
    """The body in a file of the service, until it was read."""
    file = ask.state.folder / f"upload-{secrets.token_hex(8)}"
    size = 0
    try:
        with file.open("xb") as target:
            async for piece in request.stream():
                size += len(piece)
                target.write(piece)
    except BaseException:
        file.unlink(missing_ok=True)
        raise
    if not size:
        file.unlink(missing_ok=True)
        raise StudyError("the body is empty", hint="send an event log as the body: curl --data-binary @LOG ...")
    return str(file)


def _log_of(ask: Asking, run: str | None, study: str | None) -> str:
    """Where the store says that the log of a run is. Raises UnknownNameError where it has none."""
    if study is None:
        raise StudyError("`run` needs the study it belongs to", hint="add study=NAME")
    entry = ask.entry(study)
    runs: tuple[Observation, ...] = () if entry.store is None else ask.state.open(entry.store).ingested(entry.name)
    found = next((one for one in runs if one.run_id == run), None)
    log = "" if found is None or found.origin is None else found.origin.log
    if not log or not ("://" in log or Path(log).is_absolute()) or not ("://" in log or Path(log).exists()):
        raise UnknownNameError(f"the store knows no log of run {run!r}", hint="upload the log as the body instead")
    return log
