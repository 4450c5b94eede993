"""How long jobs of one class take: as a number says, or as runs show."""

from collections.abc import Mapping
from dataclasses import dataclass, replace

from sparkcast.errors import NotEnoughDataError
from sparkcast.queues.measured import Launching, MeasuredJobs, measured_jobs, require_factors
from sparkcast.queues.slowdown import Slowdown
from sparkcast.queues.times import Spread, Times
from sparkcast.study import Dataset, Level, same_level
from sparkcast.study.streams import is_stream


@dataclass(frozen=True, slots=True)
class ServiceTimes:
    """What is known of the times of one class of jobs."""

    times: Times  # alone on the cluster
    slowdown: Slowdown | None = None  # where several at once were measured
    notes: tuple[str, ...] = ()
    arrival_rate: float | None = None  # of measured streams
    launching: Launching | None = None


def measured_times(data: Dataset, at: Mapping[str, Level], scv: float | None) -> ServiceTimes | None:
    """As runs with the settings `at` show; None where there are none. `scv` replaces the measured spread."""
    if not any(is_stream(run) for run in data.observations) and not _was_run(data, at):
        require_factors(at, data.factors)
        return None
    jobs = measured_jobs(data, at)
    if scv is not None:
        return _spread(jobs, scv)
    if len(jobs.times.values) == 1:
        raise NotEnoughDataError(
            "one run shows how long a job takes, but not how much that varies, on which waiting depends",
            hint="run it a few times more, or say how much it varies: `scv=1` (exponential), `scv=0.1`",
        )
    return ServiceTimes(jobs.times, jobs.slowdown, jobs.notes, jobs.arrival_rate, jobs.launching)


def _was_run(data: Dataset, at: Mapping[str, Level]) -> bool:
    return not at or any(
        run.ok and all(same_level(run.configuration.get(name, ""), level) for name, level in at.items())
        for run in data.observations
    )


def _spread(jobs: MeasuredJobs, scv: float) -> ServiceTimes:
    launching = jobs.launching
    if launching is not None:
        launching = replace(launching, times=Spread(launching.times.mean_s, scv))
    return ServiceTimes(Spread(jobs.times.mean_s, scv), jobs.slowdown, jobs.notes, jobs.arrival_rate, launching)
