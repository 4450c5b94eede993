"""A short recurring job on Spark SQL: two wide aggregations and a join over made-up sales."""

import argparse

from pyspark.sql import SparkSession
from pyspark.sql import functions as f

parser = argparse.ArgumentParser()
parser.add_argument("--rows", type=int, default=400_000)
given = parser.parse_args()

spark = SparkSession.builder.getOrCreate()
sales = spark.range(given.rows).select(
    (f.col("id") * 2654435761 % 20_011).alias("customer"),
    (f.col("id") * 40503 % 997).alias("product"),
    (f.hash("id") % 10_000 / 100.0).alias("amount"),
    f.concat(f.lit("order-"), f.col("id").cast("string")).alias("reference"),
)
by_customer = sales.groupBy("customer").agg(f.sum("amount").alias("spent"), f.max("reference").alias("last"))
by_product = sales.groupBy("product", "customer").agg(f.count("*").alias("orders"))
found = by_product.join(by_customer, "customer").groupBy("product").agg(f.sum("spent"), f.sum("orders"))
print(f"products={len(found.orderBy('product').collect())}", flush=True)
spark.stop()
