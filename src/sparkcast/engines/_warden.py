"""Ends a family of processes when their parent is gone, however it went: SIGKILL leaves no time to clean up.

Every process of an engine carries the family's mark in its environment, and children inherit it, also those that
Spark starts (executors, Python workers) and those that leave their process group or session. The warden is started
first, blocks on a pipe from the parent, and wakes when the kernel closes it. Run as a script, so that it depends on
nothing but psutil.
"""

import json
import os
import shutil
import signal
import subprocess
import sys
import time
from pathlib import Path

import psutil

MARK = "SPARKCAST_FAMILY"
LAST_WORDS = ".end.json"  # a command, in the family's folder, that ends what is on another machine
_LAST_WORDS_S = 60.0


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


def say_last_words(folder: str) -> None:
    """Run the commands that the family has left, all at once: drivers on a cluster are no members."""
    started = []
    for file in sorted(Path(folder).glob(f"*{LAST_WORDS}")):
        try:
            words = json.loads(file.read_text(encoding="utf-8"))
            file.unlink()
            started.append(
                subprocess.Popen(
                    words["argv"],
                    env={**os.environ, **words["env"]},
                    stdin=subprocess.DEVNULL,
                    stdout=subprocess.DEVNULL,
                    stderr=subprocess.DEVNULL,
                )
            )
        except (OSError, ValueError, KeyError):
            continue  # it was being written, or cannot be run: nothing more can be done from here
    deadline = time.monotonic() + _LAST_WORDS_S
    for process in started:
        try:
            process.wait(timeout=max(0.0, deadline - time.monotonic()))
        except subprocess.TimeoutExpired:
            process.kill()


def main() -> None:
    for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
        signal.signal(number, signal.SIG_IGN)
    _, mark, folder = sys.argv
    while os.read(sys.stdin.fileno(), 1024):
        pass
    say_last_words(folder)
    end_family(mark, folder)


if __name__ == "__main__":
    main()
