"""The facts of an application, each against a log in which the truth is known."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from eventlogs_support import REAL_LOG
from profile_support import T, at, log_of, operator
from sparkcast.errors import StudyError
from sparkcast.eventlogs import (
    Application,
    Executor,
    JobRecord,
    LogRead,
    LogStatus,
    Rdd,
    ResourceProfile,
    SqlExecution,
    Stage,
    find_logs,
    read_log,
)
from sparkcast.facts import facts_of
from sparkcast.facts.responses import responses_of
from sparkcast.facts.shape import most_at_once
from sparkcast.study import Outcome, Price
from sparkcast.study.application import PART_RESPONSES
from sparkcast.study.names import SAMPLER_GROUP

GIB = 1024**3


def submitted(seconds: float, **properties: str) -> dict[str, str]:
    return {"spark.app.submitTime": str(at(seconds)), **properties}


def test_times_are_from_submission_from_the_start_and_from_job_to_job() -> None:
    span = facts_of(log_of([T(3, 7)], end=10, spark=submitted(-2))).span
    assert (span.launch_s, span.wall_s, span.total_s, span.time_s) == (2, 10, 12, 4)


def test_a_log_that_does_not_record_its_submission_counts_from_the_start_of_the_application() -> None:
    span = facts_of(log_of([T(3, 7)], end=10)).span
    assert (span.launch_s, span.total_s) == (0, 10)


def test_a_second_session_of_a_process_was_not_launched_when_the_first_one_was() -> None:
    assert facts_of(log_of([T(3, 7)], end=10, spark=submitted(-3600))).span.total_s == 10
    remote = submitted(-3600, **{"spark.submit.deployMode": "cluster"})  # it may have waited for an hour in a queue
    assert facts_of(log_of([T(3, 7)], end=10, spark=remote)).span.total_s == 3610


@pytest.mark.parametrize("text", ["", "soon", "99999999999999999999", "-5"])
def test_a_moment_of_submission_that_cannot_be_is_no_moment(text: str) -> None:
    assert facts_of(log_of([T(3, 7)], end=10, spark={"spark.app.submitTime": text})).span.submitted_ms == 0


def test_the_job_that_starts_samplers_is_not_the_applications_work() -> None:
    jobs = [JobRecord(0, at(1), at(2), True, group=SAMPLER_GROUP), JobRecord(1, at(3), at(4), True)]
    assert facts_of(log_of([T(3, 4)], end=5, jobs=jobs)).span.time_s == 1
    only_it = facts_of(log_of([T(1, 2)], end=5, jobs=jobs[:1]))
    assert (only_it.span.time_s, only_it.is_complete, responses_of(only_it)) == (None, False, {})


def test_executors_are_counted_at_once_and_not_over_time() -> None:
    replaced = [Executor("1", "a", 2, 0, at(0), at(5), "lost"), Executor("2", "b", 2, 0, at(5))]
    shape = facts_of(log_of([T(0, 5), T(5, 10, executor="2")], end=10, executors=replaced)).shape
    assert (shape.executors, shape.cores, shape.slots) == (1, 2, 2)
    assert shape.mean_executors == pytest.approx(1)
    assert [(one.since_s, one.executors, one.cores) for one in shape.over_time] == [(0, 1, 2), (5, 1, 2), (10, 0, 0)]


def test_the_slots_of_executors_that_came_and_went_count_only_while_they_were_there() -> None:
    replaced = [Executor("1", "a", 1, 0, at(0), at(5), "lost"), Executor("2", "b", 1, 0, at(5))]
    busy = {"run_ms": 5000, "cpu_ns": 5_000_000_000}
    tasks = [T(0, 5, columns=busy), T(5, 10, executor="2", columns=busy)]
    responses = responses_of(facts_of(log_of(tasks, end=10, executors=replaced)))
    assert [responses["part_cpu_s"], responses["part_idle_s"]] == pytest.approx([10, 0])


def test_an_executor_that_comes_late_lowers_the_mean_and_not_the_number() -> None:
    late = [Executor("1", "a", 1, 0, at(0)), Executor("2", "b", 1, 0, at(5))]
    shape = facts_of(log_of([T(0, 10), T(5, 10, executor="2")], end=10, executors=late)).shape
    assert [shape.executors, shape.mean_executors] == pytest.approx([2, 1.5])


def test_in_local_mode_the_driver_is_the_one_executor() -> None:
    local = [Executor("driver", "a", 8, 0, at(0))]
    facts = facts_of(log_of([T(1, 2, executor="driver")], end=3, executors=local, spark={"spark.driver.memory": "3g"}))
    assert (facts.shape.is_local, facts.shape.executors, facts.shape.cores) == (True, 1, 8)
    assert facts.shape.memory_bytes == 3 * GIB


def test_executors_of_two_resource_profiles_are_told_apart() -> None:
    profiles = [ResourceProfile(0, 4, 4096, 512), ResourceProfile(1, 2, 8192, 1024, task_cpus=2.0)]
    executors = [
        *(Executor(str(n), "a", 4, 0, at(0)) for n in range(2)),
        *(Executor(str(n), "b", 2, 1, at(1)) for n in range(2, 5)),
    ]
    shape = facts_of(log_of([T(1, 2)], end=3, executors=executors, profiles=profiles)).shape
    assert (shape.executors, shape.is_uniform, shape.slots) == (5, False, 2 * 4 + 3 * 1)
    assert [(p.executors, p.cores, p.memory_bytes / GIB, p.task_cpus) for p in shape.profiles] == [
        (2, 4, 4, 1),
        (3, 2, 8, 2),
    ]
    assert shape.profiles[1].container_bytes == 9 * GIB


def test_memory_without_a_unit_is_mib_as_spark_reads_it() -> None:
    log = log_of([T(1, 2)], end=3, profiles=(), spark={"spark.executor.memory": "2048"})
    assert facts_of(log).shape.memory_bytes == 2 * GIB


def test_dynamic_allocation_is_a_fact() -> None:
    assert facts_of(log_of([T(1, 2)], end=3, spark={"spark.dynamicAllocation.enabled": "TRUE"})).shape.is_dynamic
    assert not facts_of(log_of([T(1, 2)], end=3)).shape.is_dynamic


@given(st.lists(st.tuples(st.integers(0, 50), st.integers(1, 50), st.integers(1, 4))))
def test_the_most_at_once_is_what_counting_at_every_moment_gives(intervals: list[tuple[int, int, int]]) -> None:
    spans = [(start, start + length, weight) for start, length, weight in intervals]
    counted = [sum(w for start, end, w in spans if start <= moment < end) for moment in range(101)]
    assert most_at_once(spans) == max(counted)


# ---------------------------------------------------------------- input


def read(mib: int, records: int = 10) -> dict[str, int]:
    return {"input_bytes": mib * 1024**2, "input_records": records}


def rdd(number: int, *parents: int, name: str = "MapPartitionsRDD", is_cached: bool = False) -> Rdd:
    return Rdd(number, name, parent_ids=parents, is_cached=is_cached)


def stage(number: int, start: float, *rdds: Rdd) -> Stage:
    return Stage(number, submitted_ms=at(start), completed_ms=at(start + 1), rdds=rdds)


def test_what_comes_from_the_cache_was_read_from_outside_only_once() -> None:
    source, cached = rdd(0, name="FileScanRDD"), rdd(1, 0, is_cached=True)
    stages = [
        stage(0, 0, source, cached),
        stage(1, 1, source, cached, rdd(2, 1)),
        stage(2, 2, source, cached, rdd(3, 1)),
    ]
    tasks = [T(n, n + 1, stage=n, columns=read(100)) for n in range(3)]
    volume = facts_of(log_of(tasks, end=5, stages=stages)).input
    assert (volume.bytes, volume.records, volume.is_upper_bound) == (100 * 1024**2, 10, False)


def test_a_stage_that_reads_the_cache_and_a_file_makes_the_input_an_upper_bound() -> None:
    source, cached = rdd(0, name="FileScanRDD"), rdd(1, 0, is_cached=True)
    other = rdd(2, name="hdfs://host/other")
    stages = [stage(0, 0, source, cached), stage(1, 1, source, cached, other, rdd(3, 1, 2))]
    tasks = [T(n, n + 1, stage=n, columns=read(100)) for n in range(2)]
    volume = facts_of(log_of(tasks, end=5, stages=stages)).input
    assert (volume.bytes, volume.is_upper_bound) == (200 * 1024**2, True)
    assert [one.path for one in volume.sources] == ["hdfs://host/other"]


def test_failed_and_repeated_tasks_do_not_make_the_input_larger() -> None:
    tasks = [T(0, 1, columns={**read(5), "index": 0}), T(0, 2, columns={**read(5), "index": 0})]
    assert facts_of(log_of(tasks, end=5)).input.bytes == 5 * 1024**2


def test_sources_of_queries_have_path_format_and_size() -> None:
    metrics = {"number of files read": 3.0, "size of files read": 1e9, "number of output rows": 7.0}
    told = {"Location": "InMemoryFileIndex(1 paths)[gs://b/orders]", "Format": "Parquet"}
    scan, jdbc = operator("Scan parquet", metrics, metadata=told), operator("Scan JDBCRelation(people)")
    queries = [SqlExecution(0, plan=(scan, jdbc)), SqlExecution(1, plan=(scan,))]
    first, second = facts_of(log_of([T(0, 1)], end=2, sql=queries)).input.sources
    assert (first.path, first.format, first.files, first.bytes, first.records) == (
        "gs://b/orders",
        "Parquet",
        6,
        2 * 10**9,
        14,
    )
    assert (second.path, second.bytes) == ("Scan JDBCRelation(people)", None)


# ---------------------------------------------------------------- timeline and outcome


def test_jobs_wait_and_gaps_belong_to_the_driver() -> None:
    jobs = [JobRecord(0, at(1), at(4), True, stage_ids=(0,)), JobRecord(1, at(3), at(6), True, stage_ids=(1,))]
    jobs += [JobRecord(2, at(8), 0, stage_ids=(7,))]
    timeline = facts_of(log_of([T(2, 4), T(5, 6, stage=1)], end=10, jobs=jobs)).timeline
    assert [(job.started_s, job.ended_s, job.waiting_s) for job in timeline.jobs] == [
        (1, 4, 1),
        (3, 6, 2),
        (8, 10, None),
    ]
    assert [(gap.started_s, gap.ended_s, gap.before_job) for gap in timeline.gaps] == [(0, 1, 0), (6, 8, 2)]


def test_an_application_ended_as_its_last_job_did() -> None:
    oom = JobRecord(1, at(2), at(3), False, "java.lang.OutOfMemoryError: Java heap space")
    facts = facts_of(log_of([T(0, 1)], end=4, jobs=[JobRecord(0, at(0), at(1), True), oom]))
    assert (facts.outcome, facts.cause) == (Outcome.OOM, "java.lang.OutOfMemoryError: Java heap space")
    tried_again = [oom, JobRecord(2, at(3), at(4), True)]
    assert facts_of(log_of([T(0, 1)], end=4, jobs=tried_again)).outcome is Outcome.OK


def test_secrets_are_no_facts() -> None:
    query = SqlExecution(0, modified_configs={"spark.sql.shuffle.partitions": "7"})
    facts = facts_of(log_of([T(0, 1)], end=2, spark={"spark.my.password": "x"}, sql=[query]))
    assert "x" not in facts.properties.values()
    assert facts.properties["spark.sql.shuffle.partitions"] == "7"


def test_a_price_is_paid_for_executors_as_long_as_they_are_held() -> None:
    responses = responses_of(facts_of(log_of([T(1, 2)], end=3600)), Price(core_hour=0.5))
    assert (responses["core_hours"], responses["cost"]) == (4, 2)


@given(st.lists(st.tuples(st.floats(0, 50), st.floats(0.1, 20), st.integers(0, 3)), min_size=1, max_size=30))
def test_the_parts_of_any_application_add_up_to_its_life(tasks: list[tuple[float, float, int]]) -> None:
    made = [T(launch, launch + took, stage=number) for launch, took, number in tasks]
    facts = facts_of(log_of(made, end=100, spark=submitted(-3)))
    responses = responses_of(facts)
    parts = sum(responses[part] for part in PART_RESPONSES if part in responses)
    assert parts == pytest.approx(responses["total_s"])
    assert sum(facts.parts.values()) == pytest.approx(facts.span.wall_s)


def test_a_real_log_has_all_facts() -> None:
    facts = facts_of(read_log(find_logs(REAL_LOG)[0]))
    assert (facts.shape.executors, facts.shape.cores, facts.totals.tasks) == (2, 1, 4)
    assert facts.is_complete
    assert facts.span.time_s is not None
    assert 0 < facts.span.time_s < facts.span.wall_s
    assert np.isfinite(list(responses_of(facts).values())).all()


def test_what_is_no_log_has_no_facts() -> None:
    with pytest.raises(StudyError, match="not an event log"):
        facts_of(LogRead("a.txt", LogStatus.SKIPPED, "not an event log"))
    with pytest.raises(StudyError, match="does not record when"):
        facts_of(log_of([], end=0, application=Application("app-1", started_ms=at(0))))
