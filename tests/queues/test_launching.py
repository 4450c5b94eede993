"""Jobs that launch, wait in line for cores, and run."""

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from sparkcast.errors import NotEnoughDataError, StudyError
from sparkcast.queues.launching import Launched, Phases, Play, SharedMachine, launched
from sparkcast.queues.serving import first_come, shared
from sparkcast.queues.slowdown import MeasuredSlowdown, Shared, measured_slowdown
from sparkcast.queues.workload import ArrivalDraw

times = st.floats(0.1, 20)
streams = st.lists(st.tuples(st.floats(0, 50), times, times), min_size=1, max_size=12)


def stream(arrive: list[float], service: list[float]) -> ArrivalDraw:
    ones = np.ones(len(arrive), dtype=int)
    return ArrivalDraw(np.array(arrive), np.array(service), ones, ones * 0, ones * 0)


def job(arrive_s: float, launch_s: float, run_s: float, width: int = 1) -> Launched:
    return Launched(arrive_s, Phases(launch_s, run_s, width=width))


def test_three_jobs_on_two_cores_by_hand() -> None:
    """Driver up after 3 s each; two get a core at once, the third when the first ends."""
    fates = launched([job(0, 3, 4), job(1, 3, 4), job(2, 3, 4)], SharedMachine(2))
    assert [(f.registered_s, f.started_s, f.ended_s) for f in fates] == [(3, 3, 7), (4, 4, 8), (5, 7, 11)]


def test_only_what_launches_or_runs_slows_others() -> None:
    """One job carried: two launch at half speed; the second then waits for the one core, and the first runs alone."""
    fates = launched([job(0, 2, 6), job(0, 2, 6)], SharedMachine(1, 1.0))
    assert [f.registered_s for f in fates] == [4, 4]
    assert [f.ended_s for f in fates] == [10, 16]


@given(streams, st.integers(1, 3))
def test_without_launch_and_slowdown_it_is_first_come_first_served(
    drawn: list[tuple[float, float, float]], cores: int
) -> None:
    drawn = sorted(drawn)
    fates = launched([job(at, 0.0, run) for at, _, run in drawn], SharedMachine(cores))
    served = first_come(stream([one[0] for one in drawn], [one[2] for one in drawn]), cores)
    assert [fate.ended_s for fate in fates] == pytest.approx(served.end_s.tolist(), abs=1e-6)


@given(streams)
def test_with_cores_for_all_it_is_processor_sharing(drawn: list[tuple[float, float, float]]) -> None:
    drawn = sorted(drawn)
    fates = launched([job(*one) for one in drawn], SharedMachine(1000, 1.0))
    served = shared(stream([one[0] for one in drawn], [one[1] + one[2] for one in drawn]), Shared(1))
    assert [fate.ended_s for fate in fates] == pytest.approx(served.end_s.tolist(), abs=1e-5)


def test_others_that_run_all_along_slow_all() -> None:
    fates = launched([job(0, 2, 6)], SharedMachine(1, 1.0, beside=1))
    assert [fate.ended_s for fate in fates] == [16]


def test_what_is_done_so_far_can_be_asked_at_any_moment() -> None:
    """Two launch at half speed for 4 s; then the first runs alone and the second waits for the core."""
    play = Play.of([job(0, 2, 6), job(0, 2, 6)], SharedMachine(1, 1.0))
    for now, done in ((3.0, (1.5, 1.5)), (5.0, (3.0, 2.0)), (10.5, (8.0, 2.5)), (99.0, (8.0, 8.0))):
        play.advance(now)
        assert (play.done_s(0), play.done_s(1)) == pytest.approx(done)


def test_what_cannot_be_is_refused() -> None:
    with pytest.raises(StudyError, match="more than the 2 cores"):
        launched([job(0, 1, 1, width=3)], SharedMachine(2))
    with pytest.raises(StudyError, match="holds 0 cores"):
        Phases(1, 1, width=0)
    with pytest.raises(StudyError, match="cannot be 0 s"):
        Phases(0, 0)
    with pytest.raises(StudyError, match="carries some jobs"):
        SharedMachine(2, 0.0)


# ---------------------------------------------------------------- slowdown of those that share


def test_a_slowdown_has_straight_lines_between_what_was_measured() -> None:
    measured = MeasuredSlowdown((1, 3, 5), (1.0, 2.0, 5.0))
    assert [measured(n) for n in (1, 1.5, 2, 3, 4, 5)] == pytest.approx([1.0, 1.25, 1.5, 2.0, 3.5, 5.0])
    assert measured(0.5) == 1.0  # less than one job is not faster than one
    assert measured(7) == pytest.approx(8.0)  # as steep as it was at last: 1.5 for each job more
    assert measured.capacity == pytest.approx(1 / 1.5)
    flat = MeasuredSlowdown((1, 4), (1.0, 1.0))
    assert [flat(4), flat(8), flat.capacity] == pytest.approx([1.0, 2.0, 4.0])


def test_equal_shares_slow_from_the_first_job_that_is_too_many() -> None:
    two = Shared(2.0)
    assert [two(n) for n in (0.5, 1, 2, 3, 4)] == [1.0, 1.0, 1.0, 1.5, 2.0]
    assert two.capacity == 2.0


def test_a_slowdown_that_cannot_be_is_refused() -> None:
    for jobs, factors in (((1,), (1.0,)), ((1, 2), (1.0, 1.5, 2.0))):
        with pytest.raises(NotEnoughDataError, match="one job alone and of several"):
            MeasuredSlowdown(jobs, factors)
    for ascending in ((2, 3), (1, 1), (1, 4, 3)):
        with pytest.raises(StudyError, match="a slowdown starts at 1 job"):
            MeasuredSlowdown(ascending, (1.0,) * len(ascending))
    with pytest.raises(StudyError, match="a slowdown cannot be 0"):
        MeasuredSlowdown((1, 2), (1.0, 0.0))
    with pytest.raises(StudyError, match="the number of servers cannot be 0"):
        Shared(0.0)


def test_times_among_others_become_factors_that_never_fall() -> None:
    found = measured_slowdown({4: 24.0, 1: 10.0, 2: 9.0, 8: 22.0})
    assert found.jobs == (1, 2, 4, 8)
    assert found.factors == pytest.approx((1.0, 1.0, 2.4, 2.4))


# ---------------------------------------------------------------- more of jobs that launch


def test_a_wide_job_waits_until_enough_cores_are_free_and_those_behind_wait_with_it() -> None:
    fates = launched([job(0, 1, 10), job(0, 1.5, 4, 2), job(0, 2, 3)], SharedMachine(2))
    assert [f.registered_s for f in fates] == [1, 1.5, 2]
    assert [f.started_s for f in fates] == [1, 11, 15]
    assert [f.ended_s for f in fates] == [11, 15, 18]


def test_jobs_may_be_given_in_any_order() -> None:
    jobs = [job(5, 1, 2), job(0, 1, 9), job(2, 1, 1)]
    fates, turned = launched(jobs, SharedMachine(1)), launched(jobs[::-1], SharedMachine(1))
    assert fates == turned[::-1]
    assert [f.ended_s for f in fates] == [13, 10, 11]
    assert launched([], SharedMachine(1)) == ()


def test_what_has_not_happened_yet_is_infinitely_far() -> None:
    play = Play.of([job(0, 2, 6), job(1, 2, 6)], SharedMachine(1))
    play.advance(3.5)
    first, second = play.fates()
    assert (first.registered_s, first.started_s, first.ended_s) == (2, 2, math.inf)
    assert (second.registered_s, second.started_s, second.ended_s) == (3, math.inf, math.inf)
    assert (play.done_s(0), play.done_s(1)) == (3.5, 2.0)
    later = Play.of([job(0, 2, 6), job(9, 2, 6)], SharedMachine(1))
    later.advance(1.0)
    assert (later.done_s(0), later.done_s(1)) == (1.0, 0.0)


def test_a_machine_of_another_size_carries_in_proportion() -> None:
    machine = SharedMachine(2, 1.5, beside=1)
    assert machine.with_cores(6) == SharedMachine(6, 4.5, 1)
    assert [machine.slowdown(n) for n in (0, 1, 2)] == pytest.approx([1.0, 2 / 1.5, 3 / 1.5])
    assert [SharedMachine(1).slowdown(9), SharedMachine(1, 9.0).slowdown(9)] == [1.0, 1.0]
    assert Phases(2, 6, 3, 0.5).scaled(0.5) == Phases(1, 3, 3, 0.5)
    for bad in ((0, 1.0, 0), (1, -1.0, 0), (1, 1.0, -1)):
        with pytest.raises(StudyError, match="a machine needs at least 1 core"):
            SharedMachine(*bad)
    with pytest.raises(StudyError, match="squared coefficient of variation"):
        Phases(1, 1, scv=-1)
