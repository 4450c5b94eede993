"""One application: how it ended, where its time went, what was allocated, what could be better."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING

from sparkcast.display import Displayed, frame_of, plain_row
from sparkcast.eventlogs import LogRead
from sparkcast.facts import AppFacts, CoreHours, QueryTimes, StageFacts, facts_of
from sparkcast.facts.failure import cause_line
from sparkcast.profile.alternative import alternative_of
from sparkcast.profile.findings import Evidence, Finding, find
from sparkcast.profile.thresholds import Thresholds
from sparkcast.replay import Replayed
from sparkcast.study import Outcome
from sparkcast.study.redaction import redact_text

if TYPE_CHECKING:
    import pandas as pd


@dataclass(frozen=True, slots=True)
class Profile(Displayed):
    """Where the time of one application went: `parts` are seconds, and add up to `wall_s`."""

    log: str
    status: str  # ok or partial
    reason: str  # why it is partial
    outcome: str  # as the last job ended: ok, oom, lost or error; of a session, ok
    cause: str  # why it failed, in one line
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
    is_local: bool  # the driver is the one executor
    is_interactive: bool  # a shell, a notebook or a server
    findings: tuple[Finding, ...]
    queries: QueryTimes  # with what is outside of them, `wall_s`
    stages: tuple[StageFacts, ...]
    settings: Mapping[str, str]  # Spark properties, and what sessions changed while it ran
    alternative: Replayed | None = None  # another number of executors, replayed, that saves much or is much faster

    def frame(self) -> "pd.DataFrame":
        """A row for each stage, with the seconds of its parts."""
        return frame_of({**plain_row(stage), **stage.parts} for stage in self.stages)


def profile_log(log: LogRead, thresholds: Thresholds | None = None) -> Profile:
    """Profile what was read.

    Raises:
        StudyError: nothing was read, or the log does not record when the application started and ended.
    """
    return profile_facts(log, facts_of(log), thresholds)


def profile_facts(log: LogRead, facts: AppFacts, thresholds: Thresholds | None = None) -> Profile:
    """Profile an application whose facts are known."""
    # In a session people see what fails and go on: it has no result of its own.
    has_failed = facts.outcome is not Outcome.OK and not facts.is_interactive
    return Profile(
        log=facts.log,
        status=facts.status,
        reason=facts.reason,
        outcome=facts.outcome.value if has_failed else Outcome.OK.value,
        cause=_cause(facts) if has_failed else "",
        app_id=facts.application.app_id,
        attempt_id=facts.application.attempt_id,
        name=facts.application.name,
        spark_version=facts.application.spark_version,
        wall_s=facts.span.wall_s,
        job_s=facts.span.time_s or 0.0,
        parts={part.value: seconds for part, seconds in facts.parts.items()},
        core_hours=facts.core_hours,
        n_jobs=facts.totals.jobs,
        n_tasks=facts.totals.tasks,
        n_slots=facts.shape.slots,
        is_local=facts.shape.is_local,
        is_interactive=facts.is_interactive,
        findings=find(Evidence(log, facts, thresholds or Thresholds())),
        queries=facts.queries,
        stages=facts.stages,
        settings=facts.properties,
        alternative=alternative_of(log, facts),
    )


def _cause(facts: AppFacts) -> str:
    if facts.shortage is not None:
        return facts.shortage.what
    return redact_text(cause_line(facts.cause))
