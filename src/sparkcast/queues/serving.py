"""What becomes of a stream of jobs on a cluster: when each starts and ends. One function for each way to share.

Own event loops: a queue of equal jobs needs no events at all (each job takes the server that is free first), and with
processor sharing one clock of work done serves all jobs, so that an event costs a heap operation.
`benchmarks/queues.py` sets them beside ciw.
"""

import heapq
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from sparkcast.arrays import Floats
from sparkcast.errors import StudyError
from sparkcast.queues.launching import Phases, Play, SharedMachine
from sparkcast.queues.slowdown import Slowdown
from sparkcast.queues.workload import ArrivalDraw


@dataclass(frozen=True, slots=True, eq=False)
class Served:
    """The jobs of a stream with their fates."""

    stream: ArrivalDraw
    start_s: Floats
    end_s: Floats

    @property
    def wait_s(self) -> Floats:
        return self.start_s - self.stream.arrive_s

    @property
    def response_s(self) -> Floats:
        return self.end_s - self.stream.arrive_s


def first_come(stream: ArrivalDraw, cores: int) -> Served:
    """Equal jobs, first come first served (Kiefer and Wolfowitz 1955; Lindley 1952 for one at a time)."""
    _require_fits(stream, cores)
    servers = cores // int(stream.width[0])
    arrive, service = stream.arrive_s, stream.service_s
    if servers == 1:
        before = np.cumsum(service) - service
        start = np.maximum.accumulate(arrive - before) + before
        return Served(stream, start, start + service)
    free = [0.0] * servers  # when each server is free
    start = np.empty(len(stream))
    for i, (at, takes) in enumerate(zip(arrive.tolist(), service.tolist(), strict=True)):
        begin = max(at, free[0])
        start[i] = begin
        heapq.heapreplace(free, begin + takes)
    return Served(stream, start, start + service)


def by_priority(stream: ArrivalDraw, cores: int, *, overtake: bool = False) -> Served:
    """Jobs that hold different numbers of cores until they end: by priority, then by arrival.

    A job that does not fit yet makes those behind it wait, unless they may `overtake` (which can starve wide jobs).
    With equal priorities this is FIFO.
    """
    _require_fits(stream, cores)
    arrive, service = stream.arrive_s.tolist(), stream.service_s.tolist()
    width, priority = stream.width.tolist(), stream.priority.tolist()
    start = np.empty(len(stream))
    waiting: dict[int, list[tuple[int, int]]] = {one: [] for one in set(width)}  # by width: priority, number
    running: list[tuple[float, int]] = []  # end, width
    free, coming, n = cores, 0, len(arrive)
    while coming < n or running:
        if coming < n and (not running or arrive[coming] <= running[0][0]):
            now = arrive[coming]
            heapq.heappush(waiting[width[coming]], (priority[coming], coming))
            coming += 1
        else:
            now, freed = heapq.heappop(running)
            free += freed
        while (job := _next(waiting, free, overtake)) is not None:
            start[job] = now
            free -= width[job]
            heapq.heappush(running, (now + service[job], width[job]))
    return Served(stream, start, start + stream.service_s)


def _next(waiting: Mapping[int, list[tuple[int, int]]], free: int, overtake: bool) -> int | None:
    """The waiting job that starts now, which is taken out of the queue; None when none fits."""
    first = min(
        ((line[0], one) for one, line in waiting.items() if line and (one <= free or not overtake)), default=None
    )
    if first is None or first[1] > free:
        return None
    return heapq.heappop(waiting[first[1]])[1]


def shared(stream: ArrivalDraw, slowdown: Slowdown, *, slots: int | None = None) -> Served:
    """All jobs at once, each as much slower as the load makes it; at most `slots` of them, the others wait in line.

    The load is the cores that the jobs ask for, so that wide and narrow jobs share alike. `clock` is the work that a
    job which was there all along would have done: it ends when the clock has moved on by its service time.
    """
    arrive, service, width = stream.arrive_s.tolist(), stream.service_s.tolist(), stream.width.tolist()
    n, most = len(arrive), len(arrive) if slots is None else slots
    start, end = np.empty(n), np.empty(n)
    ending: list[tuple[float, int]] = []  # clock at the end, number
    now = clock = load = 0.0
    coming = begun = 0  # those between have arrived and wait
    speeds: dict[float, float] = {}
    while coming < n or ending:
        if load not in speeds:
            speeds[load] = 1 / slowdown(load) if load else 1.0
        speed = speeds[load]
        next_end = now + (ending[0][0] - clock) / speed if ending else float("inf")
        if coming < n and arrive[coming] <= next_end:
            clock += (arrive[coming] - now) * speed
            now = arrive[coming]
            coming += 1
        else:
            clock, job = heapq.heappop(ending)
            now = max(now, next_end)
            end[job] = now
            load -= width[job]
            if not ending:
                clock = load = 0.0  # nobody is left who counts by it: start afresh, and lose no digits
        while begun < coming and len(ending) < most:
            start[begun] = now
            load += width[begun]
            heapq.heappush(ending, (clock + service[begun], begun))
            begun += 1
    return Served(stream, start, end)


def as_launched(stream: ArrivalDraw, phases: Sequence[Phases], machine: SharedMachine) -> Served:
    """As Spark runs jobs: each launches, waits in line for cores, and runs. `phases` are those of each class.

    A job whose time alone is longer than usual is so in all phases.
    """

    def by_class(values: Sequence[float]) -> Floats:
        return np.asarray(values, dtype=float)[stream.job_class]

    factor = stream.service_s / by_class([one.alone_s for one in phases])
    launch_s, run_s = by_class([one.launch_s for one in phases]), by_class([one.run_s for one in phases])
    times = (stream.arrive_s.tolist(), (launch_s * factor).tolist(), (run_s * factor).tolist())
    play = Play(*times, stream.width.tolist(), machine)
    play.advance()
    return Served(stream, np.array(play.started_s), np.array(play.ended_s))


def _require_fits(stream: ArrivalDraw, cores: int) -> None:
    widest = int(stream.width.max(initial=0))
    if widest > cores:
        raise StudyError(
            f"a job holds {widest} cores and the cluster has {cores}", hint="give more cores, or a smaller job"
        )
