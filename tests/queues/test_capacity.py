"""Capacity: the largest rate, the servers that a rate needs, and the whole answer."""

import pytest

from sparkcast.errors import InfeasibleError, StudyError
from sparkcast.queues.answer import QueueQuestion, answer, closed_forms, day
from sparkcast.queues.arrivals import poisson
from sparkcast.queues.capacity import Simulator, capacities, closed_form, curve, largest_rate, servers_needed
from sparkcast.queues.markovian import MMc
from sparkcast.queues.simulate import Cluster
from sparkcast.queues.slowdown import MeasuredSlowdown
from sparkcast.queues.times import Spread, Times
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
