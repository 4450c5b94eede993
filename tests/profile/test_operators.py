"""Findings about operators of SQL queries: each names the operator and a value."""

from dataclasses import replace
from typing import Any

import pytest

from profile_support import T, at, log_of, operator
from sparkcast.eventlogs import Executor, JobRecord, LogRead, PlanNode, Rdd, SqlExecution, Stage
from sparkcast.profile import Finding, profile_log

MIB = 1024**2
LOCAL = [Executor("driver", "a", 4, 0, at(0))]


def query_of(
    plan: tuple[PlanNode, ...], *, seconds: float = 20, spark: dict[str, str] | None = None, **columns: int
) -> LogRead:
    """One stage of eight tasks on four slots, in which all operators of a plan ran."""
    tasks = [
        T(1 + i // 4 * seconds, 1 + (i // 4 + 1) * seconds, index=i + 1, columns={"input_bytes": MIB, **columns})
        for i in range(8)
    ]
    ids = {metric.accumulator_id: metric.value or 0.0 for node in plan for metric in node.metrics}
    stage = Stage(0, submitted_ms=at(1), completed_ms=at(1 + 2 * seconds), n_tasks=8, accumulated=ids)
    jobs = [JobRecord(0, at(1), at(1 + 2 * seconds), True, stage_ids=(0,), sql_execution_id=1)]
    sql = [SqlExecution(1, 1, "q", started_ms=at(1), ended_ms=at(1 + 2 * seconds), job_ids=(0,), plan=plan)]
    return log_of(
        tasks,
        end=2 + 2 * seconds,
        jobs=jobs,
        stages=[stage],
        sql=sql,
        spark={"spark.driver.memory": "4g", **(spark or {})},
    )


def found(log: LogRead, name: str) -> Finding | None:
    return next((one for one in profile_log(log).findings if one.name == name), None)


# ---------------------------------------------------------------- joins


def nested_loop(small: float) -> tuple[PlanNode, ...]:
    rows = "number of output rows"
    text = "BroadcastNestedLoopJoin BuildRight, Inner, ((t#1L >= low#2L) AND (t#1L < high#3L))"
    return (
        operator("BroadcastNestedLoopJoin", {rows: 1e6}, text=text, first_id=1),
        operator("Range", {rows: 1e6}, parent=0, first_id=2),
        operator("BroadcastExchange", {rows: small}, parent=0, first_id=3),
    )


def test_a_nested_loop_join_is_named_with_its_pairs_and_the_groups_that_would_do() -> None:
    log = query_of(nested_loop(5000))
    one = profile_log(log).findings[0]
    assert one.name == "nested-loop-join"
    assert one.operator == "BroadcastNestedLoopJoin (t >= low) AND (t < high)"
    assert "5,000,000,000 pairs, of which 1,000,000 match" in one.problem
    assert one.values == {"groups": "5000"}
    assert "about 5,000 groups" in one.fix
    assert 30 < one.cost_s <= 40


def test_a_nested_loop_join_with_a_few_rows_or_little_work_is_not_told() -> None:
    assert found(query_of(nested_loop(3)), "nested-loop-join") is None
    assert found(query_of(nested_loop(12)), "nested-loop-join") is None  # 1.2 s of cores


def shuffled_join(small: float, kind: str = "Inner") -> tuple[PlanNode, ...]:
    moved = {"data size": 2e9, "shuffle records written": 1e8, "shuffle write time": 4000}
    return (
        operator(
            "SortMergeJoin", {"number of output rows": 1e8}, text=f"SortMergeJoin [k#1], [j#2], {kind}", first_id=1
        ),
        operator("Sort", {"sort time": 20_000}, parent=0, first_id=2),
        operator("Exchange", moved, text="Exchange hashpartitioning(k#1, 8)", parent=1, first_id=3),
        operator("Sort", {"sort time": 100}, parent=0, first_id=6),
        operator("ShuffleQueryStage", parent=3, first_id=7),
        operator("Exchange", {"data size": small}, text="Exchange hashpartitioning(j#2, 8)", parent=4, first_id=8),
        operator("Scan parquet", {"size of files read": 30 * MIB}, parent=5, first_id=9),
    )


def test_a_join_whose_small_side_could_be_broadcast_names_the_threshold() -> None:
    one = profile_log(query_of(shuffled_join(20 * MIB))).findings[0]
    assert one.name == "missed-broadcast"
    assert one.operator == "SortMergeJoin k"
    assert one.values == {"spark.sql.autoBroadcastJoinThreshold": "36m"}  # of the files, by which Spark judges
    assert "has only 20.0 MiB" in one.problem
    assert 5 < one.cost_s < 40


def test_a_sort_that_spills_for_a_join_without_need_is_told_with_the_join() -> None:
    plan = list(shuffled_join(20 * MIB))
    plan[1] = operator("Sort", {"sort time": 100, "spill size": 9e8}, parent=0, first_id=20)
    spilled: dict[str, Any] = {"disk_spilled_bytes": 900 * MIB, "memory_spilled_bytes": 900 * MIB, "cpu_ns": 10**9}
    log = query_of(tuple(plan), **spilled)
    assert profile_log(log).findings[0].name == "missed-broadcast"
    assert found(log, "spill") is None
    assert found(query_of(tuple(shuffled_join(900 * MIB)), **spilled), "spill") is not None


def test_a_side_below_the_threshold_needs_a_hint() -> None:
    one = found(
        query_of(shuffled_join(20 * MIB), spark={"spark.sql.autoBroadcastJoinThreshold": "50m"}), "missed-broadcast"
    )
    assert one is not None
    assert one.values == {"hint": "broadcast"}


@pytest.mark.parametrize(("small", "kind"), [(900 * MIB, "Inner"), (20 * MIB, "FullOuter"), (20 * MIB, "RightOuter")])
def test_what_cannot_be_broadcast_is_not_advised(small: float, kind: str) -> None:
    assert found(query_of(shuffled_join(small, kind)), "missed-broadcast") is None


# ---------------------------------------------------------------- scans


def scan(filter_text: str, kept: float = 10, **metadata: str) -> tuple[PlanNode, ...]:
    rows, told = "number of output rows", {"Location": "Index[hdfs:/a/events]", "Format": "Parquet", **metadata}
    return (
        operator("Filter", {rows: kept}, text=filter_text, first_id=1),
        operator("ColumnarToRow", parent=0, first_id=2),
        operator("Scan parquet", {rows: 1e7, "size of files read": 900 * MIB}, parent=1, first_id=3, metadata=told),
    )


CAST = "Filter (isnotnull(id#1L) AND (cast(id#1L as string) = 12))"


def test_a_filter_on_a_column_that_is_cast_names_the_column() -> None:
    one = profile_log(query_of(scan(CAST, PushedFilters="[IsNotNull(id)]"))).findings[0]
    assert (one.name, one.operator) == ("unpushed-filter", "Scan parquet events")
    assert one.values == {"filter": "id = 12"}
    assert "compare the column itself, `id = 12`" in one.fix


def test_a_pushdown_that_is_switched_off_names_the_setting() -> None:
    name = "spark.sql.parquet.filterPushdown"
    one = found(
        query_of(scan("Filter (id#1L = 12)", PushedFilters="[EqualTo(id,12)]"), spark={name: "false"}),
        "unpushed-filter",
    )
    assert one is not None
    assert one.values == {name: "true"}


def test_a_filter_on_text_files_names_how_many_files_of_parquet_would_do() -> None:
    one = found(
        query_of(scan("Filter (id#1L = 12)", Format="CSV", PushedFilters="[EqualTo(id,12)]")), "unpushed-filter"
    )
    assert one is not None
    assert one.values == {"files": "3"}


def test_filters_that_scans_know_of_or_that_keep_much_are_not_told() -> None:
    assert found(query_of(scan("Filter (id#1L = 12)", PushedFilters="[EqualTo(id,12)]")), "unpushed-filter") is None
    assert found(query_of(scan(CAST, kept=5e6, PushedFilters="[]")), "unpushed-filter") is None
    assert (
        found(query_of(scan(CAST, PartitionFilters="[isnotnull(day#2)]", PushedFilters="[]")), "unpushed-filter")
        is None
    )


# ---------------------------------------------------------------- files


def write(files: float, text: str = "false, Parquet") -> tuple[PlanNode, ...]:
    metrics = {
        "number of written files": files,
        "written output": 40.0 * MIB,
        "number of dynamic part": 30,
        "job commit time": 5000,
    }
    return (operator("Execute Insert", metrics, text=f"Execute Insert file:/a/out, {text}", first_id=1),)


def test_many_tiny_files_are_named_with_how_many_would_do() -> None:
    one = profile_log(query_of(write(800), cpu_ns=10**9)).findings[0]
    assert (one.name, one.operator) == ("tiny-output", "Execute Insert out")
    assert "800 files of 51.2 KiB" in one.problem
    assert one.values == {"repartition": "4"}
    assert "4 files of 10.0 MiB" in one.fix
    assert one.cost_s > 30


def test_files_of_partitions_are_written_by_the_column_of_these() -> None:
    one = profile_log(query_of(write(800, "false, [day#3, hour#4], Parquet"), cpu_ns=10**9)).findings[0]
    assert one.values == {"repartition": '4, "day", "hour"'}
    assert "30 files" in one.fix


def test_few_files_and_those_that_the_table_needs_are_not_told() -> None:
    assert found(query_of(write(50), cpu_ns=10**9), "tiny-output") is None
    (node,) = write(120, "false, [day#3], Parquet")
    more = tuple(replace(one, value=100.0) if "part" in one.name else one for one in node.metrics)
    assert found(query_of((replace(node, metrics=more),), cpu_ns=10**9), "tiny-output") is None


# ---------------------------------------------------------------- caches


def cached_log(rows: list[float], *, n_tasks: int = 4, read: float = 0) -> LogRead:
    """Stages that go over one cache, and how many rows had been made for it after each."""
    plan = (
        operator("InMemoryTableScan", {"number of output rows": read}, first_id=50),
        operator("Project", parent=0, first_id=51),
        operator("Range", {"number of output rows": rows[-1]}, parent=1, first_id=1),
    )
    rdd = Rdd(7, "*(1) Project", is_cached=True, n_partitions=4)
    spans = [(10.0 * n, 10.0 * n + 9) for n in range(len(rows))]
    stages = [
        Stage(n, submitted_ms=at(a), completed_ms=at(b), n_tasks=n_tasks, rdds=(rdd,), accumulated={1: value})
        for n, ((a, b), value) in enumerate(zip(spans, rows, strict=True))
    ]
    jobs = [JobRecord(n, at(a), at(b), True, stage_ids=(n,), sql_execution_id=n) for n, (a, b) in enumerate(spans)]
    sql = [
        SqlExecution(n, n, started_ms=at(a), ended_ms=at(b), job_ids=(n,), plan=plan) for n, (a, b) in enumerate(spans)
    ]
    tasks = [T(a, b, n, index=i + 1, executor="driver") for n, (a, b) in enumerate(spans) for i in range(n_tasks)]
    return log_of(
        tasks,
        end=10.0 * len(rows),
        executors=LOCAL,
        stages=stages,
        jobs=jobs,
        sql=sql,
        spark={"spark.driver.memory": "1g"},
    )


def test_a_cache_that_does_not_fit_names_the_memory_that_would_hold_it() -> None:
    one = profile_log(cached_log([1000, 1500, 2000, 2500])).findings[0]
    assert (one.name, one.operator) == ("small-cache", "Range")
    assert "holds about 50% of its rows in a heap of 1.0 GiB: stages 1, 2 and 3 make the others again" in one.problem
    assert one.values == {"spark.driver.memory": "2038m"}
    assert one.cost_s == pytest.approx(3 * 9 * 0.5 * 0.98, rel=0.02)


def test_rows_that_were_not_even_made_while_the_cache_was_filled_are_counted_by_readers() -> None:
    one = found(cached_log([700, 1200, 1700], read=1000), "small-cache")
    assert one is not None
    assert dict(one.evidence or {}) == pytest.approx({"fits": 0.5, "rows_again": 1000})


def test_a_cache_of_which_little_fits_goes_to_disk() -> None:
    one = found(cached_log([1000, 1950, 2900]), "small-cache")
    assert one is not None
    assert one.values == {"persist": "MEMORY_AND_DISK"}


def test_a_cache_that_fits_or_is_filled_step_by_step_is_not_told() -> None:
    assert found(cached_log([1000, 1000, 1000]), "small-cache") is None
    assert found(cached_log([250, 500, 750], n_tasks=1), "small-cache") is None


def test_a_cache_that_no_stage_reads_is_told() -> None:
    rdd = Rdd(7, "*(1) Project", is_cached=True, n_partitions=8)
    tasks = [T(1 + i // 4 * 20, 21 + i // 4 * 20, index=i + 1, columns={"input_bytes": 2000 * MIB}) for i in range(8)]
    stage = Stage(0, submitted_ms=at(1), completed_ms=at(41), n_tasks=8, rdds=(rdd,))
    one = found(log_of(tasks, end=42, stages=[stage]), "unread-cache")
    assert one is not None
    assert one.values == {"rdd": "7"}
    again = Stage(1, submitted_ms=at(41), completed_ms=at(42), n_tasks=1, rdds=(rdd,))
    assert found(log_of([*tasks, T(41, 42, 1)], end=42, stages=[stage, again]), "unread-cache") is None


# ---------------------------------------------------------------- Python


@pytest.mark.parametrize(
    ("version", "value"), [("3.5.1", "spark.sql.execution.pythonUDF.arrow.enabled"), ("3.3.0", "functions")]
)
def test_python_functions_are_called_by_their_names(version: str, value: str) -> None:
    plan = (
        operator("BatchEvalPython", {"data sent": 9}, text="BatchEvalPython [initials(text#1)#2], [p#3]", first_id=1),
    )
    log = query_of(plan, cpu_ns=10**9)
    stages = tuple(replace(stage, rdds=(Rdd(1, "MapPartitionsRDD", scope="BatchEvalPython"),)) for stage in log.stages)
    one = found(
        replace(log, stages=stages, application=replace(log.application, spark_version=version)), "python-workers"
    )
    assert one is not None
    assert "(initials)" in one.problem
    assert value in one.values
