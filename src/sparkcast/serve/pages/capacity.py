"""Jobs that share a cluster: how many an hour before deadlines break, and what more servers buy."""

from dataclasses import dataclass

from fastapi import APIRouter, Request
from fastapi.responses import Response

from sparkcast import api
from sparkcast.api import Effort, Goal, Load
from sparkcast.errors import SparkcastError, StudyError
from sparkcast.queues.answer import QueueAnswer
from sparkcast.report.figures import queue_figures
from sparkcast.serve.pages._errors import PageRoute
from sparkcast.serve.pages._site import show
from sparkcast.units import parse_rate, parse_seconds
from sparkcast.wire.failures import failure_of

capacity_pages = APIRouter(route_class=PageRoute)

_MOST_SERVERS = 10_000
_JOBS, _REPLICATIONS = 6_000, 6  # simulated: seconds would be too long to wait for on a page


@dataclass(frozen=True, slots=True)
class CapacityForm:
    """As people write it."""

    time: str = "10m"
    rate: str = "12/h"
    servers: str = "3"
    within: str = "45m"
    share: str = "95"


@capacity_pages.get("/capacity")
def capacity_page(request: Request) -> Response:
    given = request.query_params
    usual = CapacityForm()
    form = CapacityForm(*(given.get(name, getattr(usual, name)).strip()[:20] for name in CapacityForm.__slots__))
    found, problem = None, ""
    try:
        found = answer_capacity(form)
    except SparkcastError as error:
        told = failure_of(error)
        problem = f"{told.problem[:1].upper()}{told.problem[1:]}. {told.hint[:1].upper()}{told.hint[1:]}"
    figures = queue_figures(found)[:1] if found is not None else []
    headline = "" if found is None else found.text(width=10_000).splitlines()[0]
    more = _more(found)
    values = {"form": form, "found": found, "problem": problem, "figures": figures, "headline": headline, "more": more}
    return show(request, "capacity.html.jinja", {**values, "is_example": not given}, here="capacity")


def answer_capacity(form: CapacityForm) -> QueueAnswer:
    servers, share = _whole(form.servers), _number(form.share, "the share of jobs in time")
    load = Load(arrival_rate=parse_rate(form.rate), service_time_s=parse_seconds(form.time))
    compare = tuple(range(max(1, servers - 1), servers + 3))
    goal = Goal(slo_s=parse_seconds(form.within), percentile=share, compare=compare)
    effort = Effort(n_jobs=_JOBS, replications=_REPLICATIONS, with_figures=True)
    return api.queue(load=load, servers=servers, goal=goal, effort=effort)


def _whole(text: str) -> int:
    if not text.isdigit() or not 1 <= int(text) <= _MOST_SERVERS:
        raise StudyError(f"{text!r} servers are not possible", hint=f"write a number from 1 to {_MOST_SERVERS}")
    return int(text)


def _number(text: str, what: str) -> float:
    try:
        return float(text.removesuffix("%"))
    except ValueError:
        raise StudyError(f"{what} is not a number: {text!r}", hint="write 95") from None


def _more(found: QueueAnswer | None) -> tuple[float, float] | None:
    """Jobs an hour now, and with two more servers; both within the deadline."""
    if found is None:
        return None
    rates = {one.servers: one.most_rate for one in found.capacities}
    now, then = rates.get(found.servers), rates.get(found.servers + 2)
    return None if now is None or then is None else (3600 * now, 3600 * then)
