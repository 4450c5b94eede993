"""What measured streams tell a queue."""

import pytest

from sparkcast import api
from sparkcast.data.sources import Data
from sparkcast.errors import InfeasibleError, NotEnoughDataError, StudyError
from sparkcast.queues.measured import measured_jobs
from sparkcast.study import Configuration, Dataset, JobRun, Observation

ONE, TWO = Configuration({"executors": 1}), Configuration({"executors": 2})


def stream(*jobs: tuple[float, float, Configuration]) -> Observation:
    """Jobs by arrival, end and settings."""
    runs = tuple(
        JobRun(number, settings, arrived, arrived + 1, arrived + 2, ended, {})
        for number, (arrived, ended, settings) in enumerate(jobs, start=1)
    )
    return Observation({}, {"response_s": 1.0}, jobs=runs)


# Alone: 10 and 12 s of one executor, 6 s of two; then two at once that take 18 s each.
STREAM = stream((0, 10, ONE), (20, 32, ONE), (40, 46, TWO), (60, 78, ONE), (60, 78, ONE))
DATA = Dataset((), (STREAM,))


def test_jobs_that_met_nobody_give_service_times_and_company_the_slowdown() -> None:
    found = measured_jobs(DATA, {"executors": 1})
    assert found.times.values == (10, 12)
    assert found.slowdown is not None
    assert found.slowdown.jobs == (1, 2)
    assert found.slowdown.factors == pytest.approx((1.0, 18 / 11))
    assert found.arrival_rate == pytest.approx(4 / 60)


def test_settings_of_a_mix_are_told_apart() -> None:
    assert measured_jobs(DATA).configurations == 2
    assert measured_jobs(DATA, {"executors": 2}).times.values == (6,)
    with pytest.raises(StudyError, match="'hosts' is not a factor"):
        measured_jobs(DATA, {"hosts": 2})


def test_streams_without_a_lone_job_do_not_tell_its_time() -> None:
    crowded = Dataset((), (stream((0, 30, ONE), (10, 40, ONE), (20, 50, ONE)),))
    with pytest.raises(NotEnoughDataError, match="no such job of these streams was alone"):
        measured_jobs(crowded)


def test_the_rate_of_the_streams_is_the_rate_of_the_queue() -> None:
    answer = api.queue(Data(DATA), at={"executors": 1}, n_jobs=1000, replications=2)
    assert answer.arrival_rate == pytest.approx(4 / 60)
    assert answer.is_slowdown_measured
    with pytest.raises(InfeasibleError, match="grows without bound"):
        api.queue(Data(DATA), at={"executors": 1}, arrival_rate=1.0, n_jobs=1000, replications=2)
