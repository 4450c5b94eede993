"""A job as people describe it in a line: its settings or its time, how long it has run, how far it is, its deadline."""

import math
from dataclasses import dataclass

from sparkcast.data.table import parse_level
from sparkcast.errors import StudyError
from sparkcast.study import Configuration, Level
from sparkcast.units import parse_seconds

EXAMPLE = "batch_size=128,executors=2,elapsed=120s,within=300s"
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
    values: dict[str, str] = {}
    for part in text.split(","):
        name, sign, value = (piece.strip() for piece in part.partition("="))
        if not (name and sign and value):
            raise malformed(text, f"{part.strip()!r} is not name=value")
        if name in values:
            raise malformed(text, f"{name} appears twice")
        values[name] = value
    times = {name: _seconds(text, values.pop(name)) for name in (_ELAPSED, _WITHIN, _TIME) if name in values}
    if times.get(_WITHIN) == 0:
        raise malformed(text, "a deadline of 0 s is not positive")
    if times.get(_TIME) == 0:
        raise malformed(text, "no job takes 0 s")
    done = _share(text, values.pop(_DONE)) if _DONE in values else None
    settings = Configuration((name, _level(text, name, value)) for name, value in values.items())
    return Described(settings, times.get(_ELAPSED), times.get(_WITHIN), done, times.get(_TIME))


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
        raise malformed(text, f"done={value} is not between 0 and 100 %")
    return share


def _level(text: str, name: str, value: str) -> Level:
    level = parse_level(value)
    if isinstance(level, float) and not math.isfinite(level):
        raise malformed(text, f"{name} = {value} is not finite")
    return level
