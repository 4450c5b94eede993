"""The counters of `workloads/sampler.py` on systems without /proc, from psutil, which takes longer."""

import platform
import time
from typing import Any

from sparkcast.workloads.sampler import TOTALS

_TICKS_PER_S = 100
_NETWORK = ("bytes_recv", "packets_recv", "bytes_sent", "packets_sent")


class PsutilCounters:
    def about(self) -> dict[str, Any]:
        import psutil

        n_cores, host = len(psutil.cpu_times(percpu=True)), platform.node()
        return {
            "host": host,
            "node": host,
            "cores": n_cores,
            "memory_bytes": psutil.virtual_memory().total,
            "ticks_per_s": _TICKS_PER_S,
            "names": (*TOTALS, *(f"core{core}" for core in range(n_cores))),
        }

    def read(self) -> list[int]:
        import psutil

        cpu, memory, disk = psutil.cpu_times(), psutil.virtual_memory(), psutil.disk_io_counters()
        links = psutil.net_io_counters(pernic=True)
        loopback = [links.pop(name) for name in ("lo", "lo0") if name in links]
        parts = (("user", "nice"), ("system", "irq", "softirq"), ("iowait",), ("steal",), ("idle",))
        return [
            int(time.time() * 1e3),
            *(_ticks(cpu, *names) for names in parts),
            (memory.total - memory.available) // 1024,
            *(
                (disk.read_count, disk.read_bytes // 512, disk.write_count, disk.write_bytes // 512)
                if disk
                else [0] * 4
            ),
            *(sum(getattr(link, name) for link in links.values()) for name in _NETWORK),
            *(sum(getattr(link, name) for link in loopback) for name in _NETWORK[:2]),
            *(_ticks(core, *parts[0], *parts[1]) for core in psutil.cpu_times(percpu=True)),
        ]

    def close(self) -> None:
        """Nothing is open."""


def _ticks(times: Any, *names: str) -> int:
    """Of what a system does not tell, nothing."""
    return int(_TICKS_PER_S * sum(getattr(times, name, 0.0) for name in names))
