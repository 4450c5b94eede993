"""What can be asked about: studies, tables, jobs, and their runs."""

import tempfile
from hashlib import sha256
from pathlib import Path
from typing import Annotated, Any

from fastapi import APIRouter, Header, Query, Response

from sparkcast import api
from sparkcast.data.ingest.into_store import NOT_ASKED
from sparkcast.errors import NotEnoughDataError, StudyError
from sparkcast.plain import to_json, to_plain
from sparkcast.serve.posted import observations_of
from sparkcast.serve.problems import JsonBytes
from sparkcast.serve.v1.bodies import ObservationsBody
from sparkcast.serve.v1.common import Ask, answers, errors
from sparkcast.study.redaction import redact_plain

router = APIRouter(prefix="/v1", tags=["studies and runs"])
_TYPES = {"csv": "text/csv; charset=utf-8", "json": "application/json"}


@router.get("/studies", responses=answers("", "the names that other questions take"))
def studies(ask: Ask) -> Response:
    """What can be asked about."""
    entries = ask.state.catalog.entries()
    listed = []
    for name in ask.names():
        known = ask.state.ready(name)
        basis = None if known is None else ask.state.basis(known)
        listed.append({"name": name, "kind": entries[name].kind, "basis": to_plain(basis)})
    return JsonBytes({"schema": "sparkcast/studies/1", "studies": listed})


@router.get("/studies/{study:path}/observations", responses=answers("", "runs, in the order they were made"))
def observations(
    study: str,
    ask: Ask,
    after: Annotated[int, Query(ge=0, description="how many runs to pass over")] = 0,
    limit: Annotated[int, Query(ge=1, le=1000)] = 100,
) -> Response:
    """The runs behind the present model."""
    learned = ask.learned(study)
    runs = learned.data.dataset.observations[after : after + limit]
    rows = [
        {
            "run_id": run.run_id,
            "configuration": run.configuration,
            "responses": run.responses,
            "outcome": run.outcome.value,
            "cause": run.cause,
            "replicate": run.replicate,
            "started_at": run.started_at,
        }
        for run in runs
    ]
    total = len(learned.data.dataset.observations)
    told = {"schema": "sparkcast/observations/1", "study": study, "total": total, "after": after}
    return JsonBytes({**told, "observations": redact_plain(to_plain(rows))})


@router.post(
    "/studies/{study:path}/observations",
    status_code=201,
    responses={**errors(), 201: {"description": "stored"}, 200: {"description": "stored by an earlier post"}},
)
def append(
    study: str,
    body: ObservationsBody,
    ask: Ask,
    idempotency_key: Annotated[
        str | None,
        Header(min_length=8, max_length=200, description="the same for each try of one post, so that it counts once"),
    ] = None,
) -> Response:
    """Keep what finished runs showed. With an Idempotency-Key, a repeated post is stored once."""
    store = ask.state.require_store()
    name = study.strip()
    if not 0 < len(name) <= 300 or any(ord(sign) < 32 for sign in name):
        raise StudyError("a study needs a name of 1 to 300 printable characters")
    ask.request.state.about = name
    owner = ask.access.owner_of(name)
    is_known = name in ask.state.catalog.entries()
    if is_known:
        entry = ask.entry(name)
        if entry.store != store:
            raise StudyError(f"{name!r} is a {entry.kind} that takes no runs", hint="post under another name")
    elif not ask.who.sees(owner):
        ask.entry(name)
    plain = to_json(body.model_dump())
    digest = sha256(plain).hexdigest()
    key = f"{ask.who.team}/{name}/{idempotency_key or digest + str(id(body))}"
    definition = ask.state.open(store).definition(name) if is_known else {}
    runs = observations_of(name, body, definition, key=key)
    told = {"schema": "sparkcast/stored/1", "study": name, "runs": [run.run_id for run in runs]}
    answer, is_new = ask.state.rows.append(
        *(name, NOT_ASKED, runs), key=key, body_hash=digest, answer=told, team=ask.who.team
    )
    if is_new:
        ask.access.forget()
        ask.state.touch(name)
    return JsonBytes(dict(answer), status_code=201 if is_new else 200)


@router.get(
    "/studies/{study:path}/export",
    responses={**errors(), 200: {"description": "a table", "content": {"text/csv": {}, "application/json": {}}}},
)
def export(study: str, ask: Ask, form: Annotated[str, Query(pattern="^(csv|json)$")] = "csv") -> Response:
    """All runs as a table that every command reads, or as rows."""
    data = ask.learned(study).data
    if form == "json":
        rows = redact_plain(to_plain([run.row() for run in data.dataset.observations]))
        return JsonBytes({"schema": "sparkcast/export/1", "rows": rows})
    with tempfile.TemporaryDirectory(prefix="sparkcast-") as folder:
        file = Path(folder) / "runs.csv"
        api.export(data, file)
        return Response(file.read_bytes(), media_type=_TYPES[form])


@router.get("/studies/{study:path}", responses=answers("", "settings, responses and the model of a study"))
def one_study(study: str, ask: Ask) -> Response:
    """What is known of a study: settings and their levels, responses, runs, and the model behind answers."""
    entry = ask.entry(study)
    told: dict[str, Any] = {"schema": "sparkcast/study/1", "name": entry.name, "kind": entry.kind}
    try:
        learned = ask.learned(study)
    except NotEnoughDataError:
        return JsonBytes({**told, "runs": 0, "settings": {}, "responses": [], "basis": None})
    dataset = learned.data.dataset
    levels = {name: list(dataset.levels(name)) for name in dataset.factors}
    failed = sum(not run.ok for run in dataset.observations)
    told |= {"runs": len(dataset.observations), "failed": failed, "settings": levels}
    told |= {"responses": list(dataset.responses), "basis": to_plain(ask.state.basis(learned))}
    return JsonBytes(redact_plain(told))
