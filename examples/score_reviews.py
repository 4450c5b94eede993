"""A job as people have them: has a service score each review. It knows nothing of sparkcast.

A pause stands for the service, so that executors can be more than the cores of one machine: a task that waits needs a
slot, not a core.

spark-submit --master 'local-cluster[2,1,1024]' --conf spark.default.parallelism=8 \
    --conf spark.eventLog.enabled=true --conf spark.eventLog.dir=/tmp/spark-events \
    score_reviews.py --reviews 1600
"""

import argparse
import time
from collections.abc import Iterable, Iterator

from pyspark.sql import SparkSession

ANSWER_S = 0.02  # of the service, for one review


def score(reviews: Iterable[int]) -> Iterator[int]:
    for review in reviews:
        time.sleep(ANSWER_S)
        yield review % 5 + 1


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--reviews", type=int, required=True)
    given = parser.parse_args()

    spark = SparkSession.builder.appName("score-reviews").getOrCreate()
    stars = spark.sparkContext.parallelize(range(given.reviews)).mapPartitions(score)
    print(f"{stars.mean():.2f} stars")
    spark.stop()


if __name__ == "__main__":
    main()
