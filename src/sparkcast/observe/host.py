"""CPU, I/O wait, memory, network and disk of this machine, sampled while a run goes on."""

import threading
import time
from types import TracebackType
from typing import NamedTuple, Self

from sparkcast.study import Utilisation


class _Counters(NamedTuple):
    at: float
    busy_s: float
    iowait_s: float
    total_s: float
    network_bytes: int
    disk_bytes: int


class HostSampler:
    """Samples between enter and exit. Counters are read at both ends; memory, which has none, each `period_s`."""

    def __init__(self, period_s: float = 2.0) -> None:
        self._period_s = period_s
        self._stopping = threading.Event()
        self._memory: list[int] = []
        self._thread = threading.Thread(target=self._sample, name="host-sampler", daemon=True)
        self._first = self._last = _read_counters()

    def __enter__(self) -> Self:
        self._first = _read_counters()
        self._thread.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._stopping.set()
        self._thread.join()
        self._last = _read_counters()

    def utilisation(self) -> Utilisation:
        first, last = self._first, self._last
        elapsed = max(last.at - first.at, 1e-9)
        total = max(last.total_s - first.total_s, 1e-9)
        return Utilisation(
            cpu_percent=100 * (last.busy_s - first.busy_s) / total,
            iowait_percent=100 * (last.iowait_s - first.iowait_s) / total,
            memory_bytes=sum(self._memory) / max(len(self._memory), 1),
            network_bytes_per_s=(last.network_bytes - first.network_bytes) / elapsed,
            disk_bytes_per_s=(last.disk_bytes - first.disk_bytes) / elapsed,
            samples=len(self._memory),
        )

    def _sample(self) -> None:
        import psutil

        while True:
            self._memory.append(psutil.virtual_memory().used)
            if self._stopping.wait(self._period_s):
                return


def _read_counters() -> _Counters:
    import psutil

    cpu = psutil.cpu_times()
    iowait = getattr(cpu, "iowait", 0.0)
    # guest time is already part of user time
    total = sum(cpu) - getattr(cpu, "guest", 0.0) - getattr(cpu, "guest_nice", 0.0)
    network, disk = psutil.net_io_counters(), psutil.disk_io_counters()
    return _Counters(
        at=time.monotonic(),
        busy_s=total - cpu.idle - iowait,
        iowait_s=iowait,
        total_s=total,
        network_bytes=network.bytes_sent + network.bytes_recv if network else 0,
        disk_bytes=disk.read_bytes + disk.write_bytes if disk else 0,
    )
