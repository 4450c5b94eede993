"""Events other than the ends of tasks, put together to the rows of a LogRead. Any may be missing or out of order."""

import math
from collections import Counter
from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Any, TypeVar

import msgspec

from sparkcast.eventlogs import events
from sparkcast.eventlogs.columns import clamped
from sparkcast.eventlogs.parse import NOT_AS_EXPECTED, BadLineError, decoder, mended
from sparkcast.eventlogs.plans import Plans
from sparkcast.eventlogs.result import (
    Application,
    Environment,
    Executor,
    JobRecord,
    Rdd,
    ResourceProfile,
    SqlExecution,
    Stage,
)

_T = TypeVar("_T")

_EVENT_FIRST = b'{"Event":"'
_LONGEST_TEXT = 2000
# More than any real application has; a log made to fill the memory stops growing here.
_MOST_ROWS = 1_000_000
_MOST_NAMES = 1000
_MOST_RDDS = 500  # of one stage
_OWN_PROPERTIES = "spark.sparkcast."
_SQL_SETTINGS = (
    *("spark.sql.shuffle.partitions", "spark.sql.autoBroadcastJoinThreshold"),
    *("spark.sql.adaptive.", "spark.sql.files.", "spark.default.parallelism", "spark.sql.leafNodeDefaultParallelism"),
)


class Builder:
    """Takes lines one by one. What it has no use for is counted and passed over."""

    def __init__(self) -> None:
        self.events: Counter[str] = Counter()
        self.n_lines = 0
        self.n_bad = 0
        self.n_mended = 0
        self.n_unknown = 0
        self.application = Application()
        self.last_event_ms = 0
        self.environment = Environment()
        self.profiles: dict[int, ResourceProfile] = {}
        self.executors: list[Executor] = []
        self.jobs: dict[int, JobRecord] = {}
        self.stages: dict[tuple[int, int], Stage] = {}
        self.sql: dict[int, SqlExecution] = {}
        self.applications: set[str] = set()  # ids that start in this log: more than one is a mix-up
        self._latest: dict[str, int] = {}  # executor id -> its place among the executors
        self._same: dict[Any, Any] = {}  # texts and RDDs that many stages repeat, kept once
        self._plans = Plans(self._once)
        self._take_task_end: Callable[[bytes], None] = lambda line: None

    def hand_task_ends_to(self, take: Callable[[bytes], None]) -> None:
        """Where the ends of tasks go whose lines begin unlike Spark's."""
        self._take_task_end = take

    def take(self, line: bytes) -> None:
        self.n_lines += 1
        if line.isspace():
            return
        try:
            name = _event_name(line)
        except BadLineError:
            self.n_bad += 1
            return
        if name == "SparkListenerTaskEnd":
            self.n_lines -= 1  # is counted there
            self._take_task_end(line)
            return
        known = _KNOWN.get(name)
        if known is None:
            self._pass_over(name, line)
            return
        decode, kind, put = known
        try:
            try:
                event = decode(line)
            except NOT_AS_EXPECTED:
                event = mended(kind, line)
                self.n_mended += 1
        except BadLineError:
            self.n_bad += 1
            return
        self.events[name] += 1
        put(self, event)

    def _pass_over(self, name: str, line: bytes) -> None:
        if not line.rstrip().endswith(b"}"):
            self.n_bad += 1
            return
        self.n_unknown += 1
        if len(self.events) < _MOST_NAMES or name in self.events:
            self.events[name] += 1

    # The application and what it runs on.

    def log_start(self, event: events.LogStart) -> None:
        self.application = replace(self.application, spark_version=event.spark_version)

    def application_start(self, event: events.ApplicationStart) -> None:
        if event.app_id and len(self.applications) < _MOST_NAMES:
            self.applications.add(event.app_id)
        if self.application.started_ms:
            return
        self.application = replace(
            self.application,
            app_id=event.app_id,
            attempt_id=event.attempt_id,
            name=event.name,
            user=event.user,
            started_ms=event.time,
        )
        self._saw(event.time)

    def application_end(self, event: events.ApplicationEnd) -> None:
        self.application = replace(self.application, ended_ms=event.time)
        self._saw(event.time)

    def environment_update(self, event: events.EnvironmentUpdate) -> None:
        self.environment = Environment(event.spark, event.jvm, event.system)

    def profile_added(self, event: events.ResourceProfileAdded) -> None:
        asks, task = _amounts(event.executor), _amounts(event.task)
        if len(self.profiles) < _MOST_NAMES:
            self.profiles[event.profile_id] = ResourceProfile(
                profile_id=event.profile_id,
                executor_cores=_whole(asks.get("cores", 0)),
                memory_mib=_whole(asks.get("memory", 0)),
                memory_overhead_mib=_whole(asks.get("memoryOverhead", 0)),
                off_heap_mib=_whole(asks.get("offHeap", 0)),
                pyspark_memory_mib=_whole(asks.get("pyspark.memory", 0)),
                task_cpus=task.get("cpus", 1.0),
                executor_resources=asks,
                task_resources=task,
            )

    def executor_added(self, event: events.ExecutorAdded) -> None:
        info = event.info
        place = self._latest.get(event.executor)
        known = self.executors[place] if place is not None else None
        if known is not None and not known.added_ms and not 0 < known.removed_ms < event.time:
            # Its block manager or its end was told of first.
            values = {"host": info.host, "cores": info.cores, "profile_id": info.profile_id, "added_ms": event.time}
            self._change_executor(event.executor, **values)
        elif known is None or known.added_ms != event.time:  # else the same line again
            self._new_executor(Executor(event.executor, info.host, info.cores, info.profile_id, event.time))
        self._saw(event.time)

    def executor_removed(self, event: events.ExecutorRemoved) -> None:
        self._change_executor(event.executor, removed_ms=event.time, removed_reason=event.reason[:_LONGEST_TEXT])
        self._saw(event.time)

    def block_manager_added(self, event: events.BlockManagerAdded) -> None:
        if event.manager.executor != "driver" or "driver" in self._latest:
            self._change_executor(event.manager.executor, storage_memory_bytes=event.max_memory)

    def stage_executor_metrics(self, event: events.StageExecutorMetrics) -> None:
        if event.executor == "driver" and "driver" not in self._latest:
            return  # on a cluster the driver is no executor
        self.saw_memory(event.executor, event.memory)

    def saw_memory(self, executor: str, memory: events.Memory) -> None:
        place = self._latest.get(executor)
        known = self.executors[place] if place is not None else Executor(executor)
        self._change_executor(
            executor,
            peak_heap_bytes=max(known.peak_heap_bytes, memory.heap),
            peak_off_heap_bytes=max(known.peak_off_heap_bytes, memory.off_heap),
            peak_jvm_rss_bytes=max(known.peak_jvm_rss_bytes, memory.jvm_rss),
            peak_python_rss_bytes=max(known.peak_python_rss_bytes, memory.python_rss),
        )

    def _new_executor(self, executor: Executor) -> None:
        if len(self.executors) < _MOST_ROWS:
            self._latest[executor.executor_id] = len(self.executors)
            self.executors.append(executor)

    def _change_executor(self, executor_id: str, **values: Any) -> None:
        if executor_id not in self._latest:  # the log begins after it was added
            self._new_executor(Executor(executor_id))
        place = self._latest.get(executor_id)
        if place is not None:
            self.executors[place] = replace(self.executors[place], **values)

    # Jobs and stages.

    def job_start(self, event: events.JobStart) -> None:
        last = max(event.stages, key=lambda stage: stage.stage_id, default=None)
        told = event.properties
        self._put_job(
            event.job_id,
            submitted_ms=event.time,
            stage_ids=tuple(event.stage_ids or (stage.stage_id for stage in event.stages)),
            name=self._once(last.name[:_LONGEST_TEXT]) if last else "",
            group=self._once(told.get("spark.jobGroup.id", "")[:_LONGEST_TEXT]),
            description=self._once(told.get("spark.job.description", "")[:_LONGEST_TEXT]),
            pool=self._once(told.get("spark.scheduler.pool", "")[:_LONGEST_TEXT]),
            sql_execution_id=_whole(told.get("spark.sql.execution.id", "-1"), -1),
            properties={name: value for name, value in told.items() if name.startswith(_OWN_PROPERTIES)},
            sql_settings={self._once(n): self._once(v) for n, v in told.items() if n.startswith(_SQL_SETTINGS)},
        )
        self._saw(event.time)

    def job_end(self, event: events.JobEnd) -> None:
        self._put_job(
            event.job_id,
            completed_ms=event.time,
            succeeded=event.result.result == "JobSucceeded",
            failure=event.result.exception.message[:_LONGEST_TEXT],
        )
        self._saw(event.time)

    def _put_job(self, job_id: int, **values: Any) -> None:
        if job_id in self.jobs or len(self.jobs) < _MOST_ROWS:
            self.jobs[job_id] = replace(self.jobs.get(job_id) or JobRecord(job_id), **values)

    def stage_submitted(self, event: events.StageEvent) -> None:
        known = self.stages.get((event.stage.stage_id, event.stage.attempt))
        if known is None or not known.completed_ms:  # the submission told after the end knows less
            self._put_stage(event.stage)

    def stage_completed(self, event: events.StageEvent) -> None:
        self._put_stage(event.stage)

    def _put_stage(self, stage: events.StageInfo) -> None:
        key = (stage.stage_id, stage.attempt)
        if key not in self.stages and len(self.stages) >= _MOST_ROWS:
            return
        accumulators: dict[str, float] = {}
        values: dict[int, float] = {}
        for one in stage.accumulables:
            if one.name.startswith("internal.metrics."):
                continue
            value = _number(one.value)
            if value is not None:
                name = self._once(one.name[:_LONGEST_TEXT])
                accumulators[name] = accumulators.get(name, 0.0) + value
                values[one.accumulator_id] = value
                self._plans.add(one.accumulator_id, value)
        self.stages[key] = Stage(
            stage_id=stage.stage_id,
            attempt=stage.attempt,
            name=self._once(stage.name[:_LONGEST_TEXT]),
            details=self._once(stage.details[:_LONGEST_TEXT]),
            n_tasks=stage.n_tasks,
            parent_ids=tuple(stage.parent_ids),
            submitted_ms=stage.submitted,
            completed_ms=stage.completed,
            failure=stage.failure[:_LONGEST_TEXT],
            profile_id=stage.profile_id,
            rdds=tuple(self._rdd(rdd) for rdd in stage.rdds[:_MOST_RDDS]),
            accumulators=accumulators,
            accumulated=values,
        )
        self._saw(stage.submitted)
        self._saw(stage.completed)

    def _rdd(self, rdd: events.RddInfo) -> Rdd:
        return self._once(
            Rdd(
                rdd_id=rdd.rdd_id,
                name=self._once(rdd.name[:_LONGEST_TEXT]),
                callsite=self._once(rdd.callsite[:_LONGEST_TEXT]),
                scope=self._once(_scope_name(rdd.scope)),
                parent_ids=tuple(rdd.parent_ids[:_MOST_RDDS]),
                n_partitions=rdd.partitions,
                n_cached_partitions=rdd.cached_partitions,
                is_cached=rdd.level.memory or rdd.level.disk,
                is_barrier=rdd.is_barrier,
                memory_bytes=rdd.memory_bytes,
                disk_bytes=rdd.disk_bytes,
            )
        )

    # SQL.

    def sql_start(self, event: events.SqlStart) -> None:
        self._put_sql(
            event.execution_id,
            root_execution_id=-1 if event.root_id is None else event.root_id,
            description=event.description[:_LONGEST_TEXT],
            details=self._once(event.details[:_LONGEST_TEXT]),
            started_ms=event.time,
            modified_configs=event.modified_configs,
        )
        self._plans.put(event.execution_id, event.plan)
        self._saw(event.time)

    def sql_plan_update(self, event: events.SqlPlanUpdate) -> None:
        self._put_sql(event.execution_id)
        self._plans.put(event.execution_id, event.plan)

    def sql_end(self, event: events.SqlEnd) -> None:
        self._put_sql(event.execution_id, ended_ms=event.time, error=(event.error or "")[:_LONGEST_TEXT])
        self._plans.end(event.execution_id)
        self._saw(event.time)

    def driver_accumulators(self, event: events.DriverAccumulatorUpdates) -> None:
        for accumulator_id, value in event.updates:
            self._plans.add(accumulator_id, float(value))

    def _put_sql(self, execution_id: int, **values: Any) -> None:
        if execution_id in self.sql or len(self.sql) < _MOST_ROWS:
            self.sql[execution_id] = replace(self.sql.get(execution_id) or SqlExecution(execution_id), **values)

    # At the end of the log.

    def sql_executions(self) -> tuple[SqlExecution, ...]:
        jobs: dict[int, list[int]] = {}
        for job in self.jobs.values():
            jobs.setdefault(job.sql_execution_id, []).append(job.job_id)
        self._plans.finish()
        return tuple(self._with_plan(one, tuple(jobs.get(one.execution_id, ()))) for one in self.sql.values())

    def _with_plan(self, one: SqlExecution, job_ids: tuple[int, ...]) -> SqlExecution:
        first, last = self._plans.of(one.execution_id)
        return replace(one, job_ids=job_ids, first_plan=first, plan=last)

    def _saw(self, time_ms: int) -> None:
        self.last_event_ms = max(self.last_event_ms, time_ms)

    def _once(self, value: _T) -> _T:
        """The same value, held once however often it comes."""
        if len(self._same) > _MOST_ROWS:
            return value
        kept: _T = self._same.setdefault(value, value)
        return kept


def _event_name(line: bytes) -> str:
    """The name of a line's event without its package: Spark writes it first."""
    if line.startswith(_EVENT_FIRST):
        name = line[len(_EVENT_FIRST) : line.find(b'"', len(_EVENT_FIRST))].decode("ascii", errors="replace")
    else:
        if b'"Event"' not in line:
            raise BadLineError
        try:
            name = _decode_head(line).event
        except NOT_AS_EXPECTED:
            name = mended(events.Head, line).event
    return name.rpartition(".")[2][:_LONGEST_TEXT]


def _scope_name(scope: str) -> str:
    """`{"id":"4","name":"Exchange"}` is Exchange."""
    if not scope:
        return ""
    try:
        return str(msgspec.json.decode(scope)["name"])[:_LONGEST_TEXT]
    except (*NOT_AS_EXPECTED, KeyError):
        return scope[:_LONGEST_TEXT]


def _amounts(asked: Mapping[str, events.Amount]) -> dict[str, float]:
    return {name: request.amount for name, request in asked.items() if math.isfinite(request.amount)}


def _number(value: object) -> float | None:
    if isinstance(value, str | int | float):
        try:
            number = float(value)
        except (ValueError, OverflowError):
            return None
        return number if math.isfinite(number) else None
    return None


def _whole(value: float | str, default: int = 0) -> int:
    try:
        return clamped(int(value))
    except (ValueError, OverflowError):
        return default


_decode_head = decoder(events.Head)
_KINDS: dict[str, tuple[type[msgspec.Struct], Callable[[Builder, Any], None]]] = {
    "SparkListenerLogStart": (events.LogStart, Builder.log_start),
    "SparkListenerApplicationStart": (events.ApplicationStart, Builder.application_start),
    "SparkListenerApplicationEnd": (events.ApplicationEnd, Builder.application_end),
    "SparkListenerEnvironmentUpdate": (events.EnvironmentUpdate, Builder.environment_update),
    "SparkListenerResourceProfileAdded": (events.ResourceProfileAdded, Builder.profile_added),
    "SparkListenerExecutorAdded": (events.ExecutorAdded, Builder.executor_added),
    "SparkListenerExecutorRemoved": (events.ExecutorRemoved, Builder.executor_removed),
    "SparkListenerBlockManagerAdded": (events.BlockManagerAdded, Builder.block_manager_added),
    "SparkListenerStageExecutorMetrics": (events.StageExecutorMetrics, Builder.stage_executor_metrics),
    "SparkListenerJobStart": (events.JobStart, Builder.job_start),
    "SparkListenerJobEnd": (events.JobEnd, Builder.job_end),
    "SparkListenerStageSubmitted": (events.StageEvent, Builder.stage_submitted),
    "SparkListenerStageCompleted": (events.StageEvent, Builder.stage_completed),
    "SparkListenerSQLExecutionStart": (events.SqlStart, Builder.sql_start),
    "SparkListenerSQLAdaptiveExecutionUpdate": (events.SqlPlanUpdate, Builder.sql_plan_update),
    "SparkListenerSQLExecutionEnd": (events.SqlEnd, Builder.sql_end),
    "SparkListenerDriverAccumUpdates": (events.DriverAccumulatorUpdates, Builder.driver_accumulators),
}
_KNOWN = {name: (decoder(kind), kind, put) for name, (kind, put) in _KINDS.items()}
