"""The rate below which a queue has a steady state."""

from collections.abc import Sequence

import numpy as np
import pytest

from sparkcast.queues.arrivals import poisson
from sparkcast.queues.launching import Phases, SharedMachine
from sparkcast.queues.simulate import Cluster, stable_cores
from sparkcast.queues.slowdown import MeasuredSlowdown
from sparkcast.queues.times import Spread
from sparkcast.queues.workload import JobClass, JobMix

NARROW, WIDE = JobClass("narrow", Spread(60.0), 0.5, 1, 1), JobClass("wide", Spread(60.0), 0.5, 5, 2)
N_JOBS = 20_000


def mix(*classes: JobClass) -> JobMix:
    return JobMix(poisson(1.0), classes)


def left(workload: JobMix, cluster: Cluster, rate: float) -> float:
    """The share of the jobs that are still there when the last one comes."""
    served = cluster.serve(workload.at_rate(rate), N_JOBS, seed=11)
    return float((served.end_s > served.stream.arrive_s[-1]).mean())


def test_equal_jobs_are_stable_below_what_their_cores_can_do() -> None:
    assert Cluster(4).most_rate(mix(NARROW)) == pytest.approx(4 / 60)
    assert Cluster(8).most_rate(mix(WIDE)) == pytest.approx(1 / 60)  # three cores are of no use
    assert Cluster(8, "fair").most_rate(mix(NARROW, WIDE)) == pytest.approx(8 / 180)


def test_two_widths_of_which_only_one_fits_at_a_time_take_turns() -> None:
    """A narrow job in front of a wide one leaves one of two cores idle until it ends."""
    narrow, wide = JobClass("a", Spread(1.0), 0.5, 1), JobClass("b", Spread(1.0), 0.5, 2)
    assert Cluster(2).most_rate(mix(narrow, wide)) == pytest.approx(_two_core_throughput(), rel=0.01)


def _two_core_throughput() -> float:
    """Of the chain with the states: two narrow; one narrow with a wide one first in line; one wide."""
    # From two narrow, at rate 2: the next is narrow or wide. From one narrow with a wide in line, at rate 1: wide.
    # From wide, at rate 1: narrow and narrow, narrow and a wide in line, or wide.
    rates = np.array([[0, 1, 0], [0, 0, 1], [0.25, 0.25, 0]])
    generator = rates - np.diag(rates.sum(axis=1))
    system = np.vstack([generator.T, np.ones(3)])
    share = np.linalg.lstsq(system, np.array([0, 0, 0, 1.0]), rcond=None)[0]
    return float(share @ np.array([2, 1, 1]))


@pytest.mark.parametrize(
    "cluster",
    [Cluster(8), Cluster(8, "priority"), Cluster(8, overtake=True)],
    ids=["fifo", "priority", "backfill"],
)
def test_jobs_of_different_width_pile_up_above_the_stable_rate_and_not_below(cluster: Cluster) -> None:
    workload = mix(NARROW, WIDE)
    stable = cluster.most_rate(workload)
    assert stable < 0.8 * 8 / 180
    assert left(workload, cluster, 0.95 * stable) < 0.01
    assert left(workload, cluster, 1.1 * stable) > 0.02


def test_the_stable_rate_does_not_depend_on_the_rate_that_is_asked_about() -> None:
    workload = mix(NARROW, WIDE)
    assert Cluster(8).most_rate(workload) == Cluster(8).most_rate(workload.at_rate(0.001))


@pytest.mark.parametrize(
    ("machine", "phases"),
    [
        (SharedMachine(2, 2.5), [Phases(2.0, 8.0)]),
        (SharedMachine(4, 8.0), [Phases(2.0, 8.0, 2), Phases(2.0, 8.0, 3)]),
    ],
)
def test_jobs_that_launch_pile_up_above_the_stable_rate_and_not_below(
    machine: SharedMachine, phases: Sequence[Phases]
) -> None:
    classes = [JobClass(f"{i}", Spread(10.0), width=one.width, phases=one) for i, one in enumerate(phases)]
    workload, cluster = mix(*classes), Cluster(machine.cores, "launching", machine=machine)
    stable = cluster.most_rate(workload)
    assert left(workload, cluster, 0.95 * stable) < 0.01
    assert left(workload, cluster, 1.1 * stable) > 0.03


def test_jobs_that_launch_use_whole_numbers_of_cores() -> None:
    workload = mix(JobClass("job", Spread(10.0), width=2, phases=Phases(2.0, 8.0, 2)))
    cluster = Cluster(3, "launching", machine=SharedMachine(3))
    assert cluster.most_rate(workload) == pytest.approx(1 / 8)


def test_a_measured_slowdown_counts_jobs_whatever_they_hold() -> None:
    cluster = Cluster(4, "fair", MeasuredSlowdown((1, 2), (1.0, 1.5)))
    for width in (1, 3):
        workload = mix(JobClass("job", Spread(10.0, 0.0), width=width))
        assert cluster.most_rate(workload) == pytest.approx(2 / 1.5 / 10)
        assert left(workload, cluster, 0.95 * 2 / 1.5 / 10) < 0.01


def test_the_fewest_cores_of_a_stable_queue_hold_whole_jobs() -> None:
    assert stable_cores(mix(JobClass("job", Spread(9.0), width=4)).at_rate(0.25), Cluster(4)) == 12
    workload = mix(NARROW, WIDE).at_rate(2.5 / 60)
    needed = stable_cores(workload, Cluster(8))
    assert Cluster(needed).most_rate(workload) > 2.5 / 60 >= Cluster(needed - 1).most_rate(workload)
