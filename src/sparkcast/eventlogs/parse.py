"""One line to one event. Almost every line is read as its type says; one that does not fit is mended field by field."""

import json
import re
from collections.abc import Callable
from typing import Any, TypeVar, get_args, get_origin

import msgspec

Event = TypeVar("Event", bound=msgspec.Struct)

# Whatever a damaged line can raise, in msgspec, in json and in Python's own limits (digits, nesting).
_UNREADABLE = (msgspec.MsgspecError, ValueError, TypeError, OverflowError, RecursionError, MemoryError)


_SURROGATES = re.compile(rb"(\\u[dD][89abAB]..\\u[dD][c-fC-F]..)|\\u[dD][89a-fA-F]..")


class BadLineError(Exception):
    """No JSON object, even with its damaged characters replaced."""


def decoder(kind: type[Event]) -> Callable[[bytes], Event]:
    """The fast way. Raises one of `NOT_AS_EXPECTED`."""
    return msgspec.json.Decoder(kind).decode


NOT_AS_EXPECTED = _UNREADABLE


def mended(kind: type[Event], line: bytes) -> Event:
    """The slow way: characters that are no UTF-8 replaced, fields of a wrong type left at their defaults."""
    try:
        content = json.loads(_without_lone_surrogates(line).decode("utf-8", errors="replace"))
    except _UNREADABLE:
        raise BadLineError from None
    if not isinstance(content, dict):
        raise BadLineError
    try:
        return _struct(kind, content)
    except _UNREADABLE:
        raise BadLineError from None


def _without_lone_surrogates(line: bytes) -> bytes:
    """Half a character, as \\ud800 alone is, makes a text that nothing can write."""
    return _SURROGATES.sub(lambda match: match[1] or rb"\ufffd", line)


def _struct(kind: type[Event], content: dict[str, Any]) -> Event:
    values = {}
    for field in msgspec.structs.fields(kind):
        if field.encode_name in content:
            try:
                values[field.name] = _fitted(field.type, content[field.encode_name])
            except _UNREADABLE:
                if field.required:
                    raise
    return kind(**values)


def _fitted(kind: Any, value: Any) -> Any:
    if isinstance(kind, type) and issubclass(kind, msgspec.Struct):
        if not isinstance(value, dict):
            raise TypeError
        return _struct(kind, value)
    if get_origin(kind) is list and isinstance(value, list):
        return _those_that_fit(get_args(kind)[0], value)
    if get_origin(kind) is dict and isinstance(value, dict):
        of = get_args(kind)[1]
        if of is str:  # numbers and truth values among the properties
            return {key: item if isinstance(item, str) else json.dumps(item) for key, item in value.items()}
        return {key: _fitted(of, item) for key, item in value.items() if isinstance(item, dict)}
    return msgspec.convert(value, kind, strict=False)


def _those_that_fit(kind: Any, values: list[Any]) -> list[Any]:
    fitting = []
    for value in values:
        try:
            fitting.append(_fitted(kind, value))
        except _UNREADABLE:
            continue
    return fitting
