"""One cell of a table as people write it: `1.234,5`, `4 GB`, `1h 5m`, `01:05:00`, `95 %`, `$1.20`, a date.

A cell alone does not tell what its commas mean, nor an `m`; `sparkcast.data.column` decides that for a whole column.
"""

import re
from collections.abc import Mapping
from dataclasses import dataclass
from functools import lru_cache
from itertools import pairwise
from typing import Literal

from sparkcast.study import Level
from sparkcast.study.heading_languages import UNITS
from sparkcast.study.headings import fold
from sparkcast.units import BYTES, SECONDS

Mark = Literal[".", ","]
Family = str  # time, size, share, money, count, or the word behind a number

TIME, SIZE, SHARE, MONEY, COUNT = "time", "size", "share", "money", "count"
_SIGNS = {"$": "USD", "€": "EUR", "£": "GBP", "¥": "JPY", "₹": "INR", "₩": "KRW", "₽": "RUB", "₺": "TRY"}
_CODES = {
    code: code.upper()
    for code in "usd eur gbp jpy chf cny inr pln sek nok dkk czk huf brl cad aud krw rub uah try".split()
}
_CODES |= {"euro": "EUR", "us$": "USD", "zł": "PLN", "kč": "CZK", "r$": "BRL"}
_COUNTS = {"k": 1e3, "thousand": 1e3, "tsd": 1e3, "m": 1e6, "mio": 1e6, "mn": 1e6, "million": 1e6, "millions": 1e6}
_COUNTS |= {"万": 1e4, "萬": 1e4, "億": 1e8, "亿": 1e8}
_COUNTS |= {"b": 1e9, "bn": 1e9, "mrd": 1e9, "billion": 1e9, "billions": 1e9}

_SPACES = "\u0020\u00a0\u202f\u2009"
_NUMBER = rf"[+-]?(?:\d(?:[\d.,'’_{_SPACES}]*\d)?[.,]?|[.,]\d+)(?:[eE][+-]?\d+)?"
_UNIT = r"%|[$€£¥₹₩₽₺]|[^\W\d_]+\.?"
_PART = re.compile(rf"({_NUMBER})(\s*)({_UNIT})?\s*(?:,|and)?\s*")
_PREFIX = re.compile(rf"([+-]?)\s*(us\$|r\$|[$€£¥₹₩₽₺]|[a-z]{{3}})\s*(?={_NUMBER})", re.IGNORECASE)
# `1 day, 02:03:04`, and `1-02:03:04` as Slurm writes it.
_DAYS = r"(?:(\d+)(?:\s*(?:d|days?),?\s+|-(?=\d+:\d+:)))?"
_CLOCK = re.compile(_DAYS + r"(\d+):([0-5]\d)(?::([0-5]\d))?(?:[.,](\d+))?")
_HOURS_AND = re.compile(r"(\d+)\s?h\s?([0-5]\d)", re.IGNORECASE)  # `1h42`, as the French and Brazilians write it
_ISO = re.compile(r"P(?:(\d+)D)?T(?=\d)(?:(\d+)H)?(?:(\d+)M)?(?:(\d+)(?:[.,](\d+))?S)?", re.IGNORECASE)
_GROUPED = re.compile(r"[1-9]\d{0,2}(?:([,.'’_\u0020\u00a0\u202f\u2009])\d{3})(?:\1\d{3})*")
_INDIAN = re.compile(r"[1-9]\d?(?:,\d\d)+,\d{3}")  # 1,23,456
SIMPLE: Mapping[Mark, re.Pattern[str]] = {  # numbers without thousands
    ".": re.compile(r"-?[0-9]{1,15}(?:\.[0-9]+)?"),
    ",": re.compile(r"-?[0-9]{1,15}(?:,[0-9]+)?"),
}
_EXPONENT = re.compile(r"[eE][+-]?\d+$")
_ZONE = r"(?:Z|UTC|GMT|[+-]\d{2}:?\d{2}|\(?UTC[+-]\d{1,2}(?::\d{2})?\)?)"
_TIME_OF_DAY = rf"(?:[T ,]+\d{{1,2}}:\d{{2}}(?::\d{{2}}(?:[.,]\d+)?)?\s*(?:[AaPp]\.?[Mm]\.?)?\s*{_ZONE}?)?"
_DATE = re.compile(
    rf"(?:\d{{4}}[-/.]\d{{1,2}}[-/.]\d{{1,2}}|\d{{1,2}}[-/.]\d{{1,2}}[-/.]\d{{4}}|\d{{1,2}}/\d{{1,2}}/\d{{2}}"
    rf"|\d{{2}}[-.]\d{{2}}[-.]\d{{2}}|\d{{1,2}}[-. ]+[A-Za-zäéû]{{3,9}}[-., ]+\d{{2,4}}"
    rf"|[A-Za-zäéû]{{3,9}}\.? \d{{1,2}},? \d{{4}}){_TIME_OF_DAY}"
)


@dataclass(frozen=True, slots=True)
class Quantity:
    """Numbers with their units, `1h 5m` has two of them; what the numbers are waits for the decimal mark."""

    parts: tuple[tuple[str, str], ...]
    families: frozenset[Family]  # what the units can be; empty for a bare number

    @property
    def unit(self) -> str:
        return self.parts[-1][1]


@dataclass(frozen=True, slots=True)
class Clock:
    """`01:05:00` or `05:30`, of which the latter may be minutes and seconds or hours and minutes."""

    days: int
    first: int
    second: int
    third: int | None
    fraction: float

    def seconds(self, *, starts_with_hours: bool) -> float:
        if self.third is not None:
            return self.days * 86400 + self.first * 3600 + self.second * 60 + self.third + self.fraction
        factor = 3600 if starts_with_hours else 60
        return self.days * 86400 + self.first * factor + self.second * (factor / 60) + self.fraction


Cell = Quantity | Clock | None


def read_cell(text: str) -> Cell:
    """What a cell can be; None for a text."""
    text = text.replace("\u2212", "-")
    if clock := _read_clock(text):
        return clock
    currency = ""
    if (match := _PREFIX.match(text)) and match[2].lower() in {*_SIGNS, *_CODES}:
        currency = match[2].lower()
        text = match[1] + text[match.end() :]
    parts: list[tuple[str, str]] = []
    position, is_spaced = 0, True
    while position < len(text):
        found = _PART.match(text, position)
        if found is None or (parts and not parts[-1][1]):
            return None
        unit = (found[3] or "").rstrip(".").lower()
        parts.append((found[1], UNITS.get(unit, unit)))
        is_spaced = is_spaced and bool(found[2])
        position = found.end()
    if not parts or text[-1] == "," or (currency and (len(parts) > 1 or parts[0][1])):
        return None
    if currency:
        parts = [(parts[0][0], currency)]
    return _quantity(tuple(parts), is_spaced)


def _read_clock(text: str) -> Clock | None:
    if match := _HOURS_AND.fullmatch(text):
        return Clock(0, int(match[1]), int(match[2]), 0, 0.0)
    is_iso = text[:1] in ("P", "p")
    match = (_ISO if is_iso else _CLOCK).fullmatch(text)
    if match is None:
        return None
    days, first, second, third, fraction = match.groups()
    last = None if third is None and not is_iso else int(third or 0)
    return Clock(int(days or 0), int(first or 0), int(second or 0), last, float(f"0.{fraction}") if fraction else 0.0)


def _quantity(parts: tuple[tuple[str, str], ...], is_spaced: bool) -> Quantity | None:
    if len(parts) == 1:
        unit = parts[0][1]
        found = families_of(unit)
        return None if unit and not found and not is_spaced else Quantity(parts, found or _word(unit))
    if not all(TIME in families_of(unit) for _, unit in parts):
        return None
    sizes = [SECONDS[unit] for _, unit in parts]
    falling = all(a > b for a, b in pairwise(sizes))  # `1h 5m`, and not `5m 1h`
    return Quantity(parts, frozenset({TIME})) if falling else None


@lru_cache(maxsize=1024)
def families_of(unit: str) -> frozenset[Family]:
    found = {TIME: unit in SECONDS, SIZE: unit in BYTES, COUNT: unit in _COUNTS}
    found |= {SHARE: unit in ("%", "percent", "pct"), MONEY: unit in _SIGNS or unit in _CODES}
    return frozenset(family for family, is_one in found.items() if is_one)


def _word(unit: str) -> frozenset[Family]:
    """`8 nodes` and `1 node` are counted in one thing."""
    return frozenset({unit[:-1] if len(unit) > 2 and unit.endswith("s") else unit}) if unit else frozenset()


def factor(unit: str, family: Family) -> float:
    """What one of a unit is: seconds, bytes."""
    known: dict[str, Mapping[str, float]] = {TIME: SECONDS, SIZE: BYTES, COUNT: _COUNTS}
    return known.get(family, {}).get(unit, 1.0)


def currency_of(unit: str) -> str:
    return _SIGNS.get(unit) or _CODES[unit]


@lru_cache(maxsize=2**19)  # a column asks several times for each of its numbers
def number(core: str, mark: Mark) -> int | float | None:
    """The number behind its digits, if `mark` is what stands before its decimals.

    >>> number("1,234.5", "."), number("1.234,5", ","), number("1,5", "."), number("1 234", ",")
    (1234.5, 1234.5, None, 1234)
    """
    if SIMPLE[mark].fullmatch(core):
        return float(core.replace(",", ".")) if mark in core else int(core)
    exponent = _EXPONENT.search(core)
    digits = (core[: exponent.start()] if exponent else core).lstrip("+-")
    whole, separator, decimals = digits.partition(mark)
    if not whole and not decimals:
        return None
    if decimals and not _is_digits(decimals):
        return None
    if whole and not _is_digits(whole):
        together = _ungrouped(whole, mark)
        if together is None:
            return None
        whole = together
    sign = "-" if core.startswith("-") else ""
    if not separator and not exponent:
        return int(sign + whole) if len(whole) < 300 else None
    found = float(f"{sign}{whole or 0}.{decimals or 0}{exponent[0] if exponent else ''}")
    return found if abs(found) < float("inf") else None


def _ungrouped(whole: str, mark: Mark) -> str | None:
    """The digits without what stands between thousands; None where that is the mark, or no thousands are separated."""
    if mark == "." and _INDIAN.fullmatch(whole):
        return whole.replace(",", "")
    grouped = _GROUPED.fullmatch(whole)
    return None if grouped is None or grouped[1] == mark else whole.replace(grouped[1], "")


def _is_digits(text: str) -> bool:
    return text.isascii() and text.isdigit()


_TRUE = """
    1 true yes y ja oui si sim vrai wahr verdadero vero да так ano áno evet kyllä igen ναι ya 예 はい 是
    on enabled ✓ ✔ ✅
"""
_FALSE = """
    0 false no n nein non nao faux falsch falso нет ні ne nie hayır ei nem όχι tidak 아니오 いいえ 否
    off disabled ✗ ✘ ❌
"""
_FLAGS = {**dict.fromkeys(fold(_TRUE).split(), True), **dict.fromkeys(fold(_FALSE).split(), False)}


def is_true(cell: str) -> bool | None:
    """Of a yes or no in some language; None for anything else."""
    return _FLAGS.get(fold(cell))


def is_date(text: str) -> bool:
    return _DATE.fullmatch(text) is not None


@lru_cache(maxsize=4096)
def parse_level(text: str) -> Level:
    for kind in (int, float):
        try:
            return kind(text)
        except ValueError:
            continue
    return text
