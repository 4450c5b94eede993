"""What should I run? The answer for limits that are moved."""

import threading
from contextlib import suppress
from dataclasses import dataclass, replace

from fastapi import APIRouter, Request
from fastapi.responses import RedirectResponse, Response

from sparkcast.errors import NotEnoughDataError, SparkcastError
from sparkcast.plain import to_json
from sparkcast.recommend.browsing import CandidateTable
from sparkcast.serve.pages._adviser import RunAdviser, adviser_of
from sparkcast.serve.pages._answers import RunAnswer, answer_of
from sparkcast.serve.pages._controls import held_of, objectives_of, sliders_of, starting_deadline
from sparkcast.serve.pages._errors import PageRoute
from sparkcast.serve.pages._options import OptionsChart, chart_of, for_script
from sparkcast.serve.pages._query import RunQuery
from sparkcast.serve.pages._site import HEADERS, asking_of, form_token, keep_form_token, show, templates
from sparkcast.serve.v1.common import Asking

run_pages = APIRouter(route_class=PageRoute)

_SOON_S = 1.5  # most models are learned in that time, and nobody sees a page that waits


@dataclass(frozen=True, slots=True)
class RunView:
    """All that the page shows of one question."""

    query: RunQuery
    answer: RunAnswer
    table: CandidateTable | None
    chart: OptionsChart | None

    @property
    def data(self) -> str:
        """For the script; `</script>` cannot be in it."""
        if self.table is None or self.chart is None:
            return "{}"
        text = to_json(for_script(self.table, self.chart, self.query))
        return (text.decode() if isinstance(text, bytes) else text).replace("<", "\\u003c")


@run_pages.get("/run")
def run_page(request: Request) -> Response:
    names = asking_of(request).names()
    if not names:
        return RedirectResponse("/", 303)
    query = RunQuery.of(request.query_params.multi_items())
    query = replace(query, job=query.job or names[0])
    if not is_learned(request, query.job, _SOON_S):
        return show(request, "run_wait.html.jinja", {"query": query}, here="run", status=202)
    try:
        adviser = adviser_of(request, query.job)
    except NotEnoughDataError as error:
        values = {"query": query, "names": names, "error": error}
        return show(request, "run_empty.html.jinja", values, here="run")
    with adviser.lock:
        view = view_of(adviser, query)
        values = {
            "view": view,
            "names": names,
            "sliders": sliders_of(adviser, view.query, view.table),
            "held": held_of(adviser, view.query),
            "objectives": objectives_of(adviser),
            "adviser": adviser,
        }
    token = form_token(request)
    return keep_form_token(request, show(request, "run.html.jinja", {**values, "token": token}, here="run"), token)


def is_learned(request: Request, name: str, wait_s: float) -> bool:
    """Whether the models are there, or will not come: whoever is the first to ask waits a moment, and then sees why."""
    ask = asking_of(request)
    if ask.state.ready(name) is not None or name not in ask.names():
        return True
    state = request.app.state
    if not hasattr(state, "learners"):
        state.learners = {}
    thread = state.learners.get(name)
    if thread is None or (not thread.is_alive() and name not in ask.state.empty):
        state.learners[name] = thread = threading.Thread(target=_learn, args=(ask, name), name="learner", daemon=True)
        thread.start()
    thread.join(wait_s)
    return not thread.is_alive()


def _learn(ask: Asking, name: str) -> None:
    with suppress(SparkcastError, OSError):  # the page says what is wrong
        ask.learned(name)


@run_pages.get("/run/answer")
def run_answer(request: Request) -> Response:
    """The parts of the page that a script puts in place."""
    query = RunQuery.of(request.query_params.multi_items())
    adviser = adviser_of(request, query.job)
    with adviser.lock:
        view = view_of(adviser, query)
        sliders = sliders_of(adviser, view.query, view.table)
    module = templates().get_template("run_parts.html.jinja").module
    parts = {
        "answer": str(module.answer_part(view)),  # type: ignore[attr-defined]
        "options": str(module.options_part(view)) if request.query_params.get("chart") else "",  # type: ignore[attr-defined]
        "line": str(module.line_part(view)),  # type: ignore[attr-defined]
        "pins": str(module.pins_part(view)),  # type: ignore[attr-defined]
        "trust": str(module.trust_part(view, adviser)),  # type: ignore[attr-defined]
        "stick": str(module.stick_part(view)),  # type: ignore[attr-defined]
        "notes": {slider.name: slider.note for slider in sliders},
        "at": None if view.chart is None else next((row.at for row in view.chart.rows if row.is_answer), None),
        "kind": view.answer.kind,
    }
    text = to_json(parts)
    return Response(text, media_type="application/json", headers=HEADERS)


def view_of(adviser: RunAdviser, query: RunQuery) -> RunView:
    """The answer, and the picture around it."""
    try:
        table: CandidateTable | None = adviser.table(query)
    except SparkcastError:
        table = None  # the answer says why
    if not query.is_limited and table is not None:
        query = replace(query, within_s=starting_deadline(table))
    answer = answer_of(adviser, query, table)
    is_known = answer.kind != "unknown" and table is not None
    chart = chart_of(table, query, answer.configuration) if is_known and table is not None else None
    return RunView(query, answer, table if is_known else None, chart)
