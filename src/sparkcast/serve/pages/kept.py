"""An answer as it was given: kept under an address of its own, with the model and the runs it rests on."""

import time
from collections.abc import Mapping
from hashlib import sha256
from typing import Any
from urllib.parse import parse_qsl, urlsplit

from fastapi import APIRouter, Request
from fastapi.responses import JSONResponse, RedirectResponse, Response

from sparkcast import __version__
from sparkcast.errors import StudyError, UnknownNameError
from sparkcast.plain import to_json
from sparkcast.serve.pages._adviser import RunAdviser, adviser_of
from sparkcast.serve.pages._errors import PageRoute
from sparkcast.serve.pages._query import RunQuery
from sparkcast.serve.pages._site import HEADERS, asking_of, require_own_form, service_of, show
from sparkcast.serve.pages.run import RunView, view_of

kept_pages = APIRouter(route_class=PageRoute)

_MOST_ASKED = 4000  # characters of an address


@kept_pages.post("/a")
async def keep_answer(request: Request) -> Response:
    """The answer to an address of `/run`; the same answer has the same address again."""
    form = await request.form()
    require_own_form(request, form.get("token"))
    asked = str(form.get("asked") or "")
    if not asked.startswith("/run?") or len(asked) > _MOST_ASKED:
        raise StudyError("this is not the address of an answer", hint="open the page of the answer and try again")
    query = RunQuery.of(parse_qsl(urlsplit(asked).query))
    adviser = adviser_of(request, query.job)
    with adviser.lock:
        view = view_of(adviser, query)
    document = document_of(view, adviser)
    key = sha256(to_bytes({name: part for name, part in document.items() if name != "given_s"})).hexdigest()[:16]
    service_of(request).rows.keep_answer(key, query.job, document)
    place = f"/a/{key}"
    if "application/json" in request.headers.get("accept", ""):
        return JSONResponse({"href": place}, headers=HEADERS)
    return RedirectResponse(place, 303)


@kept_pages.get("/a/{key}")
def kept_answer(request: Request, key: str) -> Response:
    """As it was given. A newer one is offered, not swapped in."""
    job, document = service_of(request).rows.kept_answer(key)
    ask = asking_of(request)
    if not ask.who.sees(ask.access.owner_of(job)):
        raise UnknownNameError(f"no answer was kept as {key!r}", hint="copy the link again")
    learned = ask.state.ready(job)
    is_newer = learned is not None and learned.digest != document["digest"]
    more = 0 if learned is None else len(learned.data.dataset.observations) - int(document["runs"])
    return show(
        request, "kept.html.jinja", {"kept": document, "job": job, "is_newer": is_newer, "more": more}, here="run"
    )


def document_of(view: RunView, adviser: RunAdviser) -> dict[str, Any]:
    """What is kept of an answer: words, not the table behind them."""
    answer, learned = view.answer, adviser.learned
    models = answer.found.models if answer.found is not None else {}
    return {
        "kind": answer.kind,
        "title": answer.title,
        "why": answer.why,
        "verdicts": [[one.mark, one.big, one.text] for one in answer.verdicts],
        "notes": list(answer.notes),
        "is_far": answer.is_far,
        "line": list(answer.line),
        "asked": view.query.address(pinned=()),
        "models": sorted({str(model) for model in models.values()}),
        "runs": len(learned.data.dataset.observations),
        "digest": learned.digest,
        "version": __version__,
        "given_s": time.time(),
    }


def to_bytes(document: Mapping[str, Any]) -> bytes:
    text = to_json(dict(document))
    return text if isinstance(text, bytes) else text.encode()
