"""A small job that touches what most jobs touch: shuffles, broadcasts, Python workers. Submitted to make a class
archive; nothing of it is measured."""

from pyspark import SparkContext


def main() -> None:
    context = SparkContext()
    offset = context.broadcast(1)
    pairs = context.parallelize(range(100), 2).map(lambda n: (n % 3, n + offset.value))
    pairs.reduceByKey(lambda a, b: a + b).cache().collect()
    context.stop()


if __name__ == "__main__":
    main()
