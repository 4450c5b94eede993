"""What `watch` tells: of each log that it read, and of each time that it looked."""

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from typing import TYPE_CHECKING

from sparkcast.display import Displayed, frame_of, plain_row
from sparkcast.history.watch.look import Unseen

if TYPE_CHECKING:
    import pandas as pd


class LogEvent(StrEnum):
    """What became of a log."""

    NEW = "new"  # a run that was not known
    FINISHED = "finished"  # the run was known as running
    AGAIN = "again"  # its run was known, and the log says more of it now
    RUNNING = "running"  # the application has not ended: no run yet for a model, but `eta` has it
    UNCHANGED = "unchanged"  # its run stays as it was
    SKIPPED = "skipped"  # nothing that could be a run
    FAILED = "failed"  # could not be read


@dataclass(frozen=True, slots=True)
class WatchedLog:
    """What became of one log that was new or had changed."""

    log: str
    event: LogEvent
    reason: str = ""
    job: str = ""  # the study of the store that has its run
    key: str = ""  # application and attempt: the id of the run
    size_bytes: int = 0
    time_s: float | None = None
    input_bytes: int | None = None


@dataclass(frozen=True, slots=True)
class Watched(Displayed):
    """What came of looking once."""

    store: str
    looked_at: float  # seconds since the Unix epoch, by the clock of this machine
    n_seen: int
    n_unchanged: int  # that nobody wrote to since they were last read: not read again
    logs: tuple[WatchedLog, ...]  # that were read, or should have been
    unseen: tuple[Unseen, ...] = ()  # paths
    is_cut_short: bool = False  # it was stopped: the rest comes the next time
    jobs: Mapping[str, int] = field(default_factory=dict)  # runs that came or changed, by study

    @property
    def counts(self) -> dict[str, int]:
        """How many logs, by what became of them."""
        found = Counter(one.event.value for one in self.logs)
        found[LogEvent.UNCHANGED.value] += self.n_unchanged
        return {event.value: found[event.value] for event in LogEvent if found[event.value]}

    def frame(self) -> "pd.DataFrame":
        """A row for each log that was read."""
        return frame_of(plain_row(log) for log in self.logs)
