import json
import time
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import psutil
import pytest

from sparkcast.observe.host import HostSampler, series_of, with_nodes
from sparkcast.observe.psutil_counters import PsutilCounters
from sparkcast.study.series import HostSeries
from sparkcast.workloads.nodes import HERE, NODES_FILE
from sparkcast.workloads.sampler import TOTALS, Counters, Every

STAT = """\
cpu  50 5 30 900 20 2 3 7 11 0
cpu0 40 5 20 440 15 2 3 5 11 0
cpu1 10 0 10 460 5 0 0 2 0 0
intr 9 1 2
ctxt 77
"""
MEMINFO = "MemTotal: 8000 kB\nMemFree: 1000 kB\nMemAvailable: 5000 kB\nBuffers: 1 kB\n"
DISKSTATS = """\
   7 0 loop0 1000 0 1000 0 1000 0 1000 0 0 0 0
 254 0 vda 12 1 340 5 56 2 780 9 0 3 4 1 2 3 4 5 6
 254 1 vda1 12 1 340 5 56 2 780 9 0 3 4
"""
NETWORK = """\
Inter-|   Receive                                                |  Transmit
 face |bytes    packets errs drop fifo frame compressed multicast|bytes    packets errs drop fifo colls carrier
    lo:  500   5    0    0    0     0          0         0      500       5    0    0    0     0       0          0
  eth0: 1000  10    0    0    0     0          0         0     2000      20    0    0    0     0       0          0
  br-1: 9000  90    0    0    0     0          0         0     9000      90    0    0    0     0       0          0
"""


@pytest.fixture
def machine(tmp_path: Path) -> Path:
    for name, text in {"stat": STAT, "meminfo": MEMINFO, "diskstats": DISKSTATS, "net/dev": NETWORK}.items():
        (tmp_path / "proc" / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / "proc" / name).write_text(text)
    for device in ("block/vda/device", "block/loop0", "class/net/eth0/device", "class/net/br-1", "class/net/lo"):
        (tmp_path / "sys" / device).mkdir(parents=True)
    return tmp_path


def test_counters_are_those_of_the_kernel_and_of_real_devices_only(machine: Path) -> None:
    counters = Counters(machine)
    seen = dict(zip(counters.names, counters.read(), strict=True))
    assert abs(seen.pop("at_ms") / 1e3 - time.time()) < 600
    assert seen == {
        **{"user": 55, "system": 35, "iowait": 20, "steal": 7, "idle": 900, "memory_kib": 3000},
        **{"disk_reads": 12, "disk_read_sectors": 340, "disk_writes": 56, "disk_written_sectors": 780},
        **{"network_in_bytes": 1000, "network_in_packets": 10, "network_out_bytes": 2000, "network_out_packets": 20},
        **{"loopback_bytes": 500, "loopback_packets": 5, "core0": 70, "core1": 20},
    }
    about = counters.about()
    assert (about["cores"], about["memory_bytes"]) == (2, 8000 * 1024)
    counters.close()


def test_a_container_that_sees_no_device_counts_all_but_the_loopback(machine: Path) -> None:
    (machine / "sys/class/net/eth0/device").rmdir()
    seen = dict(zip((counters := Counters(machine)).names, counters.read(), strict=True))
    assert (seen["network_in_bytes"], seen["loopback_bytes"]) == (10000, 500)
    counters.close()


def test_a_core_that_is_switched_off_leaves_the_others_in_their_places(machine: Path) -> None:
    counters = Counters(machine)
    (machine / "proc/stat").write_text("\n".join(line for line in STAT.splitlines() if not line.startswith("cpu0")))
    seen = dict(zip(counters.names, counters.read(), strict=True))
    assert (seen["core0"], seen["core1"]) == (0, 20)
    counters.close()


def test_a_system_without_proc_is_told_apart(tmp_path: Path) -> None:
    with pytest.raises(OSError, match="stat"):
        Counters(tmp_path)


def test_psutil_tells_the_same_as_the_kernels_files() -> None:
    ours, theirs = Counters(), PsutilCounters()
    about, also = ours.about(), theirs.about()
    assert {**about, "node": "", "ticks_per_s": 0} == {**also, "node": "", "ticks_per_s": 0}
    before, seen, after = ours.read(), theirs.read(), ours.read()
    ours.close()
    assert len(seen) == len(before)
    # Disks and networks are counted otherwise: psutil adds mappings and bridges.
    for name, low, value, high in list(zip(TOTALS, before, seen, after, strict=False))[1:6]:
        assert low - 2 <= value <= high + 2, name


def test_moments_keep_their_distance_and_missed_ones_are_left_out(monkeypatch: pytest.MonkeyPatch) -> None:
    now = [100.0]
    monkeypatch.setattr(time, "monotonic", lambda: now[0])
    moments = Every(1.0)
    assert moments.wait_s() == 1.0
    now[0] = 101.25
    assert moments.wait_s() == 0.75
    now[0] = 105.5  # three are over
    assert moments.wait_s() == 0.5


class Played:
    """A machine whose counters grow by one with each look."""

    def __init__(self) -> None:
        self.looks = 0
        self.is_closed = False

    def about(self) -> dict[str, Any]:
        names = (*TOTALS, "core0")
        return {"host": "h", "node": "n", "cores": 1, "memory_bytes": 2**30, "ticks_per_s": 100, "names": names}

    def read(self) -> list[int]:
        self.looks += 1
        return [self.looks] * (len(TOTALS) + 1)

    def close(self) -> None:
        self.is_closed = True


def test_a_sampler_looks_at_the_beginning_again_and_again_and_at_the_end() -> None:
    with HostSampler(counters=Played()) as sampler:
        pass
    assert sampler.series().at_ms == (1, 2)
    with HostSampler(period_s=0.001, counters=(played := Played())) as sampler:
        while played.looks < 5:
            time.sleep(0.001)
    assert len(sampler.series()) >= 5
    assert played.is_closed


def test_this_machine_can_be_sampled() -> None:
    with HostSampler(period_s=0.01) as sampler:
        time.sleep(0.05)
    series = sampler.series()
    assert series.cores == len(psutil.cpu_times(percpu=True))
    assert series.memory_bytes == psutil.virtual_memory().total
    assert 0 < series.counters["memory_kib"][0] * 1024 <= series.memory_bytes
    assert list(series.at_ms) == sorted(series.at_ms)


# ---------------------------------------------------------------- other nodes


def _about(node: str) -> dict[str, Any]:
    return {**Played().about(), "node": node, "host": f"host-{node}", "names": ["at_ms", "user"]}


def _here() -> HostSeries:
    return series_of(_about("driver"), [[1, 2]])


def _lines(entries: Sequence[object]) -> Iterator[str]:
    return (json.dumps(entry) + "\n" for entry in entries)


def test_nodes_come_from_the_files_of_all_jobs_and_a_line_cut_off_is_passed_over(tmp_path: Path) -> None:
    first, second = tmp_path / "job-1", tmp_path / "job-2"
    for folder in (first, second):
        folder.mkdir()
    entries = [{"about": _about("b")}, {"about": _about("a")}, {"node": "b", "values": [20, 3]}]
    (first / NODES_FILE).write_text("".join(_lines(entries)) + '{"node": "a", "val')
    both = [{"about": _about("b")}, {"node": "b", "values": [10, 2]}, {"node": "b", "values": [1]}]
    (second / NODES_FILE).write_text("".join(_lines(both)))
    here, a, b = with_nodes(_here(), [first, second, tmp_path / "job-3"], is_local=False)
    assert (here.node, here.has_executors) == ("driver", False)
    assert (a.node, len(a)) == ("a", 0)
    assert b.counters == {"at_ms": (10, 20), "user": (2, 3)}


def test_the_drivers_machine_has_executors_on_a_local_cluster_or_when_they_say_so(tmp_path: Path) -> None:
    assert [host.has_executors for host in with_nodes(_here(), [tmp_path], is_local=True)] == [True]
    (tmp_path / NODES_FILE).write_text("".join(_lines([{HERE: True}])))
    assert [host.has_executors for host in with_nodes(_here(), [tmp_path], is_local=False)] == [True]
