"""How fast the nodes of a cluster are, as `measure_speed` measured it: not by the names of their processors."""

from collections.abc import Iterable
from dataclasses import dataclass
from statistics import median


@dataclass(frozen=True, slots=True)
class NodeSpeed:
    """What one node did in a few seconds, with all of its cores that Spark has."""

    host: str
    cores: int
    core: float  # of one of them while all work: rounds of a fixed piece of work in a second
    disk: float  # bytes a second, written to where Spark spills and shuffles
    network: float = 0.0  # bytes a second, from another node; 0 where there is no other


@dataclass(frozen=True, slots=True)
class ClusterSpeed:
    """The nodes of a cluster. Of each resource, the middle node stands for all."""

    measured_s: float  # when, in seconds since the Unix epoch
    nodes: tuple[NodeSpeed, ...]

    @property
    def core(self) -> float:
        return _middle(node.core for node in self.nodes)

    @property
    def disk(self) -> float:
        return _middle(node.disk for node in self.nodes)

    @property
    def network(self) -> float:
        return _middle(node.network for node in self.nodes)


def _middle(values: Iterable[float]) -> float:
    known = [value for value in values if value > 0]
    return median(known) if known else 0.0
