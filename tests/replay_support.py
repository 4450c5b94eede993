"""Workloads and clusters made up for tests of replays."""

from collections.abc import Sequence
from typing import Any

import numpy as np

from sparkcast.replay import JobWork, Node, RecordedWork, ReplayCluster, StageWork


def stage(
    times: Sequence[float], *, job: int = 0, parents: Sequence[int] = (), number: int = 0, **more: Any
) -> StageWork:
    fields: dict[str, Any] = {"name": "collect", "delay_s": 0.0, "tail_s": 0.0} | more
    work = np.array(times, dtype=float)
    return StageWork(
        number, 0, fields.pop("name"), job, tuple(parents), fields.pop("delay_s"), fields.pop("tail_s"),
        work, np.zeros(len(work)), np.arange(len(work)), **fields,
    )  # fmt: skip


def workload(stages: Sequence[StageWork], jobs: Sequence[JobWork] | None = None, **more: Any) -> RecordedWork:
    """Without jobs: one that has all stages."""
    made = jobs if jobs is not None else [JobWork(0, "", (), 0.0, 0.0, tuple(range(len(stages))))]
    fields: dict[str, Any] = {"after_s": 0.0, "wall_s": 0.0, "default_cores": 4} | more
    return RecordedWork("job", tuple(made), tuple(stages), **fields)


def cluster(*slots: int, **more: Any) -> ReplayCluster:
    """Executors with so many slots."""
    return ReplayCluster(tuple(Node(n, float(n), **more) for n in slots))
