"""Capacity: the largest rate, the servers that a rate needs, and the whole answer."""

import pytest

from sparkcast.errors import InfeasibleError, StudyError
from sparkcast.queues.answer import QueueQuestion, answer, closed_forms, day
from sparkcast.queues.arrivals import Renewal, poisson
from sparkcast.queues.capacity import Simulator, capacities, closed_form, curve, largest_rate, servers_needed
from sparkcast.queues.markovian import MMc
from sparkcast.queues.simulate import Cluster
from sparkcast.queues.slowdown import MeasuredSlowdown
from sparkcast.queues.times import EmpiricalTimes, Spread, Times
from sparkcast.queues.workload import JobClass, JobMix


def simulator(rate: float = 0.1, times: Times | None = None, servers: int = 4) -> Simulator:
    work = JobMix(poisson(rate), (JobClass("job", times or Spread(30.0)),))
    return Simulator(work, Cluster(servers), n_jobs=2000, replications=3)


def test_the_largest_rate_just_keeps_the_deadline() -> None:
    most = largest_rate(simulator(), 300.0, 0.95)
    assert most is not None
    assert MMc(most, 30.0, 4).response_quantile(0.95) == pytest.approx(300.0, rel=1e-4)
    assert MMc(most * 1.0001, 30.0, 4).response_quantile(0.95) > 300.0


def test_a_deadline_shorter_than_the_job_allows_no_rate() -> None:
    assert largest_rate(simulator(), 60.0, 0.95) is None  # alone, 95 % of them take 90 s


def test_a_simulated_rate_is_near_the_exact_one() -> None:
    exact = largest_rate(simulator(), 150.0, 0.9)
    almost = Simulator(
        JobMix(poisson(0.1), (JobClass("job", Spread(30.0, 1.0 + 1e-9)),)), Cluster(4), n_jobs=20_000, replications=4
    )
    assert closed_form(almost.workload, almost.cluster) is None
    assert largest_rate(almost, 150.0, 0.9) == pytest.approx(exact, rel=0.03)


def test_the_fewest_servers_that_do() -> None:
    assert servers_needed(simulator(0.1), 300.0, 0.95) == 4
    assert MMc(0.1, 30.0, 4).response_quantile(0.95) <= 300.0  # and 3 are not stable
    needed = servers_needed(simulator(0.5), 100.0, 0.95)
    assert needed is not None
    assert MMc(0.5, 30.0, needed).response_quantile(0.95) <= 100.0
    assert MMc(0.5, 30.0, needed - 1).response_quantile(0.95) > 100.0


def test_no_number_of_servers_makes_a_job_faster_than_it_is() -> None:
    with pytest.raises(InfeasibleError, match="no number of servers"):
        servers_needed(simulator(), 30.0, 0.95)


def test_a_table_of_servers_tells_rates_and_costs() -> None:
    found = capacities(simulator(0.1), [3, 4, 5], within_s=300.0, share=0.95, rate=0.1, price_per_server_hour=0.5)
    assert [one.servers for one in found] == [3, 4, 5]
    assert found[0].response_s is None  # 3 servers are not stable at that rate
    assert found[0].cost_per_job is None
    assert [one.cost_per_hour for one in found] == [1.5, 2.0, 2.5]
    assert found[1].cost_per_job == pytest.approx(2.0 / 360)
    rates = [one.most_rate or 0 for one in found]
    assert rates == sorted(rates)
    assert all(0 < (one.utilization or 0) < 1 for one in found)


def test_the_curve_rises_with_the_rate() -> None:
    points = curve(simulator(times=Spread(30.0, 0.5)), (0.5, 0.95), points=4)
    means = [point.mean_s.value for point in points]
    assert means == sorted(means)
    assert all(point.percentiles[0.5].value <= point.percentiles[0.95].value for point in points)
    assert [point.utilization for point in points] == pytest.approx([0.2375, 0.475, 0.7125, 0.95], rel=0.1)


def test_a_day_is_as_busy_as_its_rate() -> None:
    moments = day(simulator(0.1).workload, Cluster(4))
    assert len(moments) == 288
    assert moments[0].at_s == 0
    busy = sum(moment.running for moment in moments) / len(moments)
    assert busy == pytest.approx(3.0, rel=0.15)
    assert all(moment.running <= 4 and moment.running <= moment.jobs for moment in moments)


def question(**options: object) -> QueueQuestion:
    given: dict[str, object] = {"n_jobs": 1000, "replications": 2, **options}
    work, cluster = given.pop("workload", simulator().workload), given.pop("cluster", Cluster(4))
    return QueueQuestion(work, cluster, **given)  # type: ignore[arg-type]


def test_an_answer_has_the_formula_the_simulation_and_the_verdict() -> None:
    found = answer(question(slo_s=300.0))
    assert [one.queue for one in found.closed_forms] == ["M/M/4"]
    assert found.response_s is not None
    assert found.response_s.value == MMc(0.1, 30.0, 4).response_quantile(0.95)
    assert found.meets_slo
    assert found.servers_needed == 4
    assert [one.servers for one in found.capacities] == [3, 4, 5, 6]
    assert not found.curve
    assert not found.day


def test_formulas_are_those_of_the_queue_at_hand() -> None:
    def names(cluster: Cluster, scv: float = 0.5, places: int | None = None, width: int = 1) -> list[str]:
        work = JobMix(poisson(0.02), (JobClass("job", Spread(30.0, scv), width=width),))
        return [one.queue for one in closed_forms(work, cluster, places)]

    assert names(Cluster(1)) == ["M/G/1"]
    assert names(Cluster(1), scv=0.0) == ["M/D/1"]
    assert names(Cluster(2)) == ["M/G/2, Whitt", "M/G/2, Allen-Cunneen"]
    assert names(Cluster(4), width=2, scv=1.0) == ["M/M/2"]
    assert names(Cluster(1, "fair")) == ["M/G/1-PS"]
    assert names(Cluster(3, "fair")) == ["M/G/3-PS"]
    assert names(Cluster(2), places=5) == ["M/M/2/5"]
    assert names(Cluster(2, "priority")) == []


def test_only_capacity_is_told_where_no_rate_is_given() -> None:
    found = answer(question(has_rate=False, slo_s=300.0))
    assert found.arrival_rate is None
    assert found.simulation is None
    assert found.capacities[1].most_rate == pytest.approx(largest_rate(simulator(), 300.0, 0.95))


def test_a_measured_slowdown_says_nothing_of_more_servers() -> None:
    cluster = Cluster(1, "fair", MeasuredSlowdown((1, 2, 4), (1.0, 1.2, 2.4)))
    found = answer(question(workload=simulator(0.02).workload, cluster=cluster, slo_s=200.0))
    assert [one.servers for one in found.capacities] == [1]
    assert found.servers_needed is None
    assert any("more servers" in note for note in found.notes)


def test_questions_that_cannot_be_answered_are_refused() -> None:
    with pytest.raises(StudyError, match="neither an arrival rate nor a deadline"):
        answer(question(has_rate=False))
    with pytest.raises(StudyError, match="the deadline cannot be -1 s"):
        answer(question(slo_s=-1.0))
    with pytest.raises(StudyError, match="the percentile is 95"):
        answer(question(share=95.0))
    with pytest.raises(StudyError, match="are too few"):
        answer(question(n_jobs=10))
    with pytest.raises(InfeasibleError, match="3 servers can do at most 6/min"):
        answer(question(cluster=Cluster(3)))


# ---------------------------------------------------------------- what so many servers can do


def test_the_largest_rate_of_two_classes_keeps_the_deadline_of_each() -> None:
    """One core, jobs of 1 s and rarely of 9 s: these decide, although nine in ten are done sooner."""
    rare = (JobClass("short", Spread(1.0, 0.0), 0.9), JobClass("long", Spread(9.0, 0.0), 0.1))
    both = Simulator(JobMix(poisson(0.1), rare), Cluster(1), 2000, 2)
    assert largest_rate(both, 8.5, 0.9) is None
    most = largest_rate(both, 20.0, 0.9)
    assert most is not None
    assert both.is_within(most, 20.0, 0.9)
    assert not both.is_within(1.01 * most, 20.0, 0.9)
    assert servers_needed(both, 8.5, 0.9) is None  # no number of servers makes the long ones faster


def test_a_deadline_that_is_kept_at_any_stable_rate_allows_nearly_that_rate() -> None:
    assert largest_rate(simulator(), 1e9, 0.95) == pytest.approx(4 / 30, rel=1e-6)
    shared = Simulator(simulator().workload, Cluster(4, "fair"), 1000, 2)
    assert largest_rate(shared, 1e9, 0.95) == pytest.approx(0.995 * 4 / 30)


def test_costs_are_those_of_all_servers_over_the_jobs_of_an_hour() -> None:
    [one] = capacities(simulator(), [4], within_s=300.0, share=0.95, price_per_server_hour=0.5)
    assert one.most_rate is not None
    assert one.cost_per_hour == 2.0
    assert one.cost_per_job == pytest.approx(2.0 / (one.most_rate * 3600))  # no rate is asked for: at the largest
    assert one.utilization == pytest.approx(one.most_rate * 30 / 4)
    assert one.stable_rate == pytest.approx(4 / 30)
    [free] = capacities(simulator(), [4], within_s=None, share=0.95, rate=0.1)
    assert (free.most_rate, free.utilization, free.cost_per_hour, free.cost_per_job) == (None, None, None, None)
    assert free.response_s is not None
    assert free.response_s.value == MMc(0.1, 30.0, 4).response_quantile(0.95)
    [full] = capacities(simulator(), [3], within_s=None, share=0.95, rate=0.1, price_per_server_hour=1.0)
    assert (full.response_s, full.cost_per_hour, full.cost_per_job) == (None, 3.0, None)  # exactly as much as it can do


def test_progress_is_told_before_each_number_and_at_the_end() -> None:
    told: list[tuple[int, int]] = []
    capacities(simulator(), [4, 5], within_s=None, share=0.95, on_progress=lambda *at: told.append(at))
    assert told == [(0, 2), (1, 2), (2, 2)]
    told.clear()
    points = curve(simulator(), (0.5,), up_to=0.8, points=2, on_progress=lambda *at: told.append(at))
    assert told == [(0, 2), (1, 2), (2, 2)]
    assert [point.rate for point in points] == pytest.approx([0.4 * 4 / 30, 0.8 * 4 / 30])


def test_only_exponential_jobs_that_come_by_poisson_and_wait_in_line_have_exact_percentiles() -> None:
    def form(cluster: Cluster, arrivals: Renewal | None = None, *classes: JobClass) -> MMc | None:
        jobs = classes or (JobClass("job", Spread(30.0), width=2),)
        return closed_form(JobMix(arrivals or poisson(0.01), jobs), cluster)

    assert form(Cluster(7)) == MMc(0.01, 30.0, 3)
    assert form(Cluster(7, "fair")) is None
    assert form(Cluster(7), Renewal(0.01, 0.5)) is None
    assert form(Cluster(7), None, JobClass("job", Spread(30.0, 0.5))) is None
    assert form(Cluster(7), None, JobClass("job", EmpiricalTimes((30.0,)))) is None
    assert form(Cluster(7), None, JobClass("a", Spread(30.0)), JobClass("b", Spread(30.0))) is None


def test_deadlines_and_percentiles_that_cannot_be_are_refused() -> None:
    for find in (largest_rate, servers_needed):
        with pytest.raises(StudyError, match="the deadline cannot be 0 s"):
            find(simulator(), 0.0, 0.95)
        with pytest.raises(StudyError, match="the percentile is 95"):
            find(simulator(), 100.0, 95.0)


def test_no_number_of_servers_is_said_with_the_time_of_a_lone_job() -> None:
    with pytest.raises(InfeasibleError) as refused:
        servers_needed(simulator(), 89.0, 0.95)  # alone 95 % take 30 ln 20 = 89.9 s
    assert (
        "finishes 95% of the jobs within 1 min 29 s: alone on the cluster they take 1 min 30 s" in refused.value.problem
    )
    assert servers_needed(simulator(0.01), 90.0, 0.95) is not None


@pytest.mark.parametrize("rate", [0.02, 0.05, 0.13, 0.21, 0.34, 0.5, 0.7, 0.9])
def test_one_server_fewer_misses_the_deadline_or_is_not_stable(rate: float) -> None:
    needed = servers_needed(simulator(rate), 100.0, 0.95)
    assert needed is not None
    assert MMc(rate, 30.0, needed).response_quantile(0.95) <= 100.0
    fewer = needed - 1
    assert fewer <= rate * 30 or MMc(rate, 30.0, fewer).response_quantile(0.95) > 100.0
