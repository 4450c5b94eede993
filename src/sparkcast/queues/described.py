"""A job as people describe it in a line: its settings or its time, how long it has run, how far it is, its deadline."""

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from sparkcast.data.cell import parse_level
from sparkcast.errors import StudyError
from sparkcast.study import Configuration, Level
from sparkcast.units import parse_seconds

CLASS_EXAMPLE = "time=30s,scv=1.2,share=0.7,width=2,priority=1; with DATA executors=2,share=0.7"
EXAMPLE = "batch_size=128,executors=2,elapsed=120s,within=300s"
_WHOLE = ("width", "priority")
_ELAPSED, _WITHIN, _DONE, _TIME = "elapsed", "within", "done", "time"


@dataclass(frozen=True, slots=True)
class Described:
    settings: Configuration
    elapsed_s: float | None = None  # None: not said
    within_s: float | None = None  # its deadline, from its start
    done: float | None = None  # the share of its work
    alone_s: float | None = None  # how long it takes alone, where settings do not tell


def parse_described(text: str) -> Described:
    """What a line says of a job.

    >>> parse_described("time=300s,elapsed=2m,done=40%").done
    0.4
    """
    values = _values(text, malformed)
    times = {name: _seconds(text, values.pop(name)) for name in (_ELAPSED, _WITHIN, _TIME) if name in values}
    if times.get(_WITHIN) == 0:
        raise malformed(text, "a deadline of 0 s is not positive")
    if times.get(_TIME) == 0:
        raise malformed(text, "no job takes 0 s")
    done = _share(text, values.pop(_DONE)) if _DONE in values else None
    settings = Configuration((name, _level(text, name, value)) for name, value in values.items())
    return Described(settings, times.get(_ELAPSED), times.get(_WITHIN), done, times.get(_TIME))


@dataclass(frozen=True, slots=True)
class DescribedClass:
    """One class of the jobs that arrive."""

    text: str
    settings: Configuration
    alone_s: float | None = None  # how long one takes alone, where settings do not tell
    scv: float | None = None
    share: float | None = None  # of the jobs that arrive, in proportion to the others; None: not said
    width: int = 1  # cores that it holds
    priority: int = 0  # lower goes first


def parse_class(text: str) -> DescribedClass:
    """What a line says of a job class.

    >>> parse_class("time=30s,share=0.7,priority=1").share
    0.7
    """
    values = _values(text, _no_class)
    numbers = {name: _number(text, name, values.pop(name)) for name in ("scv", "share", *_WHOLE) if name in values}
    time_s = parse_seconds(values.pop(_TIME)) if _TIME in values else None
    if bad := next((name for name in _WHOLE if not numbers.get(name, 1.0).is_integer()), None):
        raise _no_class(text, f"{bad} is not an integer")
    if not 0 < numbers.get("share", 1.0) < math.inf:
        raise _no_class(text, "its share is not above 0")
    settings = Configuration((name, _level(text, name, value)) for name, value in values.items())
    whole = {name: int(numbers[name]) for name in _WHOLE if name in numbers}
    return DescribedClass(text, settings, time_s, numbers.get("scv"), numbers.get("share"), **whole)


def shares_of(classes: Sequence[DescribedClass]) -> tuple[float, ...]:
    """Of several job classes: as they say, or equal where none says anything.

    >>> shares_of([parse_class("time=30s"), parse_class("time=60s")])
    (1.0, 1.0)
    """
    silent = next((one for one in classes if one.share is None), None)
    if silent is not None and any(one.share is not None for one in classes):
        raise _no_class(silent.text, "its share is missing, and other classes have one")
    return tuple(1.0 if one.share is None else one.share for one in classes)


def _no_class(text: str, why: str) -> StudyError:
    return StudyError(f"{text!r} does not describe a job class: {why}", hint=f"write it like {CLASS_EXAMPLE}")


def _number(text: str, name: str, value: str) -> float:
    try:
        return float(value)
    except ValueError:
        raise _no_class(text, f"{name} = {value} is not a number") from None


def _values(text: str, refused: Callable[[str, str], StudyError]) -> dict[str, str]:
    values: dict[str, str] = {}
    for part in text.split(","):
        name, sign, value = (piece.strip() for piece in part.partition("="))
        if not (name and sign and value):
            raise refused(text, f"{part.strip()!r} is not name=value")
        if name in values:
            raise refused(text, f"{name} appears twice")
        values[name] = value
    return values


def malformed(text: str, why: str) -> StudyError:
    return StudyError(f"{text!r} does not describe a running job: {why}", hint=f"write it like {EXAMPLE}")


def _seconds(text: str, value: str) -> float:
    try:
        seconds = parse_seconds(value)
    except StudyError as error:
        raise malformed(text, error.problem) from None
    if not math.isfinite(seconds):
        raise malformed(text, f"{value} is not a finite time")
    return seconds


def _share(text: str, value: str) -> float:
    try:
        share = float(value.removesuffix("%")) / (100 if value.endswith("%") else 1)
    except ValueError:
        raise malformed(text, f"{value!r} is not a percentage such as 40%") from None
    if not 0 <= share < 1:
        raise malformed(text, f"done={value} is not between 0 and 100%")
    return share


def _level(text: str, name: str, value: str) -> Level:
    level = parse_level(value)
    if isinstance(level, float) and not math.isfinite(level):
        raise malformed(text, f"{name} = {value} is not finite")
    return level
