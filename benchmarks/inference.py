"""Images per second of `cnn-inference` on one executor, beside the same network in a plain Python loop.

    python benchmarks/inference.py [--network mobilenet-v2] [--image-size 224] [--images 400] [--cores 1] [--rounds 5]

One executor with so many cores has a replica of one thread on each core; the loop has one network with as many threads,
over the same files and in batches of the same size. Both are loaded and warm before the first round, and run in turn,
so that other work on the machine slows them alike. CPU time is told for Python processes alone and with the JVMs of
executor and driver, whose just-in-time compilers are busy in the first rounds.
"""

import argparse
import os
import sys
import tempfile
import time
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from statistics import median
from typing import Any

import psutil

from sparkcast.engines._java import find_java
from sparkcast.workloads import WORKLOADS, complete
from sparkcast.workloads.driver import DriverJob, Report
from sparkcast_papers.workloads._cnn_jobs import InferenceJobs
from sparkcast_papers.workloads._cnn_replica import NETWORKS, Replica, load_replica
from sparkcast_papers.workloads._images import decode_jpeg, generate_images

BAR = 0.9


@dataclass(frozen=True)
class Took:
    wall_s: float
    python_s: float  # CPU time
    java_s: float


def loop(replica: Replica, files: list[Path], *, side: int, batch_size: int) -> list[int]:
    """What one would write without Spark."""
    import numpy as np

    labels: list[int] = []
    for start in range(0, len(files), batch_size):
        pictures = [decode_jpeg(file.read_bytes(), side) for file in files[start : start + batch_size]]
        logits = replica.predict(replica.prepare(np.stack(pictures).astype(np.float32)))
        labels += logits.argmax(axis=1).tolist()
    return labels


def timed(work: Callable[[], Any]) -> tuple[Any, Took]:
    python, java, wall = *_cpu_s(), time.perf_counter()
    result = work()
    took_s = time.perf_counter() - wall
    python_then, java_then = _cpu_s()
    return result, Took(took_s, python_then - python, java_then - java)


def _cpu_s() -> tuple[float, float]:
    """CPU time of this process and of all that it started: those of Python, and the JVMs of driver and executor."""
    python = java = 0.0
    own = psutil.Process()
    for process in (own, *own.children(recursive=True)):
        with suppress(psutil.Error):  # it has just ended
            times, is_java = process.cpu_times(), process.name() == "java"
            python += 0.0 if is_java else times.user + times.system
            java += times.user + times.system if is_java else 0.0
    return python, java


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--network", default="mobilenet-v2", choices=tuple(NETWORKS))
    parser.add_argument("--image-size", type=int, default=224)
    parser.add_argument("--images", type=int, default=400)
    parser.add_argument("--partition-size", type=int, default=20)
    parser.add_argument("--batch-size", type=int, default=8)
    parser.add_argument("--cores", type=int, default=1)
    parser.add_argument("--rounds", type=int, default=5)
    given = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        measure(given, Path(folder))


def measure(given: argparse.Namespace, folder: Path) -> None:
    workload = WORKLOADS.get("cnn-inference")()
    named = ("network", "image_size", "images", "partition_size", "batch_size", "cores")
    settings = complete(workload, {name: getattr(given, name) for name in named} | {"memory": "4g"})
    workload.check(settings)
    images = generate_images(folder, count=given.images, side=int(settings["photo_size"]), seed=1)
    files = [str(path) for path in images.paths()]
    conf = {
        "spark.master": f"local-cluster[1,{given.cores},4096]",  # an executor of its own, started by Spark
        "spark.executor.memory": "4g",
        "spark.executor.cores": str(given.cores),
        "spark.scheduler.minRegisteredResourcesRatio": "1.0",
        "spark.ui.enabled": "false",
        "spark.ui.showConsoleProgress": "false",
        **workload.spark_conf(settings),
    }
    os.environ |= {
        "JAVA_HOME": str(find_java("3.5").home),
        "PYSPARK_PYTHON": sys.executable,
        "SPARK_LOCAL_IP": "127.0.0.1",
        "PYSPARK_SUBMIT_ARGS": " ".join(f"--conf {name}='{value}'" for name, value in conf.items()) + " pyspark-shell",
    }
    with Report(folder / "report.jsonl") as report:
        job = DriverJob(settings, folder, report)
        try:
            compare(job.spark_context(), settings, files, given)
        finally:
            job.stop()


def compare(context: Any, settings: Any, files: list[str], given: argparse.Namespace) -> None:
    from pyspark.sql import SparkSession

    context.setLogLevel("ERROR")
    jobs = InferenceJobs(SparkSession(context), settings, files)
    jobs.load_replicas()
    network, size = NETWORKS[given.network], {"side": given.image_size, "batch_size": given.batch_size}
    replica = load_replica(network.name, network.module, **size, threads=given.cores, seed=int(settings["seed"]))
    paths = [Path(file) for file in files]
    loop(replica, paths[: given.batch_size], **size)
    jobs.predict()
    spark, plain = list[Took](), list[Took]()
    for number in range(given.rounds):
        rows, took = timed(jobs.predict)
        labels, took_plain = timed(lambda: loop(replica, paths, **size))
        found = [label for row in sorted(rows, key=lambda row: row.partition) for label in row.labels]
        same = sum(a == b for a, b in zip(found, labels, strict=True))
        spark.append(took)
        plain.append(took_plain)
        print(
            f"round {number + 1}: executor {len(files) / took.wall_s:6.1f} images/s, loop "
            f"{len(files) / took_plain.wall_s:6.1f}; same class for {same} of {len(files)}"
        )
    show("wall", [p.wall_s / s.wall_s for s, p in zip(spark, plain, strict=True)])
    show("CPU (Python)", [p.python_s / s.python_s for s, p in zip(spark, plain, strict=True)])
    all_of_it = [(p.python_s + p.java_s) / (s.python_s + s.java_s) for s, p in zip(spark, plain, strict=True)]
    show("CPU (with JVMs)", all_of_it)


def show(name: str, ratios: list[float]) -> None:
    each = " ".join(f"{ratio:.0%}" for ratio in sorted(ratios))
    print(
        f"{name} time: the executor's images/s are {median(ratios):.1%} of the loop's (bar {BAR:.0%}); rounds: {each}"
    )


if __name__ == "__main__":
    main()
