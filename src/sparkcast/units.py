"""Quantities as people and Spark write them: "4g", "30s", "0.09 ct EUR". Inside, base units: bytes and seconds."""

import math
import re

from sparkcast.errors import StudyError

_QUANTITY = re.compile(r"\s*([0-9]+(?:\.[0-9]+)?(?:[eE][+-]?[0-9]+)?)\s*([A-Za-z]*)\s*")

# Spark's own suffixes are binary: 1g is 1024 MiB.
_BYTES = {"b": 1, "k": 2**10, "m": 2**20, "g": 2**30, "t": 2**40}
_BYTES |= {f"{unit}b": size for unit, size in list(_BYTES.items()) if unit != "b"}
_BYTES |= {f"{unit}ib": size for unit, size in list(_BYTES.items()) if len(unit) == 1 and unit != "b"}
_CENTS = frozenset("AUD BND CAD EUR FJD HKD JMD KES NAD NZD SGD TTD TWD USD ZAR".split())  # whose hundredths are cents
_SECONDS = {"ms": 0.001, "s": 1.0, "sec": 1.0, "m": 60.0, "min": 60.0, "h": 3600.0, "d": 86400.0}
# As people write them in tables.
_LONG_SECONDS = {
    **dict.fromkeys("ns nsec nanosecond nanoseconds".split(), 1e-9),
    **dict.fromkeys("us µs μs usec usecs microsecond microseconds".split(), 1e-6),
    **dict.fromkeys(("msec", "msecs", "millisecond", "milliseconds"), 0.001),
    **dict.fromkeys("secs second seconds sek sekunden seconde secondes segundos secondi seg".split(), 1.0),
    **dict.fromkeys("mins minute minutes minuten minuto minutos minuti mn".split(), 60.0),
    **dict.fromkeys("hr hrs hour hours std stunde stunden heure heures hora horas ora ore".split(), 3600.0),
    **dict.fromkeys("day days tag tage jour jours dia dias giorni".split(), 86400.0),
}
_OTHER_BYTES = {"octet": 1, "octets": 1, "ko": 2**10, "mo": 2**20, "go": 2**30, "to": 2**40}  # as the French write them
_OTHER_BYTES |= {"ki": 2**10, "mi": 2**20, "gi": 2**30, "ti": 2**40}  # as Kubernetes does
BYTES = {**_BYTES, **_OTHER_BYTES, "byte": 1, "bytes": 1}  # of every unit of a size
SECONDS = {**_SECONDS, **_LONG_SECONDS}  # of every unit of a time


def parse_bytes(text: str | int | float) -> int:
    """Bytes in a Spark size string; a bare number is bytes already.

    >>> parse_bytes("4g") == 4 * 1024**3
    True
    """
    size = _parse(text, _BYTES, "size", "write it as 512m, 4g or 1t")
    if math.isinf(size):
        raise StudyError(f"{text!r} is too large", hint="write it as 512m, 4g or 1t")
    return int(size)


def shortest_size(size: int) -> str:
    """Bytes in Spark's own way, with the largest unit that needs no fraction.

    >>> shortest_size(2**30), shortest_size(1536 * 2**20), shortest_size(1000)
    ('1g', '1536m', '1000b')
    """
    unit = next((unit for unit in "tgmk" if size and size % _BYTES[unit] == 0), "b")
    return f"{size // _BYTES[unit]}{unit}"


def parse_seconds(text: str | int | float) -> float:
    """Seconds in a duration string; a bare number is seconds already.

    >>> parse_seconds("2h"), parse_seconds(90)
    (7200.0, 90.0)
    """
    return _parse(text, SECONDS, "duration", "write it as 500ms, 30s, 5m or 2h")


def _parse(text: str | int | float, units: dict[str, float] | dict[str, int], kind: str, hint: str) -> float:
    match = _QUANTITY.fullmatch(str(text))
    if match is None or isinstance(text, bool):
        raise StudyError(f"{text!r} is not a {kind}", hint=hint)
    number, unit = float(match[1]), match[2].lower()
    if unit and unit not in units:
        raise StudyError(f"{text!r} has the unknown unit {match[2]!r}", hint=hint)
    return number * units.get(unit, 1)


def require_seed(seed: int) -> None:
    """Raise StudyError for what cannot start every generator of random numbers in use."""
    if not 0 <= seed < 2**32:
        raise StudyError(f"the seed cannot be {seed}", hint="give an integer from 0 to 4294967295")


def parse_rate(text: str) -> float:
    """Jobs per second in a rate, which needs a unit: nobody can tell 12 per hour from 12 per second.

    >>> parse_rate("12/h") * 3600, parse_rate("0.02/s")
    (12.0, 0.02)
    """
    number, slash, unit = (part.strip() for part in str(text).partition("/"))
    if not slash or unit.lower() not in _SECONDS:
        raise StudyError(f"{str(text)!r} is a rate without a unit of time", hint="write it as 12/h, 3/min or 0.02/s")
    try:
        rate = float(number) / _SECONDS[unit.lower()]
    except ValueError:
        raise StudyError(f"{str(text)!r} is not a rate", hint="write it as 12/h, 3/min or 0.02/s") from None
    if not 0 < rate < math.inf:
        raise StudyError(f"a rate of {text} cannot be", hint="write a number above 0, as in 12/h or 0.02/s")
    return rate


def show_rate(per_second: float, *, like: float | None = None) -> str:
    """A rate for people, in a unit of which there is at least one; `like`: in the unit of another rate.

    >>> show_rate(2.5), show_rate(0.02), show_rate(1 / 300), show_rate(0.02, like=1 / 300)
    ('2.5/s', '1.2/min', '12/h', '72/h')
    """
    deciding = per_second if like is None else like
    unit = next((unit for unit in ("s", "min", "h") if deciding * _SECONDS[unit] >= 1), "h")
    return f"{per_second * _SECONDS[unit]:.4g}/{unit}"


def as_number(value: object) -> float | None:
    """The number behind a setting's level, or None for a category: 4 -> 4.0, "1g" -> 2**30, "lenet5" -> None.

    "nan" and "inf" are words too.
    """
    if isinstance(value, (int, float)):
        try:
            return float(value)
        except OverflowError:
            return math.inf if value > 0 else -math.inf
    text = str(value)
    try:
        number = float(text)
        return number if math.isfinite(number) else None
    except ValueError:
        match = _QUANTITY.fullmatch(text)
        if match is None or match[2].lower() not in _BYTES:
            return None
        if match[2] == "b" and math.isinf(float(match[1])):
            return None  # the hash of a commit, as 5e42030b is
        return float(parse_bytes(text))


def show_seconds(seconds: float) -> str:
    """A duration for people.

    >>> show_seconds(0.25), show_seconds(93), show_seconds(7260)
    ('0.25 s', '1 min 33 s', '2 h 01 min')
    """
    if seconds < 10:
        return f"{seconds:.2f} s"
    if seconds < 60:
        return f"{seconds:.1f} s"
    minutes, rest = divmod(round(seconds), 60)
    if minutes < 60:
        return f"{minutes} min {rest:02d} s"
    hours, minutes = divmod(minutes, 60)
    return f"{hours} h {minutes:02d} min"


def show_duration(seconds: float) -> str:
    """A duration that somebody chose: a deadline.

    >>> show_duration(120), show_duration(1800), show_duration(7.5), show_duration(5400)
    ('120 s', '30 min', '7.5 s', '1 h 30 min')
    """
    if seconds < 600:
        return f"{seconds:g} s"
    return show_seconds(seconds) if seconds % 60 or seconds > 3600 else f"{seconds / 60:g} min"


def show_percent(share: float, digits: int = 2, *, sign: bool = False) -> str:
    """A share of one in percent. What is nearly all, or next to nothing, is not rounded to it.

    >>> [show_percent(share) for share in (0.3921, 0.0519, 0.0004, 0.997, 0.99999, 1.0, 1.5)]
    ['39%', '5.2%', '<0.1%', '99.7%', '>99.9%', '100%', '150%']
    >>> show_percent(0.1971, 3), show_percent(-0.1234, sign=True), show_percent(0.05, sign=True)
    ('19.7%', '-12%', '+5%')
    """
    percent = 100 * share
    size = abs(percent)
    if not math.isfinite(percent):
        return f"{percent}%"
    if 0 < percent < 0.1 and not sign:
        return "<0.1%"
    decimals = max(0, digits - 1 - math.floor(math.log10(size))) if size else 0
    text = f"{percent:{'+' if sign else ''},.{decimals}f}"
    if percent < 100 and text.startswith("100"):
        return show_percent(share, 3) if digits < 3 else ">99.9%"
    whole, point, fraction = text.partition(".")
    fraction = fraction.rstrip("0")
    return f"{whole}{point if fraction else ''}{fraction}%"


def show_probability(probability: float) -> str:
    """A probability in percent. None is certain.

    >>> [show_probability(probability) for probability in (0.0, 0.004, 0.5, 0.987, 0.996, 1.0)]
    ['<1%', '<1%', '50%', '99%', '>99%', '>99%']
    """
    if probability < 0.01:
        return "<1%"
    return ">99%" if probability > 0.99 else f"{100 * probability:.0f}%"


def show_level(level: float) -> str:
    """A level, a confidence or a percentile as somebody asked for it, with every digit.

    >>> show_level(0.95), show_level(0.999), show_level(0.9999)
    ('95%', '99.9%', '99.99%')
    """
    return f"{100 * level:.8g}%"


def show_bytes(size: float) -> str:
    """A size for people.

    >>> show_bytes(3 * 2**30), show_bytes(1500)
    ('3.0 GiB', '1.5 KiB')
    """
    for unit in ("B", "KiB", "MiB", "GiB"):
        if abs(size) < 1024:
            return f"{size:.0f} {unit}" if unit == "B" else f"{size:.1f} {unit}"
        size /= 1024
    return f"{size:.1f} TiB"


def show_money(amount: float, currency: str = "", *, up: bool = False) -> str:
    """An amount for people, in cents where it is small. `up` never rounds down: a budget must stay one that is kept.

    >>> show_money(8.606e-4, "EUR"), show_money(1.5, "EUR"), show_money(0.0123456, "JPY"), show_money(0.0123456)
    ('0.0861 ct EUR', '1.50 EUR', '0.0123 JPY', '0.01235')
    >>> show_money(1.36e-4, "USD")
    '0.0136¢'
    """
    unit, per = money_unit(currency, amount)
    # What is in no currency is a formula of the user's, and reads like any other number.
    number = money_number(amount * per, figures=3 if currency else 4, up=up)
    return f"{number}¢" if unit == "ct USD" else f"{number} {unit}".strip()


def money_unit(currency: str, largest: float) -> tuple[str, float]:
    """The unit for amounts up to `largest`, and how many of it make one of the currency.

    >>> money_unit("USD", 0.002), money_unit("USD", 0.25), money_unit("JPY", 0.002)
    (('ct USD', 100.0), ('USD', 1.0), ('JPY', 1.0))
    """
    return (f"ct {currency}", 100.0) if currency in _CENTS and 0 < abs(largest) < 0.1 else (currency, 1.0)


def money_number(amount: float, *, figures: int = 3, up: bool = False) -> str:
    """A few figures that count, at least two decimals of what has any, and never an exponent.

    >>> [money_number(amount) for amount in (0.000123456, 1.5, 7, 1234.5)], money_number(0.2501, up=True)
    (['0.000123', '1.50', '7', '1,234'], '0.251')
    """
    size = abs(amount)
    if not size:
        return "0"
    decimals = 0 if size >= 1000 else max(2, figures - 1 - math.floor(math.log10(size)))
    if up:
        amount = math.ceil(amount * 10**decimals - 1e-9) / 10**decimals
    written = f"{amount:,.{decimals}f}"
    whole, _, fraction = written.partition(".")
    if not fraction.strip("0"):
        return whole
    return f"{whole}.{fraction[:2]}{fraction[2:].rstrip('0')}"
