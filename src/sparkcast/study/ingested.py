"""How ingested runs were kept before they were observations like all others."""

from collections.abc import Mapping
from typing import Any

from sparkcast.plain import to_plain
from sparkcast.study.observation import Fingerprint


def upgraded(old: Mapping[str, Any]) -> dict[str, Any]:
    """A run as stores of version 2 and ledgers of version 1 have it, as the plain data of an `Observation`."""
    return {
        "configuration": old["settings"],
        **{name: old[name] for name in ("responses", "outcome", "cause", "curve")},
        "fingerprint": to_plain(Fingerprint(spark=old["spark"], cluster=old["cluster"])) if old["spark"] else None,
        "started_at": old["started_s"] or None,
        "run_id": old["key"],
        "origin": {
            **{name: old[name] for name in ("job", "log", "is_complete", "properties")},
            "size_bytes": old["size"],
        },
    }
