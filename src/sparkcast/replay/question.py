"""What is asked of a replay, checked."""

from collections.abc import Sequence
from dataclasses import dataclass

from sparkcast.errors import StudyError
from sparkcast.study import Price


@dataclass(frozen=True, slots=True)
class WhatIfQuestion:
    """Which clusters to play the work on. What is None stays as it was."""

    executors: tuple[int, ...] | None = None
    cores: tuple[int, ...] | None = None  # of an executor
    partitions: int | None = None  # spark.sql.shuffle.partitions
    data: float = 1.0  # how many times as much
    dynamic: tuple[int, int] | None = None  # least and most executors
    price: Price | None = None

    def __post_init__(self) -> None:
        for name, numbers in (("executors", self.executors), ("cores", self.cores)):
            if numbers is not None:
                _require_counts(name, numbers)
        if self.partitions is not None:
            _require_counts("partitions", [self.partitions])
        if not 0 < self.data <= 1000:
            raise StudyError(
                f"`data={self.data:g}` is not a factor of the data",
                hint="use a number above 0 and at most 1000: 2 for 2x",
            )
        if self.dynamic is not None:
            least, most = self.dynamic
            if not 0 <= least <= most or most < 1:
                raise StudyError(
                    f"`dynamic=`: {least} to {most} is not a range of executors",
                    hint="give the least and the most: 2, 20",
                )
            if self.executors is not None:
                raise StudyError(
                    "`dynamic=` and `executors=` exclude each other", hint="leave one of them out, and ask twice"
                )
        if self.price is not None and (self.price.machine_hours or self.price.hour is not None):
            raise StudyError(
                "event logs record cores and memory, not machines", hint="give `price=Price(core_hour=0.05)`"
            )


def _require_counts(name: str, numbers: Sequence[int]) -> None:
    for number in numbers:
        if isinstance(number, bool) or number < 1:
            raise StudyError(f"`{name}={number}` runs nothing", hint="use 1 or more")
        if number > 100_000:
            raise StudyError(f"`{name}={number}` is more than any cluster has", hint="use at most 100000")
    if not numbers:
        raise StudyError(f"`{name}=` is empty", hint="give at least one number")
