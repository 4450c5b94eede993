"""From the log of one application to what is kept of it."""

import re
from dataclasses import replace

from sparkcast.data.ingest.settings import Pattern, cluster_settings, own_settings, run_properties
from sparkcast.errors import StudyError
from sparkcast.eventlogs import LogRead
from sparkcast.facts import facts_of
from sparkcast.facts.responses import responses_of
from sparkcast.study import IngestedRun, Price
from sparkcast.study.environment import is_local, kind_of

# What schedulers put behind a name to tell runs apart: a date, a time, a long number, a unique id.
_STAMP = re.compile(
    r"[\s_.:-]*(\d{4}[-_.]?\d{2}[-_.]?\d{2}([T\s_.:-]*\d+)*Z?|\d{8,}|[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12})$"
)
_LONGEST = 2000  # characters of a cause


def keep(log: LogRead, patterns: tuple[Pattern, ...], price: Price | None) -> IngestedRun | None:
    """What one application showed; None where the log does not even name it. Runs where the log is read."""
    if not log.application.app_id:
        return None
    own, missing = own_settings(log, patterns)
    begun = IngestedRun(
        key=log.application.key,
        job=job_name(log.application.name),
        log=log.log,
        size=log.counts.log_bytes,
        is_complete=False,
        started_s=log.application.started_ms / 1e3,
        spark=log.application.spark_version,
        missing=missing,
    )
    try:
        facts = facts_of(log)
    except StudyError:  # it has only just begun
        return begun
    return replace(
        begun,
        is_complete=facts.is_complete,
        outcome=facts.outcome.value,
        cause=facts.cause[:_LONGEST],
        settings={**cluster_settings(facts.shape), **own},
        properties=run_properties(facts.properties),
        responses=responses_of(facts, price) if facts.is_complete else {},
        cluster=_cluster(facts.master),
    )


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
