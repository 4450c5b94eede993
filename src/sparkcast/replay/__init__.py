"""What another cluster would have made of an application: its workload, from the log, played on any cluster.

from sparkcast.replay import cluster_of, play, workload_of
"""

from sparkcast.replay.answer import Floor, Replayed, Trap, WhatIf, compared, executors_of
from sparkcast.replay.change import changed
from sparkcast.replay.cluster import Allocation, Node, ReplayCluster, cluster_like, cluster_of
from sparkcast.replay.play import Played, play
from sparkcast.replay.question import WhatIfQuestion
from sparkcast.replay.reading import workload_of
from sparkcast.replay.whatif import Recorded, recorded, what_if
from sparkcast.replay.workload import JobWork, Parallelism, RecordedWork, StageWork

__all__ = [
    "Allocation",
    "Floor",
    "JobWork",
    "Node",
    "Parallelism",
    "Played",
    "Recorded",
    "RecordedWork",
    "ReplayCluster",
    "Replayed",
    "StageWork",
    "Trap",
    "WhatIf",
    "WhatIfQuestion",
    "changed",
    "cluster_like",
    "cluster_of",
    "compared",
    "executors_of",
    "play",
    "recorded",
    "what_if",
    "workload_of",
]
