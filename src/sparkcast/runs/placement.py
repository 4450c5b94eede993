"""Whether a run gets the executors that it asks for. One that does not says nothing about its settings."""

from pathlib import Path

from sparkcast.engines import Engine, HasShortage
from sparkcast.eventlogs import LogLimits, LogRead, find_logs, read_log
from sparkcast.units import show_seconds
from sparkcast.workloads import Shape

_PATIENCE_S = 90.0  # executors of a cluster with room are there long before
_TELL_S = 30.0  # when people are told that a job waits in vain so far
_LOOK_S = 15.0
_HEAD = LogLimits(max_log_bytes=4 * 2**20)  # a log with more than that is of a job that runs


class Placement:
    """Watches a job until its executors have come, by its event log and by what the cluster says.

    `missing` is what was found to be missing, in words; "" as long as the job may start yet. `lacking` says before that
    what it waits for.
    """

    def __init__(self, engine: Engine, eventlog: Path, shape: Shape) -> None:
        self._engine, self._eventlog, self._shape = engine, eventlog, shape
        self._is_complete = False
        self._next_s = _TELL_S
        self.missing = self.lacking = ""

    def hopeless(self, elapsed_s: float) -> str:
        """What is missing of a job that waits for executors for which there is no room; "" of any other."""
        if self._is_complete or elapsed_s < self._next_s:
            return ""
        is_early = elapsed_s < _PATIENCE_S
        self._next_s = min(elapsed_s + _LOOK_S, _PATIENCE_S) if is_early else elapsed_s + _LOOK_S
        log = self._waiting()
        if log is not None and (shortage := self._shortage(log)):
            found = f"{self._request(log, elapsed_s)}, and the cluster has no room for {shortage} more"
            self.lacking, self.missing = found, "" if is_early else found
        return self.missing

    def never_started(self, elapsed_s: float) -> str:
        """What is missing of a job that has got nowhere at its time limit; "" of one that ran."""
        log = None if self._is_complete else self._waiting()
        if log is not None:
            self.missing = self._request(log, elapsed_s)
        return self.missing

    def _waiting(self) -> LogRead | None:
        """The log of a job that waits for executors; None of one that runs, or has not registered yet."""
        logs = find_logs(self._eventlog) if self._eventlog.exists() else ()
        log = read_log(logs[0], _HEAD) if logs else None
        if log is None or not log.application.app_id:
            return None
        # Spark may be told not to wait for all. Tasks are in the log later than they start, jobs at once.
        has_begun = bool(_came(log) and log.events.get("SparkListenerJobStart")) or len(log.tasks) > 0
        self._is_complete = has_begun or _came(log) >= self._shape.executors
        return None if self._is_complete else log

    def _shortage(self, log: LogRead) -> int:
        if not isinstance(self._engine, HasShortage):
            return 0
        return self._engine.shortage(log.application.app_id, self._shape) or 0

    def _request(self, log: LogRead, elapsed_s: float) -> str:
        return f"asked for {self._shape}, {_came(log) or 'none'} came within {show_seconds(elapsed_s)}"


def _came(log: LogRead) -> int:
    return log.events.get("SparkListenerExecutorAdded", 0)
