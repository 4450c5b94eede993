"""Moments of one run, which a change of the machine's clock does not move."""

import time
from time import monotonic

from sparkcast.units import show_seconds

_TOLERATED_S = 0.5  # more than time servers correct in one step
_TOLERATED_DRIFT = 1e-3  # of the time that passed: they slow a clock down or speed it up by less


class RunClock:
    """The time of day when a run began, and from then on the monotonic clock."""

    def __init__(self) -> None:
        self.begun_at, self._begun = time.time(), monotonic()

    @property
    def elapsed_s(self) -> float:
        return monotonic() - self._begun

    def now(self) -> float:
        """Seconds since the Unix epoch."""
        return self.begun_at + self.elapsed_s

    def jump(self) -> str:
        """How the machine's clock was changed since the run began, in words; "" when it was not.

        Spark writes times of day into its event log, which then mean nothing.
        """
        ahead_s, elapsed_s = time.time() - self.now(), self.elapsed_s
        if abs(ahead_s) <= _TOLERATED_S + _TOLERATED_DRIFT * elapsed_s:
            return ""
        direction = "back" if ahead_s < 0 else "forward"
        slept = ", or it was suspended" if ahead_s > 0 else ""
        return f"the clock of this machine was set {direction} by {show_seconds(abs(ahead_s))} during the run{slept}"
