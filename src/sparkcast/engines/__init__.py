"""Where jobs run, one file each. What an engine must be is in `sparkcast.engines.base`."""

from sparkcast.engines.base import ENGINES, Capacity, ClusterFacts, Engine, SparkJob, Submission
from sparkcast.study import SparkOptions

__all__ = ["ENGINES", "Capacity", "ClusterFacts", "Engine", "SparkJob", "Submission", "engine_for"]


def engine_for(options: SparkOptions) -> Engine:
    """The engine a master URL asks for: `embedded[:PORT]`, or `spark` for every other URL."""
    name = "embedded" if options.master.partition(":")[0] == "embedded" else "spark"
    return ENGINES.get(name)(options)
