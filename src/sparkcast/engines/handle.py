"""A job that an engine started: whether it runs, how it ended, how to end it, and where its log is.

It may be a child of this process or a driver on another machine; whoever waits for it need not know.
"""

import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol

_POLL_S = 0.05


@dataclass(frozen=True, slots=True)
class Exit:
    """How a job ended. `lost_because` tells why its driver disappeared, where the cluster said so."""

    code: int
    lost_because: str = ""


class Handle(Protocol):
    """What `Engine.start` returns."""

    @property
    def name(self) -> str:
        """For people, who may look for it: "pid 4711", "driver-20261119014500-0003"."""
        ...

    @property
    def log(self) -> Path:
        """What its driver wrote to stderr, as far as it is here."""
        ...

    @property
    def exit(self) -> Exit | None:
        """How it had ended when `poll` looked last; None as long as it runs."""
        ...

    def poll(self) -> Exit | None:
        """Look whether it has ended, and how. It returns at once."""
        ...

    def stop(self) -> None:
        """End it now, with all that it started itself; it has an exit afterwards."""
        ...


def wait_for(handle: Handle, *, pause: Callable[[float], None] = time.sleep) -> Exit:
    """How a job ended, once it has. Whatever interrupts the waiting stops the job."""
    try:
        while (end := handle.poll()) is None:
            pause(_POLL_S)
    except BaseException:
        handle.stop()
        raise
    return end
