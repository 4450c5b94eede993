"""What the jobs of one run say together."""

import pytest

from sparkcast.study import Configuration, Dataset, JobRun, Observation, Outcome, TaskTotals
from sparkcast.study.streams import (
    alone_times,
    jobs_in_system,
    mean_company,
    stream_responses,
    with_slowdowns,
)

ONE, TWO = Configuration({"executors": 1}), Configuration({"executors": 2})
WORDS = Dataset(("jobs",), (Observation({"jobs": 1}, {"time_s": 1.0}),)).vocabulary


def job(
    number: int, arrived: float, ended: float, settings: Configuration = ONE, *, started: float | None = None
) -> JobRun:
    totals = TaskTotals(1, 1, 1, 0, 1, 0, run_s=2.0, cpu_s=1, gc_s=0, deserialize_s=0, shuffle_read_bytes=0,
                        shuffle_write_bytes=0, spilled_bytes=0)  # fmt: skip
    begun = arrived + 2 if started is None else started
    return JobRun(number, settings, arrived, arrived + 1, begun, ended, {"time_s": 1.0}, tasks=totals, cores=1)


STREAM = (job(1, 0, 10), job(2, 5, 20, started=10), job(3, 30, 38, TWO))


def test_responses_of_a_stream_are_means_and_percentiles_over_its_jobs() -> None:
    found = stream_responses(STREAM, cores=2)
    assert found["response_s"] == pytest.approx((10 + 15 + 8) / 3)
    assert found["response_p50_s"] == 10
    assert found["response_p90_s"] == pytest.approx(14)
    assert found["waiting_s"] == pytest.approx((1 + 4 + 1) / 3)
    assert found["service_s"] == pytest.approx((8 + 10 + 6) / 3)
    assert found["jobs_in_system"] == pytest.approx(33 / 38)
    assert found["cores_busy"] == pytest.approx(6 / 38 / 2)
    assert found["cores_held"] == pytest.approx(24 / 38 / 2)


def test_the_parts_of_a_response_time_add_up() -> None:
    for one in STREAM:
        assert one.registered_s is not None
        assert one.waiting_s is not None
        assert one.service_s is not None
        assert one.registered_s - one.arrived_s + one.waiting_s + one.service_s == pytest.approx(one.response_s)


def test_without_the_number_of_cores_nothing_is_said_of_them() -> None:
    assert not {"cores_busy", "cores_held"} & set(stream_responses(STREAM, cores=None))
    assert set(stream_responses(STREAM[:1], cores=2)) == {"response_s"}


def test_the_number_of_jobs_follows_arrivals_and_ends() -> None:
    assert jobs_in_system(STREAM) == (
        (0, 1, 0),
        (2, 1, 1),
        (5, 2, 1),
        (10, 1, 1),
        (20, 0, 0),
        (30, 1, 0),
        (32, 1, 1),
        (38, 0, 0),
    )


def test_company_is_counted_by_time() -> None:
    assert [mean_company(one, STREAM) for one in STREAM] == pytest.approx([1.5, 1 + 5 / 15, 1.0])


def test_a_job_that_met_nobody_was_alone_and_so_is_a_run_of_one_job() -> None:
    runs = [
        Observation({"executors": 1, "jobs": 1}, {"response_s": 6.0}),
        Observation({"executors": 1, "jobs": 3}, {"response_s": 60.0}),
        Observation({"executors": 2}, {}, Outcome.LOST),
        Observation({}, {"response_s": 11.0}, jobs=STREAM),
    ]
    assert alone_times(runs, WORDS) == {ONE: [6.0], TWO: [8]}


def test_slowdowns_are_told_where_the_same_job_was_alone() -> None:
    stream = Observation({}, {"response_s": 11.0}, jobs=STREAM)
    [alone, slowed] = with_slowdowns([Observation({"executors": 1}, {"response_s": 5.0}), stream], WORDS)
    assert [one.slowdown for one in slowed.jobs] == [2.0, 3.0, 1.0]
    assert slowed.responses["slowdown"] == 2.0
    assert alone.responses == {"response_s": 5.0}
    [partly] = with_slowdowns([stream], WORDS)
    assert [one.slowdown for one in partly.jobs] == [None, None, 1.0]
    assert "slowdown" not in partly.responses
