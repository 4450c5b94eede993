"""What really ran: everything that sparkcast says of an application, from its log, once."""

from collections.abc import Mapping
from dataclasses import dataclass, field, replace

from sparkcast.errors import StudyError
from sparkcast.eventlogs import Application, LogRead
from sparkcast.facts.attribution import Attribution, StageKey, attribute
from sparkcast.facts.core_hours import CoreHours, core_hours
from sparkcast.facts.failure import outcome_of
from sparkcast.facts.interactive import is_interactive
from sparkcast.facts.memory import MemoryShortage, memory_shortage
from sparkcast.facts.operators import label
from sparkcast.facts.queries import QueryTimes, StagePlan, plans_of, query_times
from sparkcast.facts.readiness import ready_s, retired_s
from sparkcast.facts.shape import ClusterShape, cluster_shape
from sparkcast.facts.span import Span
from sparkcast.facts.stages import StageFacts, stages_of
from sparkcast.facts.timeline import Timeline, timeline_of
from sparkcast.facts.totals import totals_of
from sparkcast.facts.volume import Volume, input_of, output_of
from sparkcast.study import Outcome, TaskTotals
from sparkcast.study.application import Part
from sparkcast.study.redaction import redact, redact_text


@dataclass(frozen=True, slots=True)
class PeakMemory:
    """The most that any executor had, bytes; 0 where Spark did not look."""

    heap: int = 0
    off_heap: int = 0
    jvm_rss: int = 0
    python_rss: int = 0


@dataclass(frozen=True, slots=True)
class AppFacts:
    """The facts of one application. Where its cluster, time or work is asked for, this is the answer."""

    log: str
    status: str  # ok or partial
    reason: str  # why it is partial
    application: Application
    span: Span
    shape: ClusterShape
    parts: Mapping[Part, float]  # seconds that add up to the wall time
    core_hours: CoreHours
    totals: TaskTotals
    input: Volume
    output: Volume
    outcome: Outcome
    cause: str
    is_interactive: bool  # a shell, a notebook or a server: people decide when the next job starts
    shortage: MemoryShortage | None  # what it ran out of, if anything, whether or not that failed it
    properties: Mapping[str, str]  # Spark's, with what sessions changed while it ran; without secrets
    stages: tuple[StageFacts, ...]
    timeline: Timeline
    peak_memory: PeakMemory
    ready_s: tuple[float, ...]  # when each executor (as in `attribution.slots`) could take tasks, since the start
    retired_s: tuple[float, ...]  # until when it took them
    queries: QueryTimes  # where the time of SQL queries went, and how much was outside of them
    plans: Mapping[StageKey, StagePlan] = field(repr=False, compare=False)  # operators by stage
    attribution: Attribution = field(repr=False, compare=False)

    @property
    def is_complete(self) -> bool:
        """Whether it has ended, and ran a Spark job from start to end."""
        return self.application.has_ended and bool(self.span.time_s)

    @property
    def master(self) -> str:
        return self.properties.get("spark.master", "")


def facts_of(log: LogRead) -> AppFacts:
    """The facts of what was read.

    Raises:
        StudyError: nothing was read, or the log does not record when the application started and ended.
    """
    if not log.was_read:
        raise StudyError(
            f"{log.log}: {log.reason}", hint="give an event log that Spark wrote: a file, or a rolling log's folder"
        )
    found = attribute(log)
    outcome, cause = outcome_of(log)
    is_lost = found.times.is_lost
    plans = plans_of(log)
    stages = tuple(_named(stage, plans.get(stage.key)) for stage in stages_of(log, found))
    return AppFacts(
        log=log.log,
        status=log.status.value,
        reason=log.reason,
        application=replace(log.application, name=redact_text(log.application.name)),
        span=found.span,
        shape=cluster_shape(log, found.span, found.slots),
        parts={part: found.total[part] for part in Part},
        core_hours=core_hours(log, found),
        totals=totals_of(log),
        input=input_of(log, is_lost),
        output=output_of(log, is_lost),
        outcome=outcome,
        cause=redact_text(cause),
        is_interactive=is_interactive(log),
        shortage=memory_shortage(log),
        properties=redact({**log.environment.spark, **_session_changes(log)}),
        stages=stages,
        timeline=timeline_of(log, found.span),
        peak_memory=_peak_memory(log),
        ready_s=ready_s(log, found),
        retired_s=retired_s(log, found),
        queries=query_times(log, found, stages, plans),
        plans=plans,
        attribution=found,
    )


def _named(stage: StageFacts, plan: StagePlan | None) -> StageFacts:
    chief = None if plan is None else plan.chief
    return stage if plan is None or chief is None else replace(stage, operator=label(plan.query.plan[chief]))


def _session_changes(log: LogRead) -> dict[str, str]:
    return {name: value for query in log.sql_executions for name, value in query.modified_configs.items()}


def _peak_memory(log: LogRead) -> PeakMemory:
    executors = log.executors
    return PeakMemory(
        max((one.peak_heap_bytes for one in executors), default=0),
        max((one.peak_off_heap_bytes for one in executors), default=0),
        max((one.peak_jvm_rss_bytes for one in executors), default=0),
        max((one.peak_python_rss_bytes for one in executors), default=0),
    )
