"""Documents: an answer as plain data, with the name and version of its form, and without anybody's secrets."""

from collections.abc import Mapping
from typing import Any

SCHEMA_VERSION = 1  # of every document; docs/reference/schemas


def schema_name(document: str) -> str:
    return f"sparkcast/{document.replace(' ', '-')}/{SCHEMA_VERSION}"


def document_of(
    name: str, result: object, beside: Mapping[str, object] | None = None, *, is_users: bool = False
) -> Any:
    """The document of an answer, with what is told `beside` it; a list has no place for either.

    `is_users` is for what the user gave and gets back, secrets included.
    """
    from sparkcast.plain import to_plain
    from sparkcast.study.redaction import redact_plain

    plain = to_plain(result) if is_users else redact_plain(to_plain(result))
    if not isinstance(plain, dict):
        return plain
    return {"schema": schema_name(name), **plain, **to_plain(beside or {})}
