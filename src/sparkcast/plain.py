"""Dataclasses as plain data and back, and as JSON: the one way in which documents and files of ours are written.

Plain data are dictionaries, lists, texts, numbers, truth values and None.
"""

from collections.abc import Mapping
from dataclasses import MISSING, Field, fields, is_dataclass
from enum import Enum
from functools import lru_cache
from pathlib import PurePath
from typing import Any, TypeVar

import msgspec

T = TypeVar("T")


def to_plain(value: Any, *, omit_defaults: bool = False) -> Any:
    """A value as plain data; a class that is written another way than field by field has a method `as_plain`.

    >>> to_plain({"at": (1, 2), "file": PurePath("runs.csv")})
    {'at': [1, 2], 'file': 'runs.csv'}
    """
    kind = type(value)
    if value is None or kind in (str, int, float, bool):
        return value
    if hasattr(kind, "as_plain"):
        return value.as_plain()
    if is_dataclass(kind):
        kept = {name: getattr(value, name) for name in _names_of(kind)}
        if omit_defaults:
            kept = {f.name: kept[f.name] for f in fields(value) if kept[f.name] != _default(f)}
        return {name: to_plain(item, omit_defaults=omit_defaults) for name, item in kept.items()}
    if isinstance(value, Mapping):
        return {str(key): to_plain(item, omit_defaults=omit_defaults) for key, item in value.items()}
    if isinstance(value, (list, tuple)):
        return [to_plain(item, omit_defaults=omit_defaults) for item in value]
    if isinstance(value, (set, frozenset)):
        return sorted(value)
    if isinstance(value, Enum):
        return value.value
    if isinstance(value, str):
        return str.__str__(value)  # a text of a class of its own
    if isinstance(value, PurePath):
        return str(value)
    return value.tolist() if hasattr(value, "tolist") else value  # numbers and arrays of numpy


@lru_cache(1024)
def _names_of(kind: Any) -> tuple[str, ...]:
    return tuple(f.name for f in fields(kind))


def _default(field: Field[Any]) -> Any:
    return field.default if field.default_factory is MISSING else field.default_factory()


def from_plain(kind: type[T], plain: Any) -> T:
    """What was made plain, checked against the types of its fields. Raises ValueError where it does not fit.

    Fields that are not there get their defaults, and those that `kind` does not have are passed over. A class that is
    no dataclass is made from what stands in its place.
    """
    try:
        return msgspec.convert(plain, kind, dec_hook=lambda own, value: own(value))
    except (msgspec.ValidationError, TypeError) as error:
        raise ValueError(str(error)) from error


def to_json(value: Any, *, indent: int | None = None) -> bytes:
    """A value as JSON. A number that is not finite becomes null.

    >>> to_json({"time_s": float("nan"), "runs": (1, 2)})
    b'{"time_s":null,"runs":[1,2]}'
    """
    text = msgspec.json.encode(to_plain(value))
    return text if indent is None else msgspec.json.format(text, indent=indent)


def from_json(text: str | bytes) -> Any:
    """Plain data from JSON; None where it is none, such as a line that a crash cut off."""
    try:
        return msgspec.json.decode(text)
    except (msgspec.MsgspecError, ValueError, RecursionError):
        return None
