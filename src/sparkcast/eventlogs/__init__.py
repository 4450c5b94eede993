"""Spark event logs of any application: found, decompressed and read as a stream into columns.

from sparkcast.eventlogs import find_logs, read_log
"""

from sparkcast.eventlogs.columns import ColumnTable
from sparkcast.eventlogs.layout import Log, find_logs
from sparkcast.eventlogs.limits import LogLimits
from sparkcast.eventlogs.parallel import Taken, read_logs
from sparkcast.eventlogs.read import read_log
from sparkcast.eventlogs.result import (
    Application,
    Counts,
    Environment,
    Executor,
    JobRecord,
    LogRead,
    LogStatus,
    LogSummary,
    PlanNode,
    Rdd,
    ResourceProfile,
    SqlExecution,
    SqlMetric,
    Stage,
)

__all__ = [
    "Application",
    "ColumnTable",
    "Counts",
    "Environment",
    "Executor",
    "JobRecord",
    "Log",
    "LogLimits",
    "LogRead",
    "LogStatus",
    "LogSummary",
    "PlanNode",
    "Rdd",
    "ResourceProfile",
    "SqlExecution",
    "SqlMetric",
    "Stage",
    "Taken",
    "find_logs",
    "read_log",
    "read_logs",
]
