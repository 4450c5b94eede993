"""What a cluster can hold: the sizes of its workers, and how many executors of one shape fit on them."""

from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Self

from sparkcast.errors import CapacityError
from sparkcast.units import parse_bytes, show_bytes
from sparkcast.workloads import Shape


@dataclass(frozen=True, slots=True, order=True)
class Worker:
    """What one worker offers to executors."""

    cores: int
    memory: int  # bytes


@dataclass(frozen=True, slots=True)
class ClusterCapacity:
    """The workers of a cluster, of any sizes.

    >>> small = ClusterCapacity((Worker(2, 4 * 2**30), Worker(1, 2 * 2**30)))
    >>> small.executors(cores=1, memory=2 * 2**30), small.executors(cores=2, memory=2**30), small.cores
    (3, 1, 3)
    >>> print(small)
    1 worker with 2 cores and 4.0 GiB, 1 worker with 1 core and 2.0 GiB
    """

    workers: tuple[Worker, ...]

    @classmethod
    def alike(cls, workers: int, cores_each: int, memory_each: int) -> Self:
        return cls((Worker(cores_each, memory_each),) * workers)

    @classmethod
    def of(cls, sizes: Iterable[tuple[int, int]]) -> Self:
        """From the cores and bytes of each worker."""
        return cls(tuple(Worker(cores, memory) for cores, memory in sizes))

    @property
    def cores(self) -> int:
        return sum(worker.cores for worker in self.workers)

    def executors(self, cores: int, memory: int) -> int:
        """How many executors of this size fit at once, each on one worker.

        Spark's standalone master counts the same: the cores and the heap (spark.executor.memory) of an executor, and
        neither off-heap memory nor overhead. Whether it spreads executors out or not changes where they go, not how
        many fit, as all executors of an application are alike.
        """
        return sum(min(worker.cores // cores, worker.memory // max(memory, 1)) for worker in self.workers)

    def room_for(self, shape: Shape) -> int:
        """How many executors of this shape fit at once."""
        return self.executors(shape.cores, parse_bytes(shape.memory))

    def require(self, shape: Shape) -> None:
        """Raise CapacityError when the executors of one job do not fit."""
        possible = self.room_for(shape)
        if shape.executors > possible:
            raise CapacityError(
                f"a trial needs {shape}, but the cluster has room for {possible}: it has {self}",
                hint="request fewer or smaller executors, or use a larger cluster",
            )

    def __str__(self) -> str:
        """For people, the largest workers first."""
        sizes = sorted(Counter(self.workers).items(), reverse=True)
        return ", ".join(_show(worker, count) for worker, count in sizes) or "no workers"


def _show(worker: Worker, count: int) -> str:
    cores = "1 core" if worker.cores == 1 else f"{worker.cores} cores"
    size = f"with {cores} and {show_bytes(worker.memory)}"
    return f"1 worker {size}" if count == 1 else f"{count} workers {size} each"
