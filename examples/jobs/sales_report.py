"""A job as people have them: what was sold, by product and region. It knows nothing of sparkcast.

spark-submit --master 'local-cluster[2,1,1024]' --conf spark.default.parallelism=8 \
    --conf spark.eventLog.enabled=true --conf spark.eventLog.dir=/tmp/spark-events \
    sales_report.py --rows 4000000
"""

import argparse

from pyspark.sql import SparkSession
from pyspark.sql import functions as F

N_PRODUCTS, N_REGIONS = 1000, 12


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--rows", type=int, required=True)
    given = parser.parse_args()

    spark = SparkSession.builder.appName("sales-report").getOrCreate()
    # A customer's name is known by its hash alone; the first letters of it make the region.
    sales = spark.range(given.rows).select(
        (F.col("id") % N_PRODUCTS).alias("product"),
        (F.conv(F.substring(F.sha2(F.col("id").cast("string"), 256), 1, 4), 16, 10) % N_REGIONS).alias("region"),
        (F.rand(7) * 100).alias("amount"),
    )
    report = sales.groupBy("product", "region").agg(
        F.count("*").alias("sold"), F.sum("amount").alias("revenue"), F.stddev("amount").alias("spread")
    )
    for row in report.orderBy(F.desc("revenue")).limit(3).collect():
        print(row)
    spark.stop()


if __name__ == "__main__":
    main()
