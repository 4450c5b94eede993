"""Jobs that launch, wait in line for cores, and run."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from sparkcast.errors import NotEnoughDataError, StudyError
from sparkcast.queues.launching import Launched, launched, shared_by
from sparkcast.queues.serving import first_come, shared
from sparkcast.queues.slowdown import Shared
from sparkcast.queues.workload import Stream

UNSLOWED = Shared(1e9)
times = st.floats(0.1, 20)
streams = st.lists(st.tuples(st.floats(0, 50), times, times), min_size=1, max_size=12)


def stream(arrive: list[float], service: list[float]) -> Stream:
    ones = np.ones(len(arrive), dtype=int)
    return Stream(np.array(arrive), np.array(service), ones, ones * 0, ones * 0)


def test_three_jobs_on_two_cores_by_hand() -> None:
    """Driver up after 3 s each; two get a core at once, the third when the first ends."""
    fates = launched([Launched(0, 3, 4), Launched(1, 3, 4), Launched(2, 3, 4)], 2, UNSLOWED)
    assert [(f.registered_s, f.started_s, f.ended_s) for f in fates] == [(3, 3, 7), (4, 4, 8), (5, 7, 11)]


def test_only_what_launches_or_runs_slows_others() -> None:
    """One job carried: two launch at half speed; the second then waits for the one core, and the first runs alone."""
    fates = launched([Launched(0, 2, 6), Launched(0, 2, 6)], 1, Shared(1))
    assert [f.registered_s for f in fates] == [4, 4]
    assert [f.ended_s for f in fates] == [10, 16]


@given(streams, st.integers(1, 3))
def test_without_launch_and_slowdown_it_is_first_come_first_served(
    drawn: list[tuple[float, float, float]], cores: int
) -> None:
    drawn = sorted(drawn)
    fates = launched([Launched(at, 0.0, run) for at, _, run in drawn], cores, UNSLOWED)
    served = first_come(stream([job[0] for job in drawn], [job[2] for job in drawn]), cores)
    assert [fate.ended_s for fate in fates] == pytest.approx(served.end_s.tolist(), abs=1e-6)


@given(streams)
def test_with_cores_for_all_it_is_processor_sharing(drawn: list[tuple[float, float, float]]) -> None:
    drawn = sorted(drawn)
    fates = launched([Launched(at, launch, run) for at, launch, run in drawn], 1000, Shared(1))
    served = shared(stream([job[0] for job in drawn], [job[1] + job[2] for job in drawn]), Shared(1))
    assert [fate.ended_s for fate in fates] == pytest.approx(served.end_s.tolist(), abs=1e-5)


@given(st.floats(0.5, 5))
def test_what_the_machine_carries_is_found_again(carried: float) -> None:
    jobs = [Launched(0, 3, 5)] * 3
    measured = np.mean([fate.ended_s for fate in launched(jobs, 2, Shared(carried))])
    found = shared_by(jobs, 2, float(measured))
    assert np.mean([fate.ended_s for fate in launched(jobs, 2, found)]) == pytest.approx(measured, rel=1e-3)


def test_what_cannot_be_is_refused() -> None:
    with pytest.raises(StudyError, match="more than the 2 cores"):
        launched([Launched(0, 1, 1, width=3)], 2, UNSLOWED)
    with pytest.raises(NotEnoughDataError):
        shared_by([], 2, 3.0)
    with pytest.raises(StudyError, match="cannot be 0 s"):
        shared_by([Launched(0, 1, 1)], 2, 0.0)
