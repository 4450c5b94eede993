"""Jobs whose savings are known: their tasks are played on any number of executors.

Each job has 2 to 6 stages of tasks with lognormal times (a spread of its own, 5 to 60 %), a driver that works between
them, and executors that were chosen badly or well. Its memory peaks at a level of its own. Every run has other noise,
input and tasks. What fewer executors would have saved is played with the very tasks of the run.
"""

import heapq
import random
from collections.abc import Sequence
from dataclasses import dataclass

from sparkcast.history import JobHistory
from sparkcast.study import (
    AppRecord,
    Configuration,
    ExecutorsSince,
    LogOrigin,
    MemoryRecord,
    Observation,
    StageRecord,
)

GIB = 1024**3
BEGIN = 1_790_553_600.0


@dataclass(frozen=True)
class PlayedRun:
    tasks: tuple[tuple[float, ...], ...]  # of each stage
    driver_s: float
    executors: int
    cores: int
    gib: float
    peak_gib: float

    def stage_s(self, executors: int) -> list[float]:
        return [scheduled(times, executors * self.cores) for times in self.tasks]

    def life_s(self, executors: int) -> float:
        return self.driver_s + sum(self.stage_s(executors))

    def core_hours(self, executors: int) -> float:
        return executors * self.cores * self.life_s(executors) / 3600


def scheduled(times: Sequence[float], slots: int) -> float:
    """How long tasks take that start in their order, each on the slot that is free first."""
    free = [0.0] * min(slots, len(times))
    for took in times:
        heapq.heapreplace(free, free[0] + took)
    return max(free)


@dataclass(frozen=True)
class SavingJob:
    name: str
    runs: tuple[PlayedRun, ...]
    memory_gib: int
    future_peaks: tuple[float, ...]  # of 200 runs to come


def make_jobs(n: int, seed: int, n_runs: int = 30) -> list[SavingJob]:
    return [_job(number, random.Random(f"savings {seed} {number}"), n_runs) for number in range(n)]


def _job(number: int, draw: random.Random, n_runs: int) -> SavingJob:
    executors, cores = draw.choice((2, 4, 8, 12, 16)), draw.choice((1, 2, 4))
    stages = [
        (draw.choice((4, 8, 20, 64, 200)), draw.lognormvariate(1.5, 1.0), draw.uniform(0.05, 0.6))
        for _ in range(draw.randint(2, 6))
    ]
    driver_s, sigma = draw.lognormvariate(3.0, 1.0), draw.uniform(0.03, 0.12)
    memory, peak = draw.choice((4, 8, 16, 32)), draw.uniform(0.15, 0.9)
    runs = []
    for _ in range(n_runs):
        factor = draw.lognormvariate(0.0, sigma) * draw.lognormvariate(0.0, 0.1)
        tasks = tuple(tuple(mean * factor * draw.lognormvariate(0.0, s) for _ in range(n)) for n, mean, s in stages)
        runs.append(
            PlayedRun(
                tasks,
                driver_s * draw.lognormvariate(0.0, 0.1),
                executors,
                cores,
                10 * factor,
                _peak(draw, memory * peak),
            )
        )
    return SavingJob(f"job {number}", tuple(runs), memory, tuple(_peak(draw, memory * peak) for _ in range(200)))


def _peak(draw: random.Random, middle: float) -> float:
    return middle * draw.lognormvariate(0.0, 0.06)


def history_of_job(job: SavingJob) -> JobHistory:
    runs = tuple(_observed(job, number, run) for number, run in enumerate(job.runs))
    return JobHistory(job.name, job.name, runs)


def _observed(job: SavingJob, number: int, run: PlayedRun) -> Observation:
    started, life = BEGIN + number * 86400, run.life_s(run.executors)
    slots = run.executors * run.cores
    stages = []
    for place, (times, took) in enumerate(zip(run.tasks, run.stage_s(run.executors), strict=True)):
        ordered = sorted(times)
        stages.append(
            StageRecord(
                place,
                0,
                f"stage {place}",
                "",
                0.0,
                took,
                took,
                sum(times),
                ordered[len(times) // 2],
                ordered[-1],
                len(times),
                0,
                0,
                0,
                0,
                0,
            )
        )
    memory = job.memory_gib * GIB
    record = AppRecord(
        f"{job.name}-{number}", "", job.name, "etl", "default", "yarn", started, started, started + life,
        int(run.gib * GIB), stages=tuple(stages), n_stages=len(stages),
        executors=(ExecutorsSince(0.0, run.executors, slots),),
        memory=MemoryRecord(heap=memory, container=int(1.1 * memory), peak_heap=int(run.peak_gib * GIB)),
    )  # fmt: skip
    responses = {
        "time_s": life - run.driver_s / 2,
        "total_s": life,
        "task_s": sum(sum(times) for times in run.tasks),
        "core_hours": slots * life / 3600,
        "gib_hours": run.executors * 1.1 * job.memory_gib * life / 3600,
        "input_bytes": run.gib * GIB,
    }
    return Observation(
        Configuration({"executors": run.executors, "cores": run.cores, "memory": f"{job.memory_gib}g"}),
        responses,
        started_at=started,
        run_id=record.app_id,
        origin=LogOrigin(job.name, record.app_id, 1, is_complete=True),
        record=record,
    )
