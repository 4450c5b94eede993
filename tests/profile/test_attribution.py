"""Where the time went: it adds up for whatever ran when, and each part means what it says."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from eventlogs_support import REAL_LOG
from profile_support import T, at, log_of
from sparkcast.errors import StudyError
from sparkcast.eventlogs import Application, Executor, JobRecord, LogRead, LogStatus, ResourceProfile, Stage, read_log
from sparkcast.facts.attribution import attribute
from sparkcast.profile import profile_log
from sparkcast.study.application import Part

_moments = st.floats(-5, 60, allow_nan=False)
_any_task = st.builds(
    T,
    launch=_moments,
    finish=_moments,
    stage=st.integers(0, 3),
    index=st.integers(0, 5),
    attempt=st.integers(0, 1),
    reason=st.sampled_from(["Success", "Success", "TaskKilled", "ExceptionFailure"]),
    columns=st.dictionaries(
        st.sampled_from(
            "run_ms gc_ms deserialize_ms cpu_ns fetch_wait_ms shuffle_write_ns disk_spilled_bytes is_speculative "
            "is_killed stage_attempt result_serialization_ms input_bytes".split()
        ),
        st.integers(-10, 10**11) | st.integers(0, 5),
    ),
)
_interval = st.tuples(_moments, _moments).map(sorted)


@settings(deadline=None, max_examples=150)
@given(
    tasks=st.lists(_any_task, max_size=25),
    executors=st.lists(st.tuples(_interval, st.integers(0, 4), st.booleans()), max_size=4),
    jobs=st.lists(_interval, max_size=4),
    stages=st.lists(st.tuples(_interval, st.integers(0, 5), st.integers(0, 1)), max_size=5),
    cpus=st.sampled_from([1.0, 2.0, 0.5]),
)
def test_the_parts_add_up_to_the_wall_time_whatever_ran_when(
    tasks: list[T],
    executors: list[tuple[list[float], int, bool]],
    jobs: list[list[float]],
    stages: list[tuple[list[float], int, int]],
    cpus: float,
) -> None:
    log = log_of(
        tasks,
        end=50,
        executors=[
            Executor(str(n), "a", cores, 0, at(start), at(end) if goes else 0)
            for n, ((start, end), cores, goes) in enumerate(executors)
        ],
        jobs=[JobRecord(n, at(start), at(end)) for n, (start, end) in enumerate(jobs)],
        stages=[Stage(n, attempt, submitted_ms=at(a), completed_ms=at(b)) for (a, b), n, attempt in stages],
        profiles=[ResourceProfile(0, 4, 1024, task_cpus=cpus)],
    )
    found = attribute(log)
    assert sum(found.total.values()) == pytest.approx(50.0, rel=1e-6)
    assert min(found.total.values()) >= -1e-9
    profile = profile_log(log)
    assert sum(profile.parts.values()) == pytest.approx(profile.wall_s, rel=1e-6)
    for stage in profile.stages:
        assert min(stage.parts.values()) >= -1e-6
    by_stage = sum(stage.parts[Part.CPU] for stage in profile.stages)
    assert by_stage == pytest.approx(profile.parts[Part.CPU], abs=1e-6)


def test_time_before_between_and_after_jobs_is_the_drivers() -> None:
    log = log_of([T(10, 20, 0), T(30, 35, 1)], end=40, executors=[Executor("1", "a", 1, 0, at(0))])
    total = attribute(log).total
    assert total[Part.BEFORE_FIRST_JOB] == 10
    assert total[Part.DRIVER_ONLY] == 15
    assert total[Part.CPU] == pytest.approx(0.9 * 15)


def test_a_job_without_an_executor_waits_for_one() -> None:
    jobs, stages = (
        [JobRecord(0, at(5), at(30), True, stage_ids=(0,))],
        [Stage(0, submitted_ms=at(5), completed_ms=at(30))],
    )
    log = log_of([T(20, 30)], end=30, executors=[Executor("1", "a", 1, 0, at(20))], jobs=jobs, stages=stages)
    total = attribute(log).total
    assert (total[Part.BEFORE_FIRST_JOB], total[Part.NO_EXECUTORS]) == (5, 15)


def test_slots_that_a_stage_has_used_wait_for_its_slow_task_and_others_are_idle() -> None:
    # Two tasks on four slots; one is done after 2 s, the other after 10 s.
    found = attribute(log_of([T(0, 2), T(0, 10)], end=10))
    assert found.total[Part.SLOW_TASKS] == pytest.approx(8 / 4)
    assert found.total[Part.IDLE] == pytest.approx(2 * 10 / 4)
    assert found.stages[0, 0][Part.SLOW_TASKS] == pytest.approx(2)
    assert found.stages[0, 0][Part.IDLE] == pytest.approx(5)


def test_a_copy_of_a_slow_task_does_not_end_the_waiting() -> None:
    one = [Executor("1", "a", 2, 0, at(0))]
    copied = [
        T(0, 2, index=1),
        T(0, 10, index=2),
        T(5, 10, index=2, reason="TaskKilled", columns={"is_speculative": 1}),
    ]
    total = attribute(log_of(copied, end=10, executors=one)).total
    assert total[Part.SLOW_TASKS] == pytest.approx(3 / 2)
    assert total[Part.LOST] == pytest.approx(5 / 2)


def test_failed_tasks_and_repeated_ones_are_lost_work() -> None:
    one = [Executor("1", "a", 1, 0, at(0))]
    tasks = [T(0, 4, index=7, reason="ExceptionFailure"), T(4, 6, index=7, attempt=1), T(6, 9, index=7)]
    total = attribute(log_of(tasks, end=9, executors=one)).total
    assert total[Part.LOST] == pytest.approx(4 + 3)
    assert total[Part.CPU] == pytest.approx(0.9 * 2)


def test_metrics_that_say_more_than_the_task_took_are_shrunk_to_fit() -> None:
    one = [Executor("1", "a", 1, 0, at(0))]
    odd = T(0, 10, columns={"run_ms": 40_000, "cpu_ns": 30 * 10**9, "gc_ms": 30_000})
    total = attribute(log_of([odd], end=10, executors=one)).total
    assert [total[Part.CPU], total[Part.GC]] == pytest.approx([5, 5])


def test_the_time_of_a_spill_is_its_share_of_the_bytes_that_were_moved() -> None:
    one = [Executor("1", "a", 1, 0, at(0))]
    task = T(0, 10, columns={"run_ms": 10_000, "cpu_ns": 0, "disk_spilled_bytes": 100, "input_bytes": 200})
    total = attribute(log_of([task], end=10, executors=one)).total
    assert [total[Part.SPILL], total[Part.UNINSTRUMENTED]] == pytest.approx([5, 5])


def test_core_hours_are_paid_for_as_long_as_executors_live() -> None:
    executors = [
        Executor("1", "a", 4, 0, at(0), at(1800)),
        Executor("2", "b", 8, 1, at(1800), at(3600)),
        Executor("3", "b", 2, 0, at(0)),  # never runs a task
    ]
    profiles = [ResourceProfile(0, 4, 1024), ResourceProfile(1, 8, 2048, task_cpus=4.0)]
    tasks = [T(0, 1800, executor="1"), T(1800, 3600, stage=1, executor="2")]
    stages = [
        Stage(0, submitted_ms=at(0), completed_ms=at(1800)),
        Stage(1, submitted_ms=at(1800), completed_ms=at(3600), profile_id=1),
    ]
    cores = profile_log(log_of(tasks, end=3600, executors=executors, profiles=profiles, stages=stages)).core_hours
    assert cores.paid == pytest.approx(2 + 4 + 2)
    assert cores.in_tasks == pytest.approx(0.5 + 2)
    assert [cores.n_never_used, cores.never_used] == pytest.approx([1, 2])
    assert cores.most_cores == 10


def test_a_log_without_any_time_says_what_to_give() -> None:
    with pytest.raises(StudyError, match="does not record when"):
        attribute(log_of([], end=0, application=Application("app")))
    with pytest.raises(StudyError, match="not an event log"):
        profile_log(LogRead("a.log", LogStatus.FAILED, "not an event log"))


def test_a_real_log_adds_up() -> None:
    profile = profile_log(read_log(REAL_LOG))
    assert sum(profile.parts.values()) == pytest.approx(profile.wall_s, rel=1e-3)
    assert profile.n_tasks > 0


def test_a_task_that_starts_as_another_ends_takes_its_slot_and_not_a_second_one() -> None:
    tasks = [T(0, 10), T(10, 20), T(20, 30), T(5, 20)]
    found = attribute(log_of(tasks, end=30))
    assert found.peaks == {(0, 0): 2}
    # From 20 s on, one slot of the two waits for the last task, and the two that were never used are idle.
    assert found.total[Part.SLOW_TASKS] == pytest.approx(10 / 4)
    assert found.total[Part.IDLE] == pytest.approx(30 * 2 / 4 + 5 / 4)


def test_a_moment_without_a_task_belongs_to_the_stages_that_have_some_to_launch() -> None:
    """Ten seconds until the first task, five of work, and five after the last one, which are the driver's."""
    stages = [Stage(0, n_tasks=4, submitted_ms=at(0), completed_ms=at(20))]
    jobs = [JobRecord(0, at(0), at(20), True, stage_ids=(0,))]
    log = log_of([T(10, 15, index=i) for i in range(1, 5)], end=20, stages=stages, jobs=jobs)
    found = attribute(log)
    assert found.total[Part.TO_LAUNCH] == pytest.approx(10)
    assert found.stages[0, 0][Part.TO_LAUNCH] == pytest.approx(10)
    assert found.total[Part.DRIVER_ONLY] == pytest.approx(5)
    assert found.total[Part.IDLE] == 0
    assert sum(found.total.values()) == pytest.approx(20)


def test_stages_that_wait_together_share_the_waiting() -> None:
    stages = [Stage(n, n_tasks=1, submitted_ms=at(0), completed_ms=at(12 + n)) for n in range(2)]
    jobs = [JobRecord(0, at(0), at(13), True, stage_ids=(0, 1))]
    found = attribute(log_of([T(10, 12, 0), T(10, 13, 1)], end=13, stages=stages, jobs=jobs))
    assert [found.stages[n, 0][Part.TO_LAUNCH] for n in range(2)] == pytest.approx([5, 5])


def test_tasks_that_the_log_lacks_may_have_run() -> None:
    """A stage that was cut short, or whose events were dropped: four tasks, one of which is logged."""
    stages = [Stage(0, n_tasks=4, submitted_ms=at(0), completed_ms=at(30), failure="cancelled")]
    jobs = [JobRecord(0, at(0), at(30), False, stage_ids=(0,))]
    found = attribute(log_of([T(2, 5)], end=30, stages=stages, jobs=jobs))
    assert found.total[Part.TO_LAUNCH] == pytest.approx(2)
    assert found.total[Part.IDLE] >= 25
