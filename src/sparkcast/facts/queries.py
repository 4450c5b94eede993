"""Time by SQL query and by operator: with what is outside of queries, all of the application's life.

A query has its stages, and the time in which no stage runs while it is open (shared equally where several are). A stage
is divided among the operators of its plan as far as metrics time them alone: sorting, scanning columnar files, writing
and fetching shuffles, committing files. Operators of one pipeline run interleaved, row by row, and Spark times none of
them alone: the rest of a stage, with its waiting, is one line under the name of its most telling operator.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np

from sparkcast.eventlogs import LogRead, PlanNode, SqlExecution, Stage
from sparkcast.facts.attribution import Attribution, StageKey, task_cpus
from sparkcast.facts.operators import label, rank
from sparkcast.facts.stages import StageFacts
from sparkcast.study.redaction import redact_text

# Metrics that time an operator alone. Others, like "duration" and "time in aggregation build", include the operators
# that it pulls its rows from.
_OWN_TIMES = ("sort time", "scan time", "shuffle write time", "fetch wait time", "task commit time")
_OF_THE_READER = (  # metrics of an exchange that the stage after it adds to
    *("remote blocks read", "local blocks read", "remote bytes read", "remote bytes read to disk", "local bytes read"),
    *("fetch wait time", "records read", "remote reqs duration"),
)
_SECONDS = {"timing": 1e-3, "nsTiming": 1e-9}


@dataclass(frozen=True, slots=True)
class OperatorTime:
    """One line of a query: an operator that is timed alone, or the pipeline that is called by this operator."""

    operator: str
    stage_ids: tuple[int, ...]
    wall_s: float  # of the application's life
    core_s: float  # of the cores that tasks held
    is_measured: bool  # by a metric of its own; else what is left of the stages, with their waiting
    shared_with: tuple[str, ...]  # other operators of the pipeline


@dataclass(frozen=True, slots=True)
class QueryTime:
    """One SQL execution: `stages_s` and `driver_s` are `wall_s`, and its operators add up to `stages_s`."""

    query_id: int
    description: str
    stage_ids: tuple[int, ...]
    started_s: float  # since the application began
    duration_s: float
    wall_s: float
    stages_s: float
    driver_s: float  # no stage ran while it was open: planning, committing, the program's own code
    core_s: float
    operators: tuple[OperatorTime, ...]


@dataclass(frozen=True, slots=True)
class QueryTimes:
    """Queries that took time, in the order in which they started; with `outside_s`, the application's life."""

    queries: tuple[QueryTime, ...] = ()
    outside_s: float = 0.0  # stages of no query, and the driver while none is open
    outside_core_s: float = 0.0


@dataclass(frozen=True, slots=True)
class StagePlan:
    """Which operators of a plan ran in a stage; places are those in the plan of its query."""

    query: SqlExecution
    places: tuple[int, ...]
    times: Mapping[int, float]  # seconds of tasks, by the place of the operator that they time

    @property
    def nodes(self) -> tuple[PlanNode, ...]:
        return tuple(self.query.plan[place] for place in self.places)

    @property
    def chief(self) -> int | None:
        """The place of the operator by which the stage is best called: of equal ones, that with the most rows."""
        plan = self.query.plan

        def order(place: int) -> tuple[int, float, int]:
            return rank(plan[place]), -(plan[place].value("number of output rows") or 0.0), place

        return min(self.places, key=order, default=None)


def plans_of(log: LogRead) -> dict[StageKey, StagePlan]:
    """The operators that ran in each stage, by the accumulators of their metrics, else by the scopes of its RDDs."""
    queries = {query.execution_id: query for query in log.sql_executions if query.plan}
    own = _query_of_stages(log)
    users: dict[int, int] = {}  # queries by accumulators: for stages of jobs that belong to no query
    for query in queries.values():
        for node in query.plan:
            for metric in node.metrics:
                users.setdefault(metric.accumulator_id, query.execution_id)
    places = {number: _Places(query) for number, query in queries.items()}
    before: dict[int, float] = {}
    found = {}
    for stage in sorted(log.stages, key=lambda one: (one.completed_ms or one.submitted_ms, one.key)):
        number = own.get(stage.key, -1)
        if number not in queries:
            number = next((users[one] for one in stage.accumulated if one in users), -1)
        if number in queries:
            plan = places[number].of(stage, before)
            if plan.places:
                found[stage.key] = plan
        for one, value in stage.accumulated.items():
            before[one] = max(value, before.get(one, value))
    return found


class _Places:
    """Where the accumulators and the pipelines of a plan are."""

    def __init__(self, query: SqlExecution) -> None:
        self._query = query
        self._by_id: dict[int, tuple[int, str, str]] = {}  # place, metric, kind; what is reused comes again later
        self._by_name: dict[str, list[int]] = {}
        for place, node in enumerate(query.plan):
            self._by_name.setdefault(node.name, []).append(place)
            for one in node.metrics:
                self._by_id.setdefault(one.accumulator_id, (place, one.name, one.kind))

    def of(self, stage: Stage, before: Mapping[int, float]) -> StagePlan:
        places: set[int] = set()
        times: dict[int, float] = {}
        for number, value in stage.accumulated.items():
            if number not in self._by_id:
                continue
            place, metric, kind = self._by_id[number]
            if metric not in _OF_THE_READER:
                places.add(place)
            more = value - before.get(number, 0.0)
            if metric in _OWN_TIMES and kind in _SECONDS and more > 0:
                times[place] = times.get(place, 0.0) + more * _SECONDS[kind]
        for scope in {rdd.scope for rdd in stage.rdds if not places or rdd.scope.startswith("WholeStageCodegen")}:
            same = self._by_name.get(scope.strip(), [])
            places |= {*same} if len(same) == 1 else set()
        return StagePlan(self._query, tuple(sorted(places)), times)


def _query_of_stages(log: LogRead) -> dict[StageKey, int]:
    """The query of each stage: of the jobs that list it, the last that was submitted before it ran."""
    jobs: dict[int, list[tuple[int, int]]] = {}
    for job in sorted(log.jobs, key=lambda one: one.submitted_ms):
        for stage_id in job.stage_ids:
            jobs.setdefault(stage_id, []).append((job.submitted_ms, job.sql_execution_id))
    found = {}
    for stage in log.stages:
        listed = jobs.get(stage.stage_id, [])
        earlier = [query for submitted, query in listed if submitted <= (stage.submitted_ms or submitted)]
        if listed:
            found[stage.key] = earlier[-1] if earlier else listed[0][1]
    return found


def query_times(
    log: LogRead, found: Attribution, stages: Sequence[StageFacts], plans: Mapping[StageKey, StagePlan]
) -> QueryTimes:
    """Divide the life of an application among its queries."""
    cpus = {stage.key: task_cpus(log, stage.profile_id) for stage in log.stages}
    default = task_cpus(log, 0)
    of_query: dict[int, list[StageFacts]] = {}
    owners = _query_of_stages(log)
    known = {query.execution_id for query in log.sql_executions}
    for stage in stages:
        owner = owners.get(stage.key, -1)
        of_query.setdefault(owner if owner in known else -1, []).append(stage)
    driver = _driver_time(log.sql_executions, found)
    cores = {stage.key: stage.task_s * cpus.get(stage.key, default) for stage in stages}
    queries = []
    for query in log.sql_executions:
        own, driver_s = of_query.get(query.execution_id, []), driver.get(query.execution_id, 0.0)
        if own or driver_s:
            queries.append(_query_time(query, own, driver_s, plans, cores, found))
    outside = of_query.get(-1, [])
    of_stages = sum(stage.wall_s for stage in stages)
    # Waiting at which no stage is known to run belongs to none.
    of_none = found.at_work_s - of_stages
    return QueryTimes(
        tuple(sorted(queries, key=lambda one: (one.started_s, one.query_id))),
        sum(stage.wall_s for stage in outside) + driver.get(-1, 0.0) + of_none,
        sum(cores[stage.key] for stage in outside),
    )


def _query_time(
    query: SqlExecution,
    stages: Sequence[StageFacts],
    driver_s: float,
    plans: Mapping[StageKey, StagePlan],
    cores: Mapping[StageKey, float],
    found: Attribution,
) -> QueryTime:
    lines = [line for stage in stages for line in _lines(stage, plans.get(stage.key), cores[stage.key])]
    stages_s = sum(stage.wall_s for stage in stages)
    end_ms = query.ended_ms or found.span.end_ms
    return QueryTime(
        query.execution_id,
        redact_text(query.description),
        tuple(dict.fromkeys(stage.stage_id for stage in stages)),
        (query.started_ms - found.span.start_ms) / 1e3,
        max(end_ms - query.started_ms, 0) / 1e3,
        stages_s + driver_s,
        stages_s,
        driver_s,
        sum(cores[stage.key] for stage in stages),
        tuple(sorted(_merged(lines), key=lambda line: -line.wall_s)),
    )


def _lines(stage: StageFacts, plan: StagePlan | None, core_s: float) -> Iterator[tuple[object, OperatorTime]]:
    """How a stage divides, each line with what it has in common with those of other stages."""
    if plan is None:
        yield stage.key, OperatorTime(stage.short_name, (stage.stage_id,), stage.wall_s, core_s, False, ())
        return
    timed = sum(plan.times.values())
    # Clocks overlap a little, and damaged logs say anything: what does not fit into the tasks is shrunk to fit.
    fit = min(1.0, stage.task_s / timed) if timed > 0 else 0.0
    rest_s, rest_core_s = stage.wall_s, core_s
    nodes = plan.query.plan
    for place, seconds in plan.times.items():
        wall_s, held_s = seconds * fit * stage.of_wall, core_s * seconds * fit / max(stage.task_s, 1e-9)
        rest_s, rest_core_s = rest_s - wall_s, rest_core_s - held_s
        yield (place, True), OperatorTime(label(nodes[place]), (stage.stage_id,), wall_s, held_s, True, ())
    chief = plan.chief
    others = sorted((place for place in plan.places if place != chief), key=lambda place: rank(nodes[place]))
    names = dict.fromkeys(label(nodes[place]) for place in others if not nodes[place].name.startswith("WholeStage"))
    name = stage.short_name if chief is None else label(nodes[chief])
    yield (chief, False), OperatorTime(name, (stage.stage_id,), rest_s, rest_core_s, False, tuple(names))


def _merged(lines: Sequence[tuple[object, OperatorTime]]) -> Iterator[OperatorTime]:
    groups: dict[object, list[OperatorTime]] = {}
    for key, line in lines:
        groups.setdefault(key, []).append(line)
    for group in groups.values():
        first = group[0]
        yield replace(
            first,
            stage_ids=tuple(dict.fromkeys(number for line in group for number in line.stage_ids)),
            wall_s=sum(line.wall_s for line in group),
            core_s=sum(line.core_s for line in group),
            shared_with=tuple(dict.fromkeys(name for line in group for name in line.shared_with)),
        )


def _driver_time(queries: Sequence[SqlExecution], found: Attribution) -> dict[int, float]:
    """Seconds without a stage by the query that is open, -1 without one. A query waits for those that it starts."""
    span = found.span
    changes: list[tuple[int, int, int]] = []
    for query in queries:
        start = min(max(query.started_ms, span.start_ms), span.end_ms)
        end = min(max(query.ended_ms or span.end_ms, start), span.end_ms)
        changes += [(start, 0, query.execution_id), (end, 1, query.execution_id)]  # of equal moments starts come first
    changes.sort()
    roots = {query.execution_id: query.root_execution_id for query in queries}
    seconds: dict[int, float] = {}
    opened: set[int] = set()
    moments = np.array([span.start_ms, *(moment for moment, _, _ in changes), span.end_ms], dtype=np.int64)
    without_stage = np.diff(found.driver_until(moments)).tolist()
    for place, spent in enumerate(without_stage):
        if place:
            _, is_end, number = changes[place - 1]
            (opened.discard if is_end else opened.add)(number)
        if spent > 0:
            working = opened - {roots[number] for number in opened if roots[number] != number} or opened or {-1}
            for number in working:
                seconds[number] = seconds.get(number, 0.0) + spent / len(working)
    return seconds
