"""Jobs that launch, wait in line for cores, and run."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from sparkcast.errors import StudyError
from sparkcast.queues.launching import Launched, Phases, Play, SharedMachine, launched
from sparkcast.queues.serving import first_come, shared
from sparkcast.queues.slowdown import Shared
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
