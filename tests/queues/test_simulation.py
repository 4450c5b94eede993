"""Simulations against closed forms, against brute force, and against laws that hold in every run."""

import math
from collections.abc import Sequence

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from sparkcast.errors import InfeasibleError, NotEnoughDataError, StudyError
from sparkcast.queues.arrivals import Arrivals, Given, Renewal, poisson
from sparkcast.queues.general import MG1, MG1Sharing
from sparkcast.queues.markovian import MMc, erlang_c
from sparkcast.queues.serving import Served, by_priority, first_come, shared
from sparkcast.queues.sharing import ProcessorSharing
from sparkcast.queues.simulate import Cluster, mean_number, simulate, timeline
from sparkcast.queues.slowdown import MeasuredSlowdown, Shared, measured_slowdown
from sparkcast.queues.steady import over_replications, warm_up
from sparkcast.queues.times import EmpiricalTimes, Predicted, Spread, Times, TwoPhases, mixture
from sparkcast.queues.workload import ArrivalDraw, JobClass, JobMix

TIMES: list[Times] = [
    Spread(3.0, 0.0),
    Spread(3.0, 0.4),
    Spread(3.0),
    Spread(3.0, 3.0),
    TwoPhases(3.0, 4.0),
    EmpiricalTimes((1.0, 2.0, 6.0)),
    Predicted((0.0, 0.5, 1.0), (1.0, 2.0, 8.0)),
]
ARRIVALS: list[Arrivals] = [poisson(0.5), Renewal(0.5, 0.2), Renewal(0.5, 5.0)]


def workload(rate: float, times: Times | None = None, width: int = 1) -> JobMix:
    return JobMix(poisson(rate), (JobClass("job", times or Spread(1.0), width=width),))


def stream(
    arrive: Sequence[float], service: Sequence[float], width: Sequence[int] = (), priority: Sequence[int] = ()
) -> ArrivalDraw:
    n = len(arrive)
    ones = np.ones(n, dtype=int)
    return ArrivalDraw(
        np.array(arrive, dtype=float),
        np.array(service, dtype=float),
        np.array(width or ones),
        np.array(priority or 0 * ones),
        0 * ones,
    )


# ---------------------------------------------------------------- what is drawn


@pytest.mark.parametrize("times", TIMES, ids=repr)
def test_drawn_times_have_the_moments_they_claim(times: Times) -> None:
    drawn = times.draw(np.random.default_rng(1), 400_000)
    assert drawn.min() > 0
    assert drawn.mean() == pytest.approx(times.mean_s, rel=0.02)
    assert drawn.var() / drawn.mean() ** 2 == pytest.approx(times.scv, rel=0.04, abs=1e-12)


@pytest.mark.parametrize("arrivals", ARRIVALS, ids=repr)
def test_arrivals_have_the_rate_and_the_burstiness_they_claim(arrivals: Arrivals) -> None:
    come = arrivals.draw(np.random.default_rng(2), 400_000)
    gaps = np.diff(come)
    assert (gaps >= 0).all()
    assert 1 / gaps.mean() == pytest.approx(arrivals.rate, rel=0.03)
    assert gaps.var() / gaps.mean() ** 2 == pytest.approx(arrivals.scv, rel=0.06)


def test_given_arrivals_come_as_they_came_or_scaled() -> None:
    seen = Given((100.0, 130.0, 110.0))
    assert seen.rate == pytest.approx(2 / 30)
    assert seen.draw(np.random.default_rng(0), 10).tolist() == [0.0, 10.0, 30.0]
    assert seen.at_rate(2 / 15).draw(np.random.default_rng(0), 10).tolist() == pytest.approx([0.0, 5.0, 15.0])
    with pytest.raises(NotEnoughDataError, match="1 arrival cannot"):
        Given((3.0,))
    with pytest.raises(StudyError, match="not arrival times"):
        Given((3.0, 3.0))


def test_a_mix_of_jobs_has_the_moments_of_its_parts() -> None:
    mixed = JobMix(poisson(1.0), (JobClass("a", Spread(1.0), 3.0), JobClass("b", Spread(5.0, 0.0), 1.0, width=2)))
    drawn = mixed.draw(np.random.default_rng(3), 300_000)
    assert drawn.service_s.mean() == pytest.approx(mixed.mean_s, rel=0.01)
    assert drawn.service_s.var() / drawn.service_s.mean() ** 2 == pytest.approx(mixed.scv, rel=0.02)
    assert (drawn.service_s * drawn.width).mean() == pytest.approx(mixed.mean_work, rel=0.01)
    assert mixture([(0.75, Spread(1.0)), (0.25, Spread(5.0, 0.0))]) == pytest.approx((mixed.mean_s, mixed.scv))


# ---------------------------------------------------------------- serving


def test_two_servers_take_jobs_as_they_come() -> None:
    served = first_come(stream([0, 1, 2, 3], [5, 1, 4, 1]), 2)
    assert served.start_s.tolist() == [0, 1, 2, 5]
    assert served.end_s.tolist() == [5, 2, 6, 6]


def test_a_wide_job_waits_for_its_cores_and_those_behind_it_with_it() -> None:
    jobs = stream([0, 1, 2], [10, 5, 1], width=[1, 2, 1])
    assert by_priority(jobs, 2).start_s.tolist() == [0, 10, 15]
    assert by_priority(jobs, 2, overtake=True).start_s.tolist() == [0, 10, 2]


def test_the_lower_priority_number_goes_first_and_nobody_is_interrupted() -> None:
    jobs = stream([0, 1, 2], [10, 5, 5], priority=[1, 1, 0])
    assert by_priority(jobs, 1).start_s.tolist() == [0, 15, 10]


def test_jobs_that_share_are_slowed_while_they_share() -> None:
    """Two jobs of 10 s, the second 4 s later: 4 s alone, half speed until the first ends at 16, the other at 20."""
    served = shared(stream([0, 4], [10, 10]), Shared(1))
    assert served.end_s.tolist() == pytest.approx([16, 20])
    assert shared(stream([0, 4], [10, 10]), Shared(2)).end_s.tolist() == pytest.approx([10, 14])
    measured = MeasuredSlowdown((1, 2), (1.0, 1.5))
    assert shared(stream([0, 4], [10, 10]), measured).end_s.tolist() == pytest.approx([13, 17])


def test_who_finds_no_slot_waits_in_line() -> None:
    served = shared(stream([0, 0, 0], [4, 4, 2]), Shared(1), slots=2)
    assert served.start_s.tolist() == pytest.approx([0, 0, 8])
    assert served.end_s.tolist() == pytest.approx([8, 8, 10])


def test_wide_jobs_ask_for_more_of_what_is_shared() -> None:
    served = shared(stream([0, 0], [6, 6], width=[1, 3]), Shared(2))
    assert served.end_s.tolist() == pytest.approx([12, 12])


def test_a_job_wider_than_the_cluster_is_refused() -> None:
    with pytest.raises(StudyError, match="a job holds 3 cores and the cluster has 2"):
        by_priority(stream([0], [1], width=[3]), 2)


jobs_lists = st.lists(st.tuples(st.floats(0, 50), st.floats(0.1, 20), st.integers(1, 3)), min_size=1, max_size=25)


def _served(drawn: list[tuple[float, float, int]]) -> tuple[ArrivalDraw, list[Served]]:
    drawn = sorted(drawn)
    wide = stream([job[0] for job in drawn], [job[1] for job in drawn], [job[2] for job in drawn])
    narrow = stream([job[0] for job in drawn], [job[1] for job in drawn])
    return wide, [
        first_come(narrow, 2),
        first_come(narrow, 1),
        by_priority(wide, 3),
        by_priority(wide, 4, overtake=True),
        shared(wide, Shared(2)),
        shared(wide, MeasuredSlowdown((1, 3), (1.0, 2.0)), slots=3),
    ]


@given(jobs_lists)
def test_little_s_law_holds_in_every_run(drawn: list[tuple[float, float, int]]) -> None:
    """Over a run that begins and ends empty: time average of jobs there = rate x mean response, without exception."""
    for served in _served(drawn)[1]:
        come, go = served.stream.arrive_s, served.end_s
        times, number = timeline(come, go)
        length = times[-1] - times[0]
        average = float((np.diff(times) * number[:-1]).sum() / length)
        assert average == pytest.approx(len(come) / length * served.response_s.mean(), rel=1e-9)
        assert mean_number(come, go, times[0], times[-1]) == pytest.approx(average, rel=1e-9)
        assert number[-1] == 0


@given(jobs_lists)
def test_nobody_starts_before_coming_nor_ends_early(drawn: list[tuple[float, float, int]]) -> None:
    for served in _served(drawn)[1]:
        assert (served.wait_s >= -1e-9).all()
        assert (served.end_s - served.start_s >= served.stream.service_s * (1 - 1e-9) - 1e-9).all()


@given(jobs_lists)
def test_the_fast_way_and_the_event_loop_agree(drawn: list[tuple[float, float, int]]) -> None:
    drawn = sorted(drawn)
    jobs = stream([job[0] for job in drawn], [job[1] for job in drawn])
    for cores in (1, 2, 5):
        assert by_priority(jobs, cores).start_s == pytest.approx(first_come(jobs, cores).start_s, abs=1e-9)


@given(jobs_lists)
def test_cores_are_never_overbooked(drawn: list[tuple[float, float, int]]) -> None:
    wide, _ = _served(drawn)
    for served in (by_priority(wide, 3), by_priority(wide, 3, overtake=True)):
        events = sorted(
            [(end, -w) for end, w in zip(served.end_s.tolist(), wide.width.tolist(), strict=True)]
            + [(start, w) for start, w in zip(served.start_s.tolist(), wide.width.tolist(), strict=True)]
        )
        held = 0
        for _, change in events:
            held += change
            assert held <= 3


@given(jobs_lists)
@settings(max_examples=15)
def test_sharing_moves_all_jobs_at_the_speed_of_the_moment(drawn: list[tuple[float, float, int]]) -> None:
    """Against small steps of time, in which each job does its part."""
    drawn = sorted(drawn)[:6]
    jobs = stream([job[0] for job in drawn], [job[1] for job in drawn])
    served, step = shared(jobs, Shared(1)), 0.01
    left, ends, now = jobs.service_s.copy(), np.full(len(jobs), np.inf), 0.0
    while np.isinf(ends).any():
        here = (jobs.arrive_s <= now) & np.isinf(ends)
        if here.any():
            left[here] -= step / max(1, here.sum())
        now += step
        ends[here & (left <= 0)] = now
    assert served.end_s == pytest.approx(ends, abs=0.01 * 2 * len(jobs) + 0.05)


# ---------------------------------------------------------------- slowdown


def test_a_measured_slowdown_gains_nothing_beyond_what_was_measured() -> None:
    found = measured_slowdown({1: 10.0, 2: 12.0, 4: 18.0})
    assert [found(n) for n in (1, 2, 3, 4)] == pytest.approx([1.0, 1.2, 1.5, 1.8])
    assert found(8) == pytest.approx(3.6)  # in proportion: as much work as with 4
    assert found.capacity == pytest.approx(4 / 1.8)
    assert measured_slowdown({1: 10.0, 2: 9.0}).factors == (1.0, 1.0)  # company speeds nobody up
    with pytest.raises(NotEnoughDataError, match="alone"):
        measured_slowdown({2: 10.0, 4: 12.0})


# ---------------------------------------------------------------- warm-up and intervals


def test_the_warm_up_of_a_series_is_found_and_a_steady_one_keeps_nearly_all() -> None:
    rng = np.random.default_rng(0)
    steady = rng.normal(10, 1, 5000)
    rising = steady - 8 * np.exp(-np.arange(5000) / 100)
    assert 150 <= warm_up(rising) <= 1000
    assert warm_up(steady) < 1000
    assert warm_up(steady[:20]) == 0


def test_an_interval_over_replications_is_student_s() -> None:
    """Mean 3, standard deviation sqrt(2.5), t(0.975, 4) = 2.7764: any table."""
    found = over_replications([1, 2, 3, 4, 5])
    assert found.value == 3
    assert found.high - 3 == pytest.approx(2.7764 * math.sqrt(2.5 / 5), rel=1e-4)
    with pytest.raises(NotEnoughDataError):
        over_replications([1.0])


def test_an_interval_of_skewed_means_reaches_further_to_their_long_side() -> None:
    """Willink (2005) by hand: mean 2, standard error 1, skewness sqrt(5), so that his a is 1 / 6."""
    found = over_replications([1, 1, 1, 1, 6])
    assert found.low == pytest.approx(2 - 3 * (math.cbrt(1 + 2.776445 - 1 / 6) - 1))
    assert found.high == pytest.approx(2 - 3 * (math.cbrt(1 - 2.776445 - 1 / 6) - 1))
    mirrored = over_replications([-1, -1, -1, -1, -6])
    assert (mirrored.low, mirrored.high) == pytest.approx((-found.high, -found.low))
    assert over_replications([2, 2, 2]).high == 2


# ---------------------------------------------------------------- against closed forms

CASES = {
    "M/M/1": (workload(0.7), Cluster(1), MMc(0.7, 1.0).measures()),
    "M/M/4": (workload(2.8), Cluster(4), MMc(2.8, 1.0, 4).measures()),
    "M/G/1": (workload(0.7, Spread(1.0, 0.5)), Cluster(1), MG1(0.7, 1.0, 0.5).measures()),
    "M/G/1-PS": (workload(0.7, Spread(1.0, 0.5)), Cluster(1, "fair"), MG1Sharing(0.7, 1.0).measures()),
}


@pytest.mark.parametrize("name", CASES)
def test_most_intervals_hold_the_closed_form(name: str) -> None:
    """15 seeded runs; `benchmarks/queues.py` makes 100 longer ones."""
    work, cluster, exact = CASES[name]
    found = [simulate(work, cluster, n_jobs=4000, replications=10, seed=seed, shares=()) for seed in range(15)]
    held = sum(one.mean_response_s.low <= exact.mean_response_s <= one.mean_response_s.high for one in found)
    assert held >= 11
    assert np.mean([one.mean_response_s.value for one in found]) == pytest.approx(exact.mean_response_s, rel=0.02)
    assert np.mean([one.mean_jobs.value for one in found]) == pytest.approx(exact.mean_jobs, rel=0.02)
    assert np.mean([one.utilization.value for one in found]) == pytest.approx(exact.utilization, rel=0.02)
    if exact.probability_of_waiting is not None:
        waits = np.mean([one.probability_of_waiting.value for one in found])
        assert waits == pytest.approx(exact.probability_of_waiting, rel=0.02)


def test_simulated_percentiles_hold_the_exact_ones() -> None:
    found = simulate(workload(2.8), Cluster(4), n_jobs=20_000, replications=10)
    for share, one in found.response_percentiles.items():
        assert one.value == pytest.approx(MMc(2.8, 1.0, 4).response_quantile(share), rel=0.03)
    for share in (0.9, 0.95):
        # Waits longer than t have probability C exp(-(c mu - lambda) t): GSTH section 2.3.
        wait = math.log(erlang_c(4, 2.8) / (1 - share)) / (4 - 2.8)
        assert found.wait_percentiles[share].value == pytest.approx(wait, rel=0.05)


def test_sharing_with_a_measured_slowdown_has_the_mean_of_its_chain() -> None:
    slowdown = MeasuredSlowdown((1, 2, 4), (1.0, 1.4, 2.6))
    exact = ProcessorSharing(1.0, 1.0, slowdown).measures()
    found = simulate(workload(1.0, Spread(1.0, 2.0)), Cluster(1, "fair", slowdown), n_jobs=20_000, replications=10)
    assert found.mean_response_s.value == pytest.approx(exact.mean_response_s, rel=0.03)


def test_the_same_seed_gives_the_same_numbers() -> None:
    one, other = (simulate(workload(0.5), Cluster(1), n_jobs=1000, replications=2, seed=5) for _ in range(2))
    assert one == other
    assert one != simulate(workload(0.5), Cluster(1), n_jobs=1000, replications=2, seed=6)


def test_progress_is_told_after_each_run() -> None:
    told: list[tuple[int, int]] = []
    simulate(workload(0.5), Cluster(1), n_jobs=1000, replications=3, on_progress=lambda *at: told.append(at))
    assert told == [(1, 3), (2, 3), (3, 3)]


def test_a_stream_that_never_ends_is_refused_before_it_is_simulated() -> None:
    with pytest.raises(InfeasibleError, match="1 server can do at most 1/s, and 2/s arrive"):
        simulate(workload(2.0), Cluster(1))
    with pytest.raises(InfeasibleError) as refused:
        simulate(workload(2.0), Cluster(2, "fair", MeasuredSlowdown((1, 2), (1.0, 1.5))))
    assert "stable below 1.333/s" in refused.value.hint
    with pytest.raises(StudyError, match="holds 4 cores"):
        simulate(workload(0.1, width=4), Cluster(2))
