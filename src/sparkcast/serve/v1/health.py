"""Whether the service lives, and whether it can answer."""

from fastapi import APIRouter, Response

from sparkcast import __version__
from sparkcast.serve.problems import JsonBytes
from sparkcast.serve.v1.common import Ask, errors

router = APIRouter(tags=["health"])


@router.get("/health", responses={**errors(), 200: {"description": "the process lives"}})
def health() -> Response:
    """Whether the process lives: asks nothing of the store."""
    return JsonBytes({"status": "alive", "version": __version__})


@router.get("/ready", responses={**errors(), 200: {"description": "questions are answered"}})
def ready(ask: Ask) -> Response:
    """Whether the store answers, and what was given at the start was learned."""
    ask.state.rows.answers()
    waiting = [
        name for name in ask.state.catalog.given if ask.state.ready(name) is None and name not in ask.state.empty
    ]
    status = 503 if waiting else 200
    return JsonBytes({"status": "learning" if waiting else "ready", "waiting": len(waiting)}, status_code=status)
