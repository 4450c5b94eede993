"""What fits on a cluster."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sparkcast.engines.capacity import ClusterCapacity, Worker
from sparkcast.errors import CapacityError
from sparkcast.workloads import Shape

GIB = 2**30
SIZES = st.tuples(st.integers(1, 8), st.integers(1, 16))  # cores, memory
CLUSTERS = st.lists(SIZES, max_size=6).map(ClusterCapacity.of)


def test_capacity_counts_whole_executors_on_each_worker() -> None:
    capacity = ClusterCapacity.alike(workers=2, cores_each=3, memory_each=4 * GIB)
    assert capacity.executors(cores=2, memory=GIB) == 2
    assert capacity.executors(cores=1, memory=2 * GIB) == 4
    capacity.require(Shape(executors=2, cores=2, memory="1g", jobs=1))
    with pytest.raises(CapacityError, match=r"needs 3 executors .* has room for 2: it has 2 workers"):
        capacity.require(Shape(executors=3, cores=2, memory="1g", jobs=1))


def test_an_executor_larger_than_every_worker_fits_nowhere() -> None:
    capacity = ClusterCapacity.of([(4, 2 * GIB), (2, 8 * GIB)])
    assert capacity.executors(cores=4, memory=4 * GIB) == 0  # enough of both in total, on no worker
    assert capacity.executors(cores=2, memory=2 * GIB) == 2


@given(CLUSTERS, SIZES)
def test_as_many_executors_fit_as_spark_can_place_one_by_one(capacity: ClusterCapacity, size: tuple[int, int]) -> None:
    cores, memory = size
    free = [[worker.cores, worker.memory] for worker in capacity.workers]
    placed = 0
    while usable := [room for room in free if room[0] >= cores and room[1] >= memory]:
        room = max(usable)  # the standalone master begins with the worker with most free cores
        room[0], room[1], placed = room[0] - cores, room[1] - memory, placed + 1
    assert capacity.executors(cores, memory) == placed


@given(CLUSTERS, SIZES, SIZES)
def test_more_workers_and_smaller_executors_never_lower_the_number_that_fits(
    capacity: ClusterCapacity, size: tuple[int, int], worker: tuple[int, int]
) -> None:
    cores, memory = size
    fits = capacity.executors(cores, memory)
    assert fits * cores <= capacity.cores
    assert capacity.executors(max(1, cores - 1), memory) >= fits
    assert capacity.executors(cores, max(1, memory - 1)) >= fits
    assert ClusterCapacity((*capacity.workers, Worker(*worker))).executors(cores, memory) >= fits


def test_workers_are_shown_by_size_and_none_as_none() -> None:
    assert str(ClusterCapacity.alike(2, 1, GIB)) == "2 workers with 1 core and 1.0 GiB each"
    assert str(ClusterCapacity(())) == "no workers"
