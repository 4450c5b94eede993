"""Spark event logs of any application: found, decompressed and read as a stream into columns.

from sparkcast.eventlogs import find_logs, read_log
"""

from sparkcast.eventlogs.columns import Table
from sparkcast.eventlogs.layout import Log, find_logs
from sparkcast.eventlogs.limits import Limits
from sparkcast.eventlogs.parallel import Taken, read_logs
from sparkcast.eventlogs.read import read_log
from sparkcast.eventlogs.result import (
    Application,
    Counts,
    Environment,
    Executor,
    Job,
    LogRead,
    LogStatus,
    LogSummary,
    Rdd,
    ResourceProfile,
    Scan,
    SqlExecution,
    SqlMetric,
    Stage,
)

__all__ = [
    "Application",
    "Counts",
    "Environment",
    "Executor",
    "Job",
    "Limits",
    "Log",
    "LogRead",
    "LogStatus",
    "LogSummary",
    "Rdd",
    "ResourceProfile",
    "Scan",
    "SqlExecution",
    "SqlMetric",
    "Stage",
    "Table",
    "Taken",
    "find_logs",
    "read_log",
    "read_logs",
]
