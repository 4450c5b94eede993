"""Recurring jobs of the store: all of them, the morning list, and when a running one will be done."""

from typing import Annotated

from fastapi import APIRouter, Query, Response

from sparkcast import api
from sparkcast.errors import UnknownNameError
from sparkcast.history import JobHistory
from sparkcast.history.summary import summary_of
from sparkcast.serve.problems import JsonBytes
from sparkcast.serve.v1.common import Ask, Asking, answers
from sparkcast.study import Price
from sparkcast.wire.documents import document_of

router = APIRouter(prefix="/v1", tags=["jobs"])
CoreHour = Annotated[float | None, Query(ge=0, lt=1e6, description="price of a core for an hour")]


def _histories(ask: Asking) -> list[JobHistory]:
    """Of the asker."""
    return [job for job in ask.state.histories() if ask.who.sees(ask.access.owner_of(job.name))]


def _price(core_hour: float | None) -> Price | None:
    return None if core_hour is None else Price(core_hour=core_hour)


@router.get("/jobs", responses=answers("jobs", "recurring jobs"))
def jobs(ask: Ask, core_hour: CoreHour = None) -> Response:
    """The recurring jobs of the store: runs, last run, median time, core-hours, cost and trend."""
    return JsonBytes(document_of("jobs", summary_of(_histories(ask), "", _price(core_hour))))


@router.get("/fleet", responses=answers("fleet", "the morning list"))
def fleet(
    ask: Ask,
    since: Annotated[str, Query(pattern=r"^\d{1,4}\s?(s|m|min|h|d|w)$", description="how far back: 7d")] = "7d",
    core_hour: CoreHour = None,
) -> Response:
    """What jobs could save, what changed, what failed, and where core-hours went."""
    ask.request.state.about = "fleet"
    return JsonBytes(document_of("fleet", api.fleet(since=since, price=_price(core_hour), histories=_histories(ask))))


@router.get("/eta", responses=answers("eta", "when it will be done"))
def eta(
    app: Annotated[str, Query(min_length=1, max_length=200, description="its application id")], ask: Ask
) -> Response:
    """When an application in progress will be done, from its job's past and its finished stages."""
    store = ask.state.store()
    unknown = UnknownNameError(f"the store has no application {app!r} in progress", hint="`watch` its log")
    if store is None:
        raise unknown
    found = api.eta(ask.state.catalog.stores[0], app=app)
    if not ask.who.sees(ask.access.owner_of(found.job)):
        raise unknown
    ask.request.state.about = found.job
    return JsonBytes(document_of("eta", found))
