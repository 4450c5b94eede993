import time
from types import SimpleNamespace
from typing import NamedTuple

import psutil
import pytest

from sparkcast.observe.host import HostSampler


class Times(NamedTuple):
    user: float
    system: float
    idle: float
    iowait: float
    guest: float


def test_rates_are_what_the_counters_grew_by(monkeypatch: pytest.MonkeyPatch) -> None:
    def stand(at: float, cpu: Times, sent: int, received: int, read: int, written: int) -> None:
        network = SimpleNamespace(bytes_sent=sent, bytes_recv=received)
        disk = SimpleNamespace(read_bytes=read, write_bytes=written)
        monkeypatch.setattr(time, "monotonic", lambda: at)
        monkeypatch.setattr(psutil, "cpu_times", lambda: cpu)
        monkeypatch.setattr(psutil, "net_io_counters", lambda: network)
        monkeypatch.setattr(psutil, "disk_io_counters", lambda: disk)

    stand(100.0, Times(50, 7, 90, 2, guest=4), 1000, 0, 0, 6)
    with HostSampler() as sampler:
        # 10 s on two cores: 12 busy, of which 1 for a guest is part of user time, 3 waiting, 5 idle.
        stand(110.0, Times(61, 8, 95, 5, guest=5), 1500, 700, 4000, 1006)
    seen = sampler.utilisation()
    assert (seen.cpu_percent, seen.iowait_percent) == (60, 15)
    assert (seen.network_bytes_per_s, seen.disk_bytes_per_s) == (120, 500)


def test_memory_is_sampled_again_and_again() -> None:
    with HostSampler(period_s=0.001) as sampler:
        while sampler.utilisation().samples < 3:
            time.sleep(0.001)
    seen = sampler.utilisation()
    assert 0 < seen.memory_bytes <= psutil.virtual_memory().total
    assert 0 <= seen.cpu_percent <= 100
    assert 0 <= seen.iowait_percent <= 100
