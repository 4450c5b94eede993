"""What all endpoints share: who asks, about what, and how an answer is written."""

from dataclasses import dataclass
from typing import Annotated, Any

from fastapi import Depends, Request

from sparkcast.errors import UnknownNameError
from sparkcast.registry import did_you_mean
from sparkcast.serve.access import LOCAL, Access, Principal
from sparkcast.serve.catalog import CatalogEntry
from sparkcast.serve.learning import Learned
from sparkcast.serve.problems import JsonBytes
from sparkcast.serve.state import ServiceState
from sparkcast.serve.working import WorkManager
from sparkcast.wire.documents import document_of

_MOST_WAIT_S = 60.0  # for a model that is learned for the first time
_ERRORS = {
    400: "the request cannot be read",
    401: "no valid token",
    403: "the token's scope is too narrow",
    404: "no such study, job or path",
    409: "too few runs, nothing meets the limits, or a contradiction",
    413: "the body is too long",
    421: "the service is not known under this name",
    422: "the question is malformed",
    429: "too many requests",
    502: "a cluster or a worker process failed",
    503: "the store does not answer, or a model is still being learned",
    507: "the store cannot be read or written",
}


def errors() -> dict[int | str, dict[str, Any]]:
    """What every endpoint may answer instead, for the OpenAPI document."""
    body = {"application/json": {"schema": {"$ref": "#/components/schemas/Error"}}}
    return {status: {"description": text, "content": body} for status, text in _ERRORS.items()}


def answers(document: str, description: str) -> dict[int | str, dict[str, Any]]:
    """What an endpoint answers, for the OpenAPI document: the form that the command prints with --json."""
    schema: dict[str, Any] = {"type": "object"}
    if document:
        schema["description"] = f"the document of the command {document}: see docs/reference/json.md"
    body = {"application/json": {"schema": schema}}
    return {**errors(), 200: {"description": description, "content": body}}


@dataclass(frozen=True, slots=True)
class Asking:
    """One request: who asks, and the service."""

    state: ServiceState
    access: Access
    work: WorkManager
    who: Principal
    request: Request

    def names(self) -> tuple[str, ...]:
        """What the asker may see."""
        return tuple(name for name in self.state.names() if self.who.sees(self.access.owner_of(name)))

    def entry(self, name: str) -> CatalogEntry:
        """Raises UnknownNameError also for what belongs to another team."""
        self.request.state.about = name
        if self.who.sees(self.access.owner_of(name)):
            known = self.state.ready(name)
            if known is not None:
                return known.entry
            entries = self.state.catalog.entries()
            if name in entries:
                return entries[name]
        raise UnknownNameError(f"no study or job is named {name!r}", hint=did_you_mean(name, self.names()))

    def learned(self, name: str) -> Learned:
        return self.state.learned(self.entry(name).name, _MOST_WAIT_S)

    def note_deadline(self, name: str, within_s: float | None) -> None:
        """For the metrics."""
        if within_s is not None:
            self.state.deadlines[name] = within_s

    def document(self, name: str, result: object, learned: Learned, **beside: object) -> JsonBytes:
        """The answer, with what it rests on."""
        return JsonBytes(document_of(name, result, {"basis": self.state.basis(learned), **beside}))


def _asking(request: Request) -> Asking:
    app = request.app.state
    return Asking(app.service, app.access, app.work, getattr(request.state, "principal", LOCAL), request)


Ask = Annotated[Asking, Depends(_asking)]
