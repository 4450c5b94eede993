"""Whether more data would change a plan: a table that is broadcast while it is small enough."""

from dataclasses import dataclass

from sparkcast.errors import StudyError
from sparkcast.eventlogs import LogRead, SqlExecution
from sparkcast.facts import AppFacts
from sparkcast.units import parse_bytes

_THRESHOLD = "spark.sql.autoBroadcastJoinThreshold"
_USUAL = "10485760b"
_SIZE = "size of files read"


@dataclass(frozen=True, slots=True)
class Broadcast:
    """Files that are read to be broadcast: what decides whether they are is their size."""

    query_id: int
    location: str
    size_bytes: float
    threshold_bytes: float

    def flips(self, scale: float) -> bool:
        """Whether so many times as much would no longer be broadcast."""
        return self.size_bytes <= self.threshold_bytes < self.size_bytes * scale


def broadcasts_of(log: LogRead, facts: AppFacts) -> tuple[Broadcast, ...]:
    """The scans below the broadcasts of all queries."""
    settings = {job.sql_execution_id: job.sql_settings for job in log.jobs}
    found = []
    for query in log.sql_executions:
        text = settings.get(query.execution_id, {}).get(_THRESHOLD) or facts.properties.get(_THRESHOLD, _USUAL)
        limit = _bytes(query.modified_configs.get(_THRESHOLD, text))
        for size, location in _broadcast_scans(query):
            found.append(Broadcast(query.execution_id, location, size, limit))
    return tuple(found)


def _broadcast_scans(query: SqlExecution) -> list[tuple[float, str]]:
    below: list[bool] = []
    found = []
    for node in query.plan:
        is_below = node.name.startswith("BroadcastExchange") or (node.parent >= 0 and below[node.parent])
        below.append(is_below)
        size = node.value(_SIZE)
        if is_below and node.is_scan and size:
            found.append((size, node.metadata.get("Location", "")))
    return found


def _bytes(text: str) -> float:
    """Of a setting; what cannot be read, or is below 0, broadcasts nothing by itself."""
    try:
        return float(text) if text.lstrip("-").isdigit() else float(parse_bytes(text.strip().removesuffix("b")))
    except StudyError:
        return -1.0
