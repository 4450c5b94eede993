"""The applications behind `whatif.py`, each run for real on executors of its own, or on as many threads.

Tasks that wait sleep inside the JVM: they need slots, not cores, so that two cores can carry sixteen executors.
Starting executors is what takes the machine's time, so an application repeats its jobs; these are told apart by their
descriptions ("loop 2"), and begin when all executors are there and warm.
"""

import os
import random
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

WARM_UP = "warm up"
_COMMON = {
    "spark.ui.enabled": "false",
    "spark.driver.host": "127.0.0.1",
    "spark.executor.memory": "512m",
    "spark.driver.memory": "1g",
    "spark.eventLog.enabled": "true",
    "spark.eventLog.compress": "true",
    "spark.eventLog.compression.codec": "zstd",
    "spark.executor.extraJavaOptions": "-XX:TieredStopAtLevel=1 -XX:+UseSerialGC",
    "spark.driver.extraJavaOptions": "-XX:TieredStopAtLevel=1 -XX:+UseSerialGC",
    "spark.sql.adaptive.enabled": "false",
    "spark.sql.autoBroadcastJoinThreshold": "-1",
}


def pause(milliseconds: str) -> str:
    """SQL that sleeps so long in the JVM; its value is 0."""
    return f"int(isnull(reflect('java.lang.Thread', 'sleep', bigint({milliseconds}))))"


def waits(spark: Any, repeat: int, scale: int) -> None:
    """Three jobs of several stages: a pipeline, a loop with a working driver, a skewed join of two branches.

    `scale` stretches the tasks: on a busy machine noise is a smaller part of long ones.
    """
    spark.conf.set("spark.sql.shuffle.partitions", "12")
    _say(spark, f"pipeline {repeat}")
    first = spark.range(0, 48, 1, 48).selectExpr(f"id + {pause(f'{scale} * (200 + (id * 37 % 48) * 15)')} AS id")
    _write(first.repartition(24).selectExpr(f"id + {pause(str(250 * scale))}"))
    time.sleep(1)
    _say(spark, f"loop {repeat}")
    for _ in range(5):
        spark.range(0, 24, 1, 24).selectExpr(f"id + {pause(str(300 * scale))} AS id").selectExpr("sum(id)").collect()
        time.sleep(0.5)
    _say(spark, f"join {repeat}")
    left = spark.range(0, 20, 1, 20).selectExpr(f"id % 12 + {pause(str(600 * scale))} AS k", "id AS x")
    right = spark.range(0, 12, 1, 10).selectExpr(f"id + {pause(str(700 * scale))} AS k", "id AS y")
    _write(left.join(right, "k").selectExpr(f"x + y + {pause(f'{scale} * (200 + 1000 * int(k = 3))')}"))


def computes(spark: Any, repeat: int, scale: int) -> None:
    """Bound by the CPU, with few large and many small partitions."""
    for partitions in (8, 24):
        _say(spark, f"hash-{partitions} {repeat}")
        rows = spark.range(0, 3_600_000, 1, partitions).selectExpr("sha2(sha2(string(id), 512), 512) AS text")
        spark.conf.set("spark.sql.shuffle.partitions", str(partitions))
        _write(rows.groupBy(rows.text.substr(1, 3)).count())


def follows(spark: Any, repeat: int, scale: int) -> None:
    """As many tasks as cores: nobody said how many partitions there should be."""
    _say(spark, f"follows {repeat}")
    for _ in range(2):
        spark.range(0, 96).selectExpr(f"id + {pause('100')} AS id").selectExpr("sum(id)").collect()


def counts(spark: Any, repeat: int, scale: int) -> None:
    """What sets numbers of tasks: cores, settings, files of all kinds, and AQE. Each job is of a kind of its own."""
    context = spark.sparkContext
    with tempfile.TemporaryDirectory() as folder:
        _say(spark, WARM_UP)
        rows = spark.range(0, 400_000, 1, 1).selectExpr("id", "id % 1000 AS k", "sha2(string(id), 256) AS text")
        for name, n in (("one", 1), ("four", 4), ("forty", 40)):
            rows.repartition(n).write.parquet(f"{folder}/{name}")
        rows.repartition(3).write.csv(f"{folder}/csv")
        four, one = (spark.read.parquet(f"{folder}/{name}") for name in ("four", "one"))
        csv = spark.read.schema("id long, k long, text string").csv(f"{folder}/csv")
        pairs = context.parallelize(range(100)).map(lambda n: (n % 5, 1))
        kinds: dict[str, Callable[[], Any]] = {
            "range": lambda: spark.range(0, 1000).selectExpr("sum(id)").collect(),
            "range set": lambda: spark.range(0, 1000, 1, 4).selectExpr("sum(id)").collect(),
            "parallelize": lambda: context.parallelize(range(100)).count(),
            "reduce": lambda: pairs.reduceByKey(max).collect(),
            "text": lambda: context.textFile(f"{folder}/csv").count(),
            "csv": lambda: _write(csv),
            "four files": lambda: _write(four),
            "one file": lambda: _write(one),
            "one column": lambda: one.selectExpr("sum(id)").collect(),
            "forty files": lambda: _write(spark.read.parquet(f"{folder}/forty")),
            "group": lambda: _write(four.groupBy("text").count()),
            "join": lambda: _write(four.hint("merge").join(one, "id")),
            "sort": lambda: _write(four.orderBy("text")),
            "window": lambda: _write(four.selectExpr("row_number() OVER (PARTITION BY k ORDER BY text)")),
            "repartition": lambda: _write(four.repartition(6)),
        }
        spark.conf.set("spark.sql.adaptive.enabled", "true")
        for kind, act in kinds.items():
            _say(spark, f"{kind} {repeat}")
            act()
        spark.conf.set("spark.sql.adaptive.enabled", "false")
        spark.conf.set("spark.sql.shuffle.partitions", "24")
        _say(spark, f"partitions {repeat}")
        _write(four.groupBy("id").count())


def scans(spark: Any, repeat: int, scale: int) -> None:
    """Reads files, one a task, and joins them with a small table that is broadcast until it has grown too large."""
    spark.conf.set("spark.sql.shuffle.partitions", "8")
    spark.conf.set("spark.sql.files.maxPartitionBytes", "1m")
    spark.conf.set("spark.sql.files.openCostInBytes", "1m")
    with tempfile.TemporaryDirectory() as folder:
        _say(spark, WARM_UP)
        rows = spark.range(0, 240 * scale, 1, 12 * scale).selectExpr("id AS k", "id AS x")
        rows.write.parquet(f"{folder}/facts")
        small = spark.range(0, 4000 * scale, 1, 1).selectExpr("id AS k", "sha2(string(id), 256) AS text")
        small.write.parquet(f"{folder}/small")
        facts, small = spark.read.parquet(f"{folder}/facts"), spark.read.parquet(f"{folder}/small")
        _say(spark, f"aggregate {repeat}")
        slept = facts.selectExpr("k % 64 AS g", f"x + {pause('25')} AS x")
        _write(slept.repartition("g").selectExpr(f"x + {pause('20')}"))
        _say(spark, f"broadcast {repeat}")
        spark.conf.set("spark.sql.autoBroadcastJoinThreshold", "30k")  # `facts` has 10k, 21k and 42k
        joined = facts.selectExpr("k", f"x + {pause('25')} AS x").join(small, "k")
        _write(joined)


def barriers(spark: Any, repeat: int, scale: int) -> None:
    """Stages whose tasks start together, beside others."""
    context = spark.sparkContext
    _say(spark, f"barriers {repeat}")
    for _ in range(3):
        context.parallelize(range(2), 2).barrier().mapPartitions(_sleep_a_second).count()
        context.parallelize(range(12), 12).mapPartitions(_sleep_a_second).count()


def learns(spark: Any, repeat: int, scale: int) -> None:
    """An iterative algorithm of MLlib on cached data."""
    from pyspark.ml.clustering import KMeans
    from pyspark.ml.feature import VectorAssembler

    _say(spark, f"k-means {repeat}")
    rows = spark.range(0, 60_000, 1, 8).selectExpr("rand(1) AS a", "rand(2) AS b", "rand(3) AS c")
    points = VectorAssembler(inputCols=["a", "b", "c"], outputCol="features").transform(rows).cache()
    points.count()
    KMeans(k=4, maxIter=8, seed=1).fit(points)
    points.unpersist()


def caches(spark: Any, repeat: int, scale: int) -> None:
    """A loop over cached partitions, which holds its tasks where they are."""
    rows = spark.range(0, 12, 1, 12).selectExpr(f"id + {pause('300')} AS id").cache()
    _say(spark, f"cached {repeat}")
    rows.count()
    for _ in range(4):
        rows.selectExpr(f"sum(id + {pause('400 + id * 20')})").collect()
    rows.unpersist()


def fails(spark: Any, repeat: int, scale: int) -> None:
    """Every third task fails once."""
    _say(spark, f"fails {repeat}")
    for _ in range(2):
        spark.sparkContext.parallelize(range(12), 12).mapPartitions(_fail_once).count()


def allocates(spark: Any, repeat: int, scale: int) -> None:
    """Dynamic allocation: executors come for the long stage, and go before the second one."""
    _say(spark, f"allocates {repeat}")
    _write(spark.range(0, 16, 1, 16).selectExpr(f"id + {pause('3000')}"))
    time.sleep(20)
    _write(spark.range(0, 8, 1, 8).selectExpr(f"id + {pause('3000')}"))


def profiles(spark: Any, repeat: int, scale: int) -> None:
    """Two stages, each on executors of its own resource profile."""
    from pyspark.resource import ExecutorResourceRequests, ResourceProfileBuilder, TaskResourceRequests

    builder = ResourceProfileBuilder()
    builder.require(ExecutorResourceRequests().cores(1).memory("450m")).require(TaskResourceRequests().cpus(1))
    _say(spark, f"profiles {repeat}")
    rows = spark.sparkContext.parallelize(range(8), 8).mapPartitions(_sleep_a_second).repartition(6)
    rows.withResources(builder.build).mapPartitions(_sleep_a_second).count()


def _fail_once(rows: Any) -> list[int]:
    from pyspark import TaskContext

    time.sleep(1)
    context = TaskContext.get()
    if context is not None and context.partitionId() % 3 == 0 and context.attemptNumber() == 0:
        raise ValueError("the first attempt fails")
    return [len(list(rows))]


def _sleep_a_second(rows: Any) -> list[int]:
    time.sleep(1)
    return [len(list(rows))]


JOBS: dict[str, Callable[[Any, int, int], None]] = {
    "waits": waits,
    "computes": computes,
    "follows": follows,
    "scans": scans,
    "barriers": barriers,
    "learns": learns,
    "counts": counts,
    "caches": caches,
    "fails": fails,
    "allocates": allocates,
    "profiles": profiles,
}
_DYNAMIC = {
    "spark.dynamicAllocation.enabled": "true",
    "spark.dynamicAllocation.shuffleTracking.enabled": "true",
    "spark.dynamicAllocation.shuffleTracking.timeout": "5s",
    "spark.dynamicAllocation.executorIdleTimeout": "5s",
    "spark.dynamicAllocation.minExecutors": "1",
}
_SETTINGS = {"allocates": _DYNAMIC, "profiles": _DYNAMIC}
# Job: executors x cores, and how many times as much data.
SHAPES: dict[str, tuple[tuple[int, int, int], ...]] = {
    "waits": tuple((n, c, 1) for n, c in ((1, 1), (2, 1), (1, 2), (4, 1), (2, 2), (8, 1), (4, 2), (16, 1), (16, 2))),
    "computes": ((1, 1, 1), (2, 1, 1), (1, 2, 1)),
    "follows": ((2, 1, 1), (2, 2, 1), (6, 1, 1), (5, 2, 1)),
    "scans": ((2, 2, 1), (2, 2, 2), (2, 2, 4)),
    "barriers": ((2, 2, 1),),  # for --self
    "learns": ((2, 1, 1),),
    "counts": ((2, 1, 1), (4, 1, 1), (8, 1, 1)),
    "caches": ((2, 2, 1),),
    "fails": ((2, 2, 1),),
    "allocates": ((3, 1, 1),),
    "profiles": ((4, 1, 1),),
}


def run_one(job: str, executors: int, cores: int, scale: int, repeats: int, is_local: int, folder: Path) -> None:
    """Inside the process of the application."""
    from pyspark.sql import SparkSession

    name = f"{job}-{executors}x{cores}-{scale}"
    slots = executors * cores
    master = f"local[{slots},4]" if is_local else f"local-cluster[{executors},{cores},640]"
    builder = SparkSession.builder.master(master).appName(name)
    told = {"spark.eventLog.dir": folder.resolve().as_uri(), "spark.executor.cores": str(cores)}
    for key, value in (_COMMON | told | {"spark.cores.max": str(slots)} | _SETTINGS.get(job, {})).items():
        builder = builder.config(key, value)
    spark = builder.getOrCreate()
    try:
        if job not in _SETTINGS:  # where executors come when they are wanted, nobody waits for them
            _warm_up(spark, 0 if is_local else executors, slots)
        for repeat in range(1, repeats + 1):
            JOBS[job](spark, repeat, scale)
    finally:
        spark.stop()


def run_all(folder: Path, jobs: list[str], repeats: int, python: str, *, is_local: bool, stretch: int = 1) -> None:
    """Every shape of every job, in random order."""
    folder.mkdir(parents=True, exist_ok=True)
    todo = [
        (job, executors, cores, scale * (stretch if job == "waits" else 1))
        for job in jobs
        for executors, cores, scale in SHAPES[job]
    ]
    random.Random(1).shuffle(todo)
    with tempfile.TemporaryDirectory() as home:
        environment = {**os.environ, "SPARK_HOME": _spark_in(Path(home), python), "SPARK_LOCAL_IP": "127.0.0.1"}
        for job, executors, cores, scale in todo:
            words = [job, str(executors), str(cores), str(scale), str(repeats), str(int(is_local)), str(folder)]
            begun = time.perf_counter()
            command = [python, __file__, *words]
            done = subprocess.run(command, check=False, capture_output=True, text=True, env=environment)
            result = "ok" if done.returncode == 0 else f"failed: {done.stderr[-500:]}"
            print(*words[:-1], result, f"{time.perf_counter() - begun:.0f} s", flush=True)


def _spark_in(home: Path, python: str) -> str:
    """Workers write into Spark's own folder: give them one that goes away."""
    told = [python, "-c", "import pyspark; print(pyspark.__path__[0])"]
    spark = Path(subprocess.run(told, check=True, capture_output=True, text=True).stdout.strip())
    for part in spark.iterdir():
        if part.name != "work":
            (home / part.name).symlink_to(part)
    return str(home)


def _warm_up(spark: Any, executors: int, slots: int) -> None:
    context = spark.sparkContext._jsc.sc()
    until = time.monotonic() + 120
    while context.getExecutorMemoryStatus().size() < executors + 1 and time.monotonic() < until:
        time.sleep(0.2)
    _say(spark, WARM_UP)
    for _ in range(2):
        rows = spark.range(0, 2 * slots, 1, 2 * slots).selectExpr(f"id + {pause('300')} AS id")
        _write(rows.repartition(2 * slots).selectExpr(f"sha2(string(id + {pause('200')}), 256)"))
    time.sleep(1)


def _say(spark: Any, description: str) -> None:
    spark.sparkContext.setJobDescription(description)


def _write(rows: Any) -> None:
    rows.write.format("noop").mode("overwrite").save()


if __name__ == "__main__":
    _job, _executors, _cores, _scale, _repeats, _is_local, _folder = sys.argv[1:]
    run_one(_job, int(_executors), int(_cores), int(_scale), int(_repeats), int(_is_local), Path(_folder))
