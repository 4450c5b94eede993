"""How fast the nodes of a cluster are: measured by a Spark job of a few seconds on all of its cores."""

import json
import tempfile
import time
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from sparkcast.display import Displayed
from sparkcast.engines import SparkJob, engine_for
from sparkcast.engines.conf import join_conf
from sparkcast.engines.handle import wait_for
from sparkcast.errors import RunError
from sparkcast.observe import node_speed_job
from sparkcast.observe.record import cluster_of
from sparkcast.study import ClusterSpeed, NodeSpeed, SparkOptions
from sparkcast.workloads import Shape

SECONDS = 10.0
_LAST_LINES = 5
# All executors are to be there when the tasks begin, which need a slot each.
_ASKED = {
    "spark.scheduler.minRegisteredResourcesRatio": "1.0",
    "spark.scheduler.maxRegisteredResourcesWaitingTime": "60s",
    "spark.dynamicAllocation.enabled": "false",
    "spark.eventLog.enabled": "false",
}


@dataclass(frozen=True, slots=True)
class MeasuredCluster(Displayed):
    """A cluster by the name that its runs have, and how fast it is."""

    cluster: str
    speed: ClusterSpeed
    store: str = ""  # that keeps it
    before: ClusterSpeed | None = None  # what it knew


def measure_speed(options: SparkOptions, seconds: float = SECONDS) -> MeasuredCluster:
    """Compute, write and send for so long on every core that Spark gives.

    Raises:
        RunError: the cluster cannot be reached, or its job failed.
    """
    with tempfile.TemporaryDirectory(prefix="sparkcast-") as name:
        told = _told(options, seconds, Path(name))
    nodes = tuple(NodeSpeed(**node) for node in node_speed_job.by_node(told["tasks"]))
    return MeasuredCluster(cluster_of(told["properties"], told["master"]), ClusterSpeed(time.time(), nodes))


def _told(options: SparkOptions, seconds: float, folder: Path) -> dict[str, Any]:
    result, log = folder / "result.json", folder / "driver.log"
    engine = engine_for(options)
    engine.capacity([Shape(1, 1, "1g", 1)])
    with engine:
        conf = join_conf(engine.defaults(), _ASKED, options.conf)
        job = SparkJob(Path(node_speed_job.__file__), (str(result), f"{seconds:g}"), conf, "sparkcast speed")
        end = wait_for(engine.start(engine.submission(job), log))
    if end.code != 0 or not result.exists():
        lines = [line for line in log.read_text("utf-8", "replace").splitlines() if line.strip()]
        raise RunError(
            f"the Spark job that measures the nodes failed (exit code {end.code}): " + " | ".join(lines[-_LAST_LINES:]),
            hint="it needs Python on all executors, client deploy mode, and a free slot for each of its tasks",
        )
    found: dict[str, object] = json.loads(result.read_text())
    return found
