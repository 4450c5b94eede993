"""Time by SQL query and operator adds up to the application's life, and says what is measured."""

from dataclasses import replace

import pytest

from eventlogs_support import REAL_LOG
from profile_support import T, at, log_of, operator
from sparkcast.eventlogs import JobRecord, LogRead, PlanNode, Rdd, SqlExecution, Stage, read_log
from sparkcast.facts import AppFacts, facts_of
from sparkcast.facts.operators import condition, functions, label

PLAN = (
    operator("WholeStageCodegen (3)", {"duration": 9e6}, first_id=1),
    operator("HashAggregate", text="HashAggregate(keys=[day#4, k#5L], functions=[count(1)])", parent=0),
    operator(
        "SortMergeJoin", {"number of output rows": 7}, text="SortMergeJoin [k#1L], [j#2L], Inner", parent=1, first_id=2
    ),
    operator("Sort", {"sort time": 2000}, text="Sort [k#1L ASC NULLS FIRST], false, 0", parent=2, first_id=3),
    operator(
        "Exchange",
        {"shuffle write time": 1000, "fetch wait time": 500},
        text="Exchange hashpartitioning(k#1L, 8), ENSURE_REQUIREMENTS, [plan_id=3]",
        parent=3,
        first_id=4,
    ),
    operator("Scan parquet", {"scan time": 3000}, parent=4, first_id=6, metadata={"Location": "Index[hdfs:/a/orders]"}),
)


def log() -> LogRead:
    """Two stages of query 1, one of query 2 beside it, one of no query, and the driver between."""
    tasks = [*(T(5, 10, 0, index=i) for i in (1, 2)), T(12, 20, 1), T(6, 9, 2), T(30, 34, 3)]
    stages = [
        Stage(0, submitted_ms=at(4), completed_ms=at(10), n_tasks=2, accumulated={4: 1000.0, 6: 3000.0}),
        Stage(
            1, submitted_ms=at(12), completed_ms=at(20), n_tasks=1, accumulated={1: 9e6, 2: 7.0, 3: 2000.0, 5: 500.0}
        ),
        Stage(2, submitted_ms=at(6), completed_ms=at(9), n_tasks=1),
        Stage(3, submitted_ms=at(30), completed_ms=at(34), n_tasks=1),
    ]
    jobs = [
        JobRecord(0, at(4), at(20), True, stage_ids=(0, 1), sql_execution_id=1),
        JobRecord(1, at(6), at(9), True, stage_ids=(2,), sql_execution_id=2),
        JobRecord(2, at(30), at(34), True, stage_ids=(0, 3)),
    ]
    sql = [
        SqlExecution(1, 1, "report", started_ms=at(3), ended_ms=at(22), job_ids=(0,), plan=PLAN),
        SqlExecution(2, 2, "other", started_ms=at(2), ended_ms=at(11), job_ids=(1,)),
        SqlExecution(3, 1, "part of report", started_ms=at(20), ended_ms=at(21)),
        SqlExecution(4, 4, "no time", started_ms=at(25), ended_ms=at(25)),
    ]
    return log_of(tasks, end=40, jobs=jobs, stages=stages, sql=sql)


def require_sums(facts: AppFacts) -> None:
    found = facts.queries
    assert sum(query.wall_s for query in found.queries) + found.outside_s == pytest.approx(facts.span.wall_s, abs=1e-9)
    held_s = facts.core_hours.in_tasks * 3600
    assert sum(query.core_s for query in found.queries) + found.outside_core_s == pytest.approx(held_s, abs=1e-9)
    for query in found.queries:
        assert query.stages_s + query.driver_s == pytest.approx(query.wall_s, abs=1e-9)
        assert sum(line.wall_s for line in query.operators) == pytest.approx(query.stages_s, abs=1e-9)
        assert sum(line.core_s for line in query.operators) == pytest.approx(query.core_s, abs=1e-9)


def test_queries_and_what_is_outside_of_them_are_all_of_the_time() -> None:
    require_sums(facts_of(log()))


def test_queries_of_a_log_that_was_cut_off_add_up_too() -> None:
    whole = log()
    cut = replace(
        whole,
        stages=tuple(replace(stage, completed_ms=0) for stage in whole.stages[:2]),
        sql_executions=tuple(replace(query, ended_ms=0) for query in whole.sql_executions),
    )
    require_sums(facts_of(cut))


def test_an_application_without_queries_is_all_outside() -> None:
    facts = facts_of(read_log(REAL_LOG))
    assert facts.queries.queries == ()
    assert facts.queries.outside_s == pytest.approx(facts.span.wall_s, abs=1e-9)


def test_the_driver_belongs_to_the_query_that_is_open_and_not_to_one_that_waits_for_another() -> None:
    found = {query.query_id: query for query in facts_of(log()).queries.queries}
    # Query 2 is open alone from 2 to 3 s, both from 3 to 4 and from 10 to 11, query 1 from 11 to 12 and 21 to 22.
    assert found[2].driver_s == pytest.approx(1 + 0.5 + 0.5)
    assert found[1].driver_s == pytest.approx(0.5 + 0.5 + 1 + 1)
    assert found[3].driver_s == pytest.approx(1.0)  # while query 1 waits for it
    assert 4 not in found


def test_operators_with_a_time_of_their_own_are_measured_and_the_rest_is_one_line() -> None:
    query = next(query for query in facts_of(log()).queries.queries if query.query_id == 1)
    lines = {(line.operator, line.is_measured): line for line in query.operators}
    # Of seconds on 4 slots.
    assert lines["Scan parquet orders", True].core_s == pytest.approx(3.0)
    assert lines["Sort k", True].core_s == pytest.approx(2.0)
    assert lines["Exchange k", True].core_s == pytest.approx(1.0 + 0.5)
    assert lines["Exchange k", True].stage_ids == (0, 1)
    rest = lines["SortMergeJoin k", False]
    assert rest.core_s == pytest.approx(8 - 2 - 0.5)
    assert rest.shared_with == ("Sort k",)
    assert {stage.stage_id: stage.operator for stage in facts_of(log()).stages} == {
        0: "Scan parquet orders",
        1: "SortMergeJoin k",
        2: "",
        3: "",
    }


def test_a_metric_of_several_stages_is_divided_by_what_each_added() -> None:
    stages = [
        Stage(n, submitted_ms=at(5 * n + 1), completed_ms=at(5 * n + 5), n_tasks=1, accumulated={6: 1000.0 * (n + 1)})
        for n in range(3)
    ]
    jobs = [JobRecord(n, at(5 * n + 1), at(5 * n + 5), True, stage_ids=(n,), sql_execution_id=1) for n in range(3)]
    tasks = [T(5 * n + 1, 5 * n + 5, n) for n in range(3)]
    sql = [SqlExecution(1, started_ms=at(1), ended_ms=at(15), plan=PLAN)]
    facts = facts_of(log_of(tasks, end=16, jobs=jobs, stages=stages, sql=sql))
    assert [plan.times for _, plan in sorted(facts.plans.items())] == [{5: pytest.approx(1.0)}] * 3
    require_sums(facts)


def test_without_metrics_the_scopes_of_rdds_tell_what_a_stage_did() -> None:
    rdds = (Rdd(1, scope="WholeStageCodegen (3)"), Rdd(2, scope="Scan parquet"))
    stage = Stage(0, submitted_ms=at(1), completed_ms=at(5), n_tasks=1, rdds=rdds)
    jobs = [JobRecord(0, at(1), at(5), True, stage_ids=(0,), sql_execution_id=1)]
    sql = [SqlExecution(1, started_ms=at(1), ended_ms=at(5), plan=PLAN)]
    facts = facts_of(log_of([T(1, 5)], end=6, jobs=jobs, stages=[stage], sql=sql))
    assert facts.stages[0].operator == "Scan parquet orders"


def test_metrics_that_say_more_than_tasks_ran_are_shrunk_to_fit() -> None:
    whole = log()
    stages = [replace(stage, accumulated=dict.fromkeys(stage.accumulated, 1e9)) for stage in whole.stages]
    facts = facts_of(replace(whole, stages=tuple(stages)))
    require_sums(facts)
    assert all(line.wall_s >= -1e-9 for query in facts.queries.queries for line in query.operators)


@pytest.mark.parametrize(
    ("name", "text", "called"),
    [
        ("HashAggregate", "HashAggregate(keys=[], functions=[sum(a#1)])", "HashAggregate"),
        ("Exchange", "Exchange rangepartitioning(k#1 ASC NULLS FIRST, 8), ENSURE", "Exchange k"),
        ("Exchange", "Exchange SinglePartition, ENSURE", "Exchange"),
        (
            "BroadcastHashJoin",
            "BroadcastHashJoin [a#1, b#2, c#3], [d#4, e#5, f#6], Inner",
            "BroadcastHashJoin a, b, ...",
        ),
        ("BatchEvalPython", "BatchEvalPython [slow(upper(id#0L))#4], [pythonUDF0#8]", "BatchEvalPython slow"),
        ("MapInPandas", "MapInPandas train(id#0L)#5, [total#6L], false", "MapInPandas train"),
        ("Execute Write", "Execute Write s3://b/out, false, [day#3], Parquet", "Execute Write out"),
        (
            "BroadcastNestedLoopJoin",
            "BroadcastNestedLoopJoin BuildRight, Inner, (a#0L < b#1)",
            "BroadcastNestedLoopJoin a < b",
        ),
        ("SortMergeJoin", "SortMergeJoin [cut(off#1", "SortMergeJoin cut(off"),
        ("Project", "Project [a#1]", "Project"),
    ],
)
def test_operators_are_called_by_what_they_work_on(name: str, text: str, called: str) -> None:
    assert label(PlanNode(name, text)) == called


def test_conditions_and_python_functions_are_read_from_plans() -> None:
    join = PlanNode("CartesianProduct", "CartesianProduct ((a#1L >= low#2L) AND (a#1L < high#3L))")
    assert condition(join) == "(a >= low) AND (a < high)"
    assert condition(PlanNode("CartesianProduct", "CartesianProduct")) == ""
    assert functions(PlanNode("BatchEvalPython", "BatchEvalPython [<lambda>(a#1)#2, f(a#1)#3], [x#1, y#2]")) == [
        "<lambda>",
        "f",
    ]
