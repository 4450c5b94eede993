"""Which cluster serves how, at which rate it is stable, and what is counted of its jobs: by hand."""

import math
from dataclasses import replace

import numpy as np
import pytest

from sparkcast.errors import InfeasibleError, StudyError
from sparkcast.queues.arrivals import Given, Renewal, poisson
from sparkcast.queues.launching import Phases, SharedMachine
from sparkcast.queues.serving import Served, by_priority, first_come, shared
from sparkcast.queues.simulate import (
    Cluster,
    _busy,
    mean_number,
    require_stable_on,
    simulate,
    stable_cores,
    timeline,
)
from sparkcast.queues.slowdown import MeasuredSlowdown, Shared
from sparkcast.queues.times import Spread
from sparkcast.queues.workload import ArrivalDraw, JobClass, JobMix

SLOWDOWN = MeasuredSlowdown((1, 2, 4), (1.0, 1.25, 2.5))


def mix(*classes: JobClass, rate: float = 1.0) -> JobMix:
    return JobMix(poisson(rate), classes or (JobClass("job", Spread(10.0)),))


def of(width: int, priority: int = 0, share: float = 1.0, mean_s: float = 10.0) -> JobClass:
    return JobClass(f"of {width}", Spread(mean_s), share, width, priority)


def stream(arrive: list[float], service: list[float], width: list[int], priority: list[int]) -> ArrivalDraw:
    zeros = np.zeros(len(arrive), dtype=int)
    return ArrivalDraw(np.array(arrive), np.array(service), np.array(width), np.array(priority), zeros)


# ---------------------------------------------------------------- the rate that is stable


def test_the_stable_rate_of_jobs_that_share_is_what_gets_done_with_very_many() -> None:
    assert Cluster(4, "fair").most_rate(mix(of(2))) == pytest.approx(4 / 20)
    assert Cluster(4, "fair", SLOWDOWN).most_rate(mix(of(2))) == pytest.approx(1 / 0.625 / 10)
    # Two slots do at most 2 / 1.25 seconds of work in each, of equal shares 2.
    assert Cluster(4, "fair", SLOWDOWN, slots=2).most_rate(mix()) == pytest.approx(1.6 / 10)
    assert Cluster(4, "fair", SLOWDOWN, slots=1).most_rate(mix()) == pytest.approx(0.1)
    assert Cluster(4, "fair", SLOWDOWN, slots=99).most_rate(mix()) == pytest.approx(0.16)


def test_the_stable_rate_of_jobs_that_launch_is_that_of_their_cores_or_of_the_machine() -> None:
    def rate(machine: SharedMachine, *phases: Phases) -> float:
        classes = tuple(JobClass(str(i), Spread(20.0), 1.0, p.width, phases=p) for i, p in enumerate(phases))
        return Cluster(machine.cores, "launching", machine=machine).most_rate(mix(*classes))

    # Times of 20 s are twice those of the phases: 4 s to launch and 16 s to run.
    assert rate(SharedMachine(4), Phases(2, 8)) == pytest.approx(4 / 16)
    assert rate(SharedMachine(4), Phases(2, 8, 3)) == pytest.approx(3 / 3 / 16)
    assert rate(SharedMachine(4, 2.0), Phases(2, 8)) == pytest.approx(2 / 20)
    assert rate(SharedMachine(4, 4.0), Phases(2, 8), Phases(8, 2)) == pytest.approx(4 / 20)


def test_idle_cores_are_counted_only_where_a_job_may_have_to_wait_for_more_than_are_free() -> None:
    assert Cluster(4).is_packed(mix(of(2)))
    assert not Cluster(4).is_packed(mix(of(1), of(2)))
    assert Cluster(4, "fair").is_packed(mix(of(1), of(2)))

    def packed(carried: float, *widths: int) -> bool:
        classes = tuple(JobClass(str(w), Spread(10.0), width=w, phases=Phases(2, 8, w)) for w in widths)
        return Cluster(4, "launching", machine=SharedMachine(4, carried)).is_packed(mix(*classes))

    assert [packed(math.inf, 1), packed(math.inf, 1, 2), packed(4.0, 1), packed(4.1, 1), packed(2.0, 2)] == [
        *(True, False, True, False, True)
    ]


def test_too_much_work_is_refused_with_the_cores_that_would_do() -> None:
    require_stable_on(mix(rate=0.39), Cluster(4))
    with pytest.raises(InfeasibleError, match="4 servers can do at most") as refused:
        require_stable_on(mix(rate=0.4), Cluster(4))
    assert refused.value.hint is not None
    assert refused.value.hint.endswith("or with at least 5 servers")
    with pytest.raises(InfeasibleError) as measured:
        require_stable_on(mix(rate=0.4), Cluster(4, "fair", SLOWDOWN))
    assert "servers" not in (measured.value.hint or "")  # nobody knows what more of them would do
    with pytest.raises(StudyError, match="a job holds 5 cores and the cluster has 4"):
        require_stable_on(mix(of(5), rate=0.01), Cluster(4))
    require_stable_on(mix(of(5), rate=0.01), Cluster(4, "fair"))  # it shares what there is


@pytest.mark.parametrize(
    ("rate", "width", "cores"), [(0.01, 1, 1), (0.1, 1, 2), (0.35, 1, 4), (0.35, 3, 12), (5.0, 1, 51)]
)
def test_the_fewest_cores_are_those_of_the_work_that_comes(rate: float, width: int, cores: int) -> None:
    assert stable_cores(mix(of(width), rate=rate), Cluster(1)) == cores


def test_given_arrivals_are_stable_at_the_rate_of_poisson_ones() -> None:
    came = JobMix(Given(tuple(float(i) for i in range(30))), (JobClass("job", Spread(10.0)),))
    assert Cluster(4).most_rate(came) == pytest.approx(0.4)


def test_clusters_that_cannot_be_are_refused() -> None:
    with pytest.raises(StudyError, match="at least 1 core"):
        Cluster(0)
    with pytest.raises(StudyError, match="at least 1 core and 1 slot"):
        Cluster(1, "fair", slots=0)
    with pytest.raises(StudyError, match="phases are not known"):
        Cluster(2, "launching", machine=SharedMachine(2)).serve(mix(), 10)
    machine = SharedMachine(2, 3.0)
    assert Cluster(2, "launching", machine=machine).resized(4).machine == SharedMachine(4, 6.0)
    assert Cluster(2).resized(4) == Cluster(4)


# ---------------------------------------------------------------- who is served how


def same(one: Served, other: Served) -> bool:
    return bool((one.start_s == other.start_s).all() and (one.end_s == other.end_s).all())


def test_each_discipline_serves_as_it_is_called() -> None:
    draw = stream([0, 1, 2, 3], [9, 9, 9, 9], [1, 2, 1, 1], [2, 2, 1, 1])
    wide, narrow = mix(of(1), of(2)), mix(of(1))
    equal = replace(draw, width=np.ones(4, dtype=int))
    without = replace(draw, priority=np.zeros(4, dtype=int))
    assert same(Cluster(2).serve_stream(wide, draw), by_priority(without, 2))
    assert same(Cluster(2, overtake=True).serve_stream(wide, draw), by_priority(without, 2, overtake=True))
    assert same(Cluster(2, "priority").serve_stream(wide, draw), by_priority(draw, 2))
    assert same(Cluster(2).serve_stream(narrow, equal), first_come(equal, 2))
    assert same(Cluster(2, "fair").serve_stream(wide, draw), shared(draw, Shared(2)))
    assert same(Cluster(2, "fair", slots=1).serve_stream(wide, draw), shared(draw, Shared(2), slots=1))
    measured = Cluster(2, "fair", SLOWDOWN).serve_stream(wide, draw)
    assert same(measured, shared(equal, SLOWDOWN))
    assert measured.stream is draw


def test_several_servers_of_wide_jobs_are_whole_jobs() -> None:
    draw = stream([0, 0, 0], [4, 4, 4], [2, 2, 2], [0, 0, 0])
    assert first_come(draw, 5).start_s.tolist() == [0, 0, 4]
    assert first_come(draw, 3).start_s.tolist() == [0, 4, 8]
    with pytest.raises(StudyError, match="a job holds 2 cores and the cluster has 1"):
        first_come(draw, 1)


def test_a_job_of_twice_its_usual_time_is_so_in_all_phases() -> None:
    one = JobClass("a", Spread(10.0, 0.0), phases=Phases(2, 8))
    cluster = Cluster(1, "launching", machine=SharedMachine(1))
    served = cluster.serve_stream(mix(one), stream([0, 0], [20, 10], [1, 1], [0, 0]))
    # Both launch, for 4 s and 2 s; the second runs from 2 s to 10 s, then the first for 16 s.
    assert (served.start_s.tolist(), served.end_s.tolist()) == ([10, 2], [26, 10])


# ---------------------------------------------------------------- what is counted


def test_times_jobs_and_cores_are_counted_between_two_moments() -> None:
    assert mean_number(np.array([0.0, 5.0, 20.0]), np.array([4.0, 9.0, 30.0]), 2.0, 12.0) == pytest.approx(0.6)
    assert math.isnan(mean_number(np.array([0.0]), np.array([1.0]), 3.0, 3.0))
    times, number = timeline(np.array([0.0, 2.0]), np.array([5.0, 3.0]), np.array([2, 1]))
    assert (times.tolist(), number.tolist()) == ([0, 2, 3, 5], [2, 3, 2, 0])
    assert timeline(np.array([0.0]), np.array([5.0]))[1].tolist() == [1, 0]


def test_a_cluster_is_as_busy_as_the_cores_that_are_at_work() -> None:
    draw = stream([0, 4], [10, 6], [1, 2], [0, 0])
    line = by_priority(draw, 4)  # ends after 10 s, both of them
    assert _busy(line, Cluster(4), 2.0, 12.0) == pytest.approx((8 * 1 + 6 * 2) / 10 / 4)
    fair = shared(draw, Shared(2))  # three cores are asked for, of two: it is full from 4 s on
    until = float(fair.end_s.max())
    assert _busy(fair, Cluster(2, "fair"), 0.0, until) * 2 * until == pytest.approx(10 * 1 + 6 * 2)  # all the work
    assert _busy(fair, Cluster(2, "fair"), 0.0, 4.0) == pytest.approx(0.5)
    assert _busy(fair, Cluster(2, "fair"), 4.0, 5.0) == pytest.approx(1.0)
    assert _busy(fair, Cluster(2, "fair", SLOWDOWN), 0.0, 2 * until) == pytest.approx(0.5)  # any job at all


def test_a_run_is_counted_from_its_warm_up_on_by_each_class() -> None:
    """Regular arrivals of equal jobs that never wait: every number is known."""
    classes = (JobClass("a", Spread(2.0, 0.0), 1.0), JobClass("b", Spread(2.0, 0.0), 3.0))
    work = JobMix(Renewal(0.25, 0.0), classes)
    found = simulate(work, Cluster(2), n_jobs=1000, replications=2, shares=(0.5, 0.9))
    assert (found.n_jobs, found.replications) == (1000, 2)
    assert found.warm_up_jobs >= 100
    assert found.mean_response_s.value == pytest.approx(2.0)
    assert found.mean_wait_s.value == 0
    assert found.probability_of_waiting.value == 0
    assert found.mean_jobs.value == pytest.approx(0.5)
    assert found.utilization.value == pytest.approx(0.25)
    assert {share: one.value for share, one in found.response_percentiles.items()} == pytest.approx({0.5: 2, 0.9: 2})
    assert {share: one.value for share, one in found.wait_percentiles.items()} == {0.5: 0, 0.9: 0}
    assert [(one.name, one.share) for one in found.classes] == [("a", 0.25), ("b", 0.75)]
    assert [one.mean_response_s.value for one in found.classes] == pytest.approx([2, 2])
    rare = JobMix(poisson(0.1), (JobClass("a", Spread(1.0)), JobClass("rare", Spread(1.0), 1e-9)))
    with pytest.raises(StudyError, match="a run of 1000 jobs has none of rare"):
        simulate(rare, Cluster(2), n_jobs=1000, replications=2)
    with pytest.raises(StudyError, match="a percentile is 95"):
        simulate(work, Cluster(2), shares=(95.0,))
    assert simulate(mix(rate=0.01), Cluster(2), n_jobs=1000, replications=2).classes == ()


def test_classes_of_different_length_have_their_own_times() -> None:
    classes = (JobClass("short", Spread(1.0, 0.0)), JobClass("long", Spread(5.0, 0.0)))
    found = simulate(JobMix(poisson(0.01), classes), Cluster(20), n_jobs=1000, replications=2, shares=(0.5,))
    assert [one.mean_response_s.value for one in found.classes] == pytest.approx([1.0, 5.0])
    assert [one.mean_wait_s.value for one in found.classes] == [0, 0]
    assert [one.response_percentiles[0.5].value for one in found.classes] == pytest.approx([1.0, 5.0])
    assert found.mean_response_s.value == pytest.approx(3.0, rel=0.05)
