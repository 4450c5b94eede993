"""Long work: how it stands, its steps as they come, its end."""

import asyncio
from collections.abc import AsyncIterator
from typing import Any

from fastapi import APIRouter, Response
from starlette.concurrency import iterate_in_threadpool
from starlette.responses import StreamingResponse

from sparkcast.errors import UnknownNameError
from sparkcast.plain import to_json
from sparkcast.serve.problems import JsonBytes
from sparkcast.serve.v1.common import Ask, Asking, answers, errors
from sparkcast.store.service import WorkRow

router = APIRouter(prefix="/v1/work", tags=["long work"])
_MOST_WAIT_S = 60.0


def document_of_work(row: WorkRow) -> dict[str, Any]:
    """How work stands; `answer` is its document as soon as there is one."""
    return {
        "schema": "sparkcast/work/1",
        "id": row.id,
        "kind": row.kind,
        "state": row.state,
        "progress": row.progress,
        "created_at": row.created_at,
        "ended_at": row.ended_at,
        "answer": row.answer,
    }


def accepted(ask: Asking, row: WorkRow, wait_s: float) -> Response:
    """The answer itself where it comes in time; else where to ask for it."""
    found = ask.work.wait(row, min(max(wait_s, 0.0), _MOST_WAIT_S)) if wait_s > 0 else row
    if found.state == "done":
        return JsonBytes(dict(found.answer or {}))
    if not found.is_open and found.answer is not None:
        failed = dict(found.answer)
        return JsonBytes(failed, status_code=int(failed.pop("status", 409)))
    headers = {"Location": f"/v1/work/{row.id}"}
    return JsonBytes(document_of_work(found), status_code=202, headers=headers)


def _own(ask: Asking, work_id: str) -> WorkRow:
    row = ask.state.rows.work(work_id)
    if not ask.who.sees(row.team):
        raise UnknownNameError(f"no work has the id {work_id!r}")
    ask.request.state.about = row.kind
    return row


@router.get("/{work_id}", responses=answers("", "how the work stands"))
def work(work_id: str, ask: Ask) -> Response:
    """How work stands, with its answer when it is done."""
    return JsonBytes(document_of_work(_own(ask, work_id)))


@router.delete("/{work_id}", responses=answers("", "how the work stands now"))
def cancel(work_id: str, ask: Ask) -> Response:
    """Stop work; what is done stays done."""
    return JsonBytes(document_of_work(ask.work.cancel(_own(ask, work_id))))


@router.get(
    "/{work_id}/events",
    response_class=StreamingResponse,
    responses={**errors(), 200: {"description": "each step as it comes", "content": {"text/event-stream": {}}}},
)
def events(work_id: str, ask: Ask) -> StreamingResponse:
    """The steps of work as server-sent events; the last one has the answer."""
    row = _own(ask, work_id)

    async def told() -> AsyncIterator[bytes]:
        async for step in iterate_in_threadpool(ask.work.follow(row.id)):
            yield (
                b"event: "
                + (b"step" if step.is_open else b"end")
                + b"\ndata: "
                + to_json(document_of_work(step))
                + b"\n\n"
            )
            await asyncio.sleep(0)

    return StreamingResponse(told(), media_type="text/event-stream")
