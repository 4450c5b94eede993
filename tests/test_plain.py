"""Dataclasses as plain data and back: what was written is read again, and nothing that does not fit is."""

import json
import math
from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from sparkcast.plain import from_json, from_plain, to_json, to_plain
from sparkcast.study import Configuration


class Shape(StrEnum):
    FLAT = "flat"


class Word(str):
    __slots__ = ()

    def __str__(self) -> str:
        return "told otherwise"


@dataclass(frozen=True, slots=True)
class Part:
    size: float
    shape: Shape = Shape.FLAT
    others: tuple["Part", ...] = ()


@dataclass(frozen=True, slots=True)
class Whole:
    name: str
    settings: Configuration = field(default_factory=Configuration)
    parts: Mapping[str, Part] = field(default_factory=dict)
    first: Part | None = None


@dataclass(frozen=True, slots=True)
class Hidden:
    secret: str

    def as_plain(self) -> str:
        return "***"


WHOLE = Whole("w", Configuration({"memory": "1024m"}), {"a": Part(1.5, others=(Part(2.0),))})


@pytest.mark.parametrize("omit_defaults", [False, True])
def test_what_was_made_plain_comes_back_with_its_types(omit_defaults: bool) -> None:
    plain = to_plain(WHOLE, omit_defaults=omit_defaults)
    assert from_plain(Whole, json.loads(to_json(plain))) == WHOLE
    assert ("first" in plain) == (not omit_defaults)


@pytest.mark.parametrize(
    ("value", "plain"),
    [
        (Hidden("password"), "***"),
        ({1: (2, [3])}, {"1": [2, [3]]}),
        (frozenset("ba"), ["a", "b"]),
        (Path("a") / "b", "a/b"),
        (Shape.FLAT, "flat"),
        (Word("said"), "said"),
        (np.float64(0.5), 0.5),
        (np.array([1, 2]), [1, 2]),
    ],
)
def test_other_values_become_the_plain_ones_that_stand_for_them(value: object, plain: object) -> None:
    assert to_plain(value) == plain
    assert json.loads(to_json({"value": value})) == {"value": plain}


@given(st.floats(allow_nan=False, allow_infinity=False))
def test_every_finite_number_is_read_again_to_the_last_digit(number: float) -> None:
    again = from_json(to_json([number]))[0]
    assert (again, math.copysign(1, again)) == (number, math.copysign(1, number))


@pytest.mark.parametrize("number", [math.nan, math.inf, -math.inf])
def test_what_is_no_finite_number_is_null(number: float) -> None:
    assert to_json({"a": number}) == b'{"a":null}'


@pytest.mark.parametrize(
    "plain",
    [
        {},
        {"name": 3},
        {"name": "w", "parts": {"a": {}}},
        {"name": "w", "parts": {"a": {"size": "1.5"}}},
        {"name": "w", "parts": {"a": {"size": 1, "shape": "round"}}},
        {"name": "w", "settings": 3},
        [],
    ],
)
def test_plain_data_that_do_not_fit_are_refused(plain: Any) -> None:
    with pytest.raises(ValueError, match=r"."):
        from_plain(Whole, plain)


def test_fields_of_a_later_version_are_passed_over() -> None:
    assert from_plain(Whole, {"name": "w", "color": "red"}) == Whole("w")


@pytest.mark.parametrize("text", ["", "{", '{"a": 1', b"\xff\xfe", "nan", "[" * 100_000])
def test_what_is_no_json_reads_as_none(text: str | bytes) -> None:
    assert from_json(text) is None
