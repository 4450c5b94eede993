"""Every log of production becomes a run of its job: logs are found as they come, grow and end.

from sparkcast.history.watch import open_watched, watch_once
"""

from sparkcast.history.watch.look import Unseen, require_some_path
from sparkcast.history.watch.result import LogEvent, Watched, WatchedLog
from sparkcast.history.watch.run import WatchQuery, open_watched, watch_every, watch_once

__all__ = [
    "LogEvent",
    "Unseen",
    "WatchQuery",
    "Watched",
    "WatchedLog",
    "open_watched",
    "require_some_path",
    "watch_every",
    "watch_once",
]
