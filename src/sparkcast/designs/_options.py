"""A design's own options: the fields of its dataclass, read from the study file."""

import types
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import fields, is_dataclass
from typing import Any, Literal, TypeVar, Union, get_args, get_origin, get_type_hints

from sparkcast.errors import StudyError
from sparkcast.registry import did_you_mean
from sparkcast.study import DesignChoice, Study

D = TypeVar("D")
_COMMON = tuple(f.name for f in fields(DesignChoice) if f.name != "options")
_WORDS = {int: "an integer", float: "a number", str: "a text", bool: "true or false", type(None): "empty"}


def with_options(cls: type[D], study: Study) -> D:
    """An instance with the options that the study gives it."""
    known = tuple(f.name for f in fields(cls)) if is_dataclass(cls) else ()
    hints = get_type_hints(cls) if known else {}
    values: dict[str, Any] = {}
    for name, value in study.design.options.items():
        with _at(study, name):
            if name not in known:
                hint = did_you_mean(name, (*_COMMON, *known))
                raise StudyError(f"unknown key {f'design.{name}'!r} of design {study.design.kind!r}", hint=hint)
            if not _fits(value, hints[name]):
                raise StudyError(f"design.{name} = {value!r} is not {_words(hints[name])}", hint=_example(cls, name))
            values[name] = tuple(value) if isinstance(value, list) else value
            cls(**{name: values[name]})  # alone, so that what is wrong with its value is told with its line
    with _at(study):
        return cls(**values)


def _example(cls: type, name: str) -> str:
    """The line of the design's docstring that shows the option."""
    lines = (line.strip() for line in (cls.__doc__ or "").splitlines())
    return next((line for line in lines if line.startswith(f"{name}:")), "see the guide on designs")


@contextmanager
def _at(study: Study, *keys: str) -> Iterator[None]:
    try:
        yield
    except StudyError as error:
        raise type(error)(f"{study.where('design', *keys)}{error.problem}", hint=error.hint) from error


def _fits(value: object, hint: Any) -> bool:
    origin, arguments = get_origin(hint), get_args(hint)
    if origin in (Union, types.UnionType):
        return any(_fits(value, member) for member in arguments)
    if origin is tuple:
        return isinstance(value, (list, tuple)) and all(_fits(item, arguments[0]) for item in value)
    if origin is Literal:
        return value in arguments
    if isinstance(value, bool):
        return hint is bool
    return isinstance(value, (int, float) if hint is float else hint)


def _words(hint: Any) -> str:
    origin, arguments = get_origin(hint), get_args(hint)
    if origin in (Union, types.UnionType):
        return " or ".join(_words(member) for member in arguments if member is not type(None))
    if origin is tuple:
        return f"a list (of {_words(arguments[0]).removeprefix('a ')}s)"
    if origin is Literal:
        return f"one of {', '.join(map(str, arguments))}"
    return _WORDS.get(hint, str(hint))
