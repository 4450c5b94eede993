"""How names and numbers are written for people: one place, so that a unit is never missing or said in two ways."""

import re
from collections.abc import Iterable, Sequence
from math import isfinite

from sparkcast.analyse import RESIDUAL
from sparkcast.study import Configuration, Level
from sparkcast.units import as_number, show_bytes, show_seconds

_TITLES = {
    "accuracy": "accuracy (share correct)",
    "batch_size": "batch size (records)",
    "cores": "cores per executor",
    "cost": "cost (as the study defines it)",
    "cpu_percent": "CPU in use (%)",
    "driver_memory": "driver memory (bytes)",
    "epochs": "epochs (passes over the data)",
    "executors": "executors (number)",
    "iowait_percent": "waiting for I/O (%)",
    "jobs": "jobs at once (number)",
    "memory": "memory per executor (bytes)",
    "partition_size": "partition size (bytes)",
    "partitions": "partitions (number)",
    "sampling_rate": "sampling rate (share of the data)",
    "throughput": "throughput (records/s)",
}
# Longest first: "_bytes_per_s" also ends in "_s".
_SUFFIXES = (
    ("_bytes_per_s", "bytes/s"),
    ("_per_s", "per second"),
    ("_percent", "%"),
    ("_bytes", "bytes"),
    ("_ms", "ms"),
    ("_s", "s"),
)


def axis_title(name: str) -> str:
    """A setting or response with its unit, as written on an axis or a table's head.

    >>> axis_title("time_s"), axis_title("accuracy"), axis_title("shuffle_read_bytes"), axis_title("learning_rate")
    ('time (s)', 'accuracy (share correct)', 'shuffle read (bytes)', 'learning rate')
    """
    if name in _TITLES:
        return _TITLES[name]
    for suffix, unit in _SUFFIXES:
        if name.endswith(suffix) and name != suffix:
            return f"{_words(name.removesuffix(suffix))} ({unit})"
    return _words(name)


def plain_name(name: str) -> str:
    """A name inside a sentence, where the numbers carry the unit.

    >>> plain_name("time_s"), plain_name("batch_size")
    ('time', 'batch size')
    """
    for suffix, _ in _SUFFIXES:
        if name.endswith(suffix) and name != suffix:
            return _words(name.removesuffix(suffix))
    return _words(name)


def show_value(name: str, value: float | None) -> str:
    """A number with the unit its name asks for.

    >>> show_value("time_s", 93), show_value("accuracy", 0.91234), show_value("throughput", 1234.5)
    ('1 min 33 s', '0.912', '1,234 records/s')
    """
    if value is None:
        return "–"
    if not isfinite(value):
        return "no bound" if value == value else "unknown"
    sign, size = ("−", -value) if value < 0 else ("", value)
    if name.endswith("_bytes") or name in ("memory", "driver_memory", "partition_size"):
        return sign + show_bytes(size)
    if name.endswith("_percent"):
        return f"{sign}{size:.1f} %"
    if name.endswith("_s") and not name.endswith("_per_s"):
        return sign + show_seconds(size)
    if name == "accuracy":
        return f"{sign}{size:.3f}"
    return sign + show_number(size) + (" records/s" if name == "throughput" else "")


def show_percent(share: float) -> str:
    """A share of one in percent; what is nearly certain is not rounded to certain.

    >>> show_percent(0.9), show_percent(0.9987), show_percent(1.0), show_percent(0.0004)
    ('90 %', '> 99 %', '100 %', '< 1 %')
    """
    if 0.995 <= share < 1:
        return "> 99 %"
    return "< 1 %" if 0 < share < 0.005 else f"{100 * share:.0f} %"


def show_number(value: float) -> str:
    """Four figures that count, without exponents where people read them.

    >>> show_number(0.00012345), show_number(12.3456), show_number(1234567)
    ('0.0001234', '12.35', '1,234,567')
    """
    if not isfinite(value):
        return "no bound" if value == value else "unknown"
    if abs(value) >= 1000:
        return f"{value:,.0f}"
    return f"{value:.4g}"


def show_term(term: str) -> str:
    """A term of a model as people write it: "a:b" is an interaction, "a^2" the bend of a number.

    >>> show_term("batch_size:executors"), show_term("batch_size^2"), show_term("Residual")
    ('batch_size × executors', 'batch_size²', 'not explained')
    """
    if term == RESIDUAL:
        return "not explained"
    return " × ".join(re.sub(r"\^2$", "²", part.strip()) for part in term.split(":"))


def settings_of(term: str) -> tuple[str, ...]:
    """The settings in a term, each once.

    >>> settings_of("lr:batch_size^2"), settings_of("executors^2")
    (('lr', 'batch_size'), ('executors',))
    """
    return tuple(dict.fromkeys(part.strip().removesuffix("^2") for part in term.split(":")))


def short_settings(configuration: Configuration, names: Iterable[str]) -> str:
    """Only the values, where a title names the settings once: long labels do not fit a phone.

    >>> short_settings({"executors": 2, "batch_size": 64}, ["batch_size", "executors"])
    '64 · 2'
    """
    return " · ".join(str(configuration[name]) for name in names)


def settings_title(names: Iterable[str]) -> str:
    """What `short_settings` lists, in the same order.

    >>> settings_title(["batch_size", "executors"])
    'batch_size · executors'
    """
    return " · ".join(names)


def ordered(levels: Iterable[Level]) -> list[Level]:
    """Levels as an axis shows them: by size when all are sizes ("512m" before "1g"), else as they came."""
    unique = list(dict.fromkeys(levels))
    numbers = {level: as_number(level) for level in unique}
    if any(number is None for number in numbers.values()):
        return unique
    return sorted(unique, key=lambda level: numbers[level] or 0.0)


def finite(value: float) -> float | None:
    """None for what cannot be drawn: an interval without a bound, a score without a meaning."""
    return float(value) if isfinite(value) else None


def listing(items: Sequence[str]) -> str:
    """A list inside a sentence.

    >>> listing(["a", "b", "c"])
    'a, b and c'
    """
    return items[0] if len(items) == 1 else f"{', '.join(items[:-1])} and {items[-1]}" if items else ""


def _words(name: str) -> str:
    return name.replace("_", " ").strip()
