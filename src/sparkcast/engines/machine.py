"""How much of this machine may be used: a container, a batch system or taskset may allow less than there is."""

import os
from collections.abc import Iterator
from dataclasses import dataclass
from math import inf
from pathlib import Path


@dataclass(frozen=True, slots=True)
class Machine:
    cores: int
    memory: int  # bytes


def this_machine(root: Path = Path("/")) -> Machine:
    """What the processor affinity and the control groups of this process leave. `root` holds /proc and /sys.

    A quota of one core and a half is one core: two executor cores would wait for each other.
    """
    import psutil

    cores = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
    limits = [(float(cores), float(psutil.virtual_memory().total)), *map(_limits, _control_groups(root))]
    return Machine(max(1, int(min(cores for cores, _ in limits))), int(min(memory for _, memory in limits)))


def _control_groups(root: Path) -> Iterator[Path]:
    """The folders of the groups of this process and of those above, whose limits hold as well.

    In a container the path of a group may be that outside of it; what can be seen is then its topmost folder.
    """
    for line in _text(root / "proc/self/cgroup").splitlines():
        _, controllers, path = line.split(":", 2)
        top = root / "sys/fs/cgroup" / next((c for c in controllers.split(",") if c in ("cpu", "memory")), "")
        group = top / path.lstrip("/")
        yield from (folder for folder in (group, *group.parents) if folder.is_relative_to(top))


def _limits(group: Path) -> tuple[float, float]:
    """The cores and bytes that a control group allows, of version 2 or of version 1."""
    cpu = _text(group / "cpu.max").split() or [_text(group / f"cpu.cfs_{part}_us") for part in ("quota", "period")]
    has_quota = all(word.isdigit() and int(word) for word in cpu)  # none: "max" or "-1"
    memory = _text(group / "memory.max") or _text(group / "memory.limit_in_bytes")
    return int(cpu[0]) / int(cpu[1]) if has_quota else inf, int(memory) if memory.isdigit() else inf


def _text(file: Path) -> str:
    try:
        return file.read_text(encoding="utf-8").strip()
    except OSError:  # another system, another version, or a group that cannot be seen from here
        return ""
