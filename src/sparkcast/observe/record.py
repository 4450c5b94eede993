"""What is kept of an application beside its numbers, from its log and facts."""

import hashlib
import re
from collections import Counter
from collections.abc import Iterator, Mapping

from sparkcast.eventlogs import LogRead, PlanNode, SqlExecution
from sparkcast.facts import AppFacts, StageFacts
from sparkcast.facts.operators import SHUFFLED_JOINS, label
from sparkcast.study import AppRecord, ExecutorsSince, MemoryRecord, QueryRecord, SourceRecord, StageRecord
from sparkcast.study.redaction import redact_text

_MOST_STAGES, _MOST_QUERIES, _MOST_SOURCES, _MOST_WORDS, _MOST_CHANGES = 400, 200, 100, 400, 500
_LONGEST = 200  # characters of a text
_NUMBERS = re.compile(r"\d+")
# Operators that wrap others, or that Spark adds as it sees fit: they say nothing of what a job does.
_WRAPPERS = (
    *("WholeStageCodegen", "InputAdapter", "AdaptiveSparkPlan", "ColumnarToRow", "AQEShuffleRead", "ShuffleQueryStage"),
    *("Exchange", "BroadcastExchange", "ReusedExchange", "Sort", "Project"),
)
_JOINS = (*SHUFFLED_JOINS, "BroadcastHashJoin")
_QUEUES = ("spark.yarn.queue", "spark.kubernetes.namespace", "spark.mesos.role")
_CLUSTERS = ("spark.databricks.clusterUsageTags.clusterId", "spark.yarn.cluster.id", "spark.dataproc.cluster.name")


def record_of(log: LogRead, facts: AppFacts) -> AppRecord:
    """An application as its history keeps it."""
    application, span = facts.application, facts.span
    return AppRecord(
        app_id=application.app_id,
        attempt_id=application.attempt_id,
        name=_short(application.name),
        user=application.user,
        queue=_first(facts.properties, _QUEUES),
        cluster=cluster_of(facts.properties, facts.master),
        submitted_s=span.submitted_ms / 1e3 if span.submitted_ms else None,
        started_s=span.start_ms / 1e3,
        ended_s=span.end_ms / 1e3,
        input_bytes=facts.input.bytes,
        input_records=facts.input.records,
        is_upper_bound=facts.input.is_upper_bound,
        command_line=redact_text(log.environment.command_line)[: 5 * _LONGEST],
        shape=_shape(log, facts),
        sources=tuple(
            SourceRecord(_short(one.path), one.format, one.files, one.bytes, one.records)
            for one in facts.input.sources[:_MOST_SOURCES]
        ),
        queries=tuple(_query(one, span.start_ms) for one in log.sql_executions[:_MOST_QUERIES]),
        stages=_stages(facts),
        n_stages=len(facts.stages),
        executors=tuple(
            ExecutorsSince(one.since_s, one.executors, one.cores) for one in facts.shape.over_time[:_MOST_CHANGES]
        ),
        is_dynamic=facts.shape.is_dynamic,
        memory=_memory(facts),
        properties={name: value[:_LONGEST] for name, value in facts.properties.items()},
    )


def cluster_of(properties: Mapping[str, str], master: str) -> str:
    """The id of the cluster, where its properties have one, else the master's address."""
    return _first(properties, _CLUSTERS) or master


def _short(text: str) -> str:
    return redact_text(text)[:_LONGEST]


def _first(properties: Mapping[str, str], names: tuple[str, ...]) -> str:
    return next((properties[name] for name in names if properties.get(name)), "")


def _memory(facts: AppFacts) -> MemoryRecord:
    peak = facts.peak_memory
    containers = (profile.container_bytes for profile in facts.shape.profiles)
    return MemoryRecord(
        facts.shape.memory_bytes,
        max(containers, default=0),
        peak.heap,
        peak.off_heap,
        peak.jvm_rss,
        peak.python_rss,
    )


def _stages(facts: AppFacts) -> tuple[StageRecord, ...]:
    """Those that took longest, in order of their start."""
    longest = sorted(facts.stages, key=lambda stage: (-stage.wall_s, stage.key))[:_MOST_STAGES]
    return tuple(map(_stage, sorted(longest, key=lambda stage: (stage.started_s, stage.key))))


def _stage(stage: StageFacts) -> StageRecord:
    return StageRecord(
        stage_id=stage.stage_id,
        attempt=stage.attempt,
        name=_short(stage.short_name),
        operator=stage.operator,
        started_after_s=stage.started_s,
        duration_s=stage.duration_s,
        wall_s=stage.wall_s,
        task_s=stage.task_s,
        median_task_s=stage.median_task_s,
        longest_task_s=stage.longest_task_s,
        n_tasks=stage.n_tasks,
        n_lost=stage.n_lost,
        input_bytes=stage.input_bytes,
        shuffle_read_bytes=stage.shuffle_read_bytes,
        shuffle_write_bytes=stage.shuffle_write_bytes,
        spilled_bytes=stage.spilled_bytes,
    )


# ---------------------------------------------------------------- what a job is made of


def _query(query: SqlExecution, start_ms: int) -> QueryRecord:
    words = sorted(Counter(_words(query)).items())
    return QueryRecord(
        _short(query.description),
        hashlib.sha256(repr(words).encode()).hexdigest()[:16],
        (query.started_ms - start_ms) / 1e3,
        (query.ended_ms - query.started_ms) / 1e3 if query.ended_ms else None,
    )


def _shape(log: LogRead, facts: AppFacts) -> dict[str, int]:
    """Operators of queries as first planned, and stages outside of queries; the most frequent ones.

    Adaptive execution and the sizes of tables change how Spark runs a query, so joins are called joins here.
    """
    words = Counter(word for query in log.sql_executions for word in _words(query))
    of_queries = {stage for job in facts.timeline.jobs if job.query_id >= 0 for stage in job.stage_ids}
    words.update(_anonymous(stage.short_name) for stage in facts.stages if stage.stage_id not in of_queries)
    return dict(sorted(words.most_common(_MOST_WORDS)))


def _words(query: SqlExecution) -> Iterator[str]:
    for node in query.first_plan or query.plan:
        if node.name.split(" ")[0] not in _WRAPPERS:
            yield _anonymous(_word(node))


def _word(node: PlanNode) -> str:
    told = label(node)
    return next((told.replace(join, "Join", 1) for join in _JOINS if told.startswith(join)), told)


def _anonymous(word: str) -> str:
    """Without line numbers, dates and ids, which change from run to run.

    >>> _anonymous("collect at report.py:35"), _anonymous("Scan parquet dt=2025-06-27")
    ('collect at report.py', 'Scan parquet dt=#-#-#')
    """
    return _NUMBERS.sub("#", re.sub(r":\d+$", "", word))[:80]
