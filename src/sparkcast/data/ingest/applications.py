"""From the log of one application to what is kept of it."""

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from sparkcast.data.ingest.settings import Pattern, cluster_settings, own_settings, properties
from sparkcast.observe.eventlogs import LogRead
from sparkcast.observe.profile import Part, profile_log
from sparkcast.study import Level, Outcome, Price
from sparkcast.study.names import COST, TIME, TOTAL_TIME

# What schedulers put behind a name to tell runs apart: a date, a time, a long number, a unique id.
_STAMP = re.compile(
    r"[\s_.:-]*(\d{4}[-_.]?\d{2}[-_.]?\d{2}([T\s_.:-]*\d+)*Z?|\d{8,}|[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12})$"
)
CORE_HOURS = "core_hours"
_OOM = ("OutOfMemory", "exit code 137", "exited with code 137", "OOM", "beyond memory limits", "running beyond")


@dataclass(frozen=True, slots=True)
class Kept:
    """What is kept of one run: enough to write tables anew when runs of other settings come in."""

    key: str  # application and attempt
    job: str
    log: str
    size: int  # of the log, bytes: one that has grown is read again
    is_complete: bool  # an application that has not ended has no time yet
    outcome: str = Outcome.OK.value
    started_s: float = 0.0
    settings: Mapping[str, Level] = field(default_factory=dict)  # the cluster's and the job's own
    properties: Mapping[str, str] = field(default_factory=dict)
    responses: Mapping[str, float] = field(default_factory=dict)
    missing: tuple[str, ...] = ()  # settings that were asked for and that the log does not tell

    @classmethod
    def from_plain(cls, plain: Mapping[str, Any]) -> "Kept":
        return cls(**{**plain, "missing": tuple(plain.get("missing", ()))})


def keep(log: LogRead, patterns: tuple[Pattern, ...], price: Price | None) -> Kept:
    """What one application showed. Runs where the log is read."""
    told = log.application
    own, missing = own_settings(log, patterns)
    profile = profile_log(log)
    seconds = {f"{part.name.lower()}_s": profile.parts[part.value] for part in Part}
    responses = {TIME: profile.job_s, TOTAL_TIME: profile.wall_s, **seconds, CORE_HOURS: profile.core_hours.paid}
    if price is not None:
        held = profile.core_hours
        responses[COST] = price.core_hour * held.paid + price.gib_hour * held.gib_hours
    return Kept(
        key=f"{told.app_id}{f'/{told.attempt_id}' if told.attempt_id else ''}",
        job=job_name(told.name),
        log=log.log,
        size=log.counts.file_bytes,
        is_complete=told.has_ended and profile.job_s > 0,
        outcome=_outcome(log).value,
        started_s=told.started_ms / 1e3,
        settings={**cluster_settings(log), **own},
        properties=properties(log),
        responses=responses,
        missing=missing,
    )


def job_name(name: str) -> str:
    """The name without what tells its runs apart.

    >>> job_name("taxi_2025_06_27_03_56_52"), job_name("query 72")
    ('taxi', 'query 72')
    """
    return _STAMP.sub("", name) or name


def _outcome(log: LogRead) -> Outcome:
    """As the last job ended; what failed before was tried again, or did not matter."""
    ended = [job for job in log.jobs if job.succeeded is not None]
    if not ended or max(ended, key=lambda job: job.completed_ms).succeeded:
        return Outcome.OK
    texts = (
        *(job.failure for job in ended),
        *(one.removed_reason for one in log.executors),
        *log.tasks.words["end_detail"],
    )
    return Outcome.OOM if any(word in text for text in texts for word in _OOM) else Outcome.ERROR
