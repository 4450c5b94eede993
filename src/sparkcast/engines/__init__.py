"""Where jobs run, one file each. What an engine must be is in `sparkcast.engines.base`."""

from sparkcast.engines.base import (
    ENGINES,
    NOT_PINNED,
    STANDALONE_POLICY,
    ClusterCapacity,
    ClusterFacts,
    Engine,
    Exit,
    Handle,
    HasShortage,
    SparkJob,
    Submission,
)
from sparkcast.study import SparkOptions
from sparkcast.study.environment import kind_of

__all__ = [
    "ENGINES",
    "NOT_PINNED",
    "STANDALONE_POLICY",
    "ClusterCapacity",
    "ClusterFacts",
    "Engine",
    "Exit",
    "Handle",
    "HasShortage",
    "SparkJob",
    "Submission",
    "engine_for",
]


def engine_for(options: SparkOptions) -> Engine:
    """The engine that declares the first word of the master URL among its `masters`, else the default one."""
    kind = kind_of(options.master)
    taking = [name for name in ENGINES.names() if kind in getattr(ENGINES.get(name), "masters", ())]
    return ENGINES.get(taking[0] if taking else ENGINES.default())(options)
