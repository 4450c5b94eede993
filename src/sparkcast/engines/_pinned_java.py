"""Stands in for `java` when a worker of the embedded cluster launches an executor: keeps it to CPUs of its own.

    SPARKCAST_PINNING="JAVA|FOLDER|CORES"      in the executor's environment

FOLDER has a file for each CPU. An executor locks as many as it has cores, and holds the locks as long as it lives: they
belong to an open file that Java inherits and the kernel closes. What the executor starts (Python) inherits its CPUs. It
runs as a script of the standard library alone. Where there are not enough free CPUs, the executor is not pinned, and a
file beside the folder says so.
"""

import fcntl
import os
import sys
import time
from pathlib import Path

VARIABLE, UNPINNED = "SPARKCAST_PINNING", "unpinned"
_PATIENCE_S = 5.0  # an executor of the application before may still be ending


def claim(folder: Path, n: int) -> "list[int]":
    """Lock `n` CPUs that no other executor has, or none."""
    held: dict[int, int] = {}
    for cpu in sorted(int(file.name) for file in folder.iterdir()):
        if len(held) == n:
            break
        file = os.open(folder / str(cpu), os.O_RDWR)
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            os.close(file)
            continue
        os.set_inheritable(file, True)
        held[cpu] = file
    if len(held) < n:
        for file in held.values():
            os.close(file)
        return []
    return list(held)


def main() -> None:
    java, cpus_folder, cores = os.environ[VARIABLE].split("|")
    folder = Path(cpus_folder)
    deadline = time.monotonic() + _PATIENCE_S
    while not (cpus := claim(folder, int(cores))) and time.monotonic() < deadline:
        time.sleep(0.05)
    if cpus:
        os.sched_setaffinity(0, cpus)
    else:
        (folder.parent / UNPINNED).touch()
    # What the executor starts finds the real Java.
    environment = {name: value for name, value in os.environ.items() if name != VARIABLE}
    os.execve(java, [java, *sys.argv[1:]], environment | {"JAVA_HOME": str(Path(java).parents[1])})


if __name__ == "__main__":
    main()
