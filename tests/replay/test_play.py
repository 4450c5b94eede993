"""Schedules that are known: by textbooks, or because anything else would be impossible."""

import heapq
from dataclasses import replace
from itertools import pairwise
from random import Random

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from replay_support import cluster, stage, workload
from sparkcast.errors import InfeasibleError
from sparkcast.replay import Allocation, JobWork, Node, ReplayCluster, play

TIMES = st.lists(st.integers(1, 40).map(float), min_size=1, max_size=40)


def graham(times: list[float], slots: int) -> float:
    """List scheduling as in the textbook."""
    ends = [0.0] * slots
    for took in times:
        heapq.heapreplace(ends, ends[0] + took)
    return max(ends)


@given(TIMES, st.integers(1, 9), st.booleans())
def test_independent_tasks_take_as_long_as_list_scheduling_says(times: list[float], slots: int, record: bool) -> None:
    assert play(workload([stage(times)]), cluster(slots), record=record).wall_s == graham(times, slots)


@given(st.lists(TIMES, min_size=1, max_size=6), st.lists(st.integers(1, 4), min_size=1, max_size=4))
def test_single_events_give_what_the_fast_path_gives(stages: list[list[float]], slots: list[int]) -> None:
    chain = workload([stage(times, parents=[n - 1] if n else [], number=n) for n, times in enumerate(stages)])
    fast, slow = play(chain, cluster(*slots)), play(chain, cluster(*slots), record=True)
    assert fast.stages == slow.stages
    assert fast.wall_s == slow.wall_s
    assert fast.busy_s == slow.busy_s


@given(TIMES, st.integers(1, 8))
def test_a_slot_more_does_not_delay_tasks_of_equal_length(times: list[float], slots: int) -> None:
    equal = [times[0]] * len(times)
    before, after = (play(workload([stage(equal)]), cluster(n)).wall_s for n in (slots, slots + 1))
    assert after <= before


@given(st.lists(TIMES, min_size=1, max_size=5), st.integers(1, 6), st.randoms(use_true_random=False))
def test_no_slot_is_idle_while_a_task_waits_and_none_runs_two_at_once(
    stages: list[list[float]], slots: int, draw: Random
) -> None:
    made = [
        stage(times, parents=[p for p in range(n) if draw.random() < 0.4], number=n) for n, times in enumerate(stages)
    ]
    played = play(workload(made), cluster(*[1] * slots), record=True)
    assert len(played.tasks) == sum(map(len, stages))
    assert played.busy_s == pytest.approx(sum(map(sum, stages)))
    for node in range(slots):
        own = sorted((task.launch_s, task.finish_s) for task in played.tasks if task.node == node)
        assert all(first[1] <= second[0] for first, second in pairwise(own))
    for place, one in enumerate(made):
        ready = max((played.stages[parent][1] for parent in one.parents), default=0.0)
        for task in played.tasks:
            if task.stage == place:
                assert task.launch_s >= ready  # no stage before its parents
                if task.launch_s > ready:  # it waited: until then all slots were busy
                    moment = (max(ready, 0.0) + task.launch_s) / 2
                    running = sum(t.launch_s <= moment < t.finish_s for t in played.tasks)
                    assert running == slots


def test_two_waves_of_128_tasks_on_96_slots_take_twice_as_long_as_one() -> None:
    work = workload([stage([10.0] * 128)])
    assert play(work, cluster(*[16] * 8)).wall_s == 10
    assert play(work, cluster(*[16] * 6)).wall_s == 20
    assert play(work, cluster(*[16] * 4)).wall_s == 20


def test_a_job_begins_its_gap_after_the_jobs_before_it() -> None:
    jobs = [
        JobWork(0, "", (), 2.0, 0.5, (0,)),
        JobWork(1, "", (), 0.0, 0.0, (1,)),
        JobWork(2, "", (0, 1), 3.0, 0.0, (2,)),
    ]
    stages = [stage([1.0], job=0), stage([9.0], job=1, number=1), stage([1.0, 1.0], job=2, number=2)]
    played = play(workload(stages, jobs, after_s=4.0), cluster(1))
    # Job 1 holds the slot until 9; job 0 then runs to 10 and ends at 10.5; job 2 begins at 13.5.
    assert played.jobs == ((2.0, 10.5), (0.0, 9.0), (13.5, 15.5))
    assert played.wall_s == 19.5


def test_the_first_of_two_jobs_has_its_tasks_run_first() -> None:
    jobs = [JobWork(0, "", (), 0.0, 0.0, (0,)), JobWork(1, "", (), 0.0, 0.0, (1,))]
    stages = [stage([1.0] * 6, job=0), stage([1.0] * 2, job=1, number=1)]
    assert play(workload(stages, jobs), cluster(2)).jobs == ((0.0, 3.0), (0.0, 4.0))


def test_fair_pools_share_the_slots() -> None:
    jobs = [JobWork(0, "", (), 0.0, 0.0, (0,), "a"), JobWork(1, "", (), 0.0, 0.0, (1,), "b")]
    stages = [stage([1.0] * 6, job=0), stage([1.0] * 2, job=1, number=1)]
    played = play(workload(stages, jobs, is_fair=True), cluster(2))
    assert played.jobs == ((0.0, 4.0), (0.0, 2.0))


def test_a_barrier_stage_waits_until_all_of_its_tasks_can_start() -> None:
    made = [stage([3.0]), stage([1.0, 1.0], number=1, is_barrier=True)]
    assert play(workload(made), cluster(2)).stages == ((0.0, 3.0), (3.0, 4.0))


def test_a_barrier_stage_with_too_few_slots_is_refused_with_both_numbers() -> None:
    with pytest.raises(InfeasibleError, match=r"barrier stage of 3 tasks.*2 slots") as caught:
        play(workload([stage([1.0] * 3, is_barrier=True)]), cluster(2))
    assert caught.value.hint.startswith("give it at least 3 slots")


def test_a_stage_waits_for_executors_of_its_own_profile() -> None:
    nodes = (Node(4, 4.0), Node(1, 1.0, profile_id=1))
    played = play(workload([stage([1.0] * 3, profile_id=1)]), ReplayCluster(nodes))
    assert played.wall_s == 3
    with pytest.raises(InfeasibleError, match="resource profile 2"):
        play(workload([stage([1.0], profile_id=2)]), ReplayCluster(nodes))


def test_executors_that_come_late_or_go_early_are_used_while_they_are_there() -> None:
    nodes = (Node(1, 1.0), Node(1, 1.0, registered_s=1.0, ready_s=2.0), Node(1, 1.0, gone_s=1.0))
    played = play(workload([stage([1.0] * 5)]), ReplayCluster(nodes))
    assert played.wall_s == 3  # two tasks at 0, one at 1, two at 2
    assert played.core_hours * 3600 == pytest.approx(3 + 2 + 1)


def test_a_task_that_failed_is_repeated_in_the_next_slot_but_one() -> None:
    failing = replace(stage([4.0, 1.0, 3.0]), retries={0: 2})
    assert play(workload([failing]), cluster(3)).wall_s == pytest.approx(7.001)
    tasks = play(workload([replace(stage([4.0, 1.0, 9.0, 3.0]), retries={0: 3})]), cluster(1), record=True).tasks
    assert [task.index for task in tasks] == [0, 1, 3, 2]


def test_tasks_go_where_their_partition_is_cached() -> None:
    made = [
        stage([1.0] * 4, caches=(7,)),
        stage([1.0, 1.0, 5.0, 1.0], number=1, parents=[0], reads_cached=7),
        stage([5.0, 5.0, 1.0, 1.0], number=2, parents=[1], reads_cached=7),
    ]
    tasks = play(workload(made), cluster(2, 2), record=True).tasks
    home = {task.index: task.node for task in tasks if task.stage == 0}
    assert all(task.node == home[task.index] for task in tasks)


def test_a_task_leaves_its_cached_partition_when_it_has_waited_long_enough() -> None:
    made = [stage([1.0, 1.0], caches=(7,)), stage([9.0, 9.0], number=1, parents=[0], reads_cached=7)]
    late = (Node(2, 2.0), Node(2, 2.0, ready_s=1.0, registered_s=1.0))
    assert play(workload(made), ReplayCluster(late)).wall_s == 10  # both on the first executor, which has two slots
    narrow = (Node(1, 1.0), Node(1, 1.0, ready_s=2.0, registered_s=2.0))
    assert play(workload(made, locality_wait_s=3.0), ReplayCluster(narrow)).wall_s == 14  # the second leaves at 2 + 3
    assert play(workload(made, locality_wait_s=60.0), ReplayCluster(narrow)).wall_s == 20


def test_dynamic_allocation_asks_for_more_while_tasks_wait_and_lets_idle_ones_go() -> None:
    jobs = [JobWork(0, "", (), 0.0, 0.0, (0,)), JobWork(1, "", (0,), 500.0, 0.0, (1,))]
    stages = [stage([10.0] * 40), stage([1.0], job=1, number=1)]
    nodes = ReplayCluster(cluster(*[1] * 8).nodes, Allocation(1, 8, lag_s=5.0))
    played = play(workload(stages, jobs), nodes)
    fixed = play(workload(stages, jobs), cluster(*[1] * 8))
    assert fixed.jobs[0][1] < played.jobs[0][1] < play(workload(stages, jobs), cluster(1)).jobs[0][1]
    assert played.core_hours < 0.4 * fixed.core_hours


def test_a_stage_without_tasks_or_a_job_without_stages_ends_at_once() -> None:
    jobs = [JobWork(0, "", (), 1.0, 2.0, ()), JobWork(1, "", (0,), 0.0, 0.0, (0,))]
    assert play(workload([stage([], job=1)], jobs), cluster(1)).wall_s == 3


def test_the_same_task_times_on_as_many_slots_take_equally_long_however_they_are_packed() -> None:
    times = np.random.default_rng(1).uniform(1, 3, 50).tolist()
    assert (
        play(workload([stage(times)]), cluster(8)).wall_s == play(workload([stage(times)]), cluster(2, 2, 2, 2)).wall_s
    )
