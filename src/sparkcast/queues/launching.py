"""Jobs as Spark runs them: each launches its driver, waits in line for cores, then holds them until it ends.

What launches or runs shares the machine and is slowed by the others that do; what waits in line slows nobody. Neither
first come first served (nothing happens before a job has its cores) nor processor sharing (nobody waits) says that.

Spark gives cores back a second before the driver's process has ended, and a driver in line is not quite idle. Both are
left out: with them, and a share of the machine for each phase, streams were predicted no better
(`benchmarks/queue_real.py`), and there would be more to calibrate.
"""

from collections import deque
from collections.abc import Sequence
from dataclasses import dataclass
from heapq import heappop, heappush
from math import inf

from sparkcast.errors import StudyError
from sparkcast.queues import require_positive
from sparkcast.queues.general import require_scv


@dataclass(frozen=True, slots=True)
class Phases:
    """What one job does with the machine to itself, in seconds, and the cores that it holds while it runs."""

    launch_s: float  # until its driver has registered with the cluster
    run_s: float  # from then on until it ends
    width: int = 1
    scv: float = 0.0  # of the whole: variance over the squared mean

    def __post_init__(self) -> None:
        require_positive(self.alone_s, "the time of a job", "s")
        require_scv(self.scv, "times")
        if self.width < 1:
            raise StudyError(f"a job holds {self.width} cores", hint="a job holds 1 or more")

    @property
    def alone_s(self) -> float:
        return self.launch_s + self.run_s

    def scaled(self, factor: float) -> "Phases":
        return Phases(self.launch_s * factor, self.run_s * factor, self.width, self.scv)


@dataclass(frozen=True, slots=True)
class SharedMachine:
    """What jobs share: cores that they wait for, and a speed that falls with the number of those that do something."""

    cores: int
    carried: float = inf  # so many jobs launch or run at once without slowing each other down
    beside: int = 0  # others that run all along

    def with_cores(self, cores: int) -> "SharedMachine":
        """More or fewer, each of which brings its part of the machine with it."""
        return SharedMachine(cores, self.carried * cores / self.cores, self.beside)

    def __post_init__(self) -> None:
        if self.cores < 1 or self.carried <= 0 or self.beside < 0:
            raise StudyError("a machine needs at least 1 core, and carries some jobs", hint="give numbers above 0")

    def slowdown(self, active: int) -> float:
        """Of so many that launch or run: beside the time with the machine to itself."""
        return max(1.0, (active + self.beside) / self.carried)


@dataclass(frozen=True, slots=True)
class Launched:
    """One job that arrives."""

    arrive_s: float
    phases: Phases


@dataclass(frozen=True, slots=True)
class Fate:
    registered_s: float  # its driver is up, and it is in line for cores
    started_s: float  # it got them
    ended_s: float


def launched(jobs: Sequence[Launched], machine: SharedMachine) -> tuple[Fate, ...]:
    """What becomes of jobs, which are served in the order in which they register."""
    play = Play.of(jobs, machine)
    play.advance()
    return play.fates()


class Play:
    """Jobs on a machine as time goes by, by arrival; each list has one entry for each.

    What launches or runs is slowed alike, so that one clock of work serves all: it moves on by what a job that has been
    active all along has done, and a phase ends at a reading of the clock.
    """

    def __init__(
        self,
        arrive_s: Sequence[float],
        launch_s: Sequence[float],
        run_s: Sequence[float],
        width: Sequence[int],
        machine: SharedMachine,
    ) -> None:
        if max(width, default=0) > machine.cores:
            raise StudyError(
                f"a job holds more than the {machine.cores} cores there are", hint="give more cores, or narrower jobs"
            )
        self._arrive, self._launch, self._run, self._width = arrive_s, launch_s, run_s, width
        self._machine = machine
        self._coming = deque(sorted(range(len(arrive_s)), key=arrive_s.__getitem__))
        self._active: list[tuple[float, int]] = []  # a heap: the clock at the end of the phase, and the job
        self._line: deque[int] = deque()
        self._free = machine.cores
        self._now, self._clock = arrive_s[self._coming[0]] if self._coming else 0.0, 0.0
        self.registered_s, self.started_s, self.ended_s = ([inf] * len(arrive_s) for _ in range(3))  # or not yet

    @classmethod
    def of(cls, jobs: Sequence[Launched], machine: SharedMachine) -> "Play":
        phases = [job.phases for job in jobs]
        launch_s, run_s = [one.launch_s for one in phases], [one.run_s for one in phases]
        return cls([job.arrive_s for job in jobs], launch_s, run_s, [one.width for one in phases], machine)

    def fates(self) -> tuple[Fate, ...]:
        """So far; what has not happened yet is infinitely far."""
        return tuple(Fate(*times) for times in zip(self.registered_s, self.started_s, self.ended_s, strict=True))

    def done_s(self, i: int) -> float:
        """What one job has done so far, in seconds with the machine to itself."""
        if self.ended_s[i] < inf:
            return self._launch[i] + self._run[i]
        left = next((end - self._clock for end, job in self._active if job == i), None)
        if self.registered_s[i] < inf:
            return self._launch[i] + (0.0 if left is None else self._run[i] - left)
        return 0.0 if left is None else self._launch[i] - left

    def advance(self, until_s: float = inf) -> None:
        """Go on until that moment, or until all have ended."""
        active, coming, slowdown_of = self._active, self._coming, self._machine.slowdown
        while coming or active:
            slowdown = slowdown_of(len(active))
            done_at = self._now + (active[0][0] - self._clock) * slowdown if active else inf
            arrive_at = self._arrive[coming[0]] if coming else inf
            then = min(done_at, arrive_at, until_s)
            self._clock += (then - self._now) / slowdown
            self._now = then
            if then == done_at:
                self._clock, i = heappop(active)
                self._finish_phase(i)
            elif then == arrive_at:
                i = coming.popleft()
                heappush(active, (self._clock + self._launch[i], i))
            else:
                return
            if not active:
                self._clock = 0.0  # nobody is left who counts by it: start afresh, and lose no digits

    def _finish_phase(self, i: int) -> None:
        if self.started_s[i] < inf:
            self.ended_s[i] = self._now
            self._free += self._width[i]
        else:
            self.registered_s[i] = self._now
            self._line.append(i)
        while self._line and self._width[self._line[0]] <= self._free:
            first = self._line.popleft()
            self._free -= self._width[first]
            self.started_s[first] = self._now
            heappush(self._active, (self._clock + self._run[first], first))
