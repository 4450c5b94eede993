"""What another cluster would have made of an application: its workload, from the log, played on any cluster.

from sparkcast.replay import cluster_of, play, workload_of
"""

from sparkcast.replay.change import changed
from sparkcast.replay.cluster import Allocation, Node, ReplayCluster, cluster_like, cluster_of
from sparkcast.replay.play import Played, play
from sparkcast.replay.reading import workload_of
from sparkcast.replay.workload import JobWork, Parallelism, RecordedWork, StageWork

__all__ = [
    "Allocation",
    "JobWork",
    "Node",
    "Parallelism",
    "Played",
    "RecordedWork",
    "ReplayCluster",
    "StageWork",
    "changed",
    "cluster_like",
    "cluster_of",
    "play",
    "workload_of",
]
