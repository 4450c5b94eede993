"""The jobs of a store at a glance."""

from collections.abc import Sequence
from dataclasses import dataclass
from statistics import median
from typing import TYPE_CHECKING

from sparkcast.display import Displayed, frame_of, plain_row
from sparkcast.history.jobs import JobHistory
from sparkcast.study import Observation, Outcome, Price
from sparkcast.study.application import CORE_HOURS, GIB_HOURS, TIME, TOTAL_TIME
from sparkcast.study.derive import held_cost

if TYPE_CHECKING:
    import pandas as pd

_FEWEST, _SHORTEST_DAYS = 8, 21.0  # runs, and days from first to last, from which a trend is told
_NOTICED = 0.05  # a month
_MOST = 1000  # of the latest runs: the number of pairs grows with its square
_DAY_S, _MONTH_DAYS = 86400.0, 30.0


@dataclass(frozen=True, slots=True)
class MonthlyTrend:
    """How much longer runs take each month, as a share: the median of all slopes between two runs."""

    per_month: float
    low: float  # of the interval of 95%
    high: float

    @property
    def is_clear(self) -> bool:
        """Whether the interval leaves out that nothing changes."""
        return self.low > 0 or self.high < 0

    @property
    def is_steady(self) -> bool:
        """Whether it leaves out anything that would be noticed."""
        return self.low > -_NOTICED and self.high < _NOTICED


@dataclass(frozen=True, slots=True)
class JobSummary:
    """One recurring job."""

    name: str
    key: str
    n_runs: int
    n_complete: int  # that ended well
    n_failed: int
    n_running: int  # whose logs have no end: they run, or were killed
    first_run: float | None  # when it began, seconds since the Unix epoch
    last_run: float | None
    median_s: float | None  # of the runs that ended well, from submission to exit
    input_bytes: float | None  # median; None where no log shows any
    core_hours: float  # of all runs that ended
    cost: float | None  # None without a price
    trend: MonthlyTrend | None  # of the time; None for too few runs, or too few days
    reasons: tuple[str, ...]  # what made its runs one job, and others another


@dataclass(frozen=True, slots=True)
class Jobs(Displayed):
    """The recurring jobs of a store, the one with the most core-hours first."""

    store: str
    jobs: tuple[JobSummary, ...]
    currency: str = ""  # of the cost

    def frame(self) -> "pd.DataFrame":
        """A row for each job."""
        return frame_of(
            plain_row(one) | {"trend_per_month": None if one.trend is None else one.trend.per_month}
            for one in self.jobs
        )


def summary_of(histories: Sequence[JobHistory], store: str, price: Price | None = None) -> Jobs:
    found = sorted((_summary(one, price) for one in histories), key=lambda one: (-one.core_hours, one.name))
    return Jobs(store, tuple(found), "" if price is None else price.currency)


def time_of(run: Observation) -> float | None:
    """From submission to exit; where the log does not record the submission, from the first to the last Spark job."""
    return run.responses.get(TOTAL_TIME, run.responses.get(TIME))


def _summary(job: JobHistory, price: Price | None) -> JobSummary:
    times = [time for run in job.complete if (time := time_of(run)) is not None]
    sizes = [float(run.record.input_bytes) for run in job.complete if run.record is not None and run.record.input_bytes]
    began = [run.started_at for run in job.runs if run.started_at]
    costs = None if price is None else [held_cost(_held(run), price) or 0.0 for run in job.runs]
    return JobSummary(
        name=job.name,
        key=job.key,
        n_runs=len(job.runs),
        n_complete=len(job.complete),
        n_failed=sum(not run.ok and run.outcome is not Outcome.LOST for run in job.runs),
        n_running=len(job.running),
        first_run=min(began, default=None),
        last_run=max(began, default=None),
        median_s=median(times) if times else None,
        input_bytes=median(sizes) if sizes else None,
        core_hours=sum(run.responses.get(CORE_HOURS, 0.0) for run in job.runs),
        cost=None if costs is None else sum(costs),
        trend=trend_of(job),
        reasons=job.reasons,
    )


def _held(run: Observation) -> dict[str, float]:
    return {name: run.responses.get(name, 0.0) for name in (CORE_HOURS, GIB_HOURS)}


def trend_of(job: JobHistory) -> MonthlyTrend | None:
    """By the slopes between all pairs of runs (Theil and Sen), which a few strange runs do not move."""
    import numpy as np
    from scipy.stats import theilslopes

    told = [(run.started_at, time) for run in job.complete if run.started_at and (time := time_of(run))]
    told = told[-_MOST:]
    if len(told) < _FEWEST:
        return None
    days = np.array([began for began, _ in told]) / _DAY_S
    if np.ptp(days) < _SHORTEST_DAYS:
        return None
    slope, _, low, high = theilslopes(np.log([time for _, time in told]), days, 0.95)
    return MonthlyTrend(*(float(np.expm1(_MONTH_DAYS * one)) for one in (slope, low, high)))
