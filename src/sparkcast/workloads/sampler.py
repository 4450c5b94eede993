"""The counters of a machine, read each second: CPU, memory, disk and network, as the kernel of Linux keeps them.

In sparkcast's own process, `Counters` is read by a thread (observe/host.py). On other nodes of a cluster this file is a
program that knows nothing but Python's standard library (workloads/nodes.py sends its text there):

    SPARKCAST_TOKEN=... python -I - HOST PORT PID PERIOD_S < sampler.py

It sends the token, a line of JSON about the machine, and a line of numbers for each sample to a driver, and ends with
the process PID (the executor's) or when the driver hangs up. Whatever it reads stays open: a sample is four reads.
"""

import json
import os
import select
import socket
import sys
import time
from pathlib import Path

_MOST_BYTES = 1 << 18  # of a file in /proc; what matters of /proc/stat stands at its beginning
TOTALS = (
    *("at_ms", "user", "system", "iowait", "steal", "idle", "memory_kib"),
    *("disk_reads", "disk_read_sectors", "disk_writes", "disk_written_sectors"),
    *("network_in_bytes", "network_in_packets", "network_out_bytes", "network_out_packets"),
    *("loopback_bytes", "loopback_packets"),
)


class Counters:
    """Counters since the machine started, which only grow; and the memory in use. Raises OSError without a /proc.

    Disks are devices of their own, and no partitions, loops or mappings of others, which would count twice. Networks
    are devices likewise; where a container sees none, all but the loopback.
    """

    def __init__(self, root: Path = Path("/")) -> None:
        self._stat, self._memory, self._disks, self._network = (
            os.open(root / "proc" / name, os.O_RDONLY) for name in ("stat", "meminfo", "diskstats", "net/dev")
        )
        self._devices = _devices(root / "sys/block")
        self._links = _devices(root / "sys/class/net")
        self._cores = [line.split(None, 1)[0] for line in self._cpu_lines()[1:]]
        self.names = (*TOTALS, *(f"core{core[3:].decode()}" for core in self._cores))
        self._begun, self._begun_ms = time.monotonic(), time.time() * 1e3
        self._node = this_node(root)

    def about(self) -> "dict[str, object]":
        total = int(_read(self._memory).split(None, 2)[1])
        return {
            "host": socket.gethostname(),
            "node": self._node,
            "cores": len(self._cores),
            "memory_bytes": total * 1024,
            "ticks_per_s": os.sysconf("SC_CLK_TCK"),
            "names": self.names,
        }

    def read(self) -> "list[int]":
        # By the steady clock from one reading of the other: a clock that is set meanwhile leaves no gap.
        at_ms = int(self._begun_ms + (time.monotonic() - self._begun) * 1e3)
        total, *each = self._cpu_lines()
        user, nice, system, idle, iowait, irq, softirq, steal = _cpu(total)
        values = [at_ms, user + nice, system + irq + softirq, iowait, steal, idle, self._used_kib()]
        values += self._disk()
        values += self._net()
        busy = {line.split(None, 1)[0]: sum(_cpu(line)[i] for i in (0, 1, 2, 5, 6)) for line in each}
        return values + [busy.get(core, 0) for core in self._cores]

    def close(self) -> None:
        for file in (self._stat, self._memory, self._disks, self._network):
            os.close(file)

    def _cpu_lines(self) -> "list[bytes]":
        return _read(self._stat).partition(b"\nintr")[0].splitlines()

    def _used_kib(self) -> int:
        found = dict(line.split(b":", 1) for line in _read(self._memory).splitlines()[:5])
        kib = {name: int(value.split()[0]) for name, value in found.items()}
        return kib[b"MemTotal"] - kib.get(b"MemAvailable", kib[b"MemFree"])

    def _disk(self) -> "list[int]":
        sums = [0, 0, 0, 0]
        for line in _read(self._disks).splitlines():
            words = line.split(None, 11)
            if words[2].decode() in self._devices:
                for i, place in enumerate((3, 5, 7, 9)):  # reads, sectors read, writes, sectors written
                    sums[i] += int(words[place])
        return sums

    def _net(self) -> "list[int]":
        sums, loopback = [0, 0, 0, 0], [0, 0]
        for line in _read(self._network).splitlines()[2:]:
            name, _, rest = line.partition(b":")
            words, link = rest.split(), name.strip().decode()
            if link == "lo":
                loopback = [int(words[0]), int(words[1])]
            elif not self._links or link in self._links:
                for i, place in enumerate((0, 1, 8, 9)):
                    sums[i] += int(words[place])
        return sums + loopback


def this_node(root: Path = Path("/")) -> str:
    """What tells this machine from others: containers of one machine have names of their own, and one kernel."""
    try:
        boot = (root / "proc/sys/kernel/random/boot_id").read_text(encoding="ascii").strip()
    except OSError:
        boot = socket.gethostname()
    return os.environ.get("SPARKCAST_NODE", boot)


def _read(file: int) -> bytes:
    return os.pread(file, _MOST_BYTES, 0)


def _cpu(line: bytes) -> "list[int]":
    """user, nice, system, idle, iowait, irq, softirq, steal; time of guests is part of the first two."""
    return [int(word) for word in line.split()[1:9]]


def _devices(folder: Path) -> "frozenset[str]":
    """What has hardware behind it, real or virtual."""
    return frozenset(file.parent.name for file in folder.glob("*/device"))


class Every:
    """Moments that are so far apart, by a steady clock; those that were missed are left out."""

    def __init__(self, period_s: float) -> None:
        self._period_s, self._next = period_s, time.monotonic() + period_s

    def wait_s(self) -> float:
        """How long until the next one, which is then over."""
        now = time.monotonic()
        if self._next < now:
            self._next += self._period_s * ((now - self._next) // self._period_s + 1)
        wait = self._next - now
        self._next += self._period_s
        return wait


def main(host: str, port: str, pid: str, period_s: str) -> None:
    counters, moments, executor = Counters(), Every(float(period_s)), Path("/proc", pid)
    with socket.create_connection((host, int(port)), timeout=30) as driver:
        driver.sendall(f"{os.environ['SPARKCAST_TOKEN']}\n{json.dumps(counters.about())}\n".encode())
        ends = [driver.fileno(), *_end_of(int(pid))]
        while True:
            driver.sendall((" ".join(map(str, counters.read())) + "\n").encode())
            if select.select(ends, [], [], moments.wait_s())[0] or not executor.exists():
                break


def _end_of(pid: int) -> "list[int]":
    """Something that can be read when the process has ended; kernels before 5.3 have nothing."""
    try:
        return [os.pidfd_open(pid)]
    except (AttributeError, OSError):
        return []


if __name__ == "__main__":
    main(*sys.argv[1:])
