"""Each illness is named by its own finding, with numbers, and a healthy application has none."""

from dataclasses import replace

import pytest

from profile_support import T, at, log_of, operator
from sparkcast.errors import UnknownNameError
from sparkcast.eventlogs import Executor, JobRecord, LogRead, Rdd, ResourceProfile, SqlExecution, Stage
from sparkcast.profile import Finding, Thresholds, profile_log, with_thresholds
from sparkcast.profile.findings import FAMILIES

MIB = 1024**2


def waves(n: int, seconds: float, *, slots: int = 4, start: float = 0.0, stage: int = 0, **columns: int) -> list[T]:
    """`n` equal tasks, one wave after the other."""
    return [
        T(start + i // slots * seconds, start + (i // slots + 1) * seconds, stage, index=i + 1, columns=dict(columns))
        for i in range(n)
    ]


def first(log: LogRead, thresholds: Thresholds | None = None) -> Finding:
    return profile_log(log, thresholds).findings[0]


def names(log: LogRead) -> list[str]:
    return [finding.name for finding in profile_log(log).findings]


def test_a_healthy_application_has_no_finding() -> None:
    assert names(log_of(waves(40, 5.0, start=5), end=56)) == []


def test_skew_is_named_with_what_it_costs() -> None:
    tasks = [T(0, 2, index=i, columns={"input_bytes": 10 * MIB}) for i in range(1, 4)]
    tasks += [T(0, 31, index=9, columns={"input_bytes": 400 * MIB})]
    found = first(log_of(tasks, end=31))
    assert found.name == "skew"
    assert found.cost_s == pytest.approx(29 * 3 / 4)
    assert "slowest of 4 tasks takes 31.0 s, the median 2.00 s" in found.problem
    assert "reads 400.0 MiB, the median 10.0 MiB" in found.problem


def test_skew_of_data_that_compress_well_is_told_by_records() -> None:
    tasks = [T(0, 2, index=i, columns={"remote_read_bytes": MIB, "shuffle_records_read": 10}) for i in range(1, 4)]
    tasks += [T(0, 31, index=9, columns={"remote_read_bytes": MIB, "shuffle_records_read": 8000})]
    found = first(log_of(tasks, end=31))
    assert found.name == "skew"
    assert "it has 8,000 records, the median 10" in found.problem


def test_of_two_tasks_one_can_be_skewed() -> None:
    tasks = [T(0, 2, columns={"input_bytes": MIB}), T(0, 31, index=9, columns={"input_bytes": 50 * MIB})]
    executors = [Executor("1", "a", 2, 0, at(0))]
    assert first(log_of(tasks, end=31, executors=executors)).name == "skew"


def test_skew_that_costs_little_in_each_of_many_stages_is_told_together() -> None:
    tasks = []
    for n in range(50):
        more, less = {"input_bytes": 9 * MIB}, {"input_bytes": MIB}
        tasks += [T(8.0 * n, 8 * n + 1.5, n, index=1 + i, columns=less) for i in range(3)]
        tasks += [T(8.0 * n, 8 * n + 8, n, index=9, columns=more)]
    found = profile_log(log_of(tasks, end=400)).findings
    assert [one.name for one in found] == ["skew"]
    assert found[0].problem.startswith("50 stages have a task that takes much longer")
    assert found[0].cost_s == pytest.approx(50 * 6.5 * 3 / 4)


def test_the_fix_of_skew_knows_what_the_session_changed() -> None:
    tasks = [T(0, 2, index=i) for i in range(1, 4)] + [T(0, 31, index=9, columns={"input_bytes": 400 * MIB})]
    sql = [SqlExecution(0, modified_configs={"spark.sql.adaptive.enabled": "false"})]
    assert "adaptive.enabled=true" in first(log_of(tasks, end=31, sql=sql)).fix


def test_the_fix_of_skew_is_adaptive_execution_where_that_is_off() -> None:
    tasks = [T(0, 2, index=i) for i in range(1, 4)] + [T(0, 31, index=9, columns={"input_bytes": 400 * MIB})]
    assert "adaptive.enabled=true" in first(log_of(tasks, end=31, spark={"spark.sql.adaptive.enabled": "false"})).fix


def test_a_slow_task_with_no_more_data_than_others_is_not_called_skew() -> None:
    tasks = [T(0, 2, index=i) for i in range(1, 4)] + [T(0, 31, index=9)]
    assert first(log_of(tasks, end=31)).name == "slow-tasks"


def test_too_few_tasks_for_the_slots() -> None:
    found = first(log_of([T(0, 60), T(0, 60)], end=60))
    assert found.name == "few-tasks"
    assert found.cost_s == pytest.approx(30)


def test_many_tiny_tasks() -> None:
    tasks = waves(2000, 0.05, deserialize_ms=20, run_ms=10, cpu_ns=8_000_000)
    found = first(log_of(tasks, end=26))
    assert found.name == "small-partitions"
    assert "2,000 tasks" in found.problem


def test_spill_is_told_with_its_bytes() -> None:
    tasks = waves(20, 5.0, cpu_ns=10**9, disk_spilled_bytes=500 * MIB, remote_read_bytes=100 * MIB)
    found = first(log_of(tasks, end=26))
    assert found.name == "spill"
    assert "9.8 GiB" in found.problem


def test_a_spill_that_only_costs_cpu_time_is_told_too() -> None:
    spilled = {"disk_spilled_bytes": 50 * MIB, "memory_spilled_bytes": 400_000_000, "remote_read_bytes": 50 * MIB}
    found = first(log_of(waves(20, 5.0, cpu_ns=4_900_000_000, **spilled), end=26))
    assert found.name == "spill"
    assert found.cost_s == pytest.approx(20 * 2 / 4, rel=0.01)  # 2 s in each of 20 tasks on 4 slots


def test_small_partitions_are_not_blamed_for_waiting_for_a_slow_task() -> None:
    tasks = [*waves(60, 0.1, input_bytes=10), T(0, 20, index=99, columns={"input_bytes": MIB})]
    executors = [Executor("1", "a", 5, 0, at(0))]
    assert names(log_of(tasks, end=20, executors=executors)) == ["skew"]


def test_a_profile_has_the_settings_that_a_session_changed() -> None:
    sql = [SqlExecution(0, modified_configs={"spark.sql.shuffle.partitions": "10000"})]
    found = profile_log(log_of(waves(8, 1.0), end=9, spark={"spark.sql.shuffle.partitions": "200"}, sql=sql))
    assert found.settings["spark.sql.shuffle.partitions"] == "10000"


def test_large_partitions_without_spill() -> None:
    tasks = waves(20, 50.0, input_bytes=3000 * MIB, gc_ms=4000)
    assert first(log_of(tasks, end=251)).name == "large-partitions"


def test_garbage_collection() -> None:
    assert first(log_of(waves(20, 5.0, cpu_ns=2 * 10**9, gc_ms=2000), end=26)).name == "gc-pressure"


def test_a_lost_executor_is_named_before_the_tasks_it_cost() -> None:
    executors = [
        Executor("1", "a", 4, 0, at(0)),
        Executor("2", "a", 4, 0, at(0), at(12), "Command exited with code 137"),
    ]
    tasks = waves(40, 5.0)
    tasks += [T(2, 12, index=90 + i, executor="2", reason="ExecutorLostFailure", detail="heartbeat") for i in range(4)]
    found = first(log_of(tasks, end=51, executors=executors))
    assert found.name == "executor-lost"
    assert "exited with code 137" in found.problem
    assert found.cost_core_hours == pytest.approx(40 / 3600)
    assert "Slots were missing for 19.0 s" in found.problem  # 4 of 8, from 12 s to the end of the job at 50 s


def test_an_executor_that_died_is_told_first_although_little_was_lost() -> None:
    executors = [
        Executor("1", "a", 4, 0, at(0)),
        Executor("2", "a", 4, 0, at(0), at(51), "Command exited with code 137"),
    ]
    found = profile_log(log_of(waves(40, 5.0), end=51, executors=executors)).findings
    assert [one.name for one in found][:2] == ["executor-lost", "idle-slots"]


def test_executors_that_end_after_the_application_are_not_lost() -> None:
    executors = [
        Executor("1", "a", 4, 0, at(0), at(51.1), "Worker shutting down"),
        Executor("2", "a", 4, 0, 0, at(51.2), "java.lang.IllegalStateException: Shutdown hooks cannot be modified"),
    ]
    found = profile_log(log_of(waves(40, 5.0), end=51, executors=executors)).findings
    assert "executor-lost" not in [one.name for one in found]


def test_failed_tasks_without_a_lost_executor() -> None:
    tasks = [replace(task, reason="ExceptionFailure") if task.index < 9 else task for task in waves(40, 5.0)]
    found = first(log_of(tasks, end=51))
    assert found.name == "failed-tasks"
    assert "8 ExceptionFailure" in found.problem


def test_a_job_that_failed_is_told_although_it_cost_little() -> None:
    jobs = [
        JobRecord(0, at(0), at(5), True, stage_ids=(0,)),
        JobRecord(1, at(5), at(6), False, "Task 1 failed 4 times"),
    ]
    found = first(log_of(waves(4, 5.0), end=6, jobs=jobs))
    assert found.name == "failed-tasks"
    assert found.problem.startswith("1 of 2 jobs failed")
    cancelled = [replace(jobs[1], failure="Job 1 cancelled part of cancelled job group x")]
    assert "failed-tasks" not in names(log_of(waves(4, 5.0), end=6, jobs=cancelled))


def test_copies_that_lost_the_race() -> None:
    copies = [
        T(0, 20, index=i + 1, reason="TaskKilled", columns={"is_speculative": 1, "is_killed": 1}) for i in range(4)
    ]
    assert names(log_of([*waves(40, 5.0), *copies], end=51)) == ["speculation"]


def test_a_slow_host() -> None:
    executors = [Executor("1", "a", 2, 0, at(0)), Executor("2", "b", 2, 0, at(0))]
    slow = [replace(task, host="b", executor="2", index=100 + task.index) for task in waves(20, 10.0, slots=2)]
    fast = waves(40, 5.0, slots=2)
    found = {one.name: one for one in profile_log(log_of([*fast, *slow], end=101, executors=executors)).findings}
    assert "tasks on host b take 2.0 times as long" in found["slow-host"].problem


def test_waiting_for_shuffles() -> None:
    tasks = waves(40, 5.0, cpu_ns=10**9, fetch_wait_ms=3000, shuffle_write_bytes=100, remote_read_bytes=100)
    assert first(log_of(tasks, end=51)).name == "shuffle-bound"


def test_javas_serializer_is_only_told_of_where_rdds_are_shuffled() -> None:
    tasks = waves(40, 5.0, cpu_ns=10**9, shuffle_write_ns=500_000_000, shuffle_write_bytes=100)
    assert "serializer" in names(log_of(tasks, end=51))
    assert "serializer" not in names(log_of(tasks, end=51, spark={"spark.serializer": "x.KryoSerializer"}))
    sql = [JobRecord(0, at(0), at(50), True, stage_ids=(0,), sql_execution_id=1)]
    assert "serializer" not in names(log_of(tasks, end=51, jobs=sql))


def test_time_in_python_workers() -> None:
    query = Stage(0, submitted_ms=at(0), completed_ms=at(50), rdds=(Rdd(1, "x", scope="BatchEvalPython"),))
    assert first(log_of(waves(40, 5.0, cpu_ns=10**8), end=51, stages=[query])).name == "python-workers"


def test_python_on_rdds_is_only_told_where_it_has_many_short_records() -> None:
    stage = Stage(0, submitted_ms=at(0), completed_ms=at(50), rdds=(Rdd(1, "PythonRDD"),))
    rows, training = ({"cpu_ns": 10**8, "input_records": n} for n in (50_000, 100))
    assert first(log_of(waves(40, 5.0, **rows), end=51, stages=[stage])).name == "python-workers"
    assert names(log_of(waves(40, 5.0, **training), end=51, stages=[stage])) == []


def test_python_through_arrow_is_what_the_advice_says_and_is_not_told() -> None:
    stage = Stage(0, submitted_ms=at(0), completed_ms=at(50), rdds=(Rdd(1, "x", scope="ArrowEvalPython"),))
    assert names(log_of(waves(40, 5.0, cpu_ns=10**8), end=51, stages=[stage])) == []


def test_skew_in_python_is_told_before_python() -> None:
    stage = Stage(0, submitted_ms=at(0), completed_ms=at(31), rdds=(Rdd(1, "x", scope="BatchEvalPython"),))
    tasks = [T(0, 10, index=i, columns={"input_bytes": 10 * MIB, "cpu_ns": 1}) for i in range(1, 4)]
    tasks += [T(0, 31, index=9, columns={"input_bytes": 400 * MIB, "cpu_ns": 1})]
    assert names(log_of(tasks, end=31, stages=[stage])) == ["skew", "python-workers"]


def test_the_ends_of_even_stages_are_healthy() -> None:
    uneven = [replace(task, finish=task.finish - 0.2 * (task.index % 4)) for task in waves(8, 5.0)]
    assert names(log_of(uneven, end=11)) == []


def test_a_local_application_without_an_ended_task_has_no_unused_executors() -> None:
    driver = [Executor("driver", "a", 40, 0, at(0))]
    assert "unused-executors" not in names(log_of([], end=3600, executors=driver, jobs=[], stages=[]))


def test_seconds_of_the_driver_in_a_short_application_are_healthy() -> None:
    assert names(log_of([*waves(8, 1.0, start=2), *waves(8, 1.0, start=7, stage=1)], end=10)) == []


def test_a_sleeping_driver_is_told_with_its_longest_sleep() -> None:
    log = log_of([*waves(8, 5.0, start=2), *waves(8, 5.0, start=42, stage=1)], end=53)
    found = first(log)
    assert found.name == "driver-bound"
    assert "The longest stretch takes 30.0 s and starts 12.0 s after the start" in found.problem


def test_a_driver_that_sleeps_before_its_first_job() -> None:
    assert names(log_of(waves(8, 5.0, start=12), end=23)) == []
    found = first(log_of(waves(8, 5.0, start=25), end=36))
    assert found.name == "driver-bound"
    assert "The longest stretch takes 25.0 s and starts 0.00 s after the start" in found.problem


def test_a_stream_that_waits_for_its_next_batch_is_healthy() -> None:
    tasks = [task for n in range(6) for task in waves(8, 0.5, start=20.0 * n, stage=n)]
    described = "\nid = a\nrunId = b\nbatch = 1"
    jobs = [JobRecord(n, at(20 * n), at(20 * n + 1), True, stage_ids=(n,), description=described) for n in range(6)]
    assert names(log_of(tasks, end=120, jobs=jobs)) == []
    assert names(log_of(tasks, end=120)) == ["driver-bound"]


def test_executors_that_start_in_seconds_are_not_late() -> None:
    jobs, stages = (
        [JobRecord(0, at(1), at(58), True, stage_ids=(0,))],
        [Stage(0, submitted_ms=at(1), completed_ms=at(58))],
    )
    started = [Executor("1", "a", 4, 0, at(8))]
    assert names(log_of(waves(40, 5.0, start=8), end=59, executors=started, jobs=jobs, stages=stages)) == []


def test_executors_that_come_late() -> None:
    jobs, stages = (
        [JobRecord(0, at(5), at(90), True, stage_ids=(0,))],
        [Stage(0, submitted_ms=at(5), completed_ms=at(90))],
    )
    late = [Executor("1", "a", 4, 0, at(40))]
    found = first(log_of(waves(40, 5.0, start=40), end=91, executors=late, jobs=jobs, stages=stages))
    assert found.name == "slow-start"
    assert found.cost_s == pytest.approx(35)


def test_slots_that_nobody_uses() -> None:
    executors = [Executor("1", "a", 4, 0, at(0)), Executor("2", "a", 4, 0, at(0))]
    found = names(log_of(waves(80, 5.0), end=101, executors=executors))
    assert found == ["idle-slots", "unused-executors"]


def test_memory_that_was_never_used() -> None:
    executors = [Executor("1", "a", 4, 0, at(0), peak_heap_bytes=900 * MIB)]
    log = log_of(waves(40, 50.0), end=510, executors=executors, profiles=[ResourceProfile(0, 4, 16 * 1024)])
    found = first(log)
    assert (found.name, found.fix) == ("unused-memory", "set spark.executor.memory=4g.")  # a GiB for each core
    assert found.cost_core_hours == pytest.approx(510 / 3600 * (16 - 4) / 7.5)


def test_memory_that_comes_with_the_cores_of_any_machine_is_not_told() -> None:
    executors = [Executor("1", "a", 4, 0, at(0), peak_heap_bytes=900 * MIB)]
    assert names(log_of(waves(40, 50.0), end=510, executors=executors, profiles=[ResourceProfile(0, 4, 8192)])) == []


def test_small_files_by_what_opening_them_costs() -> None:
    scan = operator("Scan parquet", {"number of files read": 5000.0, "size of files read": 5000.0 * MIB})
    sql = [SqlExecution(1, job_ids=(0,), plan=(scan,))]
    found = first(log_of(waves(40, 5.0, cpu_ns=10**9, input_bytes=MIB), end=51, sql=sql))
    assert found.name == "small-files"
    assert "5,000 files of 1.0 MiB" in found.problem


def test_a_stage_done_again_for_want_of_a_cache() -> None:
    tasks = [*waves(40, 5.0, input_bytes=10), *waves(40, 5.0, start=50, stage=1, input_bytes=10)]
    spans = ((0, 0, 50), (1, 50, 100))
    rdds = (Rdd(1, "FileScanRDD"),)
    stages = [Stage(n, submitted_ms=at(a), completed_ms=at(b), rdds=rdds) for n, a, b in spans]
    found = first(log_of(tasks, end=101, stages=stages))
    assert found.name == "repeated-stages"
    assert found.cost_s == pytest.approx(50, rel=0.01)
    cached = [replace(stage, rdds=(Rdd(1, "FileScanRDD", is_cached=True),)) for stage in stages]
    assert names(log_of(tasks, end=101, stages=cached)) == []


def test_rdds_computed_again_for_want_of_a_cache() -> None:
    tasks = [*waves(40, 5.0), *waves(40, 5.0, start=50, stage=1)]
    shared = (Rdd(1, "ParallelCollectionRDD"), Rdd(2, "MapPartitionsRDD", parent_ids=(1,)))
    spans = ((0, 0, 50), (1, 50, 100))
    stages = [Stage(n, submitted_ms=at(a), completed_ms=at(b), rdds=shared) for n, a, b in spans]
    assert first(log_of(tasks, end=101, stages=stages)).name == "repeated-stages"
    one_query = [JobRecord(n, at(a), at(b), True, stage_ids=(n,), sql_execution_id=3) for n, a, b in spans]
    assert names(log_of(tasks, end=101, stages=stages, jobs=one_query)) == []  # a sort samples what it sorts
    only_source = [replace(stage, rdds=shared[:1]) for stage in stages]
    assert names(log_of(tasks, end=101, stages=only_source)) == []


def test_a_shuffle_written_again_for_want_of_a_cache_and_counts_that_only_look_alike() -> None:
    def log(records: int) -> LogRead:
        columns = {"shuffle_write_bytes": 59 * records, "shuffle_records_written": records}
        tasks = [*waves(40, 5.0, **columns), *waves(40, 5.0, start=50, stage=1, **columns)]
        spans = ((0, 0, 50), (1, 50, 100))
        rdds = (Rdd(1, "MapPartitionsRDD", scope="Exchange"),)
        return log_of(
            tasks, end=101, stages=[Stage(n, submitted_ms=at(a), completed_ms=at(b), rdds=rdds) for n, a, b in spans]
        )

    assert names(log(5000)) == ["repeated-stages"]
    assert names(log(1)) == []


def test_the_driver_is_not_told_again_for_sending_a_broadcast() -> None:
    times = {"time to collect": 3000.0, "time to build": 10_000.0, "time to broadcast": 9000.0}
    plan = (operator("BroadcastExchange", {"data size": 800.0 * MIB, **times}),)
    log = log_of([*waves(8, 5.0), *waves(8, 5.0, start=30, stage=1)], end=41, sql=[SqlExecution(1, plan=plan)])
    assert names(log) == ["large-broadcast"]


@pytest.mark.parametrize("times", [1, 60])
def test_what_is_found_does_not_depend_on_how_long_all_of_it_took(times: int) -> None:
    def long(n: int, seconds: float, start: float = 0.0, stage: int = 0, **columns: int) -> list[T]:
        return waves(n, seconds * times, start=start * times, stage=stage, **columns)

    skewed = [T(0, 2.0 * times, index=i) for i in (1, 2, 3)]
    skewed += [T(0, 20.0 * times, index=9, columns={"input_bytes": MIB})]
    memory = [Executor("1", "a", 4, 0, at(0), peak_heap_bytes=MIB)]
    profiles = [ResourceProfile(0, 4, 32 * 1024)]
    assert first(log_of(skewed, end=20 * times)).name == "skew"
    assert first(log_of([*long(8, 2.0), *long(8, 2.0, 16.0, stage=1)], end=20 * times)).name == "driver-bound"
    assert first(log_of(long(40, 2.0, gc_ms=800 * times, cpu_ns=1), end=20 * times)).name == "gc-pressure"
    assert first(log_of(long(40, 2.0), end=20 * times, executors=memory, profiles=profiles)).name == "unused-memory"
    assert names(log_of(long(40, 2.0), end=20 * times)) == []


def test_a_broadcast_that_is_too_large() -> None:
    plan = (operator("BroadcastExchange", {"data size": 800.0 * MIB, "time to collect": 9000.0}),)
    found = first(log_of(waves(40, 5.0), end=51, sql=[SqlExecution(1, plan=plan)]))
    assert (found.name, found.cost_s) == ("large-broadcast", 9.0)


def test_thresholds_can_be_changed_by_name() -> None:
    tasks = [T(0, 2, index=i) for i in range(1, 4)] + [T(0, 31, index=9, columns={"input_bytes": 400 * MIB})]
    log = log_of(tasks, end=31)
    assert "skew" not in [one.name for one in profile_log(log, with_thresholds({"skew_ratio": 50})).findings]
    with pytest.raises(UnknownNameError, match="skew_ration") as error:
        with_thresholds({"skew_ration": 5})
    assert "skew_ratio" in error.value.hint


def test_every_family_survives_an_application_without_tasks() -> None:
    assert len(FAMILIES) == 27
    assert names(log_of([], end=1000)) == ["unused-executors"]


# ---------------------------------------------------------------- waiting to launch, local mode, sessions


def late_stages(waits: float, n_tasks: int = 4) -> LogRead:
    """Four stages, each submitted that many seconds before its tasks start."""
    tasks, stages, jobs = [], [], []
    for n in range(4):
        start = n * (waits + 5)
        tasks += waves(n_tasks, 5.0, start=start + waits, stage=n)
        stages.append(Stage(n, n_tasks=n_tasks, submitted_ms=at(start), completed_ms=at(start + waits + 5)))
        jobs.append(JobRecord(n, at(start), at(start + waits + 5), True, stage_ids=(n,)))
    return log_of(tasks, end=4 * (waits + 5), stages=stages, jobs=jobs)


@pytest.mark.parametrize("n_tasks", [2, 4])
def test_tasks_that_are_not_launched_are_not_called_too_few(n_tasks: int) -> None:
    found = {one.name: one for one in profile_log(late_stages(10.0, n_tasks)).findings}
    assert found["launch-wait"].cost_s == pytest.approx(40)
    assert "executors have free slots" in found["launch-wait"].problem
    assert "partitions" not in found["launch-wait"].fix
    assert ("few-tasks" in found) == (n_tasks == 2)
    assert n_tasks == 4 or found["few-tasks"].cost_s == pytest.approx(10)  # two of four slots, while tasks run
    assert "idle-slots" not in found


def test_tasks_that_start_at_once_do_not_wait() -> None:
    assert names(late_stages(0.1)) == []


@pytest.mark.parametrize(
    "log",
    [
        log_of([T(0, 60), T(0, 60)], end=60, executors=[Executor("driver", "a", 8, 0, at(0))]),
        log_of([*waves(8, 5.0), *waves(8, 5.0, start=60, stage=1)], end=75, executors=[Executor("driver", "a", 4)]),
        log_of(
            waves(20, 5.0, cpu_ns=10**9, disk_spilled_bytes=500 * MIB, remote_read_bytes=100 * MIB),
            end=26,
            executors=[Executor("driver", "a", 4)],
        ),
        log_of(waves(20, 5.0, cpu_ns=2 * 10**9, gc_ms=2000), end=26, executors=[Executor("driver", "a", 4)]),
        log_of(waves(40, 5.0, start=40), end=95, executors=[Executor("driver", "a", 8, 0, at(38))]),
        log_of(
            [T(0, 2, index=i) for i in (1, 2, 3)] + [T(0, 31, index=9)], end=31, executors=[Executor("driver", "a", 4)]
        ),
        replace(late_stages(10.0), executors=(Executor("driver", "a", 4),)),
    ],
)
def test_local_mode_gets_no_advice_on_executors(log: LogRead) -> None:
    findings = profile_log(log).findings
    assert findings
    for finding in findings:
        for words in ("xecutors or cores", "spark.executor", "per executor", "dynamicAllocation", "another host"):
            assert words not in finding.fix, finding
        assert finding.name != "slow-start"


def session(name: str = "job", command: str = "", **properties: str) -> LogRead:
    """Two jobs with an hour between them."""
    tasks = [*waves(8, 5.0), *waves(8, 5.0, start=3600, stage=1)]
    log = log_of(tasks, end=3700, command=command, spark=dict(properties))
    return replace(log, application=replace(log.application, name=name))


@pytest.mark.parametrize(
    "log",
    [
        session("Spark shell"),
        session("PySparkShell"),
        session("my queries", "org.apache.spark.deploy.SparkSubmit --class org.apache.spark.repl.Main spark-shell"),
        session("x", **{"spark.repl.class.uri": "spark://a:1/classes"}),
        session("Thrift JDBC/ODBC Server"),
        session("livy-session-12"),
        session("y", "org.apache.spark.deploy.SparkSubmit --class org.apache.zeppelin.interpreter.X y.jar"),
    ],
)
def test_an_idle_session_is_not_driver_bound(log: LogRead) -> None:
    found = profile_log(log)
    assert found.is_interactive
    assert [one.name for one in found.findings] == ["idle-session"]
    assert found.findings[0].cost_s == 0
    assert found.findings[0].cost_core_hours == pytest.approx(4 * 3680 / 3600, rel=0.01)


def test_a_script_that_python_starts_is_a_job_and_a_driver_that_never_ended_a_notebook() -> None:
    command = "org.apache.spark.deploy.SparkSubmit --conf spark.master=yarn pyspark-shell"
    ended = session("etl", command)
    assert names(ended) == ["driver-bound"]
    cut = replace(ended, application=replace(ended.application, ended_ms=0))
    assert profile_log(cut).is_interactive
    assert names(session("sparkling repl")) == ["driver-bound"]


# ---------------------------------------------------------------- failures

LOST_TASK = (
    "Job aborted due to stage failure: Task 1 in stage 0.0 failed 4 times, most recent failure: Lost task 1.3 in "
)


def failed(failure: str, *, detail: str = "", removed: str = "", driver: bool = False) -> LogRead:
    tasks = waves(40, 5.0)
    tasks += [T(2, 12, index=90, executor="2", reason="ExceptionFailure", detail=detail)] if detail else []
    executors = [Executor("driver" if driver else "1", "a", 4, 0, at(0))]
    executors += [Executor("2", "a", 4, 0, at(0), at(12), removed)] if removed else []
    jobs = [JobRecord(0, at(0), at(50), False, failure, stage_ids=(0,))]
    return log_of(tasks, end=51, executors=executors, jobs=jobs, spark={"spark.driver.memory": "2g"})


HEAP = "java.lang.OutOfMemoryError: Java heap space"


@pytest.mark.parametrize(
    ("log", "what", "setting"),
    [
        (
            failed(f"{LOST_TASK}stage 0.0 (TID 7) (h executor 2): {HEAP}", detail=HEAP),
            "heap",
            "spark.executor.memory=6g",
        ),
        (failed("ExecutorLostFailure", removed="Command exited with code 52"), "heap", "spark.executor.memory=6g"),
        (
            failed(
                "x", removed="Container killed by YARN for exceeding physical memory limits. 4.5 GB of 4.4 GB used."
            ),
            "container (4.4 GiB with 409.6 MiB of overhead)",
            "spark.executor.memoryOverhead=615m",
        ),
        (failed("x", removed="The container was OOMKilled"), "container", "spark.executor.memoryOverhead="),
        (failed(f"{LOST_TASK}stage 0.0: MemoryError"), "Python worker", "spark.executor.memoryOverhead="),
        (failed(HEAP), "the driver ran out of heap memory (2.0 GiB)", "spark.driver.memory=3g"),
        (failed(f"{LOST_TASK}: {HEAP}", driver=True), "the driver ran out of heap", "spark.driver.memory=3g"),
        (
            failed(
                "Total size of serialized results of 9 tasks (1026.0 MiB) is bigger than spark.driver.maxResultSize"
            ),
            "spark.driver.maxResultSize (1g)",
            "spark.driver.maxResultSize",
        ),
        (
            failed("Not enough memory to build and broadcast the table to all worker nodes"),
            "broadcast",
            "spark.sql.autoBroadcastJoinThreshold=-1",
        ),
    ],
)
def test_a_lack_of_memory_is_named_with_which_and_what_to_set(log: LogRead, what: str, setting: str) -> None:
    found = profile_log(log)
    assert found.outcome != "ok"
    assert what in found.cause
    assert found.findings[0].name == "out-of-memory"
    assert setting in found.findings[0].fix


def test_a_failure_is_told_in_one_line() -> None:
    task = f"{LOST_TASK}stage 0.0 (TID 7) (h executor 2): "
    python = (
        "org.apache.spark.api.python.PythonException: Traceback (most recent call last):\n"
        '  File "job.py", line 3, in f\nValueError: no such column: price\n\n\tat org.apache.X'
    )
    assert profile_log(failed(task + python)).cause == "ValueError: no such column: price"
    java = "java.lang.IllegalStateException: closed\n\tat X\nDriver stacktrace:"
    assert profile_log(failed(task + java)).cause == "java.lang.IllegalStateException: closed"
    assert profile_log(failed("Job 0 cancelled because SparkContext was shut down")).outcome == "lost"


def test_a_killed_executor_alone_is_no_lack_of_memory() -> None:
    found = profile_log(failed("ExecutorLostFailure", removed="Container exited with code 137"))
    assert (found.outcome, found.findings[0].name) == ("lost", "executor-lost")


def test_an_application_that_recovered_from_a_lack_of_memory_has_not_failed() -> None:
    tasks = [*waves(40, 5.0), T(2, 12, index=90, reason="ExceptionFailure", detail=HEAP)]
    found = profile_log(log_of(tasks, end=51))
    assert (found.outcome, found.cause, found.findings[0].name) == ("ok", "", "out-of-memory")


def test_a_query_that_fails_in_a_session_does_not_fail_the_session() -> None:
    log = failed("Job aborted: no such table")
    log = replace(log, application=replace(log.application, name="PySparkShell"))
    assert profile_log(log).outcome == "ok"
