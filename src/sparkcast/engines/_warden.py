"""Ends a family of processes when their parent is gone, however it went: SIGKILL leaves no time to clean up.

Every process of an engine carries the family's mark in its environment, and children inherit it, also those that
Spark starts (executors, Python workers) and those that leave their process group or session. The warden is started
first, blocks on a pipe from the parent, and wakes when the kernel closes it. Run as a script, so that it depends on
nothing but psutil.
"""

import os
import shutil
import signal
import sys
import time

import psutil

MARK = "SPARKCAST_FAMILY"


def members(mark: str) -> list[psutil.Process]:
    """The living processes that carry the mark."""
    found = []
    for process in psutil.process_iter():
        try:
            if process.environ().get(MARK) == mark and process.status() != psutil.STATUS_ZOMBIE:
                found.append(process)
        except (psutil.Error, OSError):
            continue  # gone meanwhile, or another user's
    return found


def end_family(mark: str, folder: str, *, patience_s: float = 20.0) -> None:
    """Kill all members, again until none is left (one may be forking), then remove their folder."""
    deadline = time.monotonic() + patience_s
    while (family := members(mark)) and time.monotonic() < deadline:
        for process in family:
            try:
                process.kill()
            except psutil.Error:
                continue
        psutil.wait_procs(family, timeout=0.5)
    shutil.rmtree(folder, ignore_errors=True)


def main() -> None:
    for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
        signal.signal(number, signal.SIG_IGN)
    _, mark, folder = sys.argv
    while os.read(sys.stdin.fileno(), 1024):
        pass
    end_family(mark, folder)


if __name__ == "__main__":
    main()
