"""From the log of one application to an observation."""

import re
from dataclasses import dataclass, replace

from sparkcast.data.ingest.settings import Pattern, cluster_settings, own_settings, run_properties
from sparkcast.data.ingest.sizes import told_sizes
from sparkcast.errors import StudyError
from sparkcast.eventlogs import LogRead
from sparkcast.facts import facts_of
from sparkcast.facts.interactive import interactive_program
from sparkcast.facts.responses import responses_of
from sparkcast.observe.record import record_of
from sparkcast.study import Configuration, Fingerprint, LogOrigin, Observation, Price
from sparkcast.study.environment import is_local, kind_of

# What schedulers put behind a name to tell runs apart: a date, a time, a long number, a unique id.
_STAMP = re.compile(
    r"[\s_.:-]*(\d{4}[-_.]?\d{2}[-_.]?\d{2}([T\s_.:-]*\d+)*Z?|\d{8,}|[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12})$"
)
_LONGEST = 2000  # characters of a cause


@dataclass(frozen=True, slots=True)
class ObservedLog:
    """What one log showed, and the settings that were asked for and that it does not tell: such a run is not kept."""

    run: Observation
    missing: tuple[str, ...] = ()
    interactive: str = ""  # the shell, notebook or server that it was


def observe_log(log: LogRead, patterns: tuple[Pattern, ...], price: Price | None) -> ObservedLog | None:
    """What one application showed; None where the log does not even name it. Runs where the log is read.

    Its configuration has the settings of the cluster and those of the job's own. Which properties are settings too is
    decided when all runs of its job are known.
    """
    application = log.application
    if not application.app_id:
        return None
    own, missing = own_settings(log, patterns)
    interactive = interactive_program(log)
    origin = LogOrigin(job_name(application.name), log.log, log.counts.log_bytes, is_complete=False)
    begun = Observation(
        {},
        {},
        fingerprint=_fingerprint(application.spark_version),
        started_at=application.started_ms / 1e3 or None,
        run_id=application.key,
        origin=origin,
    )
    try:
        facts = facts_of(log)
    except StudyError:  # it has only just begun
        return ObservedLog(begun, missing, interactive)
    record = record_of(log, facts)
    run = replace(
        begun,
        configuration=Configuration({**cluster_settings(facts.shape), **own}),
        responses=responses_of(facts, price) if facts.is_complete else {},
        outcome=facts.outcome,
        cause=facts.cause[:_LONGEST],
        fingerprint=_fingerprint(application.spark_version, _cluster(record.cluster)),
        origin=replace(origin, is_complete=facts.is_complete, properties=run_properties(facts.properties)),
        record=record,
    )
    sizes = told_sizes(run)
    return ObservedLog(replace(run, configuration=run.configuration | sizes), missing, interactive)


def _fingerprint(spark: str, cluster: str = "") -> Fingerprint | None:
    return Fingerprint(spark=spark, cluster=cluster) if spark else None


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
