"""What sampling a machine each second costs: our sampler, psutil for the same numbers, and shelling out for them."""

import multiprocessing
import os
import subprocess
import sys
import time
from collections.abc import Callable
from statistics import fmean, stdev

from sparkcast.observe.host import HostSampler
from sparkcast.observe.psutil_counters import PsutilCounters
from sparkcast.workloads.nodes import PERIOD_S
from sparkcast.workloads.sampler import Counters, Every

FILES = ("/proc/stat", "/proc/meminfo", "/proc/diskstats", "/proc/net/dev")
_ROUND_S = 3.0


def _by_shell() -> list[int]:
    text = subprocess.run(["cat", *FILES], capture_output=True, check=True).stdout
    return [len(line.split()) for line in text.splitlines()]


SIDES: dict[str, Callable[[], Callable[[], list[int]]]] = {
    "sparkcast": lambda: Counters().read,
    "psutil": lambda: PsutilCounters().read,
    "cat of /proc each time": lambda: _by_shell,
}


def _cpu_s() -> float:
    """Of this process, to the nanosecond, and of those it started, to the tick."""
    times = os.times()
    return time.process_time() + times.children_user + times.children_system


def sample(side: str, seconds: float) -> None:
    """Sample for so long, in a process of its own; prints its share of one core, start-up not counted."""
    read = SIDES[side]()
    read()
    moments, begun, cpu_s = Every(PERIOD_S), time.monotonic(), _cpu_s()
    while time.monotonic() - begun < seconds:
        time.sleep(moments.wait_s())
        " ".join(map(str, read()))
    print((_cpu_s() - cpu_s) / (time.monotonic() - begun))


def shares(seconds: float) -> dict[str, float]:
    """The share of one core that each side takes; all sample the same seconds."""
    started = {
        side: subprocess.Popen([sys.executable, __file__, side, str(seconds)], stdout=subprocess.PIPE, text=True)
        for side in SIDES
    }
    return {side: float(process.communicate()[0]) for side, process in started.items()}


def _count(seconds: float) -> int:
    """How far a loop comes: what others take from it is missing."""
    end, count = time.perf_counter() + seconds, 0
    while time.perf_counter() < end:
        count += 1
    return count


def slowdown(rounds: int) -> tuple[float, float]:
    """How much less all cores get done while they are sampled, in percent, and the standard error of that."""
    with multiprocessing.Pool() as pool:
        cores = os.cpu_count() or 1

        def work() -> int:
            return sum(pool.map(_count, [_ROUND_S] * cores))

        work()
        lost = []
        for number in range(rounds):
            counts = {}
            for is_sampled in (number % 2 == 0, number % 2 == 1):
                if is_sampled:
                    with HostSampler():
                        counts[True] = work()
                else:
                    counts[False] = work()
            lost.append(100 * (1 - counts[True] / counts[False]))
    return fmean(lost), stdev(lost) / len(lost) ** 0.5


def show(seconds: float, rounds: int) -> None:
    found = shares(seconds)
    print(f"sampling each {PERIOD_S:g} s for {seconds:g} s, CPU time over wall time, start-up not counted")
    for side, share in found.items():
        bar = "   (bar: <= 1 %)" if side == "sparkcast" else f"   {share / found['sparkcast']:.1f} times as much"
        print(f"  {side:24} {100 * share:6.3f} % of one core{bar}")
    mean, error = slowdown(rounds)
    print(f"all cores busy, with and without sparkcast's sampler in turn, {rounds} rounds of {_ROUND_S:g} s")
    print(f"  work lost                {mean:6.2f} % +- {error:.2f} (standard error)")


if __name__ == "__main__":
    sample(sys.argv[1], float(sys.argv[2]))
