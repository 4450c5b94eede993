"""How names and numbers are written for people: one place, so that a unit is never missing or said in two ways."""

import re
from collections.abc import Iterable, Sequence
from math import floor, isfinite, log10

from sparkcast.analysis import RESIDUAL
from sparkcast.study import Configuration, Kind, Level, Response, Setting
from sparkcast.units import as_number, money_unit, show_bytes, show_money, show_percent, show_seconds

# How names end that carry a unit: the longest first, because "_bytes_per_s" also ends in "_s".
_ENDINGS = ("_bytes_per_s", "_per_s", "_percent", "_bytes", "_gib", "_min", "_ms", "_mb", "_gb", "_s", "_h")
Word = Setting | Response


def axis_title(word: Word, values: Iterable[object] = ()) -> str:
    """A setting or response with its unit, as written on an axis or a table's head. `values` decide on euros or cents.

    >>> axis_title(Response("time_s", kind=Kind.TIME)), axis_title(Response("auc", kind=Kind.SHARE))
    ('time (s)', 'auc (share)')
    >>> from sparkcast.study import Role
    >>> axis_title(Setting("hosts", role=Role.MACHINES)), axis_title(Setting("learning_rate"))
    ('hosts (number)', 'learning rate')
    """
    unit = word.unit
    if is_money(word):
        unit = money_unit(unit, largest(values))[0] or "as the study defines it"
    return f"{plain_name(word)} ({unit})" if unit else plain_name(word)


def level_title(word: Word, levels: Iterable[Level]) -> str:
    """An axis or legend of levels. Those that are written with their unit (2g) need it in no title.

    >>> level_title(Setting("memory", unit="bytes"), ["2g", "8g"]), level_title(Setting("memory", unit="bytes"), [1, 2])
    ('memory', 'memory (bytes)')
    """
    return plain_name(word) if any(isinstance(level, str) for level in levels) else axis_title(word)


def is_money(word: Word) -> bool:
    return isinstance(word, Response) and word.kind is Kind.MONEY


def largest(values: Iterable[object]) -> float:
    """The largest size among cells; 0 when none is a number."""
    return max((abs(value) for value in values if isinstance(value, (int, float))), default=0.0)


def plain_name(word: Word) -> str:
    """A name inside a sentence, where the numbers carry the unit.

    >>> plain_name(Response("time_s", kind=Kind.TIME)), plain_name(Setting("batch_size"))
    ('time', 'batch size')
    """
    ending = next((ending for ending in _ENDINGS if word.name.endswith(ending)), "") if word.unit else ""
    plain = _words(word.name.removesuffix(ending) or word.name)
    # Of several times of a run, "total" alone is no noun.
    return f"{plain} time" if isinstance(word, Response) and word.span and "time" not in plain else plain


def show_value(word: Word, value: float | None) -> str:
    """A number with its unit.

    >>> show_value(Response("time_s", kind=Kind.TIME), 93), show_value(Response("auc", kind=Kind.SHARE), 0.91234)
    ('1 min 33 s', '0.912')
    >>> show_value(Response("throughput", kind=Kind.COUNT, unit="records/s"), 1234.5)
    '1,234 records/s'
    """
    if value is None:
        return "–"
    if not isfinite(value):
        return "no bound" if value == value else "unknown"
    sign, size = ("−", -value) if value < 0 else ("", value)
    if isinstance(word, Response) and word.kind is Kind.TIME:
        return sign + show_seconds(word.seconds(size))
    if isinstance(word, Response) and word.kind is Kind.SHARE:
        return f"{sign}{size:.3f}"
    if is_money(word):
        return sign + show_money(size, word.unit)
    if word.unit == "bytes":
        return sign + show_bytes(size)
    if word.unit == "%":
        return sign + show_percent(size / 100, 3)
    return sign + show_number(size) + (f" {word.unit}" if word.unit and isinstance(word, Response) else "")


def show_number(value: float) -> str:
    """Four figures that count, without exponents where people read them.

    >>> show_number(0.000012345), show_number(12.3456), show_number(1234567)
    ('0.00001234', '12.35', '1,234,567')
    """
    if not isfinite(value):
        return "no bound" if value == value else "unknown"
    if abs(value) >= 1000:
        return f"{value:,.0f}"
    if 1e-12 <= abs(value) < 1e-4:
        return f"{value:.{3 - floor(log10(abs(value)))}f}".rstrip("0")
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


def in_order(configurations: Iterable[Configuration], names: Sequence[str]) -> list[Configuration]:
    """Configurations as a table of them would be sorted: by the first setting, then by the next.

    >>> in_order([{"n": 16, "net": "b"}, {"n": 2, "net": "b"}, {"n": 2, "net": "a"}], ["n", "net"])
    [{'n': 2, 'net': 'b'}, {'n': 2, 'net': 'a'}, {'n': 16, 'net': 'b'}]
    """
    every = list(configurations)
    ladders = {name: ordered(one[name] for one in every) for name in names}
    return sorted(every, key=lambda one: [ladders[name].index(one[name]) for name in names])


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
