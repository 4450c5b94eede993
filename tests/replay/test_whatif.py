"""What `whatif` answers, from logs that were made up so that the answer is known."""

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import pytest

from profile_support import T, at, log_of, operator
from sparkcast.errors import InfeasibleError, NotEnoughDataError, StudyError
from sparkcast.eventlogs import (
    Executor,
    JobRecord,
    LogRead,
    PlanNode,
    Rdd,
    ResourceProfile,
    SqlExecution,
    SqlMetric,
    Stage,
)
from sparkcast.facts import facts_of
from sparkcast.recommend.question import Question
from sparkcast.recommend.replayed import recommend_replayed
from sparkcast.replay import Parallelism, Recorded, WhatIf, WhatIfQuestion, play, recorded, what_if
from sparkcast.replay.change import changed
from sparkcast.replay.settling import settled
from sparkcast.replay.workload import Coalesced, FileSplits
from sparkcast.report.figures.replays import replays_of
from sparkcast.report.page import render_application
from sparkcast.study import Price

FOUR = [Executor(str(n), "a", 1, 0, at(1)) for n in range(4)]
FIXED = {"spark.default.parallelism": "4"}  # else four tasks on four cores would follow the cores
ONE_CORE = (ResourceProfile(0, 1, 1024),)


def waves(n_tasks: int, slots: int, seconds: float, begin: float) -> list[T]:
    """Tasks of equal length on so many executors of one core."""
    return [
        T(begin + n // slots * seconds, begin + (n // slots + 1) * seconds, 0, n, executor=str(n % slots))
        for n in range(n_tasks)
    ]


def two_jobs(**more: Any) -> LogRead:
    """12 tasks of 1 s on 4 slots from 2 s on, then 3 s of driver, then 4 tasks; the end is 1 s later."""
    second = [replace(task, stage=1, launch=task.launch, finish=task.finish) for task in waves(4, 4, 1.0, 8.0)]
    options: dict[str, Any] = {"executors": FOUR, "profiles": ONE_CORE, "spark": FIXED}
    return log_of([*waves(12, 4, 1.0, 2.0), *second], end=10, **(options | more))


def asked(log: LogRead, **question: Any) -> WhatIf:
    return what_if([source(log)], WhatIfQuestion(**question))


def source(log: LogRead) -> Recorded:
    return recorded(log, facts_of(log))


def times(found: WhatIf) -> dict[int, float]:
    return {one.executors: one.time_s for one in found.configurations}


def test_a_log_replayed_on_its_own_cluster_takes_as_long_as_it_took() -> None:
    made = source(two_jobs())
    assert play(made.work, made.cluster).wall_s == pytest.approx(10, abs=0.01)


def test_executors_set_the_waves_and_the_driver_takes_as_long_as_ever() -> None:
    found = asked(two_jobs(), executors=(1, 2, 4, 12, 40))
    # 2 s before, 3 s between, 1 s after, and 12 + 4 tasks of 1 s in waves.
    assert times(found) == pytest.approx({1: 22, 2: 14, 4: 10, 12: 8, 40: 8}, rel=0.03)
    assert found.measured.time_s == 10
    assert [one.is_measured for one in found.configurations] == [False, False, True, False, False]


def test_cost_counts_executors_from_their_registration_to_the_end() -> None:
    found = asked(two_jobs(), executors=(2,), price=Price(core_hour=3600.0))
    one = found.configurations[0]
    assert one.cost == pytest.approx(2 * (one.time_s - 1.0), rel=1e-6)
    assert one.core_hours * 3600 == pytest.approx(one.cost)
    assert 0.5 < one.utilization < 0.7  # 16 of 26 slot-seconds


def test_the_floor_names_the_driver_and_the_longest_stages() -> None:
    tasks = [T(2, 12, 0, 0, executor="0"), T(2, 3, 0, 1, executor="1")]
    found = asked(log_of(tasks, end=13, executors=FOUR, profiles=ONE_CORE), executors=(1, 8))
    assert found.floor is not None
    assert found.floor.time_s == pytest.approx(13, abs=0.15)
    assert found.floor.driver_s == pytest.approx(3, abs=0.05)
    label, seconds = found.floor.stages[0]
    assert label == "stage 0"
    assert seconds == pytest.approx(10, abs=0.15)


def generated(n_tasks: int, **more: Any) -> LogRead:
    """One stage of what a program generates."""
    stage = Stage(0, n_tasks=n_tasks, submitted_ms=at(2), completed_ms=at(3), rdds=(Rdd(0, "ParallelCollectionRDD"),))
    return log_of(waves(n_tasks, 4, 1.0, 2.0), end=4, executors=FOUR, stages=[stage], profiles=ONE_CORE, **more)


def test_as_many_tasks_as_cores_follow_the_cores_and_leave_no_floor() -> None:
    log = generated(4)
    assert source(log).work.stages[0].parallelism is Parallelism.CORES
    found = asked(log, executors=(2, 8))
    assert times(found)[2] == pytest.approx(5, rel=0.03)  # two tasks of 2 s
    assert times(found)[8] == pytest.approx(3.5, rel=0.03)  # eight of half a second
    assert found.floor is None
    assert "follows the cores" in found.floor_text


def test_a_number_of_tasks_that_was_set_does_not_follow_the_cores() -> None:
    assert (
        source(generated(4, spark={"spark.default.parallelism": "4"})).work.stages[0].parallelism is Parallelism.FIXED
    )
    assert source(generated(8)).work.stages[0].parallelism is Parallelism.FIXED


def test_where_tasks_may_follow_the_cores_the_interval_covers_both() -> None:
    sure, unsure = asked(generated(8), executors=(16,)), asked(generated(4), executors=(16,))
    ratio = [found.configurations[0].high_s / found.configurations[0].low_s for found in (sure, unsure)]
    assert ratio[1] > ratio[0]
    one = unsure.configurations[0]
    assert one.time_s < 3.5  # sixteen tasks of a quarter of a second
    assert one.high_s > 4  # the four that there were, of a second


def test_logs_on_other_cores_settle_whether_tasks_follow_the_cores() -> None:
    def on(cores: int, n_tasks: int) -> LogRead:
        executors = [Executor(str(n), "a", 1, 0, at(1)) for n in range(cores)]
        stage = Stage(0, n_tasks=n_tasks, submitted_ms=at(2), completed_ms=at(3), rdds=(Rdd(0, "MapPartitionsRDD"),))
        tasks = waves(n_tasks, cores, 1.0, 2.0)
        return log_of(tasks, end=5, executors=executors, stages=[stage], profiles=ONE_CORE)

    alone = source(on(4, 4)).work.stages[0]
    assert alone.parallelism is Parallelism.CORES
    assert alone.in_doubt
    never = settled([source(on(4, 4)).work, source(on(8, 4)).work])[0].stages[0]
    assert never.parallelism is Parallelism.FIXED
    always = settled([source(on(4, 4)).work, source(on(8, 8)).work])[0].stages[0]
    assert always.parallelism is Parallelism.CORES
    assert not always.in_doubt
    # Eight cores without a task more: no other cluster is quicker, and nothing is in doubt.
    found = what_if([source(on(4, 4)), source(on(8, 4))], WhatIfQuestion(executors=(2, 16)))
    assert times(found)[16] == pytest.approx(5, rel=0.1)
    assert found.floor is not None


@pytest.mark.parametrize(
    ("n_files", "n_bytes", "tasks"),
    [  # as Spark 3.5.9 made them on 2, 4 and 8 cores
        (4, 28_136_289, {2: 2, 4: 4, 8: 8}),
        (1, 28_159_005, {2: 2, 4: 4, 8: 7}),
        (40, 1_086_159, {2: 2, 4: 4, 8: 8}),
        (3, 30_244_890, {2: 3, 4: 3, 8: 6}),
    ],
)
def test_files_become_tasks_as_spark_splits_and_packs_them(n_files: int, n_bytes: int, tasks: dict[int, int]) -> None:
    files = FileSplits(n_bytes, 4 * 1024**2, 128 * 1024**2, n_files)
    assert {cores: files.n_tasks(cores) for cores in tasks} == tasks
    assert replace(files, parallelism=8).n_tasks(2) == tasks[8]


def test_aqe_merges_whole_partitions() -> None:
    shuffle = Coalesced(200 * 2e6, 200, 1024**2, 64 * 1024**2)
    # A task of 25 MB holds 12 partitions of 2 MB, one of 6.25 MB 3, one of 3.1 MB only 1.
    assert [shuffle.n_tasks(cores) for cores in (16, 64, 128)] == [17, 67, 200]
    assert replace(shuffle, parallelism=16).n_tasks(128) == 17
    assert shuffle.n_tasks(16, scale=4) == 25  # 8 MB each, and no task has more than 64 MiB


def scanned(
    n_tasks: int, *, n_files: float = 4.0, n_bytes: float = 28136289.0, spark: dict[str, str] | None = None
) -> LogRead:
    """A scan of files whose plan tells their size; its tasks read one column of them."""
    told = {"number of output rows": 9.0, "number of files read": n_files, "size of files read": n_bytes}
    scan = operator("Scan parquet", told)
    stage = Stage(
        0, n_tasks=n_tasks, submitted_ms=at(2), completed_ms=at(3), rdds=(Rdd(0, "FileScanRDD"),), accumulated={1: 9.0}
    )
    return log_of(
        waves(n_tasks, 4, 1.0, 2.0), end=3 + -(-n_tasks // 4), executors=FOUR, stages=[stage], profiles=ONE_CORE,
        sql=[SqlExecution(0, plan=(scan,))], spark=spark or {},
    )  # fmt: skip


def test_files_are_split_by_their_own_size_not_by_what_was_read_of_them() -> None:
    made = source(scanned(4)).work
    assert made.stages[0].parallelism is Parallelism.BYTES
    assert changed(made, 8).stages[0].n_tasks == 8
    assert changed(made, 2).stages[0].n_tasks == 2
    assert not made.stages[0].in_doubt


def test_a_parallelism_that_is_set_holds_for_files_on_any_cluster() -> None:
    made = source(scanned(8, spark={"spark.default.parallelism": "8"})).work
    assert changed(made, 32).stages[0].n_tasks == 8


def test_a_floor_counts_files_that_more_cores_would_split_further() -> None:
    """Twenty files of 120 MB are as many tasks on 4 and on 16 cores, and 600 tasks on thousands."""
    found = asked(scanned(20, n_files=20.0, n_bytes=20 * 120e6), executors=(20,))
    assert times(found)[20] == pytest.approx(4, rel=0.03)
    assert found.floor is not None
    assert found.floor.time_s == pytest.approx(3, rel=0.03)


def test_clusters_that_a_barrier_stage_does_not_fit_on_are_left_out_with_the_reason() -> None:
    stage = Stage(0, n_tasks=4, submitted_ms=at(2), completed_ms=at(3), rdds=(Rdd(0, "x", is_barrier=True),))
    log = log_of(waves(4, 4, 1.0, 2.0), end=4, executors=FOUR, stages=[stage], profiles=ONE_CORE, spark=FIXED)
    found = asked(log)
    assert min(times(found)) == 4
    assert any("left out 2 executors x 1 core: stage 0 is a barrier stage of 4 tasks" in note for note in found.notes)


def test_an_application_that_failed_is_said_to_have_failed() -> None:
    jobs = [JobRecord(0, at(2), at(5), True, stage_ids=(0,)), JobRecord(1, at(8), at(9), False, stage_ids=(1,))]
    found = asked(two_jobs(jobs=jobs), executors=(2,))
    assert any("failed" in note for note in found.notes)


def test_local_mode_with_one_core_has_a_parallelism_of_one() -> None:
    stage = Stage(0, n_tasks=2, submitted_ms=at(2), completed_ms=at(3), rdds=(Rdd(0, "ParallelCollectionRDD"),))
    two = [T(2, 3, 0, 0, executor="driver"), T(2, 3, 0, 1, executor="driver")]
    log = log_of(two, end=5, executors=[Executor("driver", "a", 2, 0, at(0))], stages=[stage])
    assert asked(log, cores=(1,)).configurations[0].time_s == pytest.approx(6, rel=0.03)
    assert changed(source(log).work, 1).stages[0].n_tasks == 1


def test_more_executors_that_add_a_wave_are_a_trap() -> None:
    executors = [Executor(str(n), "a", 1, 0, at(1)) for n in range(8)]
    log = log_of(waves(8, 8, 10.0, 1.0), end=11, executors=executors, profiles=ONE_CORE, spark=FIXED)
    found = asked(log, executors=(4, 6, 8))
    assert [trap.executors for trap in found.traps] == [6]
    assert "8 tasks on 6 slots: 2 waves" in found.traps[0].text


def shuffled(n_bytes: int, *, settings: dict[str, str] | None = None) -> LogRead:
    """Files that are broadcast, and a shuffle of 8 partitions."""
    plan = (
        PlanNode("BroadcastHashJoin"),
        PlanNode("BroadcastExchange", parent=0),
        PlanNode("Scan parquet", parent=1, metrics=(SqlMetric("size of files read", "size", 1, float(n_bytes)),)),
    )
    stage = Stage(0, n_tasks=8, submitted_ms=at(2), completed_ms=at(4), rdds=(Rdd(0, "ShuffledRowRDD"),))
    job = JobRecord(0, at(2), at(4), True, stage_ids=(0,), sql_execution_id=5, sql_settings=settings or {})
    return log_of(
        waves(8, 4, 1.0, 2.0), end=5, executors=FOUR, stages=[stage], jobs=[job], profiles=ONE_CORE,
        spark={"spark.sql.shuffle.partitions": "8"}, sql=[SqlExecution(5, plan=plan)],
    )  # fmt: skip


def test_shuffle_partitions_can_be_asked_for() -> None:
    log = shuffled(1)
    assert source(log).work.stages[0].parallelism is Parallelism.PARTITIONS
    found = asked(log, partitions=16, executors=(16,))
    assert found.configurations[0].time_s == pytest.approx(3.5, rel=0.03)


def test_more_data_that_would_change_a_join_are_refused_with_the_number_that_decides() -> None:
    log = shuffled(6 * 1024**2)
    with pytest.raises(NotEnoughDataError, match=r"12.0 MiB is more than .*10.0 MiB") as caught:
        asked(log, data=2)
    assert "query 5" in caught.value.problem
    assert asked(log, data=1.5).configurations[0].time_s == pytest.approx(6, rel=0.05)
    raised = shuffled(6 * 1024**2, settings={"spark.sql.autoBroadcastJoinThreshold": "100m"})
    assert asked(raised, data=2).configurations[0].time_s == pytest.approx(7, rel=0.05)


def test_an_executor_that_registered_long_before_its_first_task_was_not_ready() -> None:
    late = log_of(waves(8, 4, 1.0, 12.0), end=15, executors=FOUR, profiles=ONE_CORE, stages=[
        Stage(0, n_tasks=8, submitted_ms=at(2), completed_ms=at(14))
    ])  # fmt: skip
    assert all(ready == 12 for ready in facts_of(late).ready_s)
    found = asked(late, executors=(1, 8))
    assert times(found) == pytest.approx({1: 21, 8: 14}, rel=0.03)
    assert any("after they registered" in effect for effect in found.effects)


@pytest.mark.parametrize(
    ("question", "problem"),
    [
        ({"executors": (0,)}, "runs nothing"),
        ({"executors": ()}, "is empty"),
        ({"cores": (-1,)}, "runs nothing"),
        ({"data": 0.0}, "not a factor"),
        ({"dynamic": (5, 2)}, "not a range"),
        ({"dynamic": (1, 4), "executors": (2,)}, "exclude each other"),
        ({"price": Price(machine_hours={"m4.large": 0.1})}, "not machines"),
    ],
)
def test_a_question_without_sense_is_refused_with_a_hint(question: dict[str, Any], problem: str) -> None:
    with pytest.raises(StudyError, match=problem) as caught:
        asked(two_jobs(), **question)
    assert caught.value.hint


def test_local_mode_has_one_executor_whose_cores_can_vary() -> None:
    log = log_of([replace(t, executor="driver") for t in waves(8, 4, 1.0, 2.0)], end=5,
                 executors=[Executor("driver", "a", 4, 0, at(0))])  # fmt: skip
    with pytest.raises(StudyError, match="local mode"):
        asked(log, executors=(2,))
    assert [one.time_s for one in asked(log, cores=(2, 8)).configurations] == pytest.approx([7, 4], rel=0.03)


def test_cores_of_executors_with_gpus_are_refused() -> None:
    gpus = (ResourceProfile(0, 1, 1024, executor_resources={"gpu": 1.0}, task_resources={"cpus": 1, "gpu": 1.0}),)
    log = two_jobs(profiles=gpus)
    with pytest.raises(StudyError, match="GPU"):
        asked(log, cores=(4,))
    assert asked(log, executors=(2,)).configurations[0].slots == 2


def test_a_log_without_tasks_or_without_executors_is_refused() -> None:
    with pytest.raises(StudyError, match="no tasks"):
        source(log_of([], end=5))
    with pytest.raises(StudyError, match="no executors"):
        source(two_jobs(executors=[]))


def test_a_job_without_an_end_is_said_to_be_covered_as_far_as_it_ran() -> None:
    jobs = [JobRecord(0, at(2), at(5), True, stage_ids=(0,)), JobRecord(1, at(8), 0, None, stage_ids=(1,))]
    found = asked(two_jobs(jobs=jobs), executors=(2,))
    assert any("no end in the log" in note for note in found.notes)


def test_a_barrier_stage_needs_its_slots() -> None:
    stage = Stage(0, n_tasks=4, submitted_ms=at(2), completed_ms=at(3), rdds=(Rdd(0, "x", is_barrier=True),))
    log = log_of(waves(4, 4, 1.0, 2.0), end=4, executors=FOUR, stages=[stage], profiles=ONE_CORE)
    with pytest.raises(InfeasibleError, match="4 tasks"):
        asked(log, executors=(2,))


def test_several_logs_of_a_job_narrow_or_widen_the_interval() -> None:
    def run(slots: int, seconds: float) -> LogRead:
        executors = [Executor(str(n), "a", 1, 0, at(1)) for n in range(slots)]
        tasks = waves(16, slots, seconds, 2.0)
        return log_of(tasks, end=3 + 16 / slots * seconds, executors=executors, profiles=ONE_CORE)

    def width(logs: Sequence[LogRead]) -> float:
        one = what_if([source(log) for log in logs], WhatIfQuestion(executors=(16,))).configurations[0]
        return one.high_s / one.low_s

    alone = width([run(4, 10.0)])
    assert width([run(4, 10.0), run(2, 10.0), run(8, 10.0)]) < alone
    assert width([run(4, 10.0), run(2, 14.0), run(8, 7.0)]) > alone


def test_the_cheapest_cluster_that_meets_a_deadline_is_recommended() -> None:
    found = asked(two_jobs(), executors=(1, 2, 4, 12), price=Price(core_hour=1.0))
    best = recommend_replayed(found, Question(within_s=16))
    assert best.chosen.configuration["executors"] == 2
    assert best.launch.properties["spark.executor.instances"] == "2"
    assert 0.95 <= best.chances[0] < 1
    with pytest.raises(InfeasibleError, match="no cluster meets") as caught:
        recommend_replayed(found, Question(within_s=5))
    assert caught.value.nearest
    with pytest.raises(StudyError, match="needs a price"):
        recommend_replayed(asked(two_jobs(), executors=(1,)), Question(budget=1.0))


def test_a_stage_that_waits_for_the_tasks_of_another_does_not_wait_for_the_driver() -> None:
    """Two stages are submitted in the same moment, and the first takes all slots."""
    tasks = [
        *waves(8, 4, 1.0, 2.0),
        *(replace(task, stage=1, launch=task.launch, finish=task.finish) for task in waves(4, 4, 1.0, 4.0)),
    ]
    stages = [
        Stage(0, n_tasks=8, submitted_ms=at(2), completed_ms=at(4)),
        Stage(1, n_tasks=4, submitted_ms=at(2), completed_ms=at(5)),
    ]
    jobs = [JobRecord(0, at(2), at(5), True, stage_ids=(0, 1))]
    log = log_of(tasks, end=6, executors=FOUR, stages=stages, jobs=jobs, profiles=ONE_CORE, spark=FIXED)
    assert [one.delay_s for one in source(log).work.stages] == [0, 0]
    assert asked(log, executors=(12,)).configurations[0].time_s == pytest.approx(4, rel=0.03)


def test_a_job_depends_on_all_jobs_that_had_ended_and_on_none_that_ran_on() -> None:
    spans = {0: (1, 3), 1: (1, 4), 2: (5, 6), 3: (5, 9), 4: (7, 8)}
    tasks = [T(start, end, n, n, executor=str(n % 4)) for n, (start, end) in spans.items()]
    found = source(log_of(tasks, end=10, executors=FOUR, profiles=ONE_CORE, spark=FIXED)).work.jobs
    assert [job.after for job in found] == [(), (), (0, 1), (0, 1), (2,)]
    assert [job.gap_s for job in found] == [1, 1, 1, 1, 1]


def test_figures_of_a_replay_show_the_measured_cluster_and_the_knee() -> None:
    from sparkcast.report.figures import replay_figures

    made = source(two_jobs())
    found = what_if([made], WhatIfQuestion(executors=(1, 2, 4, 12)))
    curves, gantt = replay_figures(found, made)
    assert [row["n"] for row in curves.rows] == [1, 2, 4, 12]
    assert all(float(str(row["low"])) < float(str(row["time"])) < float(str(row["high"])) for row in curves.rows)
    assert {row["which"] for row in gantt.rows} == {"measured", "replayed"}
    assert sum(row["which"] == "replayed" for row in gantt.rows) == 16


def test_profile_tells_of_fewer_executors_that_hardly_take_longer() -> None:
    from sparkcast.profile import profile_log

    executors = [Executor(str(n), "a", 1, 0, at(1)) for n in range(8)]
    idle = log_of(waves(2, 2, 30.0, 2.0), end=63, executors=executors, profiles=ONE_CORE, spark=FIXED)
    told = profile_log(idle).alternative
    assert told is not None
    assert told.executors == 2
    assert told.change_core_hours < -0.7
    busy = log_of(waves(80, 8, 10.0, 2.0), end=103, executors=executors, profiles=ONE_CORE, spark=FIXED)
    assert profile_log(busy).alternative is None or (profile_log(busy).alternative or told).executors > 8


def test_a_task_whose_end_was_booked_late_does_not_delay_the_next_one() -> None:
    tasks = [T(2 + n, 3.4 + n, 0, n, executor="0") for n in range(10)]  # each ends 0.4 s after the next began
    one = [Executor("0", "a", 1, 0, at(1))]
    made = source(log_of(tasks, end=13, executors=one, profiles=ONE_CORE, spark=FIXED))
    assert play(made.work, made.cluster).wall_s == pytest.approx(13, abs=0.01)


def test_an_attempt_after_a_failure_is_a_retry_and_a_speculative_copy_is_not() -> None:
    tasks = [
        T(2, 4, 0, 1, executor="0", reason="ExceptionFailure"), T(2, 5, 0, 2, executor="1"),
        T(4, 6, 0, 1, attempt=1, executor="0"), T(4.5, 5, 0, 2, attempt=1, executor="2", reason="TaskKilled"),
    ]  # fmt: skip
    made = source(log_of(tasks, end=7, executors=FOUR, profiles=ONE_CORE, spark=FIXED)).work
    assert made.stages[0].retries == {0: 2}
    assert play(made, source(two_jobs()).cluster).wall_s == pytest.approx(7, abs=0.05)


def test_executors_whose_first_tasks_start_one_after_the_other_were_ready_together() -> None:
    tasks = [T(12 + n / 4, 22, 0, n, executor=str(n)) for n in range(4)]
    stages = [Stage(0, n_tasks=4, submitted_ms=at(2), completed_ms=at(22))]
    log = log_of(tasks, end=23, executors=FOUR, profiles=ONE_CORE, stages=stages)
    assert facts_of(log).ready_s == (12, 12, 12, 12)


def test_an_executor_that_took_no_waiting_task_before_it_was_removed_had_been_given_up() -> None:
    """Spark gives no task to executors that it is about to remove; their process may end seconds later."""
    one, other = Executor("0", "a", 1, 0, at(1), at(14), "killed by driver"), Executor("1", "a", 1, 0, at(1))
    tasks = [T(2, 3, 0, 0, executor="0"), T(2, 3, 0, 1, executor="1")]
    tasks += [T(10 + n, 11 + n, 1, n, executor="1") for n in range(3)]
    made = source(log_of(tasks, end=20, executors=[one, other], profiles=ONE_CORE, spark=FIXED))
    assert made.cluster.nodes[0].retired_s == pytest.approx(10, abs=0.1)
    assert made.cluster.nodes[0].gone_s == pytest.approx(14)
    assert play(made.work, made.cluster).wall_s == pytest.approx(made.facts.span.wall_s, rel=0.01)


def test_the_report_of_a_log_draws_other_clusters_and_the_replayed_tasks() -> None:
    log = two_jobs()
    drawn = replays_of(log, facts_of(log))
    assert [one.name for one in drawn] == ["whatif", "replayed-tasks"]
    page = render_application(log, created="", version="")
    assert "Time and cost of other clusters" in page
    running = replace(log, application=replace(log.application, ended_ms=0))
    assert replays_of(running, facts_of(running)) == []
