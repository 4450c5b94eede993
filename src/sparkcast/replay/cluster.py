"""Where a workload is played: executors with their slots, and when each of them is ready and gone."""

from dataclasses import dataclass, field
from math import inf

from sparkcast.facts import AppFacts


@dataclass(frozen=True, slots=True)
class Node:
    """One executor. Seconds since the application began."""

    slots: int
    cores: float
    registered_s: float = 0.0  # paid from here
    ready_s: float = 0.0  # takes tasks from here
    gone_s: float = inf  # paid until here
    retired_s: float = inf  # takes tasks until here
    profile_id: int = 0
    gib: float = 0.0  # of its container


@dataclass(frozen=True, slots=True)
class Allocation:
    """Dynamic allocation: executors come while tasks wait, and go when they have been idle."""

    least: int
    most: int
    lag_s: float  # from the request to the first task
    idle_s: float = 60.0
    backlog_s: float = 1.0


@dataclass(frozen=True, slots=True)
class ReplayCluster:
    nodes: tuple[Node, ...] = field(repr=False)
    allocation: Allocation | None = None  # the nodes are then those that may come

    @property
    def slots(self) -> int:
        return sum(node.slots for node in self.nodes)

    @property
    def cores(self) -> float:
        return sum(node.cores for node in self.nodes)


def core_hours(cluster: ReplayCluster, end_s: float) -> float:
    """From registration to the end."""
    return sum(node.cores * max(min(node.gone_s, end_s) - node.registered_s, 0.0) for node in cluster.nodes) / 3600


def gib_hours(cluster: ReplayCluster, end_s: float) -> float:
    return sum(node.gib * max(min(node.gone_s, end_s) - node.registered_s, 0.0) for node in cluster.nodes) / 3600


def cluster_of(facts: AppFacts) -> ReplayCluster:
    """The cluster that the application had, with the executors' lives as they were."""
    start = facts.span.start_ms
    gib = {one.profile_id: one.container_bytes / 1024**3 for one in facts.shape.profiles}
    nodes = []
    for one, ready, retired in zip(facts.attribution.slots, facts.ready_s, facts.retired_s, strict=True):
        slots = int(one.n)
        if one.executor.executor_id == "driver" and not facts.shape.is_local:
            continue
        left = (one.end_ms - start) / 1e3 if one.executor.removed_ms and one.end_ms < facts.span.end_ms else inf
        profile = one.executor.profile_id
        registered = (one.start_ms - start) / 1e3
        until = left if left == inf else min(retired, left)
        nodes.append(Node(slots, one.executor.cores, registered, ready, left, until, profile, gib.get(profile, 0.0)))
    return ReplayCluster(tuple(nodes))


def cluster_like(
    measured: ReplayCluster, executors: int, cores: int, task_cpus: float, profile_id: int
) -> ReplayCluster:
    """As many executors of one profile as wanted. They come as those of the measured run came, and stay."""
    own = sorted((one for one in measured.nodes if one.profile_id == profile_id), key=lambda node: node.registered_s)
    others = tuple(one for one in measured.nodes if one.profile_id != profile_id)
    slots = int(cores // task_cpus) if task_cpus >= 1 else int(cores / task_cpus)
    nodes = []
    for number in range(executors):
        like = own[min(int((number + 0.5) / executors * len(own)), len(own) - 1)]
        gib = like.gib * (cores / like.cores if like.cores else 1.0)
        nodes.append(Node(slots, float(cores), like.registered_s, like.ready_s, profile_id=profile_id, gib=gib))
    return ReplayCluster((*nodes, *others))
