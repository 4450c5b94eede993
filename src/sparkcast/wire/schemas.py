"""JSON schemas of the documents, made from the types of the answers.

A new command adds its type to `documents`; a test fails for one that is missing.
"""

import types
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, fields, is_dataclass
from enum import Enum
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, Union, get_args, get_origin, get_type_hints

from sparkcast.wire.documents import schema_name

if TYPE_CHECKING:
    from sparkcast.recommend import Relaxed
    from sparkcast.study import Configuration

Schema = dict[str, Any]

_PLAIN: dict[Any, Schema] = {
    str: {"type": "string"},
    Path: {"type": "string"},
    bool: {"type": "boolean"},
    int: {"type": "integer"},
    float: {"type": ["number", "null"]},  # what is no number or not finite is null
    type(None): {"type": "null"},
    Any: {},
    object: {},
}
# These tell beside their result how a table was understood, where they were given one.
_READ_TABLES = (*"analyze export fit predict queue report recommend validate".split(), "queue admit")
_LEVEL = {"type": ["string", "number", "boolean"]}


@dataclass(frozen=True, slots=True)
class ErrorDocument:
    """What went wrong, and what comes nearest to what was asked: names that may have been meant, or settings."""

    code: int  # the exit code
    problem: str
    hint: str
    nearest: "tuple[str | Relaxed | Configuration, ...]"


def documents() -> dict[str, Any]:
    """The type of each command's document; of `run`, also what --dry-run prints, and of `list`, what a kind holds."""
    from sparkcast.analysis import Analysis
    from sparkcast.data.ingest import Ingested
    from sparkcast.demo import DemoResult
    from sparkcast.designs.summary import PlanSummary
    from sparkcast.history.gate import GateAnswer
    from sparkcast.history.morning import FleetReport
    from sparkcast.history.remaining import Eta
    from sparkcast.history.summary import Jobs
    from sparkcast.history.watch import Watched
    from sparkcast.learned.predict import PredictionAt
    from sparkcast.observe.speed import MeasuredCluster
    from sparkcast.profile import LogComparison, Profile
    from sparkcast.queues.admission import Decision
    from sparkcast.queues.answer import QueueAnswer
    from sparkcast.recommend import Recommendation
    from sparkcast.recommend.submission import SubmittedJob
    from sparkcast.replay import WhatIf
    from sparkcast.replications import Replicated
    from sparkcast.runs.campaign import CampaignResult
    from sparkcast.search.loop import TuneResult
    from sparkcast.search.unrun import UnrunAnswer
    from sparkcast.store.checking import StoreChecked
    from sparkcast.store.copying import StoreCopied
    from sparkcast.store.migrating import StoreMigrated
    from sparkcast.store.pruning import StorePruned
    from sparkcast.store.service import TokenAnswer
    from sparkcast.validate import Validation
    from sparkcast.wire.results import Exported, FitReport, Kinds, Starter, Written

    return {
        "analyze": Analysis,
        "check": GateAnswer,
        "demo": DemoResult,
        "design": PlanSummary,
        "eta": Eta,
        "export": Exported,
        "fit": FitReport,
        "fleet": FleetReport,
        "ingest": Ingested,
        "init": Starter,
        "jobs": Jobs,
        "list": Kinds | dict[str, str],
        "predict": PredictionAt,
        "queue": QueueAnswer,
        "queue admit": Decision,
        "profile": Profile | LogComparison,
        "recommend": Recommendation | UnrunAnswer,
        "replicate": Replicated,
        "report": Written,
        "run": CampaignResult | list[str],
        "serve token": TokenAnswer,
        "speed": MeasuredCluster,
        "submit": SubmittedJob,
        "store check": StoreChecked,
        "store copy": StoreCopied,
        "store migrate": StoreMigrated,
        "store prune": StorePruned,
        "tune": TuneResult,
        "validate": Validation,
        "watch": Watched,
        "whatif": WhatIf | Recommendation,
    }


def schemas() -> dict[str, Schema]:
    """The schema of each command's document, and of `error`, which any of them prints when it fails."""
    found = {name: _document(name, kind) for name, kind in documents().items()}
    error = _document("error", ErrorDocument)
    told = error["$defs"].pop("ErrorDocument")
    error["properties"]["error"] = told
    error["required"] = ["schema", "error"]
    error.pop("allOf")
    return found | {"error": error}


def _document(name: str, kind: Any) -> Schema:
    from sparkcast.data.understood import Understood

    shared: dict[str, Schema] = {}
    kinds = get_args(kind) if _is_union(kind) else (kind,)
    bodies = [_schema(one, shared) for one in kinds]
    head: Schema = {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "$id": schema_name(name),
        "title": f"sparkcast {name} --json" if name != "error" else "a command with --json that fails",
    }
    known: Schema = {"properties": {"schema": {"const": schema_name(name)}}, "required": ["schema"]}
    if name in _READ_TABLES:
        known["properties"]["understood"] = _schema(Understood, shared)
    if len(bodies) == 1:
        return {**head, "type": "object", **known, "allOf": bodies, "$defs": shared}
    told = [body if body.get("type") == "array" else {"type": "object", **known, "allOf": [body]} for body in bodies]
    return {**head, "anyOf": told, "$defs": shared}


def _schema(kind: Any, shared: dict[str, Schema]) -> Schema:
    from sparkcast.fitting.distribution import Distribution
    from sparkcast.study import Configuration, Vocabulary

    if kind is Distribution:
        return {"type": "object", "additionalProperties": _PLAIN[float]}
    if isinstance(kind, type) and issubclass(kind, Configuration):
        return {"type": "object", "additionalProperties": _LEVEL}
    if kind is Vocabulary:
        return {"type": "object"}
    if isinstance(kind, type) and issubclass(kind, Enum):
        return {"enum": [member.value for member in kind]}
    if is_dataclass(kind) and isinstance(kind, type):
        return _of_dataclass(kind, shared)
    if kind in _PLAIN:
        return dict(_PLAIN[kind])
    return _of_generic(kind, shared)


def _of_dataclass(kind: type, shared: dict[str, Schema]) -> Schema:
    if kind.__name__ not in shared:
        shared[kind.__name__] = {}  # it may hold itself
        hints = get_type_hints(kind, localns=_names())
        properties = {field.name: _schema(hints[field.name], shared) for field in fields(kind)}
        described = {"description": (kind.__doc__ or "").partition("\n")[0]}
        if described["description"].startswith(f"{kind.__name__}("):  # made by dataclass itself
            described = {}
        shared[kind.__name__] = {**described, "type": "object", "properties": properties, "required": [*properties]}
    return {"$ref": f"#/$defs/{kind.__name__}"}


def _of_generic(kind: Any, shared: dict[str, Schema]) -> Schema:
    origin, inner = get_origin(kind), get_args(kind)
    if _is_union(kind):
        return {"anyOf": [_schema(one, shared) for one in inner]}
    if origin is Literal:
        return {"enum": [*inner]}
    if origin is tuple and inner[-1] is not Ellipsis:
        each = [_schema(one, shared) for one in inner]
        return {"type": "array", "prefixItems": each, "minItems": len(each), "maxItems": len(each)}
    if isinstance(origin, type) and issubclass(origin, Mapping):
        return {"type": "object", "additionalProperties": _schema(inner[1], shared)}
    if isinstance(origin, type) and issubclass(origin, Sequence | frozenset):
        return {"type": "array", "items": _schema(inner[0], shared)}
    raise TypeError(f"no schema for {kind!r}")


def _is_union(kind: Any) -> bool:
    return get_origin(kind) in (Union, types.UnionType)


def _names() -> dict[str, Any]:
    """What annotations name that is imported for the type checker only."""
    from sparkcast.learned.fit import FittedResponse
    from sparkcast.recommend import Relaxed
    from sparkcast.study import Configuration

    return {"FittedResponse": FittedResponse, "Relaxed": Relaxed, "Configuration": Configuration}
