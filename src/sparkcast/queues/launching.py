"""Jobs as Spark runs them: each launches its driver, waits in line for cores, then holds them until it ends.

What launches or runs shares the machine and is slowed by the others that do; what waits in line slows nobody. Neither
first come first served (nothing happens before a job has its cores) nor processor sharing (nobody waits) says that.
"""

from collections import deque
from collections.abc import Sequence
from dataclasses import dataclass

from sparkcast.errors import NotEnoughDataError, StudyError
from sparkcast.queues import require_positive
from sparkcast.queues.slowdown import Shared, Slowdown

_CLOSE = 1e-6  # of the capacity that is looked for
_MOST_AT_ONCE = 1000.0


@dataclass(frozen=True, slots=True)
class Launched:
    """One job that arrives: how long it launches and runs with the machine to itself, and the cores that it holds."""

    arrive_s: float
    launch_s: float
    run_s: float
    width: int = 1


@dataclass(frozen=True, slots=True)
class Fate:
    registered_s: float  # its driver is up, and it is in line for cores
    started_s: float  # it got them
    ended_s: float


def launched(jobs: Sequence[Launched], cores: int, slowdown: Slowdown) -> tuple[Fate, ...]:
    """What becomes of jobs, in order of arrival; `slowdown` of so many that launch or run at once."""
    if any(job.width > cores for job in jobs):
        raise StudyError(f"a job holds more than the {cores} cores there are", hint="give more cores, or narrower jobs")
    left: dict[int, float] = {}  # of what is active now: seconds of work, with the machine to itself
    is_running: set[int] = set()
    line: deque[int] = deque()
    registered, started, ended = ([0.0] * len(jobs) for _ in range(3))
    order = sorted(range(len(jobs)), key=lambda i: jobs[i].arrive_s)
    now, coming, free = 0.0, 0, cores
    while coming < len(order) or left or line:
        speed = 1 / slowdown(len(left)) if left else 1.0
        until_done = min(left.values()) / speed if left else float("inf")
        until_arrival = jobs[order[coming]].arrive_s - now if coming < len(order) else float("inf")
        step = min(until_done, until_arrival)
        now += step
        left = {i: work - step * speed for i, work in left.items()}
        if until_arrival <= until_done:
            left[order[coming]] = jobs[order[coming]].launch_s
            coming += 1
        for i in [i for i, work in left.items() if work <= 1e-9]:
            del left[i]
            if i in is_running:
                is_running.discard(i)
                ended[i], free = now, free + jobs[i].width
            else:
                registered[i] = now
                line.append(i)
        while line and jobs[line[0]].width <= free:
            i = line.popleft()
            started[i], free = now, free - jobs[i].width
            is_running.add(i)
            left[i] = jobs[i].run_s
    return tuple(Fate(*times) for times in zip(registered, started, ended, strict=True))


def shared_by(jobs: Sequence[Launched], cores: int, measured_s: float) -> Shared:
    """How many jobs the machine carries without slowing down, so that these take the mean response time measured."""
    require_positive(measured_s, "a measured response time", "s")
    if not jobs:
        raise NotEnoughDataError("no jobs ran at once", hint="measure some: `jobs: 3`")

    def mean_s(carried: float) -> float:
        fates = launched(jobs, cores, Shared(carried))
        return sum(fate.ended_s - job.arrive_s for fate, job in zip(fates, jobs, strict=True)) / len(jobs)

    low, high = 1 / _MOST_AT_ONCE, _MOST_AT_ONCE  # more carried: faster
    while high / low > 1 + _CLOSE:
        middle = (low * high) ** 0.5
        low, high = (middle, high) if mean_s(middle) > measured_s else (low, middle)
    return Shared(high)
