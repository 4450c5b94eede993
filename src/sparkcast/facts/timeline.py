"""What happened when: jobs with their waiting, and the moments in which only the driver worked. Seconds are since the
start of the application."""

from dataclasses import dataclass

import numpy as np

from sparkcast.eventlogs import JobRecord, LogRead
from sparkcast.facts.span import Span


@dataclass(frozen=True, slots=True)
class JobSpan:
    """One Spark job."""

    job_id: int
    name: str
    description: str
    query_id: int  # of the SQL execution it belongs to; -1 for none
    stage_ids: tuple[int, ...]
    started_s: float
    ended_s: float  # of a job whose end is not in the log: the end of the application
    waiting_s: float | None  # from its submission to its first task; None without tasks of its own
    succeeded: bool | None  # None: its end is not in the log


@dataclass(frozen=True, slots=True)
class Gap:
    """No Spark job ran: the driver planned, collected, committed, or ran code of its own."""

    started_s: float
    ended_s: float
    before_job: int  # the job that ended it; -1 for the end of the application


@dataclass(frozen=True, slots=True)
class Query:
    """One SQL execution."""

    query_id: int
    description: str
    started_s: float
    ended_s: float | None  # None: its end is not in the log
    job_ids: tuple[int, ...]
    error: str = ""


@dataclass(frozen=True, slots=True)
class Timeline:
    jobs: tuple[JobSpan, ...]  # in order of submission
    gaps: tuple[Gap, ...]
    queries: tuple[Query, ...]


def timeline_of(log: LogRead, span: Span) -> Timeline:
    first_launch = _first_launches(log)
    submitted = sorted((job for job in log.jobs if job.submitted_ms), key=lambda job: (job.submitted_ms, job.job_id))
    jobs = tuple(_job_span(job, span, first_launch) for job in submitted)
    queries = tuple(
        Query(
            one.execution_id,
            one.description,
            (one.started_ms - span.start_ms) / 1e3,
            (one.ended_ms - span.start_ms) / 1e3 if one.ended_ms else None,
            one.job_ids,
            one.error,
        )
        for one in log.sql_executions
    )
    return Timeline(jobs, _gaps(jobs, span.wall_s), queries)


def _job_span(job: JobRecord, span: Span, first_launch: dict[int, int]) -> JobSpan:
    launches = [first_launch[stage] for stage in job.stage_ids if stage in first_launch]
    own = [launch for launch in launches if launch >= job.submitted_ms]  # a stage of an earlier job may be reused
    return JobSpan(
        job.job_id,
        job.name,
        job.description,
        job.sql_execution_id,
        job.stage_ids,
        (job.submitted_ms - span.start_ms) / 1e3,
        (max(job.completed_ms or span.end_ms, job.submitted_ms) - span.start_ms) / 1e3,
        (min(own) - job.submitted_ms) / 1e3 if own else None,
        job.succeeded,
    )


def _first_launches(log: LogRead) -> dict[int, int]:
    """When the first task of each stage started."""
    stage_ids, launched = log.tasks["stage_id"], log.tasks["launch_ms"]
    order = np.lexsort((launched, stage_ids))
    ids, places = np.unique(stage_ids[order], return_index=True)
    return dict(zip(ids.tolist(), launched[order][places].tolist(), strict=True))


def _gaps(jobs: tuple[JobSpan, ...], wall_s: float) -> tuple[Gap, ...]:
    gaps, until = [], 0.0
    for job in jobs:
        if job.started_s > until:
            gaps.append(Gap(until, job.started_s, job.job_id))
        until = max(until, job.ended_s)
    if wall_s > until:
        gaps.append(Gap(until, wall_s, -1))
    return tuple(gaps)
