"""When an application was submitted, began, worked and ended: the one definition of its times."""

from dataclasses import dataclass

from sparkcast.errors import StudyError
from sparkcast.eventlogs import LogRead
from sparkcast.study.names import SAMPLER_GROUP

# A driver that runs where it was submitted starts Spark within minutes. A second session of the same process repeats
# the moment at which the first was submitted, which says nothing about its own launch.
_LONGEST_LAUNCH_MS = 300_000


@dataclass(frozen=True, slots=True)
class Span:
    """The life of an application. Moments are milliseconds since the Unix epoch, 0 where the log has none."""

    start_ms: int
    end_ms: int  # of the application, or the last event of one that has not ended
    submitted_ms: int = 0
    first_job_ms: int = 0  # submission of the first Spark job
    last_job_ms: int = 0  # end of the last one

    @property
    def wall_s(self) -> float:
        """From the start of the application to its end."""
        return (self.end_ms - self.start_ms) / 1e3

    @property
    def launch_s(self) -> float:
        """From submission to the start of the application; 0 where the log does not record the submission."""
        return (self.start_ms - self.submitted_ms) / 1e3 if self.submitted_ms else 0.0

    @property
    def total_s(self) -> float:
        """From submission to the end, as far as a log can record it."""
        return self.launch_s + self.wall_s

    @property
    def time_s(self) -> float | None:
        """From the first Spark job to the end of the last one; None without both."""
        if not 0 < self.first_job_ms <= self.last_job_ms:
            return None
        return (self.last_job_ms - self.first_job_ms) / 1e3


def span_of(log: LogRead) -> Span:
    """The times of an application.

    Raises:
        StudyError: the log does not record when the application started and ended.
    """
    application, (first, last) = log.application, job_span_ms(log)
    launched = log.tasks["launch_ms"]
    launched = launched[launched > 0]
    starts = [moment for moment in (first, int(launched.min()) if len(launched) else 0) if moment]
    start = application.started_ms or min(starts, default=0)
    end = application.ended_ms or max(application.last_event_ms, last)
    if start <= 0 or end <= start:
        raise StudyError(
            f"{log.log}: the log does not record when the application started and ended",
            hint="give the whole log: for a rolling log the folder, not one of its files",
        )
    return Span(start, end, _submitted_ms(log, start), first, last)


def job_span_ms(log: LogRead) -> tuple[int, int]:
    """When the first Spark job was submitted and the last one that ended did so; 0 without one.

    The job that starts sparkcast's samplers is not the application's.
    """
    jobs = [job for job in log.jobs if job.group != SAMPLER_GROUP]
    first = min((job.submitted_ms for job in jobs if job.submitted_ms > 0), default=0)
    return first, max((job.completed_ms for job in jobs), default=0)


def _submitted_ms(log: LogRead, start_ms: int) -> int:
    properties = log.environment.spark
    text = properties.get("spark.app.submitTime", "")
    submitted_ms = int(text) if text.isdecimal() and len(text) < 16 else 0
    is_remote = properties.get("spark.submit.deployMode", "client") == "cluster"
    is_plausible = 0 < submitted_ms <= start_ms and (is_remote or start_ms - submitted_ms <= _LONGEST_LAUNCH_MS)
    return submitted_ms if is_plausible else 0
