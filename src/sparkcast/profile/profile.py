"""One application: where its time went, what was paid, what could be better."""

from collections.abc import Mapping
from dataclasses import dataclass

from sparkcast.errors import StudyError
from sparkcast.eventlogs import LogRead
from sparkcast.profile.attribution import attribute
from sparkcast.profile.cores import CoreHours, core_hours
from sparkcast.profile.findings import Evidence, Finding, find
from sparkcast.profile.parts import Part
from sparkcast.profile.stages import StageProfile, profile_stages
from sparkcast.profile.thresholds import Thresholds
from sparkcast.study.redaction import redact


@dataclass(frozen=True, slots=True)
class Profile:
    """Where the time of one application went: `parts` are seconds, and add up to `wall_s`."""

    log: str
    status: str  # ok or partial
    reason: str  # why it is partial
    app_id: str
    attempt_id: str
    name: str
    spark_version: str
    wall_s: float
    job_s: float  # from the first job to the end of the last one
    parts: Mapping[str, float]
    core_hours: CoreHours
    n_jobs: int
    n_tasks: int
    n_slots: float  # the most at once
    findings: tuple[Finding, ...]
    stages: tuple[StageProfile, ...]
    settings: Mapping[str, str]  # Spark properties, and what sessions changed while it ran


def profile_log(log: LogRead, thresholds: Thresholds | None = None) -> Profile:
    """Profile what was read.

    Raises:
        StudyError: nothing was read, or the log tells no times.
    """
    if not log.was_read:
        raise StudyError(
            f"{log.log}: {log.reason}", hint="give an event log that Spark wrote: a file, or a rolling log's folder"
        )
    found = attribute(log)
    cores, stages = core_hours(log, found), profile_stages(log, found)
    evidence = Evidence(log, found, stages, cores, thresholds or Thresholds())
    told = log.application
    return Profile(
        log=log.log,
        status=log.status.value,
        reason=log.reason,
        app_id=told.app_id,
        attempt_id=told.attempt_id,
        name=told.name,
        spark_version=told.spark_version,
        wall_s=found.wall_s,
        job_s=max((told.last_job_end_ms or found.span.end_ms) - told.first_job_ms, 0) / 1e3
        if told.first_job_ms
        else 0.0,
        parts={part.value: found.total[part] for part in Part},
        core_hours=cores,
        n_jobs=len(log.jobs),
        n_tasks=len(log.tasks),
        n_slots=evidence.n_slots,
        findings=find(evidence),
        stages=stages,
        settings=redact({**log.environment.spark, **_changed_settings(log)}),
    )


def _changed_settings(log: LogRead) -> dict[str, str]:
    return {name: value for query in log.sql_executions for name, value in query.modified_configs.items()}
