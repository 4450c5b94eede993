"""Monte Carlo pi: the smallest real Spark job, to see that a cluster works and how long an empty trial takes."""

import math
import random
import time
from collections.abc import Mapping
from pathlib import Path

from sparkcast.errors import StudyError
from sparkcast.workloads.base import THROUGHPUT, TIME, WORK, WORKLOADS, Configuration, Job, Response, Role, Setting


@WORKLOADS.register("pi")
class MonteCarloPi:
    """Estimates pi from random points; takes a second and checks that a cluster works."""

    settings: tuple[Setting, ...] = (
        Setting("samples", 200_000, "random points to draw, over all tasks", minimum=1, role=Role.DATA_SIZE),
        Setting("partitions", 2, "number of tasks", minimum=1),
        Setting("pause_s", 0.0, "extra seconds each task sleeps, to test time limits", minimum=0),
    )
    responses: tuple[Response, ...] = (TIME, WORK, THROUGHPUT, Response("error"))
    example: Mapping[str, object] = {"samples": [100_000, 1_000_000], "partitions": [1, 2], "executors": 1}

    def check(self, settings: Configuration) -> None:
        samples, partitions = int(settings["samples"]), int(settings["partitions"])
        if samples < partitions:
            raise StudyError(
                f"samples = {samples} leaves some of the {partitions} partitions empty",
                hint=f"use at most {samples} partitions, or more samples",
            )

    def prepare(self, settings: Configuration, data_dir: Path) -> str:
        return ""  # draws its own data

    def spark_conf(self, settings: Configuration) -> Mapping[str, str]:
        return {}

    def run(self, job: Job) -> None:
        samples, partitions = int(job.settings["samples"]), int(job.settings["partitions"])
        pause_s = float(job.settings["pause_s"])
        share, rest = divmod(samples, partitions)
        shares = [(seed, share + (seed < rest)) for seed in range(partitions)]
        context = job.spark_context()
        context.parallelize(shares, partitions).count()  # starts Python on the executors
        job.started()
        start = time.perf_counter()
        hits = context.parallelize(shares, partitions).map(lambda task: _hits(task[0], task[1], pause_s)).sum()
        time_s = time.perf_counter() - start
        job.result(work_s=time_s, throughput=samples / time_s, error=abs(4 * hits / samples - math.pi))


def _hits(seed: int, samples: int, pause_s: float) -> int:
    """How many of `samples` random points of the unit square fall into the quarter circle."""
    draw = random.Random(seed).random
    if pause_s:
        time.sleep(pause_s)
    return sum(draw() ** 2 + draw() ** 2 <= 1.0 for _ in range(samples))
