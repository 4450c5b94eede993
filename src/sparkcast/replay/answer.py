"""What a replay answers: time, cost and utilization of each cluster, with what is known of their error."""

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from sparkcast.display import Displayed, frame_of, plain_row
from sparkcast.units import show_percent

if TYPE_CHECKING:
    import pandas as pd


@dataclass(frozen=True, slots=True)
class Replayed:
    """One cluster. Time is from the start of the application to its end; `level` is the interval's probability."""

    executors: int
    cores: int  # of an executor
    slots: int
    dynamic: bool  # the executors are the most that there may be
    time_s: float
    low_s: float
    high_s: float
    level: float
    core_hours: float
    cost: float | None  # of executors from their registration to the end; None without a price
    utilization: float  # share of the slots' time with a task
    change: float  # of the time, as a share of the measured one
    change_core_hours: float
    jobs_s: float  # from the first to the last Spark job
    is_measured: bool = False  # as the log has it


@dataclass(frozen=True, slots=True)
class Trap:
    """A cluster that loses both time and core-hours against a smaller or the measured one."""

    executors: int
    cores: int
    text: str


@dataclass(frozen=True, slots=True)
class Floor:
    """No number of executors makes it faster than this."""

    time_s: float
    driver_s: float  # in which no task runs
    stages: tuple[tuple[str, float], ...]  # the longest ones, with every task at once


@dataclass(frozen=True, slots=True)
class WhatIf(Displayed):
    """What other clusters would have made of an application. The first configuration is the measured one."""

    name: str
    app_id: str
    logs: tuple[str, ...]
    measured: Replayed
    configurations: tuple[Replayed, ...]  # in the order of slots
    knee: Replayed | None  # the fewest slots within 10% of the fastest
    floor: Floor | None  # None where the number of tasks follows the cores
    traps: tuple[Trap, ...]
    interval: str  # where its width is from
    effects: tuple[str, ...]  # what was taken into account
    notes: tuple[str, ...] = ()
    currency: str = ""
    data: float = 1.0
    partitions: int | None = None
    is_partial: bool = False
    floor_text: str = field(default="")  # why there is no floor
    launch_s: float = 0.0  # from submission to the start of the application, as measured; 0 where the log has none
    master: str = ""  # that the application ran on

    def frame(self) -> "pd.DataFrame":
        """A row for each cluster."""
        return frame_of(plain_row(one) for one in self.configurations)


def compared(one: Replayed) -> str:
    """`9% slower, with 45% fewer core-hours`, against the measured run."""
    time = f"{show_percent(abs(one.change))} {'slower' if one.change > 0 else 'faster'}"
    hours = f"{show_percent(abs(one.change_core_hours))} {'more' if one.change_core_hours > 0 else 'fewer'} core-hours"
    return f"{time}, with {hours}"


def executors_of(one: Replayed) -> str:
    """`8 executors x 16 cores`."""
    return shape_of(one.executors, one.cores)


def shape_of(executors: int, cores: int) -> str:
    many = "1 executor" if executors == 1 else f"{executors} executors"
    return f"{many} x {'1 core' if cores == 1 else f'{cores} cores'}"
