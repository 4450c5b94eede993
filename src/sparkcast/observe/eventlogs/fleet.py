"""Thousands of logs as a Spark job: executors read as this machine would, and only what was made of a log comes back.

Executors need sparkcast, and must see the logs where `find_logs` saw them: a shared folder, or URLs with
their fsspec package.
"""

from collections.abc import Callable, Iterable
from typing import Any, TypeVar

from sparkcast.observe.eventlogs.layout import Log
from sparkcast.observe.eventlogs.limits import Limits
from sparkcast.observe.eventlogs.many import Taken, take
from sparkcast.observe.eventlogs.result import LogRead

T = TypeVar("T")


def read_logs_on_spark(
    spark: Any, logs: Iterable[Log], make: Callable[[LogRead], T], *, limits: Limits | None = None
) -> list[Taken[T]]:
    """The same rows in the same order as `read_logs`, read by the executors of a SparkSession, a task for each log."""
    given = list(logs)
    if not given:
        return []
    tasks = spark.sparkContext.parallelize(given, len(given))
    taken: list[Taken[T]] = tasks.map(lambda log: take(log, make, limits)).collect()
    return taken
