"""Two recurring jobs, submitted again and again by `recurring.py`: their input varies, and one day a setting changes.

    spark-submit _recurring_jobs.py data|orders|scores DATA PARTS

DATA holds numbered folders of Parquet files; a run reads the first PARTS of them. Tasks mostly sleep inside the JVM,
for each row or group: they need slots, not cores, so that runs on a busy machine can be compared.
"""

import sys
from typing import Any

from _whatif_jobs import pause

_ROWS = 1500  # of a folder, each a millisecond


def make_data(spark: Any, folder: str, parts: int) -> None:
    for part in range(parts):
        rows = spark.range(part * _ROWS, (part + 1) * _ROWS, 1, 2)
        rows = rows.selectExpr("id", "id % 50 AS customer", "rand(1) AS a", "sha2(string(id), 512) AS text")
        rows.write.mode("overwrite").parquet(f"{folder}/{part:02d}")


def orders(spark: Any, paths: list[str]) -> None:
    """One scan that takes most of the time, and a shuffle. Files that are packed into one task leave a slot idle."""
    rows = spark.read.parquet(*paths).selectExpr("customer", "text", f"a + {pause('1')} AS a")
    rows.groupBy("customer").agg({"a": "max", "text": "max"}).write.format("noop").mode("overwrite").save()


def scores(spark: Any, paths: list[str]) -> None:
    """Eight rounds over cached rows. Groups that are shuffled into one partition leave a slot idle."""
    rows = spark.read.parquet(*paths).select("customer", "a").cache()
    rows.count()
    for _ in range(8):
        sums = rows.groupBy("customer").agg({"a": "sum"}).withColumnRenamed("sum(a)", "a")
        sums.selectExpr(f"a + {pause(str(6 * len(paths)))} AS a").selectExpr("sum(a)").collect()


def main() -> None:
    from pyspark.sql import SparkSession

    what, folder, parts = sys.argv[1], sys.argv[2], int(sys.argv[3])
    spark = SparkSession.builder.getOrCreate()
    if what == "data":
        make_data(spark, folder, parts)
    else:
        {"orders": orders, "scores": scores}[what](spark, [f"{folder}/{part:02d}" for part in range(parts)])
    spark.stop()


if __name__ == "__main__":
    main()
