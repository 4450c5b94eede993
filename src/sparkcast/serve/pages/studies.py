"""Studies: the plan and how far it is, every run, what matters, predicted against measured, the front, machines."""

import asyncio
import threading
from collections.abc import AsyncIterator, Callable
from dataclasses import dataclass

from fastapi import APIRouter, HTTPException, Request
from fastapi.responses import HTMLResponse, Response, StreamingResponse

from sparkcast import api
from sparkcast.data.samples import fastest_and_slowest, sampled_runs
from sparkcast.data.sources import Data
from sparkcast.errors import NotEnoughDataError, SparkcastError
from sparkcast.learned.knowledge import Knowledge
from sparkcast.plain import to_json
from sparkcast.report.document import PlannedRun, machine_figures, planned_runs
from sparkcast.report.figures import (
    FigureSection,
    analysis_figures,
    predicted_vs_actual,
    recommendation_figures,
    run_figures,
)
from sparkcast.serve.pages import _words as words
from sparkcast.serve.pages._adviser import adviser_of
from sparkcast.serve.pages._errors import PageRoute
from sparkcast.serve.pages._progress import StudyProgress, progress_of
from sparkcast.serve.pages._query import RunQuery
from sparkcast.serve.pages._site import HEADERS, asking_of, drawn_for, show, templates
from sparkcast.serve.v1.common import Asking
from sparkcast.study import Response as Measure
from sparkcast.validate import Validation

study_pages = APIRouter(route_class=PageRoute)

MOST_RUNS = 200  # of a table; the CSV has them all
_MOST_LEFT_OUT_ONE_BY_ONE = 12  # configurations; a report may take longer
_EVERY_S = 1.0  # between two looks at a study that runs
_computing = threading.Lock()  # models are fitted one after the other


@dataclass(frozen=True, slots=True)
class StudyLine:
    """A study in the list."""

    name: str
    runs: int | None  # None: not read yet
    varied: tuple[str, ...]
    progress: StudyProgress | None
    problem: str = ""


@dataclass(frozen=True, slots=True)
class StudyPart:
    """A section that takes a while to compute."""

    key: str
    title: str


PARTS = (
    StudyPart("results", "What was measured?"),
    StudyPart("effects", "Which settings matter?"),
    StudyPart("trust", "How far can predictions be trusted?"),
    StudyPart("front", "What trades off against what?"),
    StudyPart("machines", "What did the machines do?"),
)


@study_pages.get("/studies")
def study_list(request: Request) -> Response:
    ask = asking_of(request)
    lines = [_line(ask, name) for name in ask.names()]
    return show(request, "studies.html.jinja", {"lines": lines}, here="studies")


def _line(ask: Asking, name: str) -> StudyLine:
    """Without learning anything: a list of many studies must not wait for models."""
    entry = ask.entry(name)
    known = ask.state.ready(name)
    factors = tuple(factor.name for factor in entry.study.factors) if entry.study else ()
    try:
        progress = progress_of(ask.state, entry)
        if known is None:
            return StudyLine(name, progress.done if progress else None, factors, progress)
        return StudyLine(name, len(known.data.dataset.observations), known.data.dataset.factors, progress)
    except SparkcastError as error:
        return StudyLine(name, None, factors, None, error.problem)


def fresh_data(ask: Asking, name: str, progress: StudyProgress | None) -> Data:
    """The runs as they are now, also while a model is learned from them."""
    known = ask.learned(name)
    if progress is not None and progress.done > len(known.data.dataset.observations):
        return known.entry.load()
    return known.data


@study_pages.get("/studies/{name}")
def study_page(request: Request, name: str) -> Response:
    ask = asking_of(request)
    entry = ask.entry(name)
    progress = progress_of(ask.state, entry)
    try:
        data = fresh_data(ask, name, progress)
    except NotEnoughDataError as error:
        nothing = {"entry": entry, "progress": progress, "error": error, "data": None}
        return show(request, "study.html.jinja", nothing, here="studies")
    runs = runs_of(data)
    values = {
        "entry": entry,
        "progress": progress,
        "error": None,
        "data": data,
        "runs": runs[:MOST_RUNS],
        "n_runs": len(runs),
        "parts": [part for part in PARTS if part.key != "machines" or data.results is not None],
        "measured": [data.dataset.vocabulary.response(name) for name in data.dataset.responses],
        "show": shown_value,
    }
    return show(request, "study.html.jinja", values, here="studies")


def shown_value(response: Measure, run: PlannedRun) -> str:
    amount = run.responses.get(response.name)
    return "–" if amount is None else words.value(response, amount)


def runs_of(data: Data) -> tuple[PlannedRun, ...]:
    plan = None if data.study is None else api.plans.make_plan(data.study)
    return planned_runs(data.dataset, plan)


@study_pages.get("/studies/{name}/runs.csv")
def study_csv(request: Request, name: str) -> Response:
    from sparkcast.study.spreadsheet import escaped

    frame = asking_of(request).learned(name).data.frame()
    text = frame.map(lambda cell: escaped(cell) if isinstance(cell, str) else cell).to_csv(index=False)
    told = {**HEADERS, "Content-Disposition": 'attachment; filename="runs.csv"'}
    return Response(text, media_type="text/csv; charset=utf-8", headers=told)


@study_pages.get("/studies/{name}/parts/{key}")
def study_part(request: Request, name: str, key: str, width: str = "") -> Response:
    """A section; a page of its own for whoever has no script."""
    part = next((one for one in PARTS if one.key == key), None)
    if part is None:
        raise HTTPException(404)
    learned = asking_of(request).learned(name)
    kept = _kept(request)
    width = width if width in ("wide", "narrow") else ""
    place = (name, learned.digest, f"{key} {width}")
    if place not in kept:
        with _computing:
            if place not in kept:
                while len(kept) > 100:
                    kept.pop(next(iter(kept)))
                with drawn_for(width):
                    kept[place] = _MAKERS[key](request, name, learned.data)
    if request.headers.get("sec-fetch-dest") == "empty":
        return HTMLResponse(kept[place], headers=HEADERS)
    values = {"part": part, "name": name, "content": kept[place]}
    return show(request, "study_part.html.jinja", values, here="studies")


def _kept(request: Request) -> dict[tuple[str, str, str], str]:
    state = request.app.state
    if not hasattr(state, "study_parts"):
        state.study_parts = {}
    found: dict[tuple[str, str, str], str] = state.study_parts
    return found


def _blocks() -> object:
    return templates().get_template("study_blocks.html.jinja").module


def _results(request: Request, name: str, data: Data) -> str:
    return str(_blocks().figures_part(run_figures(data.dataset)))  # type: ignore[attr-defined]


def _effects(request: Request, name: str, data: Data) -> str:
    notes: list[str] = []
    found = []
    for response in _measured(data)[:2]:
        try:
            analysis = api.analyze(data, response)
        except SparkcastError as error:
            notes.append(error.problem)
            continue
        drawn = [figure for figure in analysis_figures(analysis) if figure.section is FigureSection.EFFECTS]
        found.append((analysis, drawn, ()))  # the pictures of the checks are in the report
    return str(_blocks().effects_part(found, tuple(dict.fromkeys(notes))))  # type: ignore[attr-defined]


def _trust(request: Request, name: str, data: Data) -> str:
    notes: list[str] = []
    found = []
    for response in _measured(data)[:2]:
        try:
            validation = _validated(data, response)
        except SparkcastError as error:
            notes.append(error.problem)
            continue
        figure = predicted_vs_actual(validation)
        found.append((validation, [] if figure is None else [figure]))
    return str(_blocks().trust_part(found, tuple(dict.fromkeys(notes))))  # type: ignore[attr-defined]


def _validated(data: Data, response: str) -> Validation:
    """The model that answers, tested on what it has not seen; a report compares it with the others."""
    n = len({data.dataset.key(run) for run in data.dataset.successful(response)})
    protocol = "loo" if n <= _MOST_LEFT_OUT_ONE_BY_ONE else "kfold:5"
    return api.validate(data, response, protocol=protocol, models=[Knowledge(data.dataset).model])


def _front(request: Request, name: str, data: Data) -> str:
    adviser = adviser_of(request, name)
    try:
        with adviser.lock:
            found = adviser.recommend(RunQuery(name))
    except SparkcastError as error:
        return str(_blocks().figures_part([], (error.problem,)))  # type: ignore[attr-defined]
    return str(_blocks().figures_part(recommendation_figures(found)))  # type: ignore[attr-defined]


def _machines(request: Request, name: str, data: Data) -> str:
    sampled = [(run.observation, run.series) for run in sampled_runs(data, fastest_and_slowest(data))]
    drawn = list(machine_figures(data.dataset, sampled))
    return str(_blocks().figures_part(drawn, () if drawn else ("No machine was sampled in these runs",)))  # type: ignore[attr-defined]


def _measured(data: Data) -> list[str]:
    return [name for name in data.dataset.responses if data.dataset.successful(name)]


_MAKERS: dict[str, Callable[[Request, str, Data], str]] = {
    "results": _results,
    "effects": _effects,
    "trust": _trust,
    "front": _front,
    "machines": _machines,
}


@study_pages.get("/studies/{name}/events")
async def study_events(request: Request, name: str) -> Response:
    """How far it is, whenever that changes, until it no longer runs."""
    ask = asking_of(request)
    state, entry = ask.state, await asyncio.to_thread(ask.entry, name)

    async def told() -> AsyncIterator[str]:
        last = ""
        while not await request.is_disconnected():
            progress = await asyncio.to_thread(progress_of, state, entry)
            if progress is None:
                break
            text = to_json(
                {
                    "text": progress.text,
                    "done": progress.done,
                    "planned": progress.planned,
                    "isRunning": progress.is_running,
                }
            )
            line = text.decode() if isinstance(text, bytes) else text
            if line != last:
                yield f"data: {line}\n\n"
                last = line
            if progress.done >= progress.planned:
                yield "event: end\ndata: {}\n\n"
                break
            await asyncio.sleep(_EVERY_S)

    return StreamingResponse(told(), media_type="text/event-stream", headers=HEADERS)
