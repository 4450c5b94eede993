"""What a run yields: a number with its meaning."""

from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum
from typing import Literal

from sparkcast.errors import StudyError
from sparkcast.study.expression import Expression
from sparkcast.units import show_money

Better = Literal["less", "more"]


class Kind(StrEnum):
    """What a response is, whatever its name: between which bounds it lies, and how it is shown."""

    TIME = "time"
    MONEY = "money"
    SHARE = "share"  # between 0 and 1, or 0 and 100 when written in percent
    COUNT = "count"  # 0 or more: records per second, bytes
    OTHER = "other"


_SECONDS = {"ns": 1e-9, "us": 1e-6, "ms": 1e-3, "s": 1.0, "min": 60.0, "h": 3600.0, "d": 86400.0}
_UNITS = {Kind.TIME: "s", Kind.SHARE: "share"}


@dataclass(frozen=True, slots=True)
class Response:
    """A number a run yields: measured under its own name, or a formula over measured ones.

    >>> Response("minutes", kind=Kind.TIME, unit="min").seconds(2.5), Response("auc", kind=Kind.SHARE).better
    (150.0, 'more')
    """

    name: str
    formula: Expression | None = None
    kind: Kind = Kind.OTHER
    better: Better | None = None  # of a share more, of anything else less, unless said
    unit: str = ""
    span: str = ""  # of a time: what it counts from and to, for people; "" where nobody knows

    def __post_init__(self) -> None:
        if self.better is None:
            object.__setattr__(self, "better", "more" if self.kind is Kind.SHARE else "less")
        if not self.unit and self.kind in _UNITS:
            object.__setattr__(self, "unit", _UNITS[self.kind])
        if self.kind is Kind.TIME and self.unit not in _SECONDS:
            raise StudyError(
                f"response {self.name!r} is a time in the unknown unit {self.unit!r}", hint=f"use {', '.join(_SECONDS)}"
            )

    @property
    def needs(self) -> tuple[str, ...]:
        """The measured responses it is made of."""
        return (self.name,) if self.formula is None else tuple(sorted(self.formula.names))

    def value(self, measured: Mapping[str, float]) -> float | None:
        """This response of one run, or None when the run did not measure what it needs."""
        if self.formula is None:
            return measured.get(self.name)
        if not self.formula.names <= set(measured):
            return None
        value = self.formula.evaluate(measured)
        if isinstance(value, str):
            raise StudyError(
                f"response {self.name!r} = {self.formula.text!r} is the string {value!r}",
                hint="a response must be a number",
            )
        return float(value)

    @property
    def described(self) -> str:
        """Its name, and of a time what it counts.

        >>> Response("total_s", kind=Kind.TIME, span="from submission to exit").described
        'total_s (from submission to exit)'
        """
        return f"{self.name} ({self.span})" if self.span else self.name

    def shown(self, value: float) -> str:
        """A value in a line of text: money with its currency, anything else in four digits.

        >>> Response("cost", kind=Kind.MONEY, unit="EUR").shown(0.0012), Response("auc", kind=Kind.SHARE).shown(0.91234)
        ('0.12 ct EUR', '0.9123')
        """
        return show_money(value, self.unit) if self.kind is Kind.MONEY else f"{value:.4g}"

    @property
    def is_never_negative(self) -> bool:
        return self.kind in (Kind.TIME, Kind.MONEY, Kind.COUNT)

    def seconds(self, value: float) -> float:
        """A time of this response in seconds."""
        return value * _SECONDS[self.unit]

    def from_seconds(self, seconds: float) -> float:
        """A time in seconds as this response counts it."""
        return seconds / _SECONDS[self.unit]
