import time

from sparkcast.observe.host import HostSampler


def test_work_shows_as_cpu_and_memory() -> None:
    with HostSampler(period_s=0.05) as sampler:
        until = time.monotonic() + 0.4
        while time.monotonic() < until:
            pass
    seen = sampler.utilisation()
    assert 10 < seen.cpu_percent <= 100
    assert 0 <= seen.iowait_percent <= 100
    assert seen.memory_bytes > 0
    assert seen.samples >= 4
