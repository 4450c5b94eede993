"""Runs that were made without sparkcast, from what they left behind: event logs and the driver logs of BigDL.

from sparkcast.data.ingest import ingest_logs
"""

from sparkcast.data.ingest.reading import LogQuery, Reader, read_here
from sparkcast.data.ingest.run import Ingested, IngestedLog, ingest_logs
from sparkcast.data.ingest.settings import Pattern, parse_pattern

__all__ = ["Ingested", "IngestedLog", "LogQuery", "Pattern", "Reader", "ingest_logs", "parse_pattern", "read_here"]
