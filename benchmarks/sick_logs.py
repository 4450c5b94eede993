"""Make event logs of sick and of healthy applications by running them, to see whether `profile` names each illness.

    python benchmarks/sick_logs.py DIR [NAME ...] [--python PYTHON_WITH_PYSPARK]
    python benchmarks/sick_logs.py --check DIR

Every application is real and short (half a minute to two), runs in a process of its own, and is made to have one
illness. Of `PAIRS` there is a second one, NAME-cured, that does what the first finding of the other says; `--check`
prints both side by side. Tasks that must take a certain time sleep inside the JVM, so that the machine may be busy with
other things.
`--check` profiles them all and prints the first finding beside what it should be. Compression and layout vary.
"""

import argparse
import os
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import Any

CLUSTER = "local-cluster[2,2,1024]"
_ENVIRONMENT = {"SPARK_LOCAL_IP": "127.0.0.1"}
CODECS = ("zstd", "lz4", "snappy", "lzf", "none")


def skewed_join(spark: Any, _: Path) -> None:
    spark.conf.set("spark.sql.adaptive.enabled", "false")
    spark.conf.set("spark.sql.shuffle.partitions", "16")
    spark.conf.set("spark.sql.autoBroadcastJoinThreshold", "-1")
    orders = spark.range(0, 3_000_000, 1, 8).selectExpr("if(id % 10 < 8, 7, id % 5000) AS customer", "id AS amount")
    customers = spark.range(0, 5000, 1, 4).selectExpr("id AS customer", "repeat('x', 50) AS name")
    joined = orders.join(customers, "customer")
    joined.selectExpr("sum(length(sha2(concat(name, cast(amount AS string)), 512)))").collect()


def spilling_sort(spark: Any, _: Path) -> None:
    spark.conf.set("spark.sql.adaptive.enabled", "false")
    spark.conf.set("spark.sql.shuffle.partitions", "4")
    rows = spark.range(0, 4_000_000, 1, 8).selectExpr("hash(id) AS k", "repeat(cast(id AS string), 12) AS payload")
    rows.orderBy("k").write.format("noop").mode("overwrite").save()


def tiny_tasks(spark: Any, _: Path) -> None:
    spark.range(0, 10_000, 1, 10_000).selectExpr("id * 2").write.format("noop").mode("overwrite").save()


def sleeping_driver(spark: Any, _: Path) -> None:
    _sleep(spark, tasks=16, seconds=1)
    time.sleep(30)
    _sleep(spark, tasks=16, seconds=1)


def killed_executor(spark: Any, _: Path) -> None:
    threading.Timer(12, _kill_an_executor).start()
    _sleep(spark, tasks=32, seconds=4)


def few_tasks(spark: Any, _: Path) -> None:
    _sleep(spark, tasks=3, seconds=40)


def garbage(spark: Any, _: Path) -> None:
    """Millions of live objects in a heap that just holds them."""
    spark.conf.set("spark.sql.adaptive.enabled", "false")
    spark.conf.set("spark.sql.shuffle.partitions", "2")
    spark.conf.set("spark.sql.objectHashAggregate.sortBased.fallbackThreshold", "10000000")
    rows = spark.range(0, 3_400_000, 1, 4).selectExpr("id % 60000 AS k", "sha2(string(id), 256) AS text")
    grouped = rows.groupBy("k").agg({"text": "collect_list"}).toDF("k", "texts")
    grouped.selectExpr("sum(size(texts))").collect()


def small_files(spark: Any, scratch: Path) -> None:
    spark.read.text(str(scratch / "small")).selectExpr("sum(length(value))").collect()


def recomputed(spark: Any, scratch: Path) -> None:
    read = spark.read.text(str(scratch / "large"))
    rows = read.selectExpr("length(value) AS n", f"{_pause('if(length(value) = 0, 400, 0)')} AS p")
    for least in (1, 2, 3, 4):
        rows.where(f"n + p > {least}").count()


def failing_tasks(spark: Any, _: Path) -> None:
    def work(rows: Any) -> Any:
        from pyspark import TaskContext

        time.sleep(3)
        if TaskContext.get().partitionId() % 2 and TaskContext.get().attemptNumber() < 2:
            raise ValueError("a record is broken")
        return rows

    spark.sparkContext.parallelize(range(16), 16).mapPartitions(work).count()


def python_udf(spark: Any, _: Path) -> None:
    def slow(value: int) -> int:
        return sum(int(digit) for digit in str(value) * 60)

    from pyspark.sql.functions import udf

    rows = spark.range(0, 500_000, 1, 16)
    rows.select(udf(slow, "int")("id").alias("n")).write.format("noop").mode("overwrite").save()


def skewed_adaptively(spark: Any, _: Path) -> None:
    """Adaptive execution merges the small partitions; the large one stays."""
    rows = spark.range(0, 6_000_000, 1, 8).selectExpr(
        "if(id % 10 < 9, 7, id % 1000) AS k", "sha2(string(id), 256) AS v"
    )
    spark.conf.set("spark.sql.adaptive.advisoryPartitionSizeInBytes", "8m")
    rows.repartition(64, "k").selectExpr("max(sha2(sha2(sha2(v, 512), 512), 512))").collect()


def skewed_rdd(spark: Any, _: Path) -> None:
    def work(pair: Any) -> int:
        return sum(value % 7 for value in pair[1] for _again in range(800))

    pairs = spark.sparkContext.parallelize(range(400_000), 8).map(lambda i: (0 if i % 10 < 8 else i % 97, i))
    pairs.groupByKey(16).map(work).sum()


def straggler(spark: Any, _: Path) -> None:
    _sleep(spark, tasks=16, seconds=1)
    pause = _pause("if(id = 3, 25000, 1000)")
    spark.range(0, 16, 1, 16).selectExpr(f"id + {pause}").write.format("noop").mode("overwrite").save()


def spilling_local(spark: Any, _: Path) -> None:
    spark.conf.set("spark.sql.adaptive.enabled", "false")
    spark.conf.set("spark.sql.shuffle.partitions", "2")
    rows = spark.range(0, 6_000_000, 1, 8).selectExpr("hash(id) AS k", "sha2(string(id), 512) AS payload")
    rows.orderBy("k").write.format("noop").mode("overwrite").save()


def tiny_shuffle(spark: Any, _: Path) -> None:
    spark.conf.set("spark.sql.adaptive.enabled", "false")
    spark.conf.set("spark.sql.shuffle.partitions", "10000")
    rows = spark.range(0, 200_000, 1, 4).selectExpr("id * 7 % 100000 AS k")
    rows.groupBy("k").count().write.format("noop").mode("overwrite").save()


def sleeping_first(spark: Any, _: Path) -> None:
    time.sleep(25)
    _sleep(spark, tasks=16, seconds=1)


def collecting(spark: Any, _: Path) -> None:
    """The driver works on what it fetched."""
    for _again in range(3):
        rows = spark.range(0, 300_000, 1, 8).selectExpr("id % 100 AS k", "id AS v").collect()
        totals: dict[int, int] = {}
        for _pass in range(12):
            for row in rows:
                totals[row["k"]] = totals.get(row["k"], 0) + row["v"]


def recomputed_shuffle(spark: Any, _: Path) -> None:
    """Nothing is read: the same rows are made for each action."""
    spark.conf.set("spark.sql.shuffle.partitions", "8")
    rows = spark.range(0, 3_000_000, 1, 8).selectExpr("id % 100000 AS k", "sha2(sha2(string(id), 512), 512) AS text")
    grouped = rows.groupBy("k").agg({"text": "max"}).toDF("k", "text")
    for length in (1, 2, 3, 4):
        grouped.where(f"length(text) > {length}").selectExpr("count(k)", "max(text)").collect()


def unused_memory(spark: Any, _: Path) -> None:
    for _again in range(2):
        _sleep(spark, tasks=24, seconds=2)


def large_broadcast(spark: Any, _: Path) -> None:
    from pyspark.sql.functions import broadcast

    large = spark.range(0, 4_000_000, 1, 8).selectExpr("id", "sha2(string(id), 512) AS text")
    rows = spark.range(0, 1_000_000, 1, 8).selectExpr("id * 3 % 4000000 AS id")
    rows.join(broadcast(large), "id").selectExpr("max(text)").collect()


def healthy_local(spark: Any, _: Path) -> None:
    rows = spark.range(0, 12_000_000, 1, 24).selectExpr("id % 1000 AS k", "sha2(sha2(string(id), 512), 512) AS text")
    rows.groupBy("k").agg({"text": "max"}).write.format("noop").mode("overwrite").save()


def healthy_python(spark: Any, _: Path) -> None:
    """Functions of a library that works in Python workers, on as many partitions as are good."""

    def train(rows: Any) -> Any:
        time.sleep(2)
        yield sum(rows)

    data = spark.sparkContext.parallelize(range(24_000), 24).cache()
    for _epoch in range(2):
        data.mapPartitions(train).sum()


def healthy_stream(spark: Any, scratch: Path) -> None:
    rows = spark.readStream.format("rate").option("rowsPerSecond", 100).option("numPartitions", 4).load()
    counts = rows.selectExpr("value % 10 AS k").groupBy("k").count()
    told = counts.writeStream.format("noop").outputMode("complete")
    query = told.option("checkpointLocation", str(scratch / "state")).trigger(processingTime="5 seconds").start()
    query.awaitTermination(40)
    query.stop()


def late_executors(spark: Any, _: Path) -> None:
    _sleep(spark, tasks=32, seconds=1)


def healthy_stages(spark: Any, _: Path) -> None:
    for _again in range(3):
        _sleep(spark, tasks=16, seconds=3)


def healthy_query(spark: Any, _: Path) -> None:
    rows = spark.range(0, 2_000_000, 1, 16).selectExpr(
        "id % 1000 AS k", f"id + {_pause('int(id % 125000 = 0) * 1500')} AS v"
    )
    rows.groupBy("k").agg({"v": "sum"}).orderBy("k").write.format("noop").mode("overwrite").save()
    _sleep(spark, tasks=12, seconds=5)


def healthy_training(spark: Any, _: Path) -> None:
    """An iterative job that keeps its data in memory."""
    data = spark.range(0, 200, 1, 8).selectExpr("id % 10 AS x", "id AS y").cache()
    data.count()
    for _step in range(8):
        data.selectExpr("x", f"y + {_pause('int(y % 25 = 0) * 2500')} AS y").groupBy().avg("y").collect()


def nested_loop(spark: Any, scratch: Path) -> None:
    """Which of 450 periods a moment is in, found by comparing it with each."""
    _events(spark, 450).selectExpr("count(*)", "sum(name)").collect()


def nested_loop_cured(spark: Any, scratch: Path) -> None:
    """Equal buckets first, as many as there are periods."""
    _events(spark, 450, bucket="id div 5000 = low div 5000 AND ").selectExpr("count(*)", "sum(name)").collect()


def _events(spark: Any, n_periods: int, bucket: str = "") -> Any:
    periods = spark.range(0, n_periods, 1, 2).selectExpr("id AS name", "id * 5000 AS low", "id * 5000 + 4999 AS high")
    periods.createOrReplaceTempView("periods")
    spark.range(0, 5000 * n_periods, 1, 8).createOrReplaceTempView("events")
    return spark.sql(f"SELECT * FROM events JOIN periods ON {bucket}id >= low AND id <= high")


def missed_broadcast(spark: Any, scratch: Path) -> None:
    """A small side, where somebody has switched broadcasts off."""
    spark.conf.set("spark.sql.shuffle.partitions", "8")
    orders = spark.range(0, 12_000_000, 1, 8).selectExpr("id * 7919 % 50000 AS customer", "id AS amount")
    customers = spark.range(0, 50_000, 1, 2).selectExpr("id AS customer", "repeat('x', 40) AS name")
    joined = orders.join(customers, "customer")
    joined.selectExpr("sum(length(name))", "sum(amount)").collect()


def tiny_output(spark: Any, scratch: Path) -> None:
    days = spark.range(0, 400_000, 1, 16).selectExpr("id", "sha2(string(id), 256) AS text", "id * 7919 % 100 AS day")
    days.write.partitionBy("day").parquet(str(scratch / "out"))


def tiny_output_cured(spark: Any, scratch: Path) -> None:
    days = spark.range(0, 400_000, 1, 16).selectExpr("id", "sha2(string(id), 256) AS text", "id * 7919 % 100 AS day")
    days.repartition(2, "day").write.partitionBy("day").parquet(str(scratch / "out"))


def small_cache(spark: Any, scratch: Path) -> None:
    """Rows that are dear to make, and more than the memory for cached data holds."""
    from pyspark import StorageLevel

    rows = spark.range(0, 300_000, 1, 24).selectExpr("id", f"{_DEAR} AS text")
    kept = rows.persist(StorageLevel.MEMORY_ONLY)
    for least in range(3):
        kept.selectExpr(f"sum(if(length(text) > {least}, id, 0))").collect()


_DEAR = "concat_ws('-', " + ", ".join(f"sha2(concat(id, '{n}'), 512)" for n in range(6)) + ")"


def python_function(spark: Any, scratch: Path) -> None:
    """A function of plain Python that is called for each row."""
    from pyspark.sql.functions import udf

    def initials(text: str) -> str:
        return text[:2].upper()

    rows = spark.range(0, 1_500_000, 1, 8).selectExpr("sha2(string(id), 256) AS text")
    rows.select(udf(initials, "string")("text").alias("short")).groupBy("short").count().collect()


def missing_pushdown(spark: Any, scratch: Path) -> None:
    """A filter on a column that is cast, so that Parquet cannot skip what does not match."""
    _read_events(spark, scratch).where("cast(id AS string) = '1234567'").selectExpr("max(text)").collect()


def missing_pushdown_cured(spark: Any, scratch: Path) -> None:
    _read_events(spark, scratch).where("id = 1234567").selectExpr("max(text)").collect()


def _read_events(spark: Any, scratch: Path) -> Any:
    """Written by another application, once for all."""
    return spark.read.parquet(str(scratch.parent / "sparkcast-sick-events"))


def toy(spark: Any, _: Path) -> None:
    """Nothing to gain: all over in seconds."""
    spark.range(0, 1000, 1, 4).selectExpr("sum(id)").collect()


def _pause(milliseconds: str) -> str:
    """SQL that sleeps so long in the JVM; its value is 0."""
    return f"int(isnull(reflect('java.lang.Thread', 'sleep', bigint({milliseconds}))))"


def _sleep(spark: Any, *, tasks: int, seconds: float) -> None:
    pause = _pause(str(round(seconds * 1000)))
    spark.range(0, tasks, 1, tasks).selectExpr(f"id + {pause}").write.format("noop").mode("overwrite").save()


def _kill_an_executor() -> None:
    import psutil

    for process in psutil.Process().children(recursive=True):
        with suppress(psutil.Error):  # it has ended meanwhile
            if "CoarseGrainedExecutorBackend" in " ".join(process.cmdline()):
                process.kill()
                return
    raise RuntimeError("there is no executor to kill")


_THRESHOLD = "spark.sql.autoBroadcastJoinThreshold"
Make = Callable[[Any, Path], None]
# Name: what makes it, the first finding it should have (none for healthy ones), the master, settings.
LOGS: dict[str, tuple[Make, str, str, dict[str, str]]] = {
    "skewed-join": (skewed_join, "skew", "local[4]", {}),
    "spilling-sort": (spilling_sort, "spill", CLUSTER, {"spark.memory.fraction": "0.1"}),
    "tiny-tasks": (tiny_tasks, "small-partitions", CLUSTER, {}),
    "sleeping-driver": (sleeping_driver, "driver-bound", CLUSTER, {}),
    "killed-executor": (killed_executor, "executor-lost", CLUSTER, {}),
    "few-tasks": (few_tasks, "few-tasks", "local-cluster[2,4,1024]", {}),
    "garbage": (garbage, "gc-pressure", "local[2]", {"spark.driver.memory": "700m"}),
    "small-files": (small_files, "small-files", "local[4]", {"spark.sql.files.openCostInBytes": "65536"}),
    "recomputed": (recomputed, "repeated-stages", CLUSTER, {"spark.sql.files.maxPartitionBytes": "400k"}),
    "failing-tasks": (failing_tasks, "failed-tasks", CLUSTER, {}),
    "python-udf": (python_udf, "python-workers", CLUSTER, {}),
    "late-executors": (
        late_executors,
        "slow-start",
        CLUSTER,
        {
            "spark.dynamicAllocation.enabled": "true",
            "spark.dynamicAllocation.shuffleTracking.enabled": "true",
            "spark.dynamicAllocation.minExecutors": "0",
            "spark.dynamicAllocation.schedulerBacklogTimeout": "40s",
        },
    ),
    "skewed-adaptively": (skewed_adaptively, "skew", "local[4]", {}),
    "skewed-rdd": (skewed_rdd, "skew", "local[2]", {}),
    "straggler": (straggler, "slow-tasks", CLUSTER, {}),
    "spilling-local": (spilling_local, "spill", "local[2]", {"spark.driver.memory": "600m"}),
    "tiny-shuffle": (tiny_shuffle, "small-partitions", "local[2]", {}),
    "sleeping-first": (sleeping_first, "driver-bound", "local[4]", {}),
    "collecting": (collecting, "driver-bound", "local[2]", {"spark.driver.memory": "2g"}),
    "recomputed-shuffle": (recomputed_shuffle, "repeated-stages", "local[2]", {}),
    "unused-memory": (
        unused_memory,
        "unused-memory",
        "local-cluster[2,1,6144]",
        {"spark.executor.memory": "6g", "spark.executor.heartbeatInterval": "5s"},
    ),
    "large-broadcast": (large_broadcast, "large-broadcast", "local[2]", {"spark.driver.memory": "4g"}),
    "healthy-local": (healthy_local, "", "local[2]", {}),
    "healthy-python": (healthy_python, "", "local[4]", {}),
    "healthy-stream": (healthy_stream, "", "local[4]", {"spark.sql.shuffle.partitions": "4"}),
    "healthy-stages": (healthy_stages, "", CLUSTER, {}),
    "healthy-query": (healthy_query, "", "local[4]", {"spark.sql.shuffle.partitions": "8"}),
    "healthy-training": (healthy_training, "", CLUSTER, {"spark.sql.shuffle.partitions": "4"}),
    "toy": (toy, "", "local[2]", {}),
    "nested-loop": (nested_loop, "nested-loop-join", "local[2]", {}),
    "nested-loop-cured": (nested_loop_cured, "", "local[2]", {}),
    "missed-broadcast": (missed_broadcast, "missed-broadcast", "local[2]", {_THRESHOLD: "-1"}),
    "missed-broadcast-cured": (missed_broadcast, "", "local[2]", {_THRESHOLD: "10m"}),
    "tiny-output": (tiny_output, "tiny-output", "local[2]", {}),
    "tiny-output-cured": (tiny_output_cured, "", "local[2]", {}),
    "small-cache": (small_cache, "small-cache", "local[2]", {"spark.driver.memory": "500m"}),
    "small-cache-cured": (small_cache, "", "local[2]", {"spark.driver.memory": "780m"}),
    "python-function": (python_function, "python-workers", "local[2]", {}),
    "python-function-cured": (python_function, "", "local[2]", {"spark.sql.execution.pythonUDF.arrow.enabled": "true"}),
    "missing-pushdown": (missing_pushdown, "unpushed-filter", "local[2]", {}),
    "missing-pushdown-cured": (missing_pushdown_cured, "", "local[2]", {}),
}
PAIRS = tuple(name for name in LOGS if f"{name}-cured" in LOGS)


def run(name: str, folder: Path) -> None:
    """Inside the process of the application."""
    from pyspark.sql import SparkSession

    make, _, master, settings = LOGS[name]
    codec = CODECS[[*LOGS].index(name) % len(CODECS)]
    builder = SparkSession.builder.master(master).appName(name).config("spark.ui.enabled", "false")
    told = {
        "spark.eventLog.enabled": "true",
        "spark.eventLog.dir": folder.resolve().as_uri(),
        "spark.eventLog.compress": str(codec != "none").lower(),
        "spark.eventLog.compression.codec": codec if codec != "none" else "zstd",
        "spark.executor.memory": "1g",
        "spark.driver.host": "127.0.0.1",
    }
    if name.removesuffix("-cured") in PAIRS:  # or starting Spark would take longer than the illness
        told["spark.driver.extraJavaOptions"] = "-XX:TieredStopAtLevel=1 -XX:+UseSerialGC"
    for key, value in (told | settings).items():
        builder = builder.config(key, value)
    with tempfile.TemporaryDirectory() as scratch:
        _write_files(Path(scratch), name)
        spark = builder.getOrCreate()
        try:
            make(spark, Path(scratch))
        finally:
            spark.stop()


def _write_files(scratch: Path, name: str) -> None:
    if name == "small-files":
        (scratch / "small").mkdir()
        for number in range(4000):
            (scratch / "small" / f"{number}.txt").write_text(f"{number}\n" * 50)
    if name.startswith("missing-pushdown") and not (scratch.parent / "sparkcast-sick-events").exists():
        _write_events(scratch.parent / "sparkcast-sick-events")
    if name == "recomputed":
        (scratch / "large").mkdir()
        for number in range(8):
            (scratch / "large" / f"{number}.txt").write_text(("some text of a line\n" * 4000 + "\n") * 4)


def _write_events(folder: Path) -> None:
    """A large table in a file for each part of it, ordered as events are."""
    import numpy as np
    import pyarrow as pa
    import pyarrow.parquet as pq

    draw = np.random.default_rng(1)
    folder.mkdir()
    for part in range(8):
        numbers = np.arange(part * 5_000_000, (part + 1) * 5_000_000)
        columns = {"id": numbers, "text": draw.integers(0, 10**9, len(numbers)).astype(str)}
        pq.write_table(pa.table(columns), folder / f"part-{part}.parquet", row_group_size=200_000)


def check(folder: Path) -> None:
    from sparkcast.eventlogs import find_logs, read_log
    from sparkcast.profile import profile_log

    found = {}
    for log in find_logs(folder):
        read = read_log(log)
        if not read.was_read or log.is_in_progress:
            continue
        one = profile_log(read)
        found[one.name] = one, read
        told = [f"{each.name} ({each.cost_s:.0f} s)" for each in one.findings]
        expected = LOGS[one.name][1] if one.name in LOGS else "?"
        is_right = (one.findings[0].name if one.findings else "") == expected
        print(
            f"{'ok   ' if is_right else 'WRONG'} {one.name:16} Spark {one.spark_version} {one.wall_s:6.1f} s, "
            f"adds up within {_gap(one):.1e}, expected {expected or 'none'}; found {', '.join(told) or 'none'}"
        )
    for name in PAIRS:
        if name in found and f"{name}-cured" in found:
            _compare(name, found[name], found[f"{name}-cured"])


def _gap(one: Any) -> float:
    """How far parts, and queries with what is outside of them, are from the wall time."""
    queries = sum(query.wall_s for query in one.queries.queries) + one.queries.outside_s
    return float(max(abs(sum(one.parts.values()) / one.wall_s - 1), abs(queries / one.wall_s - 1)))


def _compare(name: str, sick: Any, cured: Any) -> None:
    """Before and after the first finding about an operator was followed. CPU time hardly depends on other work."""
    finding = next((each for each in sick[0].findings if each.operator), None)
    if finding is not None:
        place = sick[0].findings.index(finding) + 1
        print(f"\n{name}: finding {place}, {finding.name}, {finding.cost_s:.1f} s: {finding.operator}\n  {finding.fix}")
    for what, (one, read) in (("before", sick), ("after", cured)):
        in_queries = sum(query.wall_s for query in one.queries.queries)
        print(
            f"  {what:6} in queries {in_queries:6.1f} s; tasks ran {read.tasks.total('run_ms') / 1e3:6.1f} s, "
            f"CPU {read.tasks.total('cpu_ns') / 1e9:5.1f} s; of all {one.wall_s:.1f} s"
        )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", type=Path)
    parser.add_argument("names", nargs="*", help="all unless given")
    parser.add_argument("--python", default=sys.executable, help="whose pyspark to use")
    parser.add_argument("--check", action="store_true")
    parser.add_argument("--run", help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.check:
        check(options.folder)
    elif options.run:
        run(options.run, options.folder)
    else:
        options.folder.mkdir(parents=True, exist_ok=True)
        for name in options.names or LOGS:
            command = [options.python, __file__, str(options.folder), "--run", name]
            done = subprocess.run(
                command, env={**os.environ, **_ENVIRONMENT, "PYSPARK_PYTHON": options.python}, check=False
            )
            print(name, "ok" if done.returncode == 0 else f"exit code {done.returncode}", flush=True)


if __name__ == "__main__":
    main()
