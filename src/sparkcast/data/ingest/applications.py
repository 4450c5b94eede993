"""From the log of one application to what is kept of it."""

import re

from sparkcast.data.ingest.settings import Pattern, cluster_settings, own_settings, properties
from sparkcast.eventlogs import LogRead
from sparkcast.observe.eventlog import total
from sparkcast.observe.outcome import outcome_of_failure
from sparkcast.observe.output import measured
from sparkcast.profile import Part, profile_log
from sparkcast.study import IngestedRun, Outcome, Price
from sparkcast.study.environment import is_local, kind_of
from sparkcast.study.names import COST, TIME, TOTAL_TIME

# What schedulers put behind a name to tell runs apart: a date, a time, a long number, a unique id.
_STAMP = re.compile(
    r"[\s_.:-]*(\d{4}[-_.]?\d{2}[-_.]?\d{2}([T\s_.:-]*\d+)*Z?|\d{8,}|[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12})$"
)
CORE_HOURS = "core_hours"
_LONGEST = 2000  # characters of a cause


def keep(log: LogRead, patterns: tuple[Pattern, ...], price: Price | None) -> IngestedRun | None:
    """What one application showed; None where the log does not even name it. Runs where the log is read."""
    told = log.application
    if not told.app_id:
        return None
    own, missing = own_settings(log, patterns)
    is_complete = told.has_ended and 0 < told.first_job_ms < told.last_job_end_ms
    outcome, cause = _outcome(log)
    return IngestedRun(
        key=f"{told.app_id}{f'/{told.attempt_id}' if told.attempt_id else ''}",
        job=job_name(told.name),
        log=log.log,
        size=log.counts.log_bytes,
        is_complete=is_complete,
        outcome=outcome.value,
        cause=cause[:_LONGEST],
        started_s=told.started_ms / 1e3,
        settings={**cluster_settings(log), **own},
        properties=properties(log),
        responses=_responses(log, price) if is_complete else {},
        spark=told.spark_version,
        cluster=_cluster(log.environment.spark.get("spark.master", "")),
        missing=missing,
    )


def _responses(log: LogRead, price: Price | None) -> dict[str, float]:
    """Its time, what its executors were held for, sums over tasks, and the parts of its wall time."""
    profile = profile_log(log)
    held = profile.core_hours
    times = {TIME: profile.job_s, TOTAL_TIME: profile.wall_s, CORE_HOURS: held.paid}
    cost = {} if price is None else {COST: price.core_hour * held.paid + price.gib_hour * held.gib_hours}
    parts = {part_name(part): profile.parts[part.value] for part in Part}
    return {**measured(total(log)), **times, **cost, **parts}


def part_name(part: Part) -> str:
    """The response for a part of the wall time; `cpu_s` and `gc_s` alone are sums over tasks.

    >>> part_name(Part.CPU)
    'part_cpu_s'
    """
    return f"part_{part.name.lower()}_s"


def job_name(name: str) -> str:
    """The name without what tells its runs apart.

    >>> job_name("taxi_2025_06_27_03_56_52"), job_name("query 72")
    ('taxi', 'query 72')
    """
    return _STAMP.sub("", name) or name


def _cluster(master: str) -> str:
    """Where it ran. The number of executors in a local master is a setting and no place; a loopback says nothing."""
    if "127.0.0.1" in master or "localhost" in master:
        return ""
    return kind_of(master) if is_local(master) else master


def _outcome(log: LogRead) -> tuple[Outcome, str]:
    """As the last job ended; what failed before was tried again, or did not matter."""
    ended = [job for job in log.jobs if job.succeeded is not None]
    last = max(ended, key=lambda job: job.completed_ms, default=None)
    if last is None or last.succeeded:
        return Outcome.OK, ""
    texts = (
        *(job.failure for job in ended),
        *(one.removed_reason for one in log.executors),
        *log.tasks.words["end_detail"],
    )
    return outcome_of_failure("\n".join(texts)), last.failure or "its last job failed"
